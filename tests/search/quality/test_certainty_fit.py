"""The limits of certainty, fitted on projects of different kinds."""

import json
from dataclasses import asdict

import pytest

from cli.main import main
from evaluation.significance import wilson
from search.engine.evidence import LIMITS
from search.quality.certainty_fit import LOST, MISSED, nonsense
from tests.conftest import REPOSITORY

PROJECTS = {
    "shop": ("sales", "orders", ["cancel an order", "total price of the cart", "ship all orders"]),
    "draw": ("pictures", "canvas", ["paint a red circle", "undo the last stroke", "rotate a shape"]),
}
CODE = {
    "shop": "cancel_order total_price_of_cart ship_all_orders find_customer",
    "draw": "paint_red_circle undo_last_stroke rotate_shape open_canvas",
}


@pytest.fixture
def folder(tmp_path):
    for name, (_, file, _) in PROJECTS.items():
        place = tmp_path / name / f"{file}.py"
        place.parent.mkdir()
        place.write_text("".join(f"def {each}(it):\n    return it.{each}\n\n\n" for each in CODE[name].split()))
    return tmp_path


def asked(folder, kinds):
    relevant = {name: [{"path": f"{file}.py"}] for name, (_, file, _) in PROJECTS.items()}
    content = {
        name: {"kind": kinds[name], "queries": [{"query": each, "relevant": relevant[name]} for each in queries]}
        for name, (_, _, queries) in PROJECTS.items()
    }
    topics = [
        {"query": each, "relevant": [{"path": "none"}]} for each in ("bake bread with a starter", "tune a violin")
    ]
    path = folder / "queries.json"
    path.write_text(json.dumps(content | {"topics": {"kind": "foreign", "queries": topics}}))
    return path


def measured(folder, capsys, kinds, *options):
    path = asked(folder, kinds)
    assert main(["quality", str(folder), f"--queries={path}", "--fit=certainty", *options]) == 0
    return capsys.readouterr().out


def test_what_is_not_there_is_told_from_what_is(folder, capsys):
    record = json.loads(measured(folder, capsys, {name: own[0] for name, own in PROJECTS.items()}, "--json"))
    assert record["limits"]["weights"].keys() == LIMITS.weights.keys()
    assert record["limits"]["weak"] <= record["limits"]["strong"]
    found = record["left out"]
    assert {kind: own["questions"] for kind, own in found.items()} == {
        "typed": 6,
        "comment": 0,
        "nonsense": 120,
        "name": 8,
        "other": 6,
        "topic": 4,
    }
    assert found["typed"]["weak or none"] == 0
    assert min(found[kind]["weak or none"] for kind in ("nonsense", "name", "other", "topic")) == 1


def test_projects_of_one_kind_are_not_asked_each_others_questions(folder, capsys):
    lines = measured(folder, capsys, dict.fromkeys(PROJECTS, "same")).splitlines()
    assert lines[0].startswith("weights: words ")
    assert [line.split()[:2] for line in lines if line.startswith(("  other", "  name"))] == [
        ["name", "0"],
        ["other", "0"],
    ]


def test_a_kind_is_a_text(folder, capsys):
    path = asked(folder, {"shop": 1, "draw": "b"})
    assert main(["quality", str(folder), f"--queries={path}", "--fit=certainty"]) == 2
    assert "kind: expected a text, got 1" in capsys.readouterr().err


def test_nonsense_is_the_same_for_a_seed():
    assert nonsense(12, 1) == nonsense(12, 1) != nonsense(12, 2)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"), [(5, 179, 0.012, 0.064), (0, 0, 0.0, 1.0), (4, 4, 0.510, 1.0)]
)
def test_interval_of_a_share(count, total, low, high):
    assert wilson(count, total) == pytest.approx((low, high), abs=0.001)


def saved():
    return json.loads((REPOSITORY / "experiments" / "results" / "certainty.json").read_text())


def test_the_limits_are_those_of_the_saved_result():
    own, fitted = asdict(LIMITS), saved()["limits"]
    assert own.pop("weights") == pytest.approx(fitted.pop("weights"), abs=5e-4)
    assert own == pytest.approx(fitted, abs=5e-4)


def test_the_saved_result_holds_what_the_certainty_is_for():
    left = saved()["left out"]
    for kind in ("typed", "comment"):
        assert left[kind]["weak or none"] <= MISSED
        assert left[kind]["none"] <= LOST
    for kind in ("nonsense", "name", "topic"):
        assert left[kind]["weak or none"] >= 0.92
    assert left["other"]["weak or none"] >= 0.7
