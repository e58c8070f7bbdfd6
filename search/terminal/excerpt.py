"""The lines of a hit that match a question best, as they stand in its file, for a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from search.engine.preview import indentation, line_scores, word_places
from search.engine.show import body
from search.index.code_index import Index

LINES: Final = 3
"""Lines that are shown of a hit."""
_LONGEST: Final = 4000
"""Characters of a line in which a word of the question is looked for."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file."""

    number: int  # from 1
    text: str
    best: bool = False  # whether it matches best
    match: int = 0  # where in the text the first word of the question is; 0 if there is none


def unit_lines(index: Index, row: int, rarity: Mapping[str, float]) -> list[Line]:
    """Lines of a function, type or constant around the one that matches best, without its head if it has a body.

    Args:
        index: of the row.
        row: the unit.
        rarity: stem of each word of the question -> how much it says (:func:`search.engine.preview.rarities`).
    """
    text = index.text(row)
    own = text.source.split("\n")
    scores = line_scores(own, rarity, text.query_text)
    count = _body_lines(text.source, text.path)
    first = len(own) - count if count else 0
    if first == 0:
        other = next(filter(str.strip, own[1:]), "")
        own[0] = other[: indentation(text.source, text.path, index.names[row])] + own[0]
    return _around(own[first:], scores[first:], text.start_line + first, rarity)


def file_lines(lines: Sequence[str], first: int, rarity: Mapping[str, float]) -> list[Line]:
    """Lines of a file around the one that matches best; ``first``: the number of its first line, 0 if not known."""
    return _around(lines, line_scores(lines, rarity), first, rarity)


def _around(lines: Sequence[str], scores: Sequence[float], start: int, rarity: Mapping[str, float]) -> list[Line]:
    """The line that matches best, marked, and those beside it that say something."""
    shown = [place for place, line in enumerate(lines) if any(map(str.isalnum, line))]
    best = max(shown, key=lambda place: (scores[place], -place), default=-1)
    if best < 0:
        return []
    first = max(0, min(shown.index(best) - LINES // 2, len(shown) - LINES))
    return [
        Line(
            start + place if start else 0,
            lines[place].rstrip(),
            place == best and scores[best] > 0,
            next((begun for begun, _ in word_places(lines[place][:_LONGEST], rarity)), 0),
        )
        for place in shown[first : first + LINES]
    ]


def _body_lines(source: str, path: str) -> int:
    """The number of lines behind the head of a declaration; 0 if its body begins on the line of its head."""
    rest = body(source, path)
    before = source[: len(source) - len(rest)]
    return rest.count("\n") + 1 if rest.strip() and source.endswith(rest) and before.endswith("\n") else 0
