"""Stages that runs share: what is trained on has no part in what is tested."""

from dataclasses import replace

import numpy as np
import pytest

from data_prep.config import DataConfig
from data_prep.store.arrays import Ragged
from data_prep.store.tokenizing import WordTokenizer
from experiments.recipes.config import resolve
from experiments.run import data, training


@pytest.mark.parametrize(("model", "options"), [("fcarcs", {}), ("galm", {"model.fields": "name,statements"})])
def test_a_field_without_words_is_refused_where_a_model_would_train_on_it(data_with_statements, model, options):
    plan, train = resolve("folder", model, options), data_with_statements.splits["train"]
    known = WordTokenizer.build(train, plan.words)
    data.check_fields(plan, training.build_model(plan, known), known)
    without = replace(train, words={**train.words, "statements": Ragged.of([()] * len(train))})
    empty = WordTokenizer.build(without, plan.words)
    with pytest.raises(ValueError, match=rf"{model} reads the field statements, .+--data\.statements=true") as error:
        data.check_fields(plan, training.build_model(plan, empty), empty)
    assert "\n" not in str(error.value)


@pytest.fixture
def tested_elsewhere(small_data, monkeypatch):
    """Another data set whose test holds five pairs of the training split."""
    other = replace(small_data, splits={**small_data.splits, "test": small_data.splits["train"].take(np.arange(5))})
    monkeypatch.setattr(data, "prepared_beside", lambda *_: other)
    return other


@pytest.mark.usefixtures("tested_elsewhere")
def test_pairs_of_another_test_are_not_trained_on(small_data, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(data, "say", said.append)
    plan = resolve("folder", "galm", {"evaluate.extra_tests": "folder:elsewhere"})
    found = data.drop_test_overlap(plan, small_data, "bash run.sh folder galm")
    before, after = small_data.splits["train"], found.splits["train"]
    asked = {before.text(row).query_text for row in range(5)}
    assert not asked & {after.text(row).query_text for row in range(len(after))}
    left_out = len(before) - len(after)
    assert left_out >= 5
    assert f"train: left out {left_out:,} pairs" in said[0]
    assert found.splits["test"] is small_data.splits["test"]


@pytest.mark.usefixtures("tested_elsewhere")
@pytest.mark.parametrize(("model", "also"), [("galm", ""), ("bm25", "folder:elsewhere")])
def test_all_is_kept_where_nothing_is_tested_elsewhere_or_trained(small_data, model, also):
    plan = resolve("folder", model, {"evaluate.extra_tests": also, "data.exclude_overlap_with": also})
    assert data.drop_test_overlap(plan, small_data, "") is small_data


@pytest.mark.usefixtures("tested_elsewhere")
def test_pairs_of_a_set_apart_are_left_out_whatever_their_split_there(small_data, monkeypatch):
    """The other data set's validation and test splits are this one's, so of training only its own pairs may go."""
    said: list[str] = []
    monkeypatch.setattr(data, "say", said.append)
    plan = resolve("folder", "galm", {"data.exclude_overlap_with": "folder:elsewhere"})
    found = data.drop_test_overlap(plan, small_data, "bash run.sh folder galm")
    assert not len(found.splits["train"])
    assert not len(found.splits["valid"])
    assert found.splits["test"] is small_data.splits["test"]
    assert "that are also in folder:elsewhere," in said[0]


def test_a_set_apart_of_java_alone_stays_so_beside_other_languages(tmp_path):
    config = DataConfig(language="all", limit=5, extra_train_sets="jdk")
    java = data.config_of_other(config, "folder", str(tmp_path))
    assert (java.language, java.path, java.limit, java.extra_train_sets) == ("java", str(tmp_path), 0, "")
    assert data.config_of_other(config, "repositories", "").language == "all"
