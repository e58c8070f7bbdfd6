"""What a page or an editor shows of a hit beside the fields of search/engine/show.py: a preview."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from search.engine.engine import Engine
from search.engine.preview import Preview, indentation, preview, rarities, word_places
from search.index.code_index import Index
from search.serve.highlighting import Span, highlighted

_COLOURED: Final = 20_000
"""Characters of a source up to which its preview is coloured: all before it must be parsed."""


def previewed(engine: Engine, words: Sequence[str], records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Hits as JSON, each with the lines that show it at a glance.

    Args:
        engine: that has found them.
        words: of the question; none: the first lines are shown.
        records: the hits as :func:`search.engine.show.result` makes them.
    """
    rarity = rarities(words, engine.index.lexical)
    return [each | _preview_record(engine.index, each, rarity) for each in records]


def _preview_record(index: Index, record: Mapping[str, Any], rarity: Mapping[str, float]) -> dict[str, Any]:
    source, path = record["source"], record["path"]
    found = preview(source, record["start_line"], rarity, path=path, name=record["name"])
    told = {
        "start_line": found.start_line,
        "end_line": found.end_line,
        "best_line": found.best_line,
        "text": found.text,
        "kinds": _kinds(found, source, path) if index.file(record["row"]).parsed else [],
        "words": [*word_places(found.text, rarity)] if rarity else [],
    }
    return {"preview": told, "indent": indentation(source, path, record["name"])}


def _kinds(found: Preview, source: str, path: str) -> list[Span]:
    """What is coloured in a preview."""
    if len(source) > _COLOURED:
        return []
    spans = highlighted(source, path, found.places[0], found.places[-1] + len(found.lines[-1]))
    told: list[Span] = []
    start = 0
    for line, place in zip(found.lines, found.places, strict=True):
        inside = ((max(first, place), min(last, place + len(line)), kind) for first, last, kind in spans)
        told += [(first - place + start, last - place + start, kind) for first, last, kind in inside if first < last]
        start += len(line) + 1
    return told
