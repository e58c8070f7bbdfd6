"""What is shown of hits: JSON, whose fields docs/search.md lists, and lines in a terminal.

A hit's lines are those of its file that match best, with where they are, as wide as the terminal, in its colours.
"""

import json
import os
import shutil
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from data_prep.errors import UserError, one_line
from data_prep.files.access import named_path
from search.engine.engine import Engine
from search.engine.line_scores import line_scores, word_places
from search.engine.preview import body, indentation, signature
from search.engine.signals import Alignment, Hit
from search.index.code_index import Index, IndexedFile, text_at

_LONGEST_LICENCE: Final = 200  # characters
LEAST_WEIGHT: Final = 0.05
"""Attention below which a code word is not shown."""
LEAST_AGREEMENT: Final = 0.3
"""Cosine of a query word and what it attended to below which it is shown as not aligned."""


def as_json(
    engine: Engine,
    query: str,
    hits: Sequence[Hit],
    seconds: float,
    *,
    explain: bool,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """One JSON object: query, milliseconds, certainty, results, and what there is ``more``."""
    results = [result(engine, query, hit, explain=explain) for hit in hits]
    certainty = engine.certainty(query, hits).record
    told = {
        "query": query,
        "milliseconds": round(1000 * seconds, 2),
        "certainty": certainty,
        "results": results,
        **more,
    }
    return json.dumps(told, indent=1).replace("\x7f", "\\u007f")  # the one control character that json does not escape


def result(engine: Engine, query: str, hit: Hit, *, explain: bool) -> dict[str, Any]:
    """A hit as the JSON interfaces return it."""
    index, text, file = engine.index, engine.index.text(hit.row), engine.index.file(hit.row)
    found: dict[str, Any] = {
        "rank": hit.rank,
        "row": hit.row,
        "path": text.path,
        "start_line": text.start_line,
        "end_line": text.end_line,
        "whole_file": index.is_whole_file(hit.row),
        "name": index.names[hit.row],
        "signature": signature(text.source, text.path),
        "documentation": text.query_text,
        "source": text.source,
        "score": round(hit.score, 6),
        "bm25": round(hit.lexical, 6),
        "model": None if hit.neural is None else round(hit.neural, 6),
        "vectors": None if hit.near is None else round(hit.near, 6),
        "file": round(hit.of_file, 6),
        "stage": hit.stage,
        "license": licence_of(file),
        "url": index.url(hit.row, text),
        "copies": copies_of(index, hit),
    }
    if repository := index.repository(hit.row):
        found["repository"] = repository
    if hit.match_line:
        found["match_line"] = hit.match_line
    if explain and (alignment := aligned(engine, query, hit)):
        found["alignment"] = explained(alignment)
    return found


def copies_of(index: Index, hit: Hit) -> list[dict[str, Any]]:
    """The places of what has the same text as a hit."""
    texts = map(index.text, hit.copies)
    return [{"path": each.path, "start_line": each.start_line, "end_line": each.end_line} for each in texts]


def licence_of(file: IndexedFile) -> str:
    """The licence of a file, for display."""
    return _shown(file.licence)


@lru_cache(maxsize=256)
def _shown(licence: str) -> str:
    licence = one_line(licence)
    return licence if len(licence) <= _LONGEST_LICENCE else f"{licence[: _LONGEST_LICENCE - 1]}…"


def aligned(engine: Engine, query: str, hit: Hit) -> Alignment | None:
    """The alignment of the query's words with a hit; None without a model that aligns words."""
    asked = engine.known_to_model(query) if engine.reranker else ()
    return engine.reranker.alignment(asked, hit.row) if engine.reranker and asked else None


def explained(alignment: Alignment) -> list[dict[str, Any]]:
    """For each query word the code words that it is aligned with, strongest first, equal ones merged."""
    rows = []
    for word, weights, agreement in zip(alignment.query, alignment.weights, alignment.agreement, strict=True):
        found: dict[tuple[str, str], float] = {}
        for code, field, weight in zip(alignment.code, alignment.fields, weights.tolist(), strict=True):
            found[code, field] = found.get((code, field), 0.0) + weight
        strongest = sorted(found.items(), key=lambda each: -each[1])
        shown = [(each, weight) for each, weight in strongest if weight >= LEAST_WEIGHT]
        words = [{"word": code, "field": field, "weight": round(weight, 4)} for (code, field), weight in shown]
        agrees = float(agreement) >= LEAST_AGREEMENT
        rows.append({"word": word, "agreement": round(float(agreement), 4), "aligned": words if agrees else []})
    return rows


BOLD, DIM, GREEN, CYAN = "1", "2", "32", "36"
Paint = Callable[[str, str], str]
"""Makes a text printable, in a colour."""
_IN_A_PIPE: Final = 110
"""Cells of a line where there is no terminal."""
_LEAST: Final = 40
_MOST: Final = 160
_CUT: Final = "..."
_TAB: Final = 4


def painter() -> Paint:
    """What makes text printable, and colours it on a terminal that has colours, unless ``NO_COLOR`` is set."""
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        return lambda code, text: f"\x1b[{code}m{one_line(text)}\x1b[0m"
    return lambda _, text: one_line(text)


def line_width() -> int:
    """Cells of a line: those of the terminal, within reason, or as many as fit most."""
    if not sys.stdout.isatty():
        return _IN_A_PIPE
    return max(_LEAST, min(shutil.get_terminal_size((80, 24)).columns, _MOST))


def cells(text: str) -> int:
    """How many cells of a terminal a text takes: two for a wide character, none for one above another."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def cut(text: str, width: int, seen: int = 0) -> str:
    """A text on one line of at most ``width`` cells, printable, with tabs as spaces.

    ``seen``: where in the text something is that has to be seen: what is before it is cut then, if need be.
    """
    plain = one_line(text.replace("\t", " " * _TAB))
    if cells(plain) <= width:
        return plain
    seen += (_TAB - 1) * text.count("\t", 0, seen)
    if seen > width - 2 * len(_CUT):
        return _CUT + cut(plain[seen - width // 3 :], width - len(_CUT))
    left, end = width - len(_CUT), 0
    while end < len(plain) and (left := left - _cells_of(plain[end])) >= 0:
        end += 1
    return plain[:end].rstrip() + _CUT


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


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
