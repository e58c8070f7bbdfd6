"""``--evaluate.fuse_tuned_on``: validation pairs of another data set choose a weight, but none seen elsewhere."""

import json
from dataclasses import replace

import numpy as np
import pytest

from baselines.bm25 import Bm25, Bm25Config
from cli.main import main
from data_prep.pipeline.overlap import overlap
from data_prep.store.prepared_data import PreparedData
from data_prep.store.split import Split
from experiments.recipes import run_folder
from experiments.recipes.config import resolve
from experiments.run import data as run_data
from experiments.run import testing

MIX = {"evaluate.fuse_with": "bm25", "evaluate.fuse_tuned_on": "folder:elsewhere"}


@pytest.fixture
def pools(monkeypatch) -> list[Split]:
    """The pools on which a weight was chosen."""
    chosen: list[Split] = []

    class Seen(Bm25):
        def over(self, queries, corpus):
            chosen.append(corpus)
            return super().over(queries, corpus)

    monkeypatch.setattr(testing, "untrained", lambda _: Seen(Bm25Config()))
    monkeypatch.setattr(testing, "best_weight", lambda *_: 0.5)
    monkeypatch.setattr(testing, "say", lambda _: None)
    return chosen


@pytest.fixture
def other(small_data, monkeypatch) -> PreparedData:
    """Another data set, whose validation pairs are this one's, ten of its training and ten of its test pairs."""
    seen = run_data.joined(
        small_data.splits["train"].take(np.arange(10)), small_data.splits["test"].take(np.arange(10))
    )
    split = replace(run_data.joined(small_data.splits["valid"], seen), name="valid")
    data = replace(small_data, splits={**small_data.splits, "valid": split})
    monkeypatch.setattr(run_data, "prepared_beside", lambda *_: data)
    return data


def texts(split: Split) -> list[str]:
    return sorted(str(split.text(row)) for row in range(len(split)))


def test_the_weight_is_chosen_on_pairs_that_stand_nowhere_else(small_data, other, pools):
    plan = resolve("folder", "unif", {**MIX, "train.validate_pool": "100000"})
    testing.mixed(plan, run_folder.untrained("bm25"), small_data, "")
    (pool,) = pools
    valid, elsewhere = small_data.splits["valid"], [small_data.splits["train"], small_data.splits["test"]]
    assert overlap(pool, elsewhere).rows.size == 0
    own = np.setdiff1d(np.arange(len(valid)), overlap(valid, elsewhere).rows)
    assert texts(pool) == texts(valid.take(own))
    assert 0 < len(pool) <= len(other.splits["valid"]) - 20


@pytest.mark.usefixtures("other")
def test_pairs_of_another_test_choose_no_weight(small_data, monkeypatch):
    """All of them stand in it."""
    valid = replace(small_data.splits["valid"], name="test")
    tested = replace(small_data, splits={**small_data.splits, "test": valid})
    monkeypatch.setattr(testing, "tests_beside", lambda *_: tested)
    plan = resolve("folder", "unif", {**MIX, "evaluate.extra_tests": "csn:there"})
    with pytest.raises(
        ValueError, match=r"folder has no validation pairs of its own for --evaluate\.fuse_tuned_on=folder:"
    ):
        testing.mixed(plan, run_folder.untrained("bm25"), small_data, "")


def test_without_another_data_set_its_own_validation_pairs_choose(small_data, pools):
    plan = resolve("folder", "unif", {"evaluate.fuse_with": "bm25", "train.validate_pool": "100000"})
    testing.mixed(plan, run_folder.untrained("bm25"), small_data, "")
    assert texts(pools[0]) == texts(small_data.splits["valid"])


def test_a_run_and_the_test_of_its_weights_mix_alike(java_folder, small_data, tmp_path, capsys):
    """By the same weight, chosen on the same pairs."""
    place = [f"--data.path={java_folder}", f"--data.root={small_data.folder.parent}", "--data.limit=240"]
    split = ["--data.valid_share=0.2", "--data.test_share=0.2", "--data.processes=1"]
    quick = ["--train.epochs=1", "--train.threads=1", "--words.min_count=1", "--evaluate.bootstrap_samples=200"]
    mix = ["--evaluate.fuse_with=bm25", f"--evaluate.fuse_tuned_on=folder:{java_folder}"]
    run = tmp_path / "run"
    assert main(["folder", "unif", *place, *split, *quick, *mix, f"--out={run}"]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if "validation pairs" in line]
    assert "without" in said[0]
    assert "the best MRR on" in said[1]
    assert main(["evaluate", str(run), *mix]) == 0
    again = [line for line in capsys.readouterr().out.splitlines() if "validation pairs" in line]
    assert again == said
    first, second = (json.loads(path.read_text()) for path in sorted(run.glob("metrics*.json")))
    assert first["exact"] == second["exact"]
    assert second["config"]["evaluate"]["fuse_tuned_on"] == f"folder:{java_folder.name}"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (
            ["--evaluate.fuse_with=bm25", "--evaluate.fuse_tuned_on=jdk,csn"],
            "--evaluate.fuse_tuned_on takes one DATASET or DATASET:PATH",
        ),
        (
            ["--evaluate.fuse_with=bm25", "--evaluate.fuse_tuned_on=:there"],
            "--evaluate.fuse_tuned_on takes one DATASET or DATASET:PATH",
        ),
        (
            ["--evaluate.fuse_with=bm25", "--evaluate.fuse_tuned_on=jdkk"],
            "unknown data set in --evaluate.fuse_tuned_on 'jdkk': did",
        ),
        (["--evaluate.fuse_tuned_on=csn"], "is tuned on: name both"),
    ],
)
def test_mistakes_are_one_line(typed, message, capsys):
    assert main(["jdk", "unif", *typed]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
