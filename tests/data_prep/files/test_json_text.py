"""JSON that is not trusted: all that is wrong with it is a ValueError of one line."""

from dataclasses import dataclass

import pytest

from data_prep.files.json_text import checked_record, checked_words, parse_json, sorted_json


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
