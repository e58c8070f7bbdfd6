"""The part of the JSON API that shows a file: its text in surroundings, and what it declares (docs/search-api.md)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from data_prep.errors import UserError
from search.engine.show import licence_of
from search.files.languages import language_name
from search.index.code_index import Index
from search.joint.joint_index import JointIndex
from search.serve.agent_tools import file_number, row_at
from search.serve.live_index import Opened
from search.serve.requests import number, parameters
from search.serve.search_api import Turns, check_index, coloured
from search.serve.source_files import ChangedFileError, Shown, around, read_indexed

MOST_UNITS: Final = 400
"""Functions and types of a file that are named at once."""


class FileApi:
    """Files of the index."""

    def __init__(self, turns: Turns, root: Path | None) -> None:
        """``root``: the indexed folder; None: not known."""
        self._turns, self._root = turns, root

    async def file(self, request: Request) -> Response:
        """A file around a line."""
        asked = parameters(request, {"path": "", "line": "1", "index": ""})
        line = number(asked, "line", 1, 1 << 31)

        def answer(now: Opened) -> dict[str, Any]:
            check_index(now, asked["index"])
            try:
                return {"index": now.name, **self._told(now.engine.index, asked["path"], line)}
            except ChangedFileError:
                raise
            except UserError as error:
                raise HTTPException(400, str(error)) from error

        return await self._turns.answer(request, answer)

    def _told(self, index: Index, path: str, line: int) -> dict[str, Any]:
        place = file_number(index, path)
        file, row = index.files[place], _row(index, path, line)
        note = file.trouble
        try:
            root, own = index.source(place) if isinstance(index, JointIndex) else (self._root, file)
            source = around(read_indexed(root, own), path, line, parsed=file.parsed)
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
            "units": _units(index, rows, line),
            "unit_count": len(rows),
        }


def _row(index: Index, path: str, line: int) -> int | None:
    try:
        return row_at(index, path, line)
    except ValueError:  # a line between two methods
        return None


def _from_index(index: Index, row: int | None) -> Shown:
    """What the index itself has of a file: the unit at a line; of a whole file its first lines, of unknown number."""
    if row is None:
        return Shown(0, 0, "", False, [])
    text = index.split.text(row)
    first = 0 if index.is_whole_file(row) else text.start_line
    return Shown(first, 0, text.source, False, coloured(index, row))


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
