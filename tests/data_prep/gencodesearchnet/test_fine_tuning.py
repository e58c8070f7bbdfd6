"""The fine-tuning set: what is kept, and that the two sides share neither projects nor codes."""

import gzip
import json
import re
from pathlib import Path

import pytest

from data_prep.gencodesearchnet.records import example, write_raw
from data_prep.gencodesearchnet.sets import TESTED, TRAINED, find_fine_tuning
from data_prep.gencodesearchnet.subsets import EQUAL, find_subsets
from tests.data_prep.gencodesearchnet.shared_data import shared

CORPUS = [f"code_docstring/{name}.jsonl.gz" for name in ("valid", "test", "repo_split_valid", "repo_split_test")]


def row(number: int, project: int, **changed: str) -> dict[str, str]:
    code, source = f"def f():\n    return {number}", f"github/o/p{project}/a/b.py {number}"
    return {"query": f"Give back {number}.", "code": code, "source": source} | changed


def write(root: Path, *rows: dict[str, str]) -> None:
    """The rows, in turn, in the four files of the corpus."""
    for place, name in enumerate(CORPUS):
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress("".join(json.dumps(each) + "\n" for each in rows[place::4]).encode()))


def test_the_corpus_is_kept_apart_by_project(tmp_path: Path) -> None:
    write(tmp_path, *(row(number, number % 50) for number in range(400)))
    found = find_fine_tuning(tmp_path, valid_share=0.2)
    sides = [{re.sub(r"\D", "", text) for text in side.texts} for side in (found.train, found.valid)]
    projects = [{int(number) % 50 for number in side} for side in sides]
    assert [len(side) for side in sides] == [320, 80]
    assert not projects[0] & projects[1]
    assert not found.train.dropped.total()
    assert find_fine_tuning(tmp_path, valid_share=0.2) == found
    assert find_fine_tuning(tmp_path, valid_share=0.2, seed=1) != found


def test_a_large_project_is_for_training(tmp_path: Path) -> None:
    write(tmp_path, *(row(number, number if number < 200 else 999) for number in range(400)))
    found = find_fine_tuning(tmp_path)
    assert (len(found.train.texts), len(found.valid.texts)) == (360, 40)
    assert all(int(re.sub(r"\D", "", text)) < 200 for text in found.valid.texts)


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    rows = [row(number, number) for number in range(40)]
    bad = (
        row(1, 77),
        row(2, 2, query="Too short"),
        row(3, 3, query="See https://example.org for it"),
        row(4, 4, code="print 4"),
        row(5, 5, query="With [CODESPLIT] inside it"),
    )
    write(tmp_path, *rows, *bad)
    write_raw(tmp_path / "test_ruby.jsonl", [example("other", "def f ( ) : return 7"), example("x", "y")])
    found = find_fine_tuning(tmp_path, find_subsets(tmp_path)[0])
    assert (len(found.train.texts), len(found.valid.texts)) == (35, 4)
    assert +found.train.dropped == {
        EQUAL: 1,
        "documentation under 3 words": 1,
        "documentation with an image or a link": 1,
        "code that does not parse": 1,
        "the separator inside": 1,
        TESTED: 1,
    }
    assert found.train.origin.endswith("not AdvTest's training set): 39 pairs; published: 251,820")


def test_a_copy_of_training_code_is_no_validation(tmp_path: Path) -> None:
    same = [
        row(number, number, code="def f():\n  return (1)" if number % 2 else "def f(): return 1")
        for number in range(20)
    ]
    write(tmp_path, *same, *(row(number, number) for number in range(20, 40)))
    found = find_fine_tuning(tmp_path, valid_share=0.5)
    looks = [{re.sub(r"[\s()]", "", code) for code in side.codes} for side in (found.train, found.valid)]
    assert not looks[0] & looks[1]
    assert found.valid.dropped[TRAINED] > 0
    assert len(found.train.texts) + len(found.valid.texts) + found.valid.dropped[TRAINED] == 40


@pytest.mark.parametrize("end", ["", ".gz"])
def test_the_published_file_goes_first(tmp_path: Path, end: str) -> None:
    write(tmp_path, *(row(number, number) for number in range(40)))
    write_raw(
        tmp_path / f"train_adv.jsonl{end}", [example(f"text {number}", f"c{number // 2}") for number in range(200)]
    )
    found = find_fine_tuning(tmp_path)
    assert found.train.origin == f"train_adv.jsonl{end}: 200 pairs; published: 251,820"
    assert (len(found.train.texts), len(found.valid.texts)) == (180, 20)
    assert not set(found.train.codes) & set(found.valid.codes)


def test_what_cannot_be_split_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has no pairs to fine-tune on: expected train_adv.jsonl, .*code_docstring"):
        find_fine_tuning(tmp_path)
    write(tmp_path, *(row(number, 1) for number in range(20)))
    with pytest.raises(ValueError, match="20 pairs in 1 groups are too few to set some apart"):
        find_fine_tuning(tmp_path)
    write(tmp_path, row(1, 1) | {"source": 3})
    with pytest.raises(ValueError, match=r"valid.jsonl.gz:1: expected a text or a list of tokens in 'source'"):
        find_fine_tuning(tmp_path)


def test_the_real_corpus_has_the_known_counts() -> None:
    path = shared(*CORPUS)
    found = find_fine_tuning(path, find_subsets(path)[0])
    assert (len(found.train.texts), len(found.valid.texts)) == (8_175, 911)
    assert found.train.dropped == {
        EQUAL: 1_423,
        "documentation with an image or a link": 233,
        "documentation under 3 words": 186,
        "code that does not parse": 153,
        "documentation over 256 words": 101,
        "non-English documentation": 10,
        TESTED: 13,
        TRAINED: 1,
    }
    assert 8_175 + 911 + found.train.dropped.total() == 2_000 + 2_000 + 3_321 + 3_885
