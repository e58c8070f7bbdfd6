"""Hits as JSON: docs/search.md lists the fields."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from data_prep.errors import one_line
from search.engine.engine import Engine
from search.engine.preview import signature
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
    index, text = engine.index, engine.index.text(hit.row)
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
        "license": licence_of(index.file(hit.row)),
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
    licence = one_line(file.licence)
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
