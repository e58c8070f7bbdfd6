"""Each origin's files to pairs, by hand-made rows of its form."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from data_prep.gencodesearchnet.records import Example, example, write_raw
from data_prep.gencodesearchnet.subsets import FORMS, INSIDE, read_pairs

COSQA = {
    "idx": "1",
    "doc": "python sum",
    "code": 'def f(): "doc"',
    "code_tokens": "def f ( )",
    "docstring_tokens": "doc",
}


def write(path: Path, *rows: Any) -> Path:
    text = json.dumps(rows) if path.suffix == ".json" else "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", FORMS)
def test_every_form_tells_a_bad_row(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "rows.jsonl", {"query": 1, "docstring_tokens": 1, "input": 1, "other": 1})
    with pytest.raises(ValueError, match=r"rows.jsonl:1: expected .*, not 1|rows.jsonl:1: expected the field"):
        read_pairs(name, path)


def test_an_unknown_form_is_told_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no origin 'cosqu'; there are raw, csn, advtest"):
        read_pairs("cosqu", Path("none"))


def test_raw_is_the_published_form(tmp_path: Path) -> None:
    write_raw(tmp_path / "raw.jsonl", [example("a", "b")])
    assert read_pairs("raw", tmp_path / "raw.jsonl").examples == (example("a", "b"),)


def test_codesearchnet_in_both_its_forms(tmp_path: Path) -> None:
    archive = {
        "docstring": "Sum it.",
        "code": "f ()",
        "docstring_tokens": ["Sum", "it", "."],
        "code_tokens": ["f", "()"],
    }
    later = {
        "func_documentation_tokens": ["Größe", "[CODESPLIT]"],
        "func_code_tokens": ["g", "\n", "}"],
        "split_name": "test",
    }
    rows = (archive, archive | {"partition": "train"}, later, later | {"func_documentation_tokens": []})
    found = read_pairs("csn", write(tmp_path / "ruby_test_0.jsonl.gz", *rows))
    assert found.examples == (Example("Sum it . ", " f ()"), Example(" ", " g \n }"))
    assert found.dropped == {"not of the test split": 1, INSIDE: 1}


def test_advtest_has_another_field_in_its_test_than_in_its_training(tmp_path: Path) -> None:
    train = {"idx": 0, "docstring_tokens": ["Sum", "."], "code": "def f", "code_tokens": ["def", "f"]}
    test = {"idx": 1, "docstring_tokens": ["Add", "."], "function": "def Func", "function_tokens": ["def", "Func"]}
    found = read_pairs("advtest", write(tmp_path / "test.jsonl", train, test))
    assert found.examples == (example("Sum .", "def f"), example("Add .", "def Func"))


def test_advtest_is_made_anew_from_documented_functions(tmp_path: Path) -> None:
    good = {
        "docstring": "Sum of a list.",
        "docstring_tokens": ["Sum", "of", "a", "list", "."],
        "code": 'def total(xs, start=0):\n    """Sum of a list."""\n'
        "    for x in xs:  # each\n        start += x\n    return start",
    }
    bad = (
        good | {"docstring_tokens": ["Sum", "it"]},
        good | {"docstring_tokens": ["word"] * 257},
        good | {"docstring": "See http://example.org for it."},
        good | {"docstring": 'Shows <IMG src="a.png"> here.'},
        good | {"docstring": "Größe einer Liste."},
        good | {"code": "def f(:"},
        good | {"code": "x = 1"},
    )
    edges = (good | {"docstring_tokens": ["word"] * 3}, good | {"docstring_tokens": ["word"] * 256})
    found = read_pairs("advtest_rebuilt", write(tmp_path / "python.jsonl", good, *bad, *edges))
    code = "def Func ( arg_0 , arg_1 = 0 ) : for arg_2 in arg_0 : # each arg_1 += arg_2 return arg_1"
    assert found.examples[0] == example("Sum of a list .", code)
    assert len(found.examples) == 3
    assert found.dropped == {
        "documentation under 3 words": 1,
        "documentation over 256 words": 1,
        "documentation with an image or a link": 2,
        "non-English documentation": 1,
        "code that does not parse": 1,
        "no single function": 1,
    }


def test_cosqa_as_it_is_meant_and_as_it_was_released(tmp_path: Path) -> None:
    match, other = COSQA | {"label": 1}, COSQA | {"label": 0, "doc": "python mean", "docstring_tokens": "Other ."}
    path = write(tmp_path / "cosqa-train.json", match, other, match)
    fixed, released = read_pairs("cosqa_fixed", path), read_pairs("cosqa_released", path)
    assert fixed.examples == (example("python sum", "def f ( )"),) * 2
    assert fixed.dropped == {"no match (label 0)": 1}
    assert released.examples == (example("Other .", "def f ( )"),)
    assert released.dropped == {"a match (label 1)": 2}


def test_cosqa_in_the_shared_rows(tmp_path: Path) -> None:
    row = {"query": "python sum", "docstring": "Sum it .", "code": "def f():", "code_tokens": "def f ( ) :"}
    path = write(tmp_path / "rows.jsonl.gz", row | {"label": 1}, row | {"label": 0}, row)
    assert read_pairs("cosqa_fixed", path).examples == (example("python sum", "def f ( ) :"),) * 2
    path = write(tmp_path / "released.jsonl.gz", {"row": 0, "query": "", "code": "def f ( ) :"}, row | {"label": 0})
    assert read_pairs("cosqa_released", path).examples == (
        example("", "def f ( ) :"),
        example("Sum it .", "def f ( ) :"),
    )


@pytest.mark.parametrize("label", ["maybe", None, "", [1], float("nan")])
def test_a_label_that_says_nothing_is_counted(tmp_path: Path, label: Any) -> None:
    rows = [COSQA | {"label": each} for each in (label, 1, "0")]
    path = write(tmp_path / "some.jsonl", *rows)
    assert read_pairs("cosqa_fixed", path).dropped == {"unknown label": 1, "no match (label 0)": 1}
    assert read_pairs("cosqa_released", path).dropped == {"unknown label": 1, "a match (label 1)": 1}
    path = write(tmp_path / "rows.jsonl", rows[0])
    for form in ("cosqa_fixed", "cosqa_released"):
        with pytest.raises(ValueError, match=r"rows.jsonl:1: expected 0 or 1 in 'label', not"):
            read_pairs(form, path)


def test_statcodesearch_in_its_three_forms(tmp_path: Path) -> None:
    rows = (("Plot, once", 'plot("x")\nlines(y)'), ("  Größe ", "summary(m)"))
    table = tmp_path / "final.csv"
    with table.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Idx", "Comment", "Code", "License", "Label"])
        writer.writerows([["1 a.R 1", *row, "MIT", "Visualization"] for row in rows])
    array = write(tmp_path / "final.json", *({"ID": 1, "Comment": text, "Code": code} for text, code in rows))
    lines = write(tmp_path / "final.jsonl", *({"id": 1, "query": text, "code": code} for text, code in rows))
    expected = tuple(example(*row) for row in rows)
    for path in (table, array, lines):
        assert read_pairs("statcodesearch", path).examples == expected


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (
            "rows.csv",
            b"Comment,Label\nplot,x\n",
            "rows.csv:2: expected the field 'Code' or 'code', but the row has Com",
        ),
        (
            "rows.csv",
            b"Comment,Code\nplot\n",
            "rows.csv:2 is no CSV row: it has another number of columns than the first, 1 instead of 2",
        ),
        ("rows.csv", b'Comment,Code\n"open,c\n', "rows.csv:2 is no CSV: unexpected end of data"),
        ("rows.csv", b"Comment,Code\na,\xe4\n", "rows.csv:2 is no text: it has bytes that are no UTF-8"),
        ("rows.json", b'{"Comment": "a"}', "rows.json is no JSON array, but {'Comment': 'a'}"),
        ("rows.json", b"[3, 4]", "rows.json:1 is no JSON object: 3"),
        ("rows.json", b'[{"Comment": "a"}]', "rows.json, element 1: expected the field 'Code' or 'code'"),
        ("rows.json", b'[{"Comment": "a"', "rows.json is no JSON: "),
        ("rows.jsonl", b'{"Comment": "a", "Code": ["b", 1]}', "rows.jsonl:1: expected a text or a list of tokens in"),
    ],
)
def test_damaged_files_are_told_in_a_line(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=name) as error:
        read_pairs("statcodesearch", tmp_path / name)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("rows.csv", b'Comment,Code\na,b\n\nc\n"d" e,f\ng,\xe4\nh,\0\ni,"j\nk"\nlast,"l\n'),
        ("rows.jsonl", b'{"Comment": "a", "Code": "b"}\n\n{"Comment": \n{"Comment": "i", "Code": "j\\nk"}\n3\n'),
        ("rows.json", b'[{"Comment": "a", "Code": "b"}, 3, {"Comment": "i", "Code": "j\\nk"}, null]'),
        (
            "rows.jsonl",
            b'{"Comment": "a", "Code": "b"}\n{"Comment": "\\ud800", "Code": "b"}\n{"Code":"j\\nk","Comment":"i"}',
        ),
    ],
)
def test_broken_rows_are_left_out_and_counted(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    found = read_pairs("statcodesearch", tmp_path / name)
    assert found.examples == (example("a", "b"), example("i", "j\nk"))
    assert found.dropped.total() == {"rows.csv": 6, "rows.json": 2}.get(name, 3 if b"ud800" not in data else 1)


def test_pairs_of_any_origin(tmp_path: Path) -> None:
    rows = (
        {"query": ["a", "b"], "tokens": ["c", "d"]},
        {"query": "a\nb", "code": "c"},
        {"query": "[CODESPLIT]", "code": ""},
    )
    found = read_pairs("pairs", write(tmp_path / "rows.jsonl", *rows))
    assert found.examples == (example("a b", "c d"), example("a\nb", "c"))
    assert found.dropped == {INSIDE: 1}
