"""Rows of pairs in each form of file, under the names that the field uses, and the split that a file is for."""

import json
from pathlib import Path

import pytest

from data_prep.records import SplitName
from data_prep.sources.pair_files import PairSource, absolute_list, named_files
from data_prep.sources.pair_rows import PairRow
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


def test_categories_of_a_table_are_texts(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs requirements-parquet.txt")
    import pyarrow as pa

    values = {"query": ["a", "b"], "code": ["x", "y"], "split": ["train", "test"]}
    parquet.write_table(
        pa.table({name: pa.array(texts).dictionary_encode() for name, texts in values.items()}), tmp_path / "a.parquet"
    )
    found = rows_of(tmp_path / "a.parquet")
    assert [(row.query, row.code, row.split) for row in found] == [("a", "x", "train"), ("b", "y", "test")]


def test_numbers_that_are_none_are_no_text(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [{"query": float("nan"), "code": "x"}, {"query": "a", "code": "y"}])
    left_out: list[str] = []
    source = PairSource(named_files(str(path)))
    assert [row.query for row in source.rows(lambda _, why: left_out.append(why))] == ["a"]
    assert left_out == ["no query"]


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        *((label, "") for label in (1, True, "1", "1.0", "TRUE", "yes", " Match ", 2, None, "")),
        *((label, "no match, by its label") for label in (0, False, "0", "0.0", -1, "No", "no match", "no-match")),
        ("maybe", "unknown label: 'maybe'"),
        ("not sure", "unknown label: 'not sure'"),
        ("nan", "unknown label: 'nan'"),
        ([1], "unknown label: [1]"),
    ],
)
def test_labels_say_match_or_none_and_others_are_no_rows(tmp_path: Path, label: object, reason: str) -> None:
    rows: list[dict[str, object]] = [{"query": "a", "code": "x"}]
    rows += [{"query": "b", "code": "y", name: label} for name in ("label", "match")]
    source = PairSource(named_files(str(write_lines(tmp_path / "a.jsonl", rows))))
    left_out: list[str] = []
    assert len([*source.rows(lambda _, why: left_out.append(why))]) + len(left_out) == 3
    assert left_out == [reason] * (2 if reason else 0)
    source.columns = {"label": ""}  # it is said that there is none
    assert len([*source.rows(lambda *_: None)]) == 3


def test_a_text_called_target_is_no_label(tmp_path: Path) -> None:
    rows = [{"query": "a", "code": "x", "target": "public void x"}, {"query": "b", "code": "y", "target": "perhaps"}]
    left_out: list[str] = []
    source = PairSource(named_files(str(write_lines(tmp_path / "a.jsonl", rows))))
    assert [row.query for row in source.rows(lambda _, why: left_out.append(why))] == ["a"]
    assert left_out == ["unknown label: 'perhaps'"]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet"])
def test_a_column_twice_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    if name.endswith(".parquet"):
        parquet = pytest.importorskip("pyarrow.parquet", reason="needs requirements-parquet.txt")
        import pyarrow as pa

        table = pa.table([["a"], ["x"], ["b"]], names=["query", "code", "query"])
        parquet.write_table(table, tmp_path / name)
    else:
        between = "\t" if name.endswith(".tsv") else ","
        (tmp_path / name).write_text("query,code,query,,\na,x,b,,\n".replace(",", between))
    with pytest.raises(ValueError, match=r"the column query twice: give each column a name of its own$"):
        rows_of(tmp_path / name)


def test_columns_that_differ_in_capitals_and_text_are_told(tmp_path: Path) -> None:
    rows = [
        {"query": "a", "code": "x", "Code": "y"},
        {"query": "b", "code": "x", "Code": "x", "ID": 1, "id": 2},
    ]
    path = write_lines(tmp_path / "a.jsonl", rows)
    with path.open("a") as file:
        file.write('{"query": "c", "query": "d", "code": "x"}\n')
    left_out: list[str] = []
    source = PairSource(named_files(str(path)))
    assert [row.query for row in source.rows(lambda _, why: left_out.append(why))] == ["b"]
    assert left_out == ["two columns of one name, code and Code", "no JSON: it has 'query' twice"]
    source.columns = {"code": "Code"}
    assert [row.code for row in source.rows(lambda *_: None)] == ["y", "x"]


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
