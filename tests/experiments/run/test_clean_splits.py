"""``--data.clean_splits``: nothing that training sees copies a validation or test pair of the same data set."""

from dataclasses import replace

import numpy as np
import pytest

from data_prep.pipeline.overlap import overlap
from data_prep.prepare import prepare
from data_prep.store.split import joined
from experiments.recipes.config import resolve
from experiments.run import data as run_data
from experiments.run.data import drop_crossing_copies


@pytest.fixture
def leaky(small_data):
    """Three test pairs are in training too, two in validation, and a validation pair is in training."""
    splits = dict(small_data.splits)
    test, valid = splits["test"], splits["valid"]
    splits["train"] = joined(joined(splits["train"], test.take(np.arange(3))), valid.take(np.array([5])))
    splits["valid"] = joined(valid, test.take(np.array([4, 6])))
    return replace(small_data, splits=splits)


def test_copies_are_left_out_of_training_and_validation_and_the_test_stays(leaky, monkeypatch):
    plan, said = resolve("folder", "galm", {}), []
    monkeypatch.setattr(run_data, "say", said.append)
    clean = drop_crossing_copies(plan, leaky).splits
    assert clean["test"] is leaky.splits["test"]
    assert not len(overlap(clean["valid"], [clean["test"]], named=True).rows)
    assert not len(overlap(clean["train"], [clean["valid"], clean["test"]], named=True).rows)
    assert len(leaky.splits["train"]) - len(clean["train"]) >= 4
    assert len(leaky.splits["valid"]) - len(clean["valid"]) >= 2
    assert [line.partition(":")[0] for line in said] == ["valid", "train"]
    assert all("copies of pairs of later splits" in line for line in said)


@pytest.mark.parametrize(("model", "typed"), [("galm", {"data.clean_splits": "false"}), ("bm25", {})])
def test_otherwise_nothing_is_left_out(leaky, model, typed):
    assert drop_crossing_copies(resolve("folder", model, typed), leaky) is leaky


def test_prepared_data_serve_both(java_folder, small_data):
    root, manifest = str(small_data.folder.parent), small_data.folder / "manifest.json"
    shares = {"data.valid_share": "0.2", "data.test_share": "0.2", "data.processes": "1"}
    typed = {"data.path": str(java_folder), "data.root": root, **shares}
    before = manifest.stat().st_mtime_ns
    for clean in ("true", "false"):
        config = resolve("folder", "galm", {**typed, "data.clean_splits": clean}).data
        assert prepare("folder", config, command="the tests", say=lambda _: None).folder == small_data.folder
    assert manifest.stat().st_mtime_ns == before
