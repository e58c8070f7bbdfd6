"""The part of the JSON API that shows a file: its text in surroundings, and what it declares (docs/search-api.md).

Only a file whose bytes have the hash that the index has is shown (:mod:`search.index.code_index`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from search.engine.preview import indentation
from search.engine.show import licence_of
from search.files.languages import language_name
from search.index.code_index import ChangedFileError, Index, read_indexed
from search.index.frame_locator import FrameLocator
from search.serve.agent_paths import place_of
from search.serve.highlighting import Span, highlighted
from search.serve.requests import Turns, line_of, parameters
from search.serve.search_api import coloured
from search.snippets.answer import file_of

MOST_UNITS: Final = 400
"""Functions and types of a file that are named at once."""
MOST_LINES: Final = 2000
"""Lines of a file that are shown at once."""
LONGEST_LINE: Final = 2000
"""Characters of a line that are shown."""
_PARSED: Final = 1 << 20
"""Characters of a file up to which all of it is parsed, so that a comment which began above is known as such."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Some lines of a file."""

    first_line: int  # from 1
    lines: int  # of the whole file
    text: str
    kinds: list[Span]  # positions in ``text``
    indent: int = 0  # characters by which its lines but the first are indented too much


class FileApi:
    """Files of the index."""

    def __init__(self, turns: Turns, root: Path | None) -> None:
        """``root``: the indexed folder; None: not known."""
        self._turns, self._root = turns, root

    async def file(self, request: Request) -> Response:
        """A file around a line."""
        asked = parameters(request, {"path": "", "line": "", "index": ""})
        place = asked["path"], line_of(asked)
        told = lambda now: self._told(now.engine.index, *place_of(now.engine.index, self._root, *place))  # noqa: E731
        return await self._turns.answer(request, told, asked["index"])

    def _told(self, index: Index, path: str, line: int) -> dict[str, Any]:
        place = file_of(index, path)
        file, row = index.files[place], FrameLocator(index).row_at(place, line)
        path, note = file.path, file.trouble
        try:
            source = around(read_indexed(*index.source(place, self._root)), path, line, parsed=file.parsed)
        except ChangedFileError as trouble:
            note, source = str(trouble), _from_index(index, row)
        rows = [row for row in range(*index.file_edges[place : place + 2].tolist()) if not index.is_whole_file(row)]
        return {
            "path": path,
            "language": language_name(path),
            "license": licence_of(file),
            "url": "" if row is None else index.url(row),
            "note": note,
            "lines": source.lines,
            "first_line": source.first_line,
            "text": source.text,
            "kinds": source.kinds,
            "indent": source.indent,
            "units": _units(index, rows, line),
            "unit_count": len(rows),
        }


def _from_index(index: Index, row: int | None) -> Shown:
    """What the index itself has of a file: the unit at a line; of a whole file its first lines, of unknown number."""
    if row is None:
        return Shown(0, 0, "", [])
    text = index.split.text(row)
    first = 0 if index.is_whole_file(row) else text.start_line
    indent = indentation(text.source, text.path, index.names[row])
    return Shown(first, 0, text.source, coloured(index, row), indent)


def _units(index: Index, rows: Sequence[int], line: int) -> list[dict[str, Any]]:
    """The functions and types of a file in the order of their lines, those around ``line`` if there are many."""
    texts = [(index.split.text(row), row) for row in rows]
    found = sorted((text.start_line, -text.end_line, row) for text, row in texts)
    before = sum(start < line for start, *_ in found)
    first = max(0, min(before - MOST_UNITS // 2, len(found) - MOST_UNITS))
    return [
        {"row": row, "name": index.names[row], "start_line": start, "end_line": -end}
        for start, end, row in found[first : first + MOST_UNITS]
    ]


def around(source: str, path: str, line: int, *, parsed: bool = True) -> Shown:
    """At most ``MOST_LINES`` lines of a file with ``line`` in their middle, or near it where the file ends.

    ``parsed``: whether a parser has read the file; of another one nothing is coloured.
    """
    lines = source.removesuffix("\n").split("\n")
    first = max(0, min(line - 1 - MOST_LINES // 2, len(lines) - MOST_LINES))
    own = lines[first : first + MOST_LINES]
    text = "\n".join(each if len(each) <= LONGEST_LINE else f"{each[: LONGEST_LINE - 1]}…" for each in own)
    cut = any(len(each) > LONGEST_LINE for each in own)
    if not parsed:
        return Shown(first + 1, len(lines), text, [])
    if cut or len(source) > _PARSED:
        return Shown(first + 1, len(lines), text, highlighted(text, path))
    before = sum(len(each) + 1 for each in lines[:first])
    kinds = highlighted(source, path, before, before + len(text))
    moved = [(max(0, start - before), min(end - before, len(text)), kind) for start, end, kind in kinds]
    return Shown(first + 1, len(lines), text, moved)
