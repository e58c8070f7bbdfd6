"""What is saved of a training: which epochs, and how it is read again."""

import json
from dataclasses import replace

import pytest

from evaluation.results import Validation, load_result, save_result, validations
from tests.evaluation.test_results import result

RECORDS = [
    {"epoch": 1, "loss": 0.9, "learning_rate": 0.1, "seconds": 2.5},  # not validated
    {"epoch": 2, "loss": 0.5, "learning_rate": 0.1, "seconds": 5.0, "top1": 0.25, "top5": 0.5, "top10": 1, "mrr": 0.25},
    {"epoch": 3, "loss": 0.4, "learning_rate": 0.1, "seconds": 7.0, "top1": 0.5, "top5": 0.5, "top10": 1, "mrr": 0.6},
]
HISTORY = [
    Validation(epoch=2, pairs=200, seconds=5.0, top1=0.25, mrr=0.25),
    Validation(epoch=3, pairs=300, seconds=7.0, top1=0.5, mrr=0.6),
]


def test_epochs_that_were_validated_are_kept_with_the_pairs_so_far():
    assert validations(RECORDS, 100) == HISTORY
    assert validations([], 100) == []


def test_numbers_about_the_inside_of_a_model_are_apart():
    (found,) = validations([{**RECORDS[1], "graph/entropy": 0.5}], 100)
    assert found.inside == {"graph/entropy": 0.5}


def test_it_is_read_as_it_was_written_and_none_where_the_file_is_older(tmp_path):
    written = result(history=HISTORY)
    save_result(written, tmp_path / "new.json")
    assert load_result(tmp_path / "new.json") == written
    content = json.loads((tmp_path / "new.json").read_text())
    assert content["history"][0] == {"epoch": 2, "pairs": 200, "seconds": 5.0, "top1": 0.25, "mrr": 0.25, "inside": {}}
    del content["history"]
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert load_result(tmp_path / "old.json") == replace(written, history=[])


@pytest.mark.parametrize("value", [3, [3], [{"epoch": 1}], None])
def test_a_damaged_history_is_refused(tmp_path, value):
    save_result(result(), tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text()) | {"history": value}
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="history"):
        load_result(tmp_path / "a.json")
