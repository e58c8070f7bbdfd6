"""Raw records: a round trip that keeps every sign, and every fault named with its line."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from data_prep.files.text_rows import BLANK
from data_prep.gencodesearchnet.records import (
    HALF,
    MANY_SEPARATORS,
    NO_SEPARATOR,
    OPTIONS,
    Example,
    example,
    line_of,
    read_raw,
    write_raw,
)

PAIRS = (
    example("plot α", "plot(x)"),
    Example("  two  lines\n", "\tf(\u2028)"),
    example("", "x <- 1"),
    Example("", ""),
    example("plot α", "plot(x)"),
)


def record(**changed: Any) -> str:
    return json.dumps({"input": "a [CODESPLIT] b", "target": 1, "target_options": list(OPTIONS)} | changed)


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_a_line_is_the_published_form() -> None:
    line = '{"input": "größe [CODESPLIT] f()", "target": 1, "target_options": ["no_match", "match"]}'
    assert line_of(example("größe", "f()")) == line
    assert json.loads(line_of(example("a", "b"), target=0))["target"] == 0


@pytest.mark.parametrize("name", ["raw.jsonl", "raw.jsonl.gz"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_raw(path, PAIRS)
    raw = read_raw(path)
    assert raw.examples == PAIRS
    assert not raw.dropped
    first = path.read_bytes()
    assert first.startswith(b"\x1f\x8b") == name.endswith(".gz")
    write_raw(path, PAIRS)
    assert path.read_bytes() == first
    assert list(tmp_path.iterdir()) == [path]


def test_a_pair_that_is_no_text_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        write_raw(tmp_path / "raw.jsonl", [example("\ud800", "c")])
    assert not list(tmp_path.iterdir())


def test_records_that_do_not_split_in_two_are_counted(tmp_path: Path) -> None:
    texts = ("none", "", "a[CODESPLIT]b", "a[CODESPLIT]b[CODESPLIT]", "[codesplit]", "[CODESPLIT]" * 3, " [CODESPLIT] ")
    raw = read_raw(write(tmp_path / "raw.jsonl", *(record(input=text) for text in texts)))
    assert raw.examples == (Example("a", "b"), Example(" ", " "))
    assert raw.dropped == {NO_SEPARATOR: 3, MANY_SEPARATORS: 2}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (record(input=["a"]), "expected a text in 'input', not ['a']"),
        (record(input=None), "expected a text in 'input', not None"),
        (record(target=2), "expected a place in ['no_match', 'match'] in 'target', not 2"),
        (record(target=-1), "in 'target', not -1"),
        (record(target=True), "in 'target', not True"),
        (record(target="1"), "in 'target', not '1'"),
        (record(target=0), "the target is 'no_match', but a raw file contains pairs that are a 'match': give the raw"),
        (record(target_options="match"), "expected a list of texts in 'target_options', not 'match'"),
        (record(target_options=[1, "match"]), "expected a list of texts in 'target_options', not [1, 'match']"),
        (record(target_options=[]), "expected a place in [] in 'target', not 1"),
        ("{}", "expected a text in 'input', not None"),
    ],
)
def test_what_is_no_raw_record_is_named_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "raw.jsonl", record(), line, record())
    with pytest.raises(ValueError, match=r"raw.jsonl:2") as error:
        read_raw(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_place_of_a_match_is_that_of_the_options(tmp_path: Path) -> None:
    path = write(tmp_path / "raw.jsonl", record(target=0, target_options=["match", "no_match"]))
    assert read_raw(path).examples == (example("a", "b"),)


def test_broken_lines_are_left_out_and_counted_and_damage_is_named(tmp_path: Path) -> None:
    path = tmp_path / "raw.jsonl"
    good, half = record().encode(), record(input="\ud83d [CODESPLIT] b").encode()
    path.write_bytes(b"\n".join([good, b"", good.replace(b"a", b"\xe4", 1), good[:-1], half, b"[]", b"\0\0", good]))
    raw = read_raw(path)
    assert len(raw.examples) == 2
    assert raw.dropped == {BLANK: 2, "no JSON": 2, "no JSON object": 1, HALF: 1}
    path.write_bytes(good[:-1])
    with pytest.raises(ValueError, match=r"raw.jsonl:1 is no JSON: "):
        read_raw(path)
    path = tmp_path / "raw.jsonl.gz"
    path.write_bytes(gzip.compress(record().encode() * 99)[:-8])
    with pytest.raises(ValueError, match=r"raw.jsonl.gz is damaged after line"):
        read_raw(path)
