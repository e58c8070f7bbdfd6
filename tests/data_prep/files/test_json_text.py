"""JSON and JSON Lines that are not trusted: all that is wrong is a ValueError of one line, with its file."""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from data_prep.files import json_text as module
from data_prep.files.json_text import checked_record, checked_words, json_lines, parse_json, sorted_json


@pytest.mark.parametrize("text", ["", "{", b"\xff", "[" * 100_000, '{"a":' * 100_000, "1" * 10_000, "nul", '"\n"'])
def test_what_is_no_json_is_one_line(text):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - of several kinds
        parse_json(text)
    assert "\n" not in str(error.value)


def test_what_is_json_is_read():
    assert parse_json(b'{"a": [1, 2.5, "\xc3\xb6", null, true]}') == {"a": [1, 2.5, "ö", None, True]}


def test_what_is_nested_too_deep_to_be_written_is_an_error_too():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="too deep"):
        sorted_json(deep)
    while deep:  # else they are freed one inside the other
        deep = deep[0]
    assert sorted_json({"b": 1, "a": 2}) == b'{"a": 2, "b": 1}'


def test_words_are_texts():
    assert checked_words(["a", ""]) == ["a", ""]
    for content in ("abc", {"a": 1}, None, ["a", 1], [["a"]], [None]):
        with pytest.raises(ValueError, match="expected a list of words"):
            checked_words(content)


@dataclass(frozen=True)
class Place:
    path: str
    line: int
    known: bool = False


def test_a_record_has_its_fields_and_their_types():
    assert checked_record(Place, {"path": "a", "line": 3}) == Place("a", 3)
    assert checked_record(Place, {"path": "a", "line": 3, "known": True}) == Place("a", 3, known=True)


@pytest.mark.parametrize(
    "content",
    [
        *({"path": "a"}, {"path": "a", "line": "3"}, {"path": "a", "line": True}, {"path": "a", "line": 3.0}),
        *(
            {"path": "a", "line": 3, "known": 1},
            {"path": "a", "line": 3, "other": 1},
            [],
            None,
            "path",
            ["path", "line"],
        ),
    ],
    ids=str,
)
def test_a_record_that_is_none_is_one_line(content):
    with pytest.raises(ValueError, match=r"expected path, line, known|cannot be") as error:
        checked_record(Place, content)
    assert "\n" not in str(error.value)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl.gz"


def test_lines_have_their_numbers(path: Path) -> None:
    rows = [{"id": number, "text": "größe \u2028"} for number in range(3)]
    path.write_bytes(gzip.compress("\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()))
    assert list(json_lines(path)) == [(1, rows[0]), (2, rows[1]), (3, rows[2])]
    path.write_bytes(gzip.compress(b""))
    assert list(json_lines(path)) == []


def test_plain_and_compressed_files_read_the_same(tmp_path: Path) -> None:
    rows = [{"id": number, "text": "größe \u2028\r"} for number in range(3)]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    plain, misnamed, windows = (tmp_path / name for name in ("rows.jsonl", "packed.jsonl", "windows.jsonl"))
    plain.write_bytes(lines.removesuffix(b"\n"))
    misnamed.write_bytes(gzip.compress(lines))
    windows.write_bytes(lines.replace(b"\n", b"\r\n"))
    for path in (plain, misnamed, windows):
        assert list(json_lines(path)) == list(enumerate(rows, 1))
    plain.write_bytes(b"")
    assert list(json_lines(plain)) == []


@pytest.mark.parametrize("name", ["rows.jsonl.gz", "rows.jsonl"])
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "is no JSON: "),
        (b'{"a": "\0"}', "is no JSON: "),
        (b'{"a": "\xff"}', r"is no JSON: it is no UTF-8 at byte 8: save the file as UTF-8$"),
        (b"[" * 200_000, "is no JSON: "),
        (b"[1, 2]", r"is no JSON object: \[1, 2\]$"),
        (b'["' + b"a" * 99 + b'"]', r'is no JSON object: \["a{38}\.\.\.$'),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, name: str, line: bytes, reason: str) -> None:
    path = tmp_path / name
    data = b'{"a": 1}\n' + line + b"\n{}\n"
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    with pytest.raises(ValueError, match=reason) as error:
        list(json_lines(path))
    assert str(error.value).startswith(f"{path}:2 ")
    assert "\n" not in str(error.value)


def test_damage_is_told_with_the_last_good_line(path: Path) -> None:
    whole = gzip.compress(b"".join(b'{"a": %d}\n' % number for number in range(9)), mtime=0)
    flipped = bytearray(whole)
    flipped[-6] ^= 1  # of the checksum
    for data in (whole[:-9], bytes(flipped), b"no gzip at all", whole[:10] + b"\xff" * 8):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=rf"{path} is damaged after line \d \(.+\): get it again"):
            list(json_lines(path))


def test_what_unpacks_to_far_too_much_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RATIO_FROM", 1 << 16)
    path.write_bytes(gzip.compress(b"{}\n" * 200_000))
    with pytest.raises(ValueError, match=rf"{path}:\d+ is refused"):
        list(json_lines(path))
    monkeypatch.setattr(module, "_LONGEST_LINE", 1 << 10)
    path.write_bytes(gzip.compress(b"{}\n" + b" " * 5_000))
    with pytest.raises(ValueError, match=rf"{path}:2 is refused"):
        list(json_lines(path))


def test_a_plain_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LONGEST_LINE", 1 << 10)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{}\n" + b" " * 5_000)
    with pytest.raises(ValueError, match=rf"{path}:2 is refused: no line has 1,024 bytes or more"):
        list(json_lines(path))
