"""BEIR's and CoIR's form, read and written: the same pairs come back."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from data_prep.records import SPLITS
from data_prep.sources.pair_files import write_beir
from tests.data_prep.datasets.own_pairs import prepared, python_rows, queries, write_lines

ROWS = python_rows(30)


def write_folder(folder: Path, *, header: bool = True, splits: tuple[str, ...] = ("train", "dev", "test")) -> Path:
    """Codes 0 to 29, of which each query seeks its own and the next one, and five more that none seeks."""
    more = [
        {"_id": f"m{number}", "text": f"def other_{number}(a, b):\n    return a * b + {number}\n"}
        for number in range(5)
    ]
    codes = [{"_id": f"c{number}", "title": "", "text": row["code"]} for number, row in enumerate(ROWS)]
    write_lines(folder / "corpus.jsonl", [*codes, *more])
    write_lines(folder / "queries.jsonl", [{"_id": f"q{n}", "text": row["query"]} for n, row in enumerate(ROWS)])
    (folder / "qrels").mkdir()
    for place, name in enumerate(splits):
        lines = ["query-id\tcorpus-id\tscore"] if header else []
        for number in range(place, 30, len(splits)):
            lines += [f"q{number}\tc{number}\t1", f"q{number}\tc{(number + 3) % 30}\t1", f"q{number}\tm1\t0"]
        (folder / "qrels" / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("header", [True, False])
def test_each_query_has_all_its_codes(tmp_path: Path, header: bool) -> None:
    data = prepared(write_folder(tmp_path / "beir", header=header), tmp_path / "data")
    assert {name: len(set(queries(data, name)) - {""}) for name in SPLITS} == {"train": 10, "valid": 10, "test": 10}
    test = queries(data, "test")
    assert len([text for text in test if text]) == 20
    paths = {data.splits["test"].text(row).path for row in range(len(test))}
    assert paths == {f"c{number}" for number in range(30)} | {f"m{number}" for number in range(5)}  # the whole corpus
    assert data.manifest["test_reading"] == {"several": True}


def test_a_test_alone_is_one(tmp_path: Path) -> None:
    data = prepared(write_folder(tmp_path / "beir", splits=("test",)), tmp_path / "data")
    assert [len(data.splits[name]) for name in SPLITS] == [0, 0, 65]


def test_what_points_nowhere_is_listed(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "beir")
    with (folder / "qrels" / "test.tsv").open("a") as file:
        file.write("q1\tnone\t1\nnone\tc1\t1\nq1 only\nq1\tc1\tmany\nq1\tc1\tnan\n\n")
    with (folder / "corpus.jsonl").open("a") as file:
        file.write('{"text": "x = 1"}\n{"_id": "e", "text": null}\n')
    data = prepared(folder, tmp_path / "data")
    left_out = {reason: number for reason, number in data.manifest["counts"]["left_out"].items() if number}
    assert left_out == {
        "no such code of corpus.jsonl": 1, "no such query of queries.jsonl": 1, "no line of qrels": 3,
        "no _id": 1, "no text": 1,
    }  # fmt: skip
    for path in (folder / "qrels").iterdir():
        path.unlink()
    with pytest.raises(ValueError, match=r"has a corpus and queries, but no qrels/\*\.tsv"):
        prepared(folder, tmp_path / "data")


def test_an_id_twice_is_that_of_the_first(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "beir")
    for name, row in (("corpus", {"_id": "c3", "text": "x = 1"}), ("queries", {"_id": "q3", "text": "another one"})):
        with (folder / f"{name}.jsonl").open("a") as file:
            file.write(f"{json.dumps(row)}\n")
    data = prepared(folder, tmp_path / "data")
    assert data.manifest["counts"]["left_out"] == {"an _id of an earlier line": 2, "same query and code": 0}
    assert {text for name in SPLITS for text in queries(data, name)} - {""} == {row["query"] for row in ROWS}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("queries", r"has corpus.jsonl, but no queries.jsonl: add it"),
        ("zeros", r"left out 3: 3 no code is sought by any line \(dev.tsv:1, test.tsv:1, train.tsv:1\)$"),
        ("zero", r"left out 1: 1 no code is sought by any line \(test.tsv:1\)"),
    ],
)
def test_what_says_nothing_is_told(tmp_path: Path, change: str, message: str) -> None:
    folder = write_folder(tmp_path / "beir")
    if change == "queries":
        (folder / "queries.jsonl").unlink()
    for name in {"zeros": ("train", "dev", "test"), "zero": ("test",)}.get(change, ()):
        path = folder / "qrels" / f"{name}.tsv"
        path.write_text(path.read_text().replace("\t1\n", "\t0\n"))
    said: list[str] = []
    try:
        prepared(folder, tmp_path / "data", said)
    except ValueError as error:
        said.append(str(error))
    assert re.search(message, said[-1])


@pytest.mark.parametrize("splits", [None, 5, "train", {"test": 1}, [["test"]]])
def test_other_columns_of_a_corpus_may_have_anything(tmp_path: Path, splits: Any) -> None:
    folder = write_folder(tmp_path / "beir")
    odd = {"text": "def odd(a, b):\n    return a - b\n", "splits": splits, "title": 7, "metadata": [1]}
    with (folder / "corpus.jsonl").open("a") as file:
        file.write(json.dumps({"_id": "odd", **odd}) + "\n")
        file.write(json.dumps({"_id": "half", **odd, "splits": None, "license": "\ud800"}) + "\n")
    data = prepared(folder, tmp_path / "data")
    paths = {data.splits["test"].text(row).path for row in range(len(data.splits["test"]))}
    assert ("odd" in paths) == (not isinstance(splits, list))
    assert data.manifest["counts"]["left_out"]["half a surrogate pair"] == 1


def test_an_export_does_not_replace_its_own_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_folder(tmp_path / "beir")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    data = [f"--data.path={folder}", f"--data.root={tmp_path / 'data'}", "--data.processes=1"]
    assert main(["export", "pairs", *data, f"--out={folder}"]) == 2
    assert "has the data that are read" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    rows = [*ROWS, {**ROWS[0], "query": "another question here"}, {**ROWS[1], "query": ROWS[0]["query"]}]
    splits = ("train", "valid", "test")
    path = write_lines(tmp_path / "a.jsonl", [{**row, "split": splits[n % 3]} for n, row in enumerate(rows)])
    first = prepared(path, tmp_path / "data")
    assert write_beir(first, tmp_path / "out") == {"codes": 30, "queries": 32, "qrels": 32}
    assert len((tmp_path / "out/qrels/train.tsv").read_text().splitlines()) == 12
    assert json.loads((tmp_path / "out/queries.jsonl").read_text().splitlines()[0]).keys() == {"_id", "text"}
    second = prepared(tmp_path / "out", tmp_path / "data")
    for name in SPLITS:
        assert sorted(queries(second, name)) == sorted(queries(first, name))
        for field in ("query", "name", "tokens", "api"):
            one, other = (
                sorted(each.splits[name].word_list(field, row) for row in range(len(each.splits[name])))
                for each in (first, second)
            )
            assert one == other
