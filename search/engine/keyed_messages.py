"""Messages with a key by which code names them, in a table of code or in a catalogue: what uses the key prints it.

A table has entries such as ``{ E_OPEN: "cannot open %s" }``, ``{ E_OPEN, "cannot open %s" }`` and
``"open.failed" => "cannot open %s"``, however many a line has. Of several keys on a line it is the one directly before
the message. A catalogue is a file such as ``messages.properties`` or ``en.json``.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Final

from data_prep.languages.language import words
from search.files.words import path_stems, stem_of, stems_of
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


_OF_FORMS: Final = (
    "value preserve space xml string name data msgstr msgid plural item quantity source target type text id"
)
_FORMAT: Final = frozenset(map(stem_of, words(_OF_FORMS)))
"""What the form of a catalogue has around a key."""
_LONGEST: Final = 16
"""Words of a key, or of a text that is one."""
_ABOVE: Final = 100
"""Lines above a message that may have the keys around it."""
_OF_KEY: Final = 4
"""Words of such a line, at most."""
_APART: Final = (".po", ".resx", ".xlf")
"""The ends of catalogues that have a key in a line of its own, one or _LINES_BEFORE lines above its message."""
_LINES_BEFORE: Final = 2
_PARTS: Final = frozenset(map(stem_of, words("problem resolution summary message title detail description text label")))
"""Keys of what an entry has, which is called by the key above it."""
_INNER: Final = frozenset(map(stem_of, words("state string en localizations variations plural one other")))
"""How lines between a key and its message begin in ``.xcstrings``; in Android's plurals by ``item``."""


def keyed(index: Index, file: int, line: int, naming: Callable[[Sequence[str]], list[int]]) -> list[int]:
    """The rows that have the key of a message.

    Args:
        index: of the rows.
        file: the catalogue.
        line: of the message.
        naming: gives the rows that have some stems one after the other; none if these are many.
    """
    found: dict[int, list[str]] = {}
    for number, stem in sorted(index.whole.words_of(file).items()):
        found.setdefault(index.whole.line(file, 2 * number), []).append(stem)
    path, written = index.files[file].path, found.get(line, [])
    own = _bare(written)[:_LONGEST]
    for length in range(len(own), 1, -1):
        if rows := naming(own[:length]):
            return rows
    above = [found[each] for each in range(line - 1, max(0, line - _ABOVE), -1) if each in found]
    between = _INNER if path.endswith(".xcstrings") else frozenset({"item"} & {*written[:1]})
    above = [*dropwhile(lambda key: key[0] in between, above)]
    for key in above[: 1 if between else _LINES_BEFORE] if between or path.endswith(_APART) else ():
        if rows := naming(_bare(_bare(key)[::-1])[::-1]):
            return rows
    heads = [*(key for key in above if len(key) <= _OF_KEY), path_stems(path)[0]]
    if rows := next(filter(None, (naming([*key, *own[:1]]) for key in heads)), []):
        return rows
    is_part = not _PARTS.isdisjoint(own[:1])
    return next(filter(None, (naming(key) for key in heads[:1] if len(key) > 1)), []) if is_part else naming(own[:1])


def _bare(key: Sequence[str]) -> list[str]:
    return [*dropwhile(_FORMAT.__contains__, key)]
