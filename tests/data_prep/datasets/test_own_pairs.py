"""Pairs of one's own in each of their forms, with what goes wrong in real ones."""

import contextlib
import logging
from pathlib import Path
from typing import Any

import pytest

from data_prep.config import DEFAULT_LANGUAGE, DataConfig
from data_prep.datasets.pairs import Pairs
from data_prep.records import SPLITS
from data_prep.sources.pair_files import PairSource, named_files
from data_prep.sources.pair_rows import read_columns
from experiments.recipes.config import resolve
from experiments.run.data import check_trainable
from tests.data_prep.datasets.own_pairs import prepared, python_rows, queries, write_lines, write_table

ROWS = python_rows(100)


def sizes(data: Any) -> dict[str, int]:
    return {name: len(data.splits[name]) for name in SPLITS}


def test_other_names_by_option_or_file(tmp_path: Path) -> None:
    rows = [{"frage": row["query"], "code": "no", "antwort": row["code"]} for row in ROWS]
    path = write_lines(tmp_path / "a.jsonl", rows)
    (tmp_path / "names.json").write_text('{"query": "frage", "code": "antwort"}')
    for text in ("query=frage,code=antwort", f"{tmp_path}/names.json"):
        rows_read = [*PairSource(named_files(str(path)), read_columns(text)).rows(print)]
        assert [(row.query, row.code) for row in rows_read] == [(row["query"], row["code"]) for row in ROWS]
    with pytest.raises(
        ValueError, match=r"has no pair .*100 no query \(a.jsonl:1, a.jsonl:2, a.jsonl:3\).*--data.columns"
    ):
        prepared(path, tmp_path)
    for bad in ("question=frage", "[]", "query=1,2"):
        (tmp_path / "bad.json").write_text("[]")
        with pytest.raises(ValueError, match=r"\w"):
            prepared(path, tmp_path, columns=bad if "=" in bad else f"{tmp_path}/bad.json")


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_no_other_column_stands_in_for_one_that_is_named(tmp_path: Path, name: str) -> None:
    write = write_table if name.endswith(".csv") else write_lines
    path = write(tmp_path / name, python_rows(9))
    with pytest.raises(ValueError, match=r"9 no query \(|lacks the columns ask"):
        prepared(path, tmp_path / "data", columns="query=ask")


def test_a_file_may_have_the_sign_of_a_split_in_its_name(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "test=a,b.jsonl", python_rows(9))
    assert [file.path for file in named_files(str(path))] == [path]
    with contextlib.chdir(tmp_path):
        assert [file.path for file in named_files(path.name)] == [path]


def test_bad_rows_are_counted_and_listed(tmp_path: Path) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    bad: list[Any] = [
        {"query": None, "code": "x = 1"},
        {"query": "a b c", "code": None},
        {"query": {"a": 1}, "code": "x = 1"},
        {"query": "???", "code": "x = 1"},
        {"query": "half of it", "code": "x = '\ud800'"},
        {"query": "too long", "code": "x" * (1 << 19)},
        {"query": "not its code", "code": "y = 1", "label": 0},
        {"query": "no such part", "code": "y = 1", "split": "holdout"},
        {"query": "no words at all", "code": "+ - * /"},
        '{"query": "cut',
        '{"query": ' + deep + "}",
        "[1, 2]",
    ]
    said: list[str] = []
    data = prepared(write_lines(tmp_path / "a.jsonl", [*ROWS, *bad]), tmp_path / "data", said)
    counts = data.manifest["counts"]
    assert (counts["rows"], counts["pairs"]) == (112, 100)
    assert counts["left_out"] == {
        "no JSON": 2, "no query": 1, "no code": 1, "the query is no text": 1, "half a surrogate pair": 1,
        "code of more than 262,144 characters": 1, "no match, by its label": 1, "unknown split": 1, "no JSON object": 1,
        "no word in the query": 1, "no word in the code": 1, "same query and code": 0,
    } | {"same query and code": 0}  # fmt: skip
    listed = {each["path"].rpartition(":")[2]: each["reason"] for each in data.manifest["broken_files"]}
    assert listed["101"] == "no query"
    assert listed["110"].startswith("no JSON")
    assert "left out 12: 2 no JSON (a.jsonl:110, a.jsonl:111), 1 no query (a.jsonl:101)" in said[-1]


def test_hostile_text_is_bounded(tmp_path: Path) -> None:
    rows = [
        *ROWS,
        {
            "query": "clear\x1b[2Jthe\x00 screen \u202e" + "word " * 50_000,
            "code": "def wipe():\n    pass\n",
            "path": "a\nb\x1b",
        },
        {"query": "many brackets here", "code": "(" * 100_000},
        {"query": "many blocks here", "code": "def f():\n" + "".join(" " * n + "if a:\n" for n in range(1, 400))},
    ]
    data = prepared(write_lines(tmp_path / "a.jsonl", rows), tmp_path / "data")
    ((split, row),) = [
        (name, row) for name in SPLITS for row, text in enumerate(queries(data, name)) if text.startswith("clear")
    ]
    text = data.splits[split].text(row)
    assert "\x1b" not in text.query_text + text.path
    assert len(text.query_text) <= 10_000
    assert len(data.splits[split].word_list("query", row)) <= 1_000
    assert sum(sizes(data).values()) >= 101


def test_the_language_is_by_row_by_option_or_recognised(tmp_path: Path) -> None:
    java = {"query": "adds all of it", "code": "public int add(int[] all) { int sum = 0; sum += all[0]; return sum; }"}
    sql = {"query": "select all names", "code": "SELECT name FROM people WHERE age > 3", "language": "SQL"}
    rows = [*ROWS, {**java, "language": "Java", "split": "test"}, {**sql, "split": "test"}]
    data = prepared(write_lines(tmp_path / "a.jsonl", rows), tmp_path / "data", language=DEFAULT_LANGUAGE)
    assert data.manifest["counts"]["languages"] == {"python": 100, "java": 1, "unknown": 1}
    test = data.splits["test"]
    assert [test.word_list("name", row) for row in range(2)] == [["add"], []]
    assert test.word_list("tokens", 1) == ["select", "name", "from", "people", "where", "age"]
    mixed = write_lines(
        tmp_path / "mixed.jsonl", [*ROWS[:30], *({**java, "query": f"{java['query']} {n}"} for n in range(30))]
    )
    recognised = prepared(mixed, tmp_path, language=DEFAULT_LANGUAGE).manifest["counts"]
    assert recognised["languages"] == {"python": 30, "java": 30}
    named = prepared(mixed, tmp_path, language="C++").manifest["counts"]
    assert named["languages"] == {"cpp": 60}
    assert named["not_parsed"] == 60


def test_splits_are_those_that_rows_say(tmp_path: Path) -> None:
    splits = ("training", "dev", "Test")
    rows = [{**row, "split": splits[number % 3]} for number, row in enumerate(ROWS[:30])]
    data = prepared(write_lines(tmp_path / "a.jsonl", rows), tmp_path / "data")
    assert sizes(data) == {"train": 10, "valid": 10, "test": 10}
    assert queries(data, "test") == [row["query"] for row in rows[2::3]]
    anew = prepared(tmp_path / "a.jsonl", tmp_path / "data", split="random")
    assert sizes(anew) == {"train": 25, "valid": 2, "test": 3}


def test_splits_of_other_names(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "a.jsonl", [{**row, "fold": number % 5} for number, row in enumerate(python_rows(40))]
    )
    with pytest.raises(ValueError, match=r"40 unknown split .*: expected train, valid, test; --data"):
        prepared(path, tmp_path / "data")
    data = prepared(path, tmp_path / "data", split="random")
    assert sum(len(data.splits[name]) for name in SPLITS) == 40


def test_groups_stay_whole(tmp_path: Path) -> None:
    rows = [{**row, "repo": f"owner/{number % 20}"} for number, row in enumerate(ROWS)]
    data = prepared(write_lines(tmp_path / "a.jsonl", rows), tmp_path / "data")
    assert data.manifest["split_by"] == "by group"
    of_query = {row["query"]: row["repo"] for row in rows}
    groups = {name: {of_query[text] for text in queries(data, name)} for name in SPLITS}
    assert all(groups.values())
    assert sum(map(len, groups.values())) == 20


def test_near_copies_stay_together(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    copies = [{"query": f"{row['query']} once more", "code": row["code"].replace("_ppp", "_qpp")} for row in ROWS]
    data = prepared(write_lines(tmp_path / "a.jsonl", [*ROWS, *copies]), tmp_path / "data")
    assert data.manifest["split_by"] == "by clusters of near-duplicates"
    parts = {name: {text.removesuffix(" once more") for text in queries(data, name)} for name in SPLITS}
    assert sum(map(len, parts.values())) == 100
    assert len(parts["test"]) * 2 == len(queries(data, "test")) > 10
    assert not caplog.text


def test_one_family_is_split_at_random_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    code = "def add_{0}(values):\n    out = []\n    for v in values:\n        out.append(v + {0})\n    return out\n"
    rows = [{"query": f"add the number {n} to all values", "code": code.format(n)} for n in range(60)]
    caplog.set_level(logging.WARNING)
    data = prepared(write_lines(tmp_path / "a.jsonl", rows), tmp_path / "data")
    assert sizes(data) == {"train": 50, "valid": 3, "test": 7}
    assert "of 60 pairs 60 are near copies of each other, so that the split is random: 10 of 10 pairs of" in caplog.text
    again = prepared(write_lines(tmp_path / "b" / "a.jsonl", rows), tmp_path / "other")
    assert queries(again, "test") == queries(data, "test")


def test_equal_rows_are_one(tmp_path: Path) -> None:
    rows = [*({**row, "split": "train"} for row in ROWS), {**ROWS[0], "split": "test"}, {**ROWS[1], "split": "test"}]
    data = prepared(write_lines(tmp_path / "a.jsonl", rows), tmp_path / "data")
    assert queries(data, "test") == [ROWS[0]["query"], ROWS[1]["query"]]
    assert data.manifest["counts"]["left_out"] == {"same query and code": 2}


def test_a_docstring_that_is_the_query_is_not_in_the_code(tmp_path: Path) -> None:
    code = 'def take(values):\n    """Takes the last of the values. Always."""\n    return values[-1]\n'
    asked = [{"query": "Takes the last of the values.", "code": code}, {"query": "python last item", "code": code}]
    data = prepared(write_lines(tmp_path / "test.jsonl", asked), tmp_path / "data")
    sources = [data.splits["test"].text(row).source for row in range(2)]
    assert [("Takes the last" in source) for source in sources] == [False, True]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "x", "has no known form"),
        ("a.jsonl", "", r"a.jsonl has no row$"),
        ("a.csv", "query,code\n", r"a.csv has no row$"),
        ("a.csv", "a,b\n1,2\n", "has no pair of a query and a code.*no query"),
        ("a.json", "{", "no JSON"),
        ("a.json", '[{"query": "a", "code": "x", "label": "Chart"}]', r"1 unknown label .*--data.columns=label= says"),
        ("a.parquet", "PAR1", "damaged|needs pyarrow|cannot be read"),
    ],
)
def test_what_is_no_pairs_is_one_line(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message) as caught:
        prepared(tmp_path / name, tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "columns", "message"),
    [
        ("a.jsonl", '{"frage": "a", "antwort": "b"}\n', "", r"a row has frage, antwort: name yours by --data"),
        ("a.json", '{"data": [{"query": "a", "code": "b"}]}', "", r"a row has data: name yours"),
        ("a.csv", "frage;antwort\na;b\n", "", r"a row has frage;antwort: name yours"),
        ("a.csv", f"{'read a line ' * 90},b\nc,d\n", "", r"a row has (read a line ){5}\.\.\., b: name yours"),
        ("a.jsonl", '{"query": "a", "code": "b"}\n', "query=ask", r"a row has query, code: name yours"),
        ("a.csv", "query,code\na,b\n", "query=ask", r"a\.csv lacks the columns ask: it has query, code$"),
        ("a.csv", "query,code\na,b\n", "query:ask", r"--data\.columns takes FIELD=COLUMN,\.\.\. or a JSON file"),
    ],
)
def test_the_columns_that_a_file_has_are_named(
    tmp_path: Path, name: str, content: str, columns: str, message: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message) as caught:
        prepared(tmp_path / name, tmp_path, columns=columns)
    assert len(str(caught.value)) < 500


def test_what_was_left_out_is_said_where_too_few_pairs_are_left(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [ROWS[0], ROWS[0], {"query": None, "code": "x = 1"}])
    with pytest.raises(ValueError, match=r"take three pairs or more, of which there are 1; left out 2: 1 no query"):
        prepared(path, tmp_path / "data")


def test_too_few_pairs_for_training_are_told(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", ROWS[:3])
    with pytest.raises(ValueError, match=r"^training takes 2 pairs or more, of which there are 1: provide more data$"):
        check_trainable(resolve("pairs", "unif", {"data.path": str(path)}), prepared(path, tmp_path / "data"))


def test_columns_without_texts_are_named(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs requirements-parquet.txt")
    import pyarrow as pa

    parquet.write_table(pa.table({"ask": ["a"], "code": [{"x": 1}], "n": [1]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"1 no query \(a.parquet:1\).*--data.columns="):
        prepared(tmp_path / "a.parquet", tmp_path)


def test_what_is_missing_is_one_line(tmp_path: Path) -> None:
    for path, message in (("", "needs --data.path="), (f"{tmp_path}/none.jsonl", "has no file of pairs")):
        with pytest.raises(ValueError, match=message):
            Pairs(DataConfig(path=path))
