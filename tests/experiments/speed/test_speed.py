"""The measurements of scoring, training and extraction: their counts by hand, and each on very little data."""

import dataclasses

import numpy as np
import pytest

from cli.tables import ABOUT
from data_prep.installation import machine
from data_prep.records import SourceFile
from data_prep.store.tokenizing import WordTokenizer
from evaluation.speed import Measured, Row, SpeedOptions, Spread
from experiments.recipes.results_folder import RESULTS
from experiments.speed import jdk, scoring
from experiments.speed.report import Record, digits, page, save, saved_records, section, shown
from galm.config import GalmConfig
from tests.tiny_models import smaller

JAVA = """class %s {
    %s() { }
    /** Returns the sum of both numbers. */
    int sum(int a, int b) { return new Object() { int of() { return a + b; } }.of(); }
    abstract void nothing();
}"""
OPTIONS = SpeedOptions(rounds=1, steps=1, pools=(4, 8))


@pytest.fixture
def little(small_data, monkeypatch):
    """A few pairs in the place of the JDK's."""
    monkeypatch.setattr(jdk, "prepare_stage", lambda *_: small_data)
    monkeypatch.setattr(scoring, "BLOCK", 16)
    monkeypatch.setattr(scoring, "SAMPLE", 4)
    monkeypatch.setattr(scoring, "_PRODUCT", 64)
    return small_data


def test_operations_are_those_of_a_hand_count():
    # d = 8, B = 2, F = 3, L = 2; queries of 2 and 1 words, methods of 5 and 3.
    config = GalmConfig(dim=8, num_blocks=2, gcn_dim=3, layers=2)
    logits_and_mix = 2 * 2 * 8 * (2 + 1) * (5 + 3)
    blocks = 4 * 8 * (2 + 1) * 2
    first = 2 * 2 * 3 * (2 + 1) * 2
    attention = logits_and_mix + blocks + first
    of_two = 2 * 4 * 3 + (2 * 4 * 3 + 2 * 2 * 9 + 2 * 4 * 3) + 2 * 2 * 9 + 2 * 2 * 3
    of_one = 2 * 1 * 3 + (2 * 1 * 3 + 2 * 1 * 9 + 2 * 1 * 3) + 2 * 1 * 9 + 2 * 1 * 3
    queries, codes = np.array([2, 1]), np.array([5, 3])
    assert scoring.graph_operations(config, queries).tolist() == [of_two, of_one]
    assert scoring.all_operations(config, queries, codes, 3) == attention + 2 * (of_two + of_one)
    # One of the three query words stands twice: it is brought to each method once.
    assert scoring.all_operations(config, queries, codes, 2) == attention * 2 / 3 + 2 * (of_two + of_one)


def test_pairs_are_drawn_in_order_of_length(small_data):
    tokenizer = WordTokenizer.build(small_data.splits["train"], jdk.plan_of(OPTIONS).words)
    ids = tokenizer.encode(small_data.splits["train"])
    queries, codes = scoring.drawn(ids, 40)
    assert sorted(queries) == sorted(codes)
    assert len(set(queries)) == 40
    assert (np.diff(ids.query_lengths[queries]) >= 0).all()
    assert (np.diff(ids.code_lengths[codes]) >= 0).all()
    assert len(scoring.drawn(ids, 10**6)[0]) == len(ids)


@pytest.mark.usefixtures("little")
def test_scoring_has_its_forms_at_each_width():
    found = scoring.measure_scoring(OPTIONS)
    forms = ("bfloat16", "plain, little padding", "plain, the ranker's padding")
    products = [f"matrix product, operations {which}" for which in ("executed", "by the equations")]
    expected = [(f"width {width}", second) for width in jdk.WIDTHS for second in (*forms, *products)]
    assert [(row.name, row.second) for row in found.rows] == expected
    assert {row.first for row in found.rows} == {"fast"}
    for facts in found.facts.values():
        assert facts["operations executed"] < facts["operations by the equations"]
        assert facts["distinct query words"] < facts["query words"]
    by_equations = found.rows[4]
    operations = found.facts["width 32"]["operations by the equations"] * 1e6
    gflops = found.facts["width 32"]["GFLOP/s of the matrix product"]
    assert by_equations.second_seconds.median == pytest.approx(operations / gflops / 1e9)


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize(
    ("measure", "what", "few", "forms"),
    [
        ("measure_training", "WIDTHS", (8, 16), ("fast", "plain")),
        ("measure_rows", "BUCKETS", ("1", "8"), ("rows wait", "every row moves")),
        (
            "measure_selected",
            "MODELS",
            {"small": ("galm", {}), "wide": ("galm_paper", {"model.gcn_dim": "64"})},
            ("scores that the loss reads", "all scores"),
        ),
    ],
)
def test_training_steps_are_measured_in_both_ways(monkeypatch, measure, what, few, forms):
    monkeypatch.setattr(jdk, what, few)
    small = {"model.dim": "16", "train.batch_size": "8"}
    plan_of = jdk.plan_of
    monkeypatch.setattr(
        jdk, "plan_of", lambda options, model="galm", typed=None: plan_of(options, model, typed and typed | small)
    )
    found = getattr(jdk, measure)(OPTIONS)
    assert len(found.rows) == 8  # three parts and the whole step
    assert {(row.first, row.second) for row in found.rows} == {forms}
    *parts, whole = found.rows[:4]
    assert whole.first_seconds.median == pytest.approx(sum(part.first_seconds.median for part in parts))


@pytest.mark.usefixtures("little")
def test_an_encoder_is_trained_in_both_precisions_and_with_both_kinds_of_batches(monkeypatch, tmp_path_factory):
    tiny, plan_of = smaller("minilm", tmp_path_factory), jdk.plan_of
    small = {**tiny, "train.batch_size": "8"}
    monkeypatch.setattr(
        jdk, "plan_of", lambda options, model="galm", typed=None: plan_of(options, model, typed and typed | small)
    )
    found = jdk.measure_encoder(dataclasses.replace(OPTIONS, steps=20))
    ways = [
        f"{precision}, {lengths} lengths" for precision in ("bfloat16", "float32") for lengths in ("similar", "mixed")
    ]
    assert {row.first for row in found.rows} == {ways[0]}
    assert {row.second for row in found.rows} == {*ways[1:]}


def test_lengths_are_mixed_among_the_pairs_of_the_same_steps(little):
    plan = jdk.plan_of(OPTIONS, "galm", {"model.dim": "16", "train.batch_size": "8"})
    similar, mixed = (jdk.TrainingSteps(plan, little, 3, mixed_lengths=mix).batches for mix in (False, True))
    assert [len(rows) for rows in mixed] == [len(rows) for rows in similar] == [8, 8, 8]
    assert sorted(np.concatenate(mixed)) == sorted(np.concatenate(similar))
    assert [set(rows) for rows in mixed] != [set(rows) for rows in similar]


def test_pools_are_ranked_and_come_from_the_split_that_holds_them(little, monkeypatch):
    monkeypatch.setattr(scoring, "in_own_process", lambda call, *given: call(*given))
    found = scoring.measure_pools(OPTIONS)
    assert [(row.first, row.second) for row in found.rows] == [("4 methods", "8 methods")]
    assert found.facts["8 methods"]["minutes"] == pytest.approx(found.rows[0].second_seconds.median * 64 / 6e7)
    assert all(each["MiB at most"] >= each["MiB before"] > 0 for each in found.facts.values())
    test, train = len(little.splits["test"]), len(little.splits["train"])
    assert (scoring._split_for(little, test), scoring._split_for(little, test + 1)) == ("test", "train")
    with pytest.raises(ValueError, match=r"^--pools asks for .* methods, but the training split has"):
        scoring._split_for(little, train + 1)


@pytest.mark.usefixtures("little")
def test_each_model_of_the_page_is_timed_but_those_that_cannot_be_built(monkeypatch, caplog):
    cells = {row: cell for row, cell in scoring.cells_of_models().items() if row in ("galm", "galm, L = 0", "minilm")}
    assert cells["galm, L = 0"].settings == {**cells["galm"].settings, "model.layers": "0"}
    absent = dataclasses.replace(cells["minilm"], settings={"model.base": "absent"})
    monkeypatch.setattr(scoring, "cells_of_models", lambda: {**cells, "minilm": absent})
    with caplog.at_level("INFO"):
        found = scoring.measure_models(OPTIONS)
    assert "minilm is left out: " in caplog.text
    assert [(row.name, row.first, row.second) for row in found.rows] == [
        (what, "bm25_tuned", model) for model in ("galm", "galm, L = 0") for what in (scoring.QUESTION, scoring.METHOD)
    ]
    assert all(row.first_seconds.median > 0 and row.second_seconds.median > 0 for row in found.rows)
    assert "4 questions" in found.about


def test_all_parsers_find_the_same_methods_and_broken_files_are_skipped(monkeypatch):
    names = [f"A{number}" for number in range(6)]
    files = [SourceFile("test", name, (JAVA % (name, name)).encode()) for name in names]
    broken = [SourceFile("test", f"B{number}", b"class { nothing here parses") for number in range(2)]

    class Few:
        def __init__(self, _):
            self.java_files, self.origin = lambda: [*files, *broken], lambda: "few"

    monkeypatch.setattr(jdk, "Jdk", Few)
    found = jdk.measure_extraction(dataclasses.replace(OPTIONS, files=7))
    assert found.about.startswith("few, 6 files")
    assert [each["methods"] for each in found.facts.values()] == [18, 18, 18]
    assert [row.second for row in found.rows] == ["tree-sitter, declarations", "javalang, declarations"]
    assert jdk.drawn_files(files, 3) == jdk.drawn_files(reversed(files), 3)
    assert jdk.drawn_files(files, 3, seed=1) != jdk.drawn_files(files, 3)


def row(name, second, *, ratio):
    once, times = Spread(median=4.0), Spread(median=ratio, least=1.5, most=9.0)
    return Row(name=name, first="one", first_seconds=once, second=second, second_seconds=once, ratio=times)


def test_the_page_begins_with_its_question_and_the_newest_answers():
    rows = [row("width 32", "plain, the ranker's padding", ratio=2.5)]
    old = Record.now("scoring", "bash run.sh speed scoring", Measured(about="Few.", unit="a step", rows=rows))
    slower = [dataclasses.replace(rows[0], ratio=Spread(median=3.0, least=2.0, most=4.0))]
    new = dataclasses.replace(old, date="2999-01-01", measured=dataclasses.replace(old.measured, rows=slower))
    head = page([old, new], ABOUT).split("\n\n")
    assert head[0] == "# How fast is each part?"
    assert " takes 3.00 (2.00 to 4.00) times as long as its fast one." in head[1]
    assert page([dataclasses.replace(old, measurement="rows")], ABOUT).split("\n\n")[1].startswith("Made by ")


def test_the_models_that_were_timed_are_named():
    rows = [row("a question", model, ratio=2.5) for model in ("galm", "tabcs")]
    models = Record.now("models", "bash run.sh speed models", Measured(about="Few.", unit="each", rows=rows))
    assert "\n\nTimed were: `one`; `galm`; `tabcs`. Pictures of times have no other model.\n\n" in section(models)
    assert "Timed were" not in section(dataclasses.replace(models, measurement="rows"))


def test_the_saved_page_is_in_step_with_what_was_measured():
    text = (RESULTS / "speed.md").read_text(encoding="utf-8")
    assert text == page(saved_records(RESULTS), ABOUT), "run: bash run.sh table"


def test_records_are_saved_read_again_and_shown_newest_first(tmp_path):
    facts = {"server": {"MiB": 1234.5, "given up": "late", "rows": 12_345, "none": float("nan")}}
    measured = Measured(about="Few pairs.", unit="a step", rows=[], facts=facts)
    one = Record.now("rows", "bash run.sh speed rows", measured)
    assert one.machine == machine()
    other = dataclasses.replace(one, measurement="selected", date="2026-01-01", load=None)
    older = dataclasses.replace(one, date="2026-01-02")
    save([older, other, one], tmp_path, about := {"selected": "few or all", "rows": "wait or move"})
    assert saved_records(tmp_path) == [older, other, one]
    text = (tmp_path / "speed.md").read_text()
    assert text == page([one, older, other], about)
    assert text.index("## selected\n\nFew or all.") < text.index("## rows")
    assert text.index(one.date[:10]) < text.index("2026-01-02")
    assert "| server | 1,230 | late | 12,345 |" in text
    assert saved_records(tmp_path / "none") == []
    (tmp_path / "speed.jsonl").write_text('{"measurement": 3}\n')
    with pytest.raises(ValueError, match=r"speed.jsonl, line 1: "):
        saved_records(tmp_path)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.00123456, "0.00123"), (3.14159, "3.14"), (42.0, "42.0"), (12345.6, "12,300")]
)
def test_numbers_have_three_digits(value, text):
    assert digits(value) == text
    assert shown(Spread(median=value)) == text
    assert shown(Spread(median=value, least=1.0, most=2.0)) == f"{text} (1.00 to 2.00)"
