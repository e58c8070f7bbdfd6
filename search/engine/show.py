"""Hits as text for a terminal, and as JSON (docs/search.md lists the fields)."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

from data_prep.files.printable import one_line
from search.engine.engine import Engine
from search.engine.hits import Hit
from search.engine.signals import Alignment
from search.engine.signature import signature
from search.index.code_index import IndexedFile

_LONGEST_LICENCE: Final = 200  # characters
_BOLD, _DIM, _GREEN, _CYAN = "1", "2", "32", "36"
_SHOWN: Final = 3
"""Code words shown for a query word."""
LEAST_WEIGHT: Final = 0.05
"""Attention below which a code word is not shown."""
LEAST_AGREEMENT: Final = 0.3
"""Cosine of a query word and what it attended to below which it is shown as not aligned."""


def as_json(engine: Engine, query: str, hits: Sequence[Hit], seconds: float, *, explain: bool) -> str:
    """One JSON object: query, milliseconds, results."""
    results = [result(engine, query, hit, explain=explain) for hit in hits]
    told = {"query": query, "milliseconds": round(1000 * seconds, 2), "results": results}
    return json.dumps(told, indent=1).replace("\x7f", "\\u007f")  # the one control character that json does not escape


def result(engine: Engine, query: str, hit: Hit, *, explain: bool) -> dict[str, Any]:
    """A hit as the JSON interfaces return it."""
    index, text = engine.index, engine.index.split.text(hit.row)
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
        "url": index.url(hit.row),
    }
    if repository := index.repository(hit.row):
        found["repository"] = repository
    if explain and (alignment := aligned(engine, query, hit)):
        found["alignment"] = explained(alignment)
    return found


def licence_of(file: IndexedFile) -> str:
    """The licence of a file, for display."""
    licence = one_line(file.licence)
    return licence if len(licence) <= _LONGEST_LICENCE else f"{licence[: _LONGEST_LICENCE - 1]}…"


def aligned(engine: Engine, query: str, hit: Hit) -> Alignment | None:
    """The alignment of the query's words with a hit; None without a model that aligns words."""
    return engine.reranker.alignment(engine.asked(query)[0], hit.row) if engine.reranker else None


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


def as_text(engine: Engine, query: str, hits: Sequence[Hit], seconds: float, *, explain: bool) -> str:
    """One paragraph per hit, in colour on a terminal."""
    if not hits:
        return "nothing found: none of these words is in a name, an identifier, a call or a comment"
    paint = painter()
    lines = [line for hit in hits for line in _lines(engine, query, hit, explain=explain, paint=paint)]
    return "\n".join([*lines, paint(_DIM, f"{len(hits)} of {len(engine.index):,} in {1000 * seconds:.0f} ms")])


def _lines(engine: Engine, query: str, hit: Hit, *, explain: bool, paint: Any) -> Iterator[str]:
    found = result(engine, query, hit, explain=explain)
    place = f"{found['path']}:{found['start_line']}-{found['end_line']}"
    licence = found["license"] or "licence not known"
    yield f"{hit.rank:>2}  {paint(_BOLD, found['name'])}  {paint(_CYAN, place)}"
    yield f"    {paint(_GREEN, found['signature'][:110])}"
    if found["documentation"]:
        yield f"    {one_line(found['documentation'])[:110]}"
    yield paint(_DIM, "    " + "  ".join([_scores(hit), licence, *filter(None, [found["url"]])]))
    for row in found.get("alignment", []):
        words = ", ".join(
            f"{one_line(each['word'])} {each['weight']:.2f} ({each['field']})" for each in row["aligned"][:_SHOWN]
        )
        yield f"      {one_line(row['word']):>16} -> {words or paint(_DIM, 'no alignment')}"


def _scores(hit: Hit) -> str:
    others = [
        f", {name} {score:.2f}" for name, score in (("model", hit.neural), ("vectors", hit.near)) if score is not None
    ]
    return f"{hit.score:.2f} by {hit.stage} (BM25 {hit.lexical:.1f}{''.join(others)})"


def painter() -> Any:
    """A function that makes text printable, and colours it on a terminal."""
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        return lambda code, text: f"\x1b[{code}m{one_line(text)}\x1b[0m"
    return lambda _, text: one_line(text)
