"""A message that stands in a table, beside a key by which code names it: what uses the key prints the message.

``{ E_OPEN: "cannot open %s" }``, ``{ E_OPEN, "cannot open %s" }``, ``"open.failed" => "cannot open %s"``, however many
entries a line has. Of several keys on a line it is the one directly before the message.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from search.files.words import stems_of
from search.index.code_index import UNIT_KINDS, Index

_USED: Final = 1.5
"""What a function weighs that names a message by its key, over the table."""
_BESIDE: Final = 0.8
"""The same where the table is in a function, which may be what prints the message."""
_BEFORE: Final = 300
"""Characters before a message in which its key is."""
_QUOTES: Final = 3
"""Quotes before a word of a message that may open it."""
_PLACES: Final = 8
"""Places of a line that are looked at."""
_WORD: Final = re.compile(r"[^\W_]+")
_QUOTE: Final = re.compile(r"(?<!\\)[\"'`]")
_ADDING: Final = "put|set|add|insert|emplace|entry|Entry|of|pair|make_pair|register|define"
_KEY: Final = re.compile(
    rf"(?:(?<![\w.)\]])[({{\[]|(?<=[,;|{{])|(?:\b(?:{_ADDING})|[A-Z])\(|^|\n|\|)\s*"
    r"(?:\[\s*)?(?P<quote>[\"'`]?)(?P<key>[A-Za-z_][\w.:$-]*)(?P=quote)(?:\.to_string\(\)|\.into\(\))?(?:\s*\])?"
    r"\s*(?::|=>|,|->|=|\bto\b)\s*[A-Za-z_]{0,4}\(?\s*(?:[frbuLR@$]{0,2})\Z"
)
"""A key and what is between it and the quote of its message."""
_GIVEN: Final = re.compile(
    r"(?<![\w@#])(?<!new )(?P<name>[A-Za-z_$][\w$]*)[\"'`\])]?\s*(?::\s*[\w.<>?]+\s*=|:?=|=>|->|[:,(]|\bto\b)\s*"
    r"(?:\w[\w.]*\()?\s*[A-Za-z@$]{0,3}\Z"
)
"""A name and what is between it and the quote of what it is given."""
_LIST: Final = """
message msg text description desc error err title detail details reason label help name value code default format what
summary hint body cause en
"""
_FIELDS: Final = frozenset(_LIST.split())
"""Names of what a message is of a record, which say nothing about which it is."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of a question in their order, in the text of a file."""

    share: float
    weight: float
    file: int
    first: int  # place of the first word (search/files/words.py)
    last: int
    commented: bool  # whether the first or the last word is in a comment


def of_entry(
    index: Index, message: Passage, row: int, weight: float, naming: Callable[[Sequence[str]], list[int]]
) -> dict[int, float]:
    """The row of a table that has a message, and the functions that use its key, with what they weigh.

    Args:
        index: of the rows.
        message: the passage that has it.
        row: that it is in; -1: none.
        weight: of the row.
        naming: gives the functions that have some stems one after the other; none if these are many.

    Returns:
        Nothing if it is no entry of a table, or nothing uses its key.
    """
    key = _key(index, message, row) if row >= 0 else ""
    in_function = row >= 0 and UNIT_KINDS[index.kinds[row]] not in ("file", "constant", "type")
    run = [*stems_of(key.replace(".", "_").replace("-", "_").replace(":", "_"))]
    if (
        not run
        or key.lower() in _FIELDS
        or key == index.names[row].rpartition(".")[2]
        or (in_function and len(run) < 2)
    ):
        return {}
    written = re.compile(rf"(?<![\w.$-]){re.escape(key)}(?![\w$-])|(?<=\.){re.escape(key)}(?![\w$-])")
    rows = [each for each in naming(run) if each != row and written.search(index.text(each).source)]
    return {row: weight, **dict.fromkeys(rows, weight * (_BESIDE if in_function else _USED))} if rows else {}


def is_given(index: Index, message: Passage, row: int) -> bool:
    """Whether a name stands before a message, which it is given: ``GONE = "..."``, ``Gone("...")``, ``gone: "..."``.

    So may one be of which the index has no text.
    """
    nearest = {quote: before for before, quote in [*_before(index, message, row)][::-1]}  # of each kind of quotes
    named = (found["name"].lower() for found in map(_GIVEN.search, nearest.values()) if found)
    return not nearest or any(name not in _FIELDS for name in named)


def _key(index: Index, message: Passage, row: int) -> str:
    """The key directly before a message, as it is written; "": none."""
    found = filter(None, (_KEY.search(before) for before, _ in _before(index, message, row)))
    return next((each["key"] for each in found), "")


def _before(index: Index, message: Passage, row: int) -> Iterator[tuple[str, str]]:
    """What stands before each quote that may open a message, and that quote, the nearest first."""
    text, whole = index.text(row), index.whole
    number = whole.line(message.file, message.first) - text.start_line
    lines = text.source.split("\n")
    if not 0 <= number < len(lines):
        return
    known = whole.words_of(message.file)
    wanted = [known.get(message.first // 2 + step) for step in (0, 1)]
    above = "\n".join(lines[max(0, number - 2) : number])
    for place in _places(lines[number], wanted):
        before = f"{above}\n{lines[number][:place]}"[-_BEFORE:]
        yield from ((before[: quote.start()], quote[0]) for quote in [*_QUOTE.finditer(before)][: -_QUOTES - 1 : -1])


def _places(line: str, wanted: Sequence[str | None]) -> list[int]:
    """Where a line has the first of two stems, first of all before the other one: the key may have both too."""
    found = [(stem, each.start()) for each in _WORD.finditer(line) for stem in stems_of(each[0])]
    following = [*(stem for stem, _ in found[1:]), None]
    both = [start for (stem, start), then in zip(found, following, strict=False) if [stem, then] == [*wanted]]
    return [*both, *(start for stem, start in found if stem == wanted[0] and start not in both)][:_PLACES]
