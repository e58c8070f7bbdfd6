"""Rows of pairs in each form of file, under the names that the field uses, and the split that a file is for."""

import json
from pathlib import Path

import pytest

from data_prep.records import SplitName
from data_prep.sources.pair_files import PairRow, PairSource, absolute_list, named_files
from tests.data_prep.datasets.own_pairs import python_rows, write_lines, write_table

ROWS = python_rows(20)


def rows_of(path: Path) -> list[PairRow]:
    return [*PairSource(named_files(str(path))).rows(lambda *why: pytest.fail(str(why)))]


def test_every_form_has_the_same_rows(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs requirements-parquet.txt")
    import pyarrow as pa

    parquet.write_table(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    (tmp_path / "a.json").write_text(json.dumps(ROWS))
    (tmp_path / "lines.json").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    write_lines(tmp_path / "a.jsonl", ROWS)
    write_lines(tmp_path / "a.jsonl.gz", ROWS)
    write_table(tmp_path / "a.csv", ROWS)
    write_table(tmp_path / "a.tsv", ROWS)
    for file in sorted(tmp_path.iterdir()):
        assert [{"query": row.query, "code": row.code} for row in rows_of(file)] == ROWS, file


def test_columns_of_numbers_and_lists_of_a_table_are_read(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs requirements-parquet.txt")
    import pyarrow as pa

    rows = [
        {"id": 7, "doc": "a b", "code_tokens": ["x", "=", "1"], "label": number, "more": {"a": 1}} for number in (1, 0)
    ]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    left_out: list[str] = []
    (row,) = PairSource(named_files(f"{tmp_path}/a.parquet")).rows(lambda _, why: left_out.append(why))
    assert (row.query, row.code, row.id, left_out) == ("a b", "x = 1", "7", ["no match, by its label"])


def test_names_of_the_field_are_known(tmp_path: Path) -> None:
    rows = [
        {"intent": "one", "rewritten_intent": None, "snippet": "x"},
        {"intent": "no", "rewritten_intent": "two", "snippet": "x"},
        {"func_documentation_string": "three", "func_code_string": "x", "split_name": "test"},
        {"docstring_tokens": ["four", "things"], "code_tokens": ["x"]},
        {"Comment": "five", "Code": "x", "Idx": 7, "License": "MIT", "File": "a.R"},
        {"input": "six [CODESPLIT] x ", "target": 1},
        {"nl": "seven", "code": "x", "split": "dev", "lang": "py"},
        {"doc": "eight", "function": "x", "partition": "train", "url": "https://example.org/a.py#L12-L14"},
    ]
    found = rows_of(write_lines(tmp_path / "a.jsonl", rows))
    names = ("one", "two", "three", "four things", "five", "six", "seven", "eight")
    assert [row.query.strip() for row in found] == [*names]
    assert {row.code for row in found} == {"x"}
    assert [row.split for row in found] == [None, None, "test", None, None, None, "valid", "train"]
    assert (found[4].licence, found[4].path, found[4].id) == ("MIT", "a.R", "7")
    assert (found[6].language, found[7].line) == ("py", 12)


@pytest.mark.parametrize(
    ("files", "splits"),
    [
        (("train.jsonl", "dev.jsonl", "cosqa_test_500.jsonl.gz"), ("test", "valid", "train")),
        (("train/a.jsonl", "validation/a.jsonl"), ("train", "valid")),
        (("test_70.jsonl",), ("test",)),  # a test alone
        (("dev.jsonl",), (None,)),
        (("latest.jsonl", "contest.jsonl"), (None, None)),
    ],
)
def test_a_file_may_name_its_split(
    tmp_path: Path, files: tuple[str, ...], splits: tuple[SplitName | None, ...]
) -> None:
    for name in files:
        write_lines(tmp_path / "test" / name, ROWS)
    assert [file.split for file in named_files(f"{tmp_path}/test")] == [*splits]


def test_files_may_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.jsonl", "b.jsonl", "c, d.jsonl", "x=1.jsonl"):
        write_lines(tmp_path / name, ROWS)
    monkeypatch.chdir(tmp_path)
    text = absolute_list("train=a.jsonl, dev=b.jsonl")
    assert text == f"train={tmp_path}/a.jsonl,dev={tmp_path}/b.jsonl"
    assert [(file.path.name, file.split) for file in named_files(text)] == [("a.jsonl", "train"), ("b.jsonl", "valid")]
    assert [file.path.name for file in named_files("c, d.jsonl")] == ["c, d.jsonl"]
    assert [file.path.name for file in named_files(f"{tmp_path}/?.jsonl,x=1.jsonl")] == [
        "a.jsonl",
        "b.jsonl",
        "x=1.jsonl",
    ]
