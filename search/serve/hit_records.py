"""What a page or an editor shows of a hit beside the fields of search/engine/show.py: a preview."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from search.engine.engine import Engine
from search.engine.line_scores import KEPT, rarities
from search.engine.preview import preview
from search.engine.question import asked_words
from search.engine.show import result
from search.engine.signals import Hit
from search.index.code_index import Index, text_at
from search.serve.highlighting import Span, highlighted

_COLOURED: Final = 20_000
"""Characters of a source up to which its preview is coloured: all before it must be parsed."""
_FILES: Final = 256
"""Files whose texts are kept."""

_PAUSE: Final = 5e-4
"""Seconds between rows that are prepared, in which questions are answered."""

Read = Callable[[Index, int], str]
"""Gives the whole text of a row's file; "" if it cannot be had as it was indexed."""


class FileTexts:
    """The whole texts of files, which are kept as long as their files are not written to."""

    def __init__(self, root: Path | None) -> None:
        """``root``: the indexed folder; None: not known."""
        self._root, self._kept = root, dict[tuple[str, str], tuple[tuple[int, ...], str]]()
        self._changing = threading.Lock()  # rows are prepared in a thread beside the one that answers

    def __call__(self, index: Index, row: int) -> str:
        """As :data:`Read`."""
        root, file = index.source(index.file_number(row), self._root)
        path = f"{root}/{file.path}"
        try:
            now = os.lstat(path)
        except (OSError, ValueError):  # ValueError: a path of an index from elsewhere
            return ""
        stamp = (now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)
        stamp_then, text = self._kept.get((path, file.blobs), ((), ""))
        if stamp_then == stamp:
            return text
        text = text_at(index, index.file_number(row), self._root)
        with self._changing:
            while len(self._kept) >= _FILES:
                del self._kept[next(iter(self._kept))]
            self._kept[path, file.blobs] = stamp, text
        return text


def previewed(
    engine: Engine,
    words: Sequence[str],
    records: Sequence[dict[str, Any]],
    read: Read = lambda *_: "",
    *,
    coloured: bool = False,
) -> list[dict[str, Any]]:
    """Hits as JSON, each with the lines that show it at a glance.

    Args:
        engine: that has found them.
        words: of the question; none: the first lines are shown.
        records: the hits, each with its ``row``.
        read: of hits that are whole files; the index has only their first lines.
        coloured: whether what is coloured is told, for which each hit is parsed.
    """
    rarity = rarities(words, engine.index.lexical)
    shown = (_preview_record(engine.index, each, rarity, read, coloured=coloured) for each in records)
    return [{**each, **more} for each, more in zip(records, shown, strict=True)]


def _preview_record(
    index: Index, hit: Mapping[str, Any], rarity: Mapping[str, float], read: Read, *, coloured: bool
) -> dict[str, Any]:
    row, matched = hit["row"], hit.get("match_line", 0)
    text, name, is_file = index.text(row), index.names[row], index.is_whole_file(row)
    whole = read(index, row) if is_file and (rarity or matched) else ""
    source, start_line = (whole, 1) if whole else (text.source, text.start_line)
    name = "" if is_file else name
    matched = 0 if is_file and not whole else matched
    found = preview(
        source,
        start_line,
        rarity,
        path=text.path,
        name=name,
        sentence=text.query_text,
        matched=matched,
        placed=coloured,
    )
    told = {
        "start_line": found.start_line,
        "end_line": found.end_line,
        "best_line": found.best_line,
        "numbered": bool(whole) or not is_file,
        "text": found.text,
        "kinds": _kinds(tuple(found.lines), tuple(found.places), source, text.path)
        if coloured and index.file(row).parsed
        else [],
        "words": found.words,
    }
    return {"preview": told, "indent": 0 if is_file else found.indent}


def prepare(engine: Engine, read: Read, is_current: Callable[[], bool]) -> None:
    """Read what answers show of rows and files, so that those who ask wait less: each as if it were found by its name.

    Args:
        engine: that is asked meanwhile.
        read: as of :func:`previewed`.
        is_current: whether it is still asked; otherwise this ends.
    """
    index, files = engine.index, 0
    for row in range(min(len(index), KEPT)):
        hit, words = Hit(1, row, 0.0, 0.0, None, None, 0.0, "words"), asked_words(index.names[row])
        with suppress(UserError):  # a damaged row is told of where it is found
            if files < _FILES or not index.is_whole_file(row):
                previewed(engine, words, [result(engine, "", hit, explain=False)], read)
            if index.is_whole_file(row):
                files += 1
                engine.owners.of(index.file_number(row))
        time.sleep(_PAUSE)
        if not is_current():
            return


@lru_cache(maxsize=4096)  # of a hit, questions often show the same lines
def _kinds(lines: Sequence[str], places: Sequence[int], source: str, path: str) -> list[Span]:
    """What is coloured in the lines of a preview, which begin at these places of a source."""
    if len(source) > _COLOURED:
        return []
    spans = highlighted(source, path, places[0], places[-1] + len(lines[-1]))
    told: list[Span] = []
    start = 0
    for line, place in zip(lines, places, strict=True):
        inside = ((max(first, place), min(last, place + len(line)), kind) for first, last, kind in spans)
        told += [(first - place + start, last - place + start, kind) for first, last, kind in inside if first < last]
        start += len(line) + 1
    return told
