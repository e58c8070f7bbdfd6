"""The two tasks' files: lines, order and targets; and the same bytes on every run."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from data_prep.gencodesearchnet.records import SEPARATOR, Example, example
from data_prep.gencodesearchnet.sets import matching_negatives, ranking_blocks, write_matching, write_ranking
from data_prep.gencodesearchnet.subsets import read_pairs
from tests.data_prep.gencodesearchnet.shared_data import shared

PAIRS = (example("a", "A"), Example("b  ", "B"), example("ç", "C\n"))
STATISTICS = "statcodesearch/test_70.jsonl.gz"

# of the files that the plain form, one list a pair after random.seed(42), makes of it
MATCHING = "18b5bbcbf4e95be3f49d60c33c78bc3cc1df0eaa91402e8af0c64671483cbe5d"
RANKING = "c4920b440ec8218355283095047aef61bc489097d7feef6db10e9e4bdd3fe25c"


def lines(path: Path) -> list[tuple[str, int]]:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    assert all(list(record) == ["input", "target", "target_options"] for record in records)
    return [(record["input"], record["target"]) for record in records]


def test_matching_has_each_pair_and_then_its_negative(tmp_path: Path) -> None:
    write_matching(tmp_path / "clf.jsonl", PAIRS, np.array([2, 0, 1]))
    assert lines(tmp_path / "clf.jsonl") == [
        ("a [CODESPLIT] A", 1),
        ("a [CODESPLIT] C\n", 0),
        ("b  [CODESPLIT]B", 1),
        ("b  [CODESPLIT] A", 0),
        ("ç [CODESPLIT] C\n", 1),
        ("ç [CODESPLIT]B", 0),
    ]


def test_ranking_has_the_own_code_first(tmp_path: Path) -> None:
    write_ranking(tmp_path / "mrr.jsonl", PAIRS, iter([np.array([[0, 2], [1, 0]]), np.array([[2, 1]])]))
    assert lines(tmp_path / "mrr.jsonl") == [
        ("a [CODESPLIT] A", 1),
        ("a [CODESPLIT] C\n", 0),
        ("b  [CODESPLIT]B", 1),
        ("b  [CODESPLIT] A", 0),
        ("ç [CODESPLIT] C\n", 1),
        ("ç [CODESPLIT]B", 0),
    ]


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="same shape"):
        write_matching(tmp_path / "clf.jsonl", PAIRS, np.array([2, 0]))
    assert not list(tmp_path.iterdir())


def test_real_files_have_the_same_bytes_on_every_run(tmp_path: Path) -> None:
    examples = read_pairs("statcodesearch", shared(STATISTICS) / STATISTICS).examples
    matching, ranking = tmp_path / "clf.jsonl", tmp_path / "mrr.jsonl"
    write_matching(matching, examples, matching_negatives(examples))
    write_ranking(ranking, examples, ranking_blocks(len(examples)))
    found = lines(matching)
    assert [target for _, target in found] == [1, 0] * 749
    texts = [text.split(SEPARATOR)[0] for text, _ in found]
    assert texts[::2] == texts[1::2] == [pair.text for pair in examples]
    with ranking.open(encoding="utf-8") as file:
        targets = np.array(['"target": 1' in line for line in file])
    assert np.flatnonzero(targets).tolist() == list(range(0, 74_900, 100))
    assert len(targets) == 74_900
    assert hashlib.sha256(matching.read_bytes()).hexdigest() == MATCHING
    assert hashlib.sha256(ranking.read_bytes()).hexdigest() == RANKING
