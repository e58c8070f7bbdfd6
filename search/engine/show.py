"""Hits as JSON, whose fields docs/search.md lists, and for a page or an editor the lines that show one at a glance.

These are around the line with most of a question's rare words.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from data_prep.errors import one_line
from search.engine.engine import Engine
from search.engine.line_scores import places_of, read_text, word_places
from search.engine.preview import READ, indentation, signature
from search.engine.signals import Alignment, Hit
from search.index.code_index import Index, IndexedFile

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


def place_record(index: Index, row: int) -> dict[str, Any]:
    """Where a row is, and its declaration, as JSON."""
    text = index.text(row)
    place = {"path": text.path, "start_line": text.start_line, "end_line": text.end_line, "name": index.names[row]}
    return place | {"signature": signature(text.source, text.path)}


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


LINES: Final = 6
"""Lines of a preview, at most."""
_BEFORE: Final = 2
"""Lines before the best one."""
_LONGEST: Final = 240
"""Characters of a line that are shown."""


@dataclass(frozen=True, slots=True)
class Preview:
    """Some lines of a source, which stand as in its file but for what all of it is indented by."""

    start_line: int
    """The file's line that the first of them is."""
    best_line: int
    """The one with most of the question's rare words."""
    lines: Sequence[str]
    places: Sequence[int]
    """Where each of them begins in the source, behind what is left out of its indentation; () if not wanted."""
    indent: int
    """What all of the source is indented by (:func:`indentation`)."""
    text: str
    """The lines as one text."""
    words: Sequence[tuple[int, int]]
    """Start and end in it of each word that has one of the question's."""

    @property
    def end_line(self) -> int:
        """The file's line that the last of them is."""
        return self.start_line + len(self.lines) - 1


def preview(
    source: str,
    start_line: int,
    rarity: Mapping[str, float],
    *,
    path: str,
    name: str = "",
    sentence: str = "",
    most: int = LINES,
    matched: int = 0,
    placed: bool = True,
) -> Preview:
    """The lines around the one that has most of a question's rare words, or else the first ones.

    Args:
        source: of the hit.
        start_line: the file's line that it begins at.
        rarity: stem of each word of the question -> how much it says (:func:`search.engine.line_scores.rarities`).
        path: of its file, whose suffix says the language.
        name: of the hit, with the enclosing types.
        sentence: of its documentation, which is shown beside the lines.
        most: lines.
        matched: the file's line that is the best whatever the question is; 0: none.
        placed: whether the places of the lines are wanted.
    """
    lost, read = indentation(source, path, name), read_text(source, READ)
    lines = read.lines
    best, asked = read.best(rarity, sentence)
    best = min(max(0, matched - start_line), len(lines) - 1) if matched else best
    first, end = _window(lines, best, most)
    shown = lines[first:end]
    places = read.starts[first:end] if placed else []
    if read.returns:
        shown = [line.removesuffix("\r") for line in shown]
    if lost:
        rest = [line[lost:] if line[:lost].isspace() else line.lstrip() for line in shown]
        if not first:
            rest[0] = shown[0]  # which has lost it already
        places = [begins + len(line) - len(left) for begins, line, left in zip(places, shown, rest, strict=False)]
        shown = rest
    text = "\n".join(shown)
    words = places_of(asked, text)
    if read.longest > _LONGEST and max(map(len, lines[first:end])) > _LONGEST:  # cut, perhaps inside of a word
        shown = [_cut(line) for line in shown]
        text = "\n".join(shown)
        words = word_places(text, rarity)
    return Preview(start_line + first, start_line + best, shown, places, lost, text, words)


def _window(lines: Sequence[str], best: int, most: int) -> tuple[int, int]:
    """The first line to show and the one after the last, without blank ones at either end."""
    first = max(0, min(best - min(_BEFORE, most - 1), len(lines) - most))
    end = min(len(lines), first + most)
    while first < best and not lines[first].strip():
        first += 1
    while end - 1 > best and not lines[end - 1].strip():
        end -= 1
    return first, end


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
