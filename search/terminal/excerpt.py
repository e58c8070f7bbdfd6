"""Where hits are, as paths that open from the current folder, and the lines of their files that match best."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.access import named_path
from search.engine.line_scores import line_scores, word_places
from search.engine.preview import body, indentation
from search.index.code_index import Index, text_at

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
        rarity: stem of each word of the question -> how much it says (:func:`search.engine.line_scores.rarities`).
    """
    text = index.text(row)
    own = text.source.split("\n")
    scores = line_scores(text.source, rarity, text.query_text)
    count = _body_lines(text.source, text.path)
    first = len(own) - count if count else 0
    if first == 0:
        other = next(filter(str.strip, own[1:]), "")
        own[0] = other[: indentation(text.source, text.path, index.names[row])] + own[0]
    return _around(own[first:], scores[first:], text.start_line + first, rarity)


def file_lines(lines: Sequence[str], first: int, rarity: Mapping[str, float], matched: int = 0) -> list[Line]:
    """Lines of a file around the one that matches best.

    Args:
        lines: of the file.
        first: the number of its first line; 0: not known.
        rarity: as of :func:`unit_lines`.
        matched: the number of the line that is the best whatever the question is; 0: none.
    """
    scores = line_scores("\n".join(lines), rarity)
    if 0 < matched <= len(lines):
        scores[matched - 1] = 1.0 + max(scores)
    return _around(lines, scores, first, rarity)


def _around(lines: Sequence[str], scores: Sequence[float], start: int, rarity: Mapping[str, float]) -> list[Line]:
    """The line that matches best, marked, and those beside it that say something."""
    sure = max(scores, default=0.0)
    shown = [place for place, line in enumerate(lines) if any(map(str.isalnum, line)) or scores[place] == sure > 0]
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


class Places:
    """The files of an index, seen from the current folder."""

    def __init__(self, index: Index, root: Path | None) -> None:
        """``root``: the indexed folder; None: not known, so that paths are those inside of it."""
        self._index, self._root = index, root

    def path(self, row: int) -> str:
        """The path of the file of a row."""
        root, file = self._index.source(self._index.file_number(row), self._root)
        return from_here(root / file.path) if root else file.path

    def text(self, row: int) -> str:
        """The text of the file of a row, if it is still the one that was indexed; else ""."""
        return text_at(self._index, self._index.file_number(row), self._root)


def from_here(path: Path) -> str:
    """An absolute path as it is shortest from the current folder: relative, or else absolute."""
    whole = str(path)
    try:
        relative = os.path.relpath(whole, named_path("."))
    except UserError:  # the current folder was deleted
        return whole
    return relative if not relative.startswith("../") or len(relative) < len(whole) else whole
