"""The part of the JSON API that shows a file: its text in surroundings, and what it declares (docs/search-api.md).

An index from elsewhere cannot show files of this machine: a file is read only inside of the indexed folder, and only
one whose bytes have the hash that the index has is shown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from data_prep.errors import UserError
from data_prep.files.reading import read_regular, reason
from data_prep.records import LARGEST_SOURCE
from search.engine.preview import indentation
from search.engine.show import licence_of
from search.files.encodings import text_of
from search.files.languages import language_name
from search.files.tree import blob_names
from search.index.code_index import Index, IndexedFile
from search.joint.joint_index import JointIndex
from search.serve.agent_paths import place_of
from search.serve.highlighting import Span, highlighted
from search.serve.requests import Turns, line_of, parameters
from search.serve.search_api import coloured
from search.snippets.answer import file_of
from search.traces.frame_locator import FrameLocator

MOST_UNITS: Final = 400
"""Functions and types of a file that are named at once."""
MOST_LINES: Final = 2000
"""Lines of a file that are shown at once."""
LONGEST_LINE: Final = 2000
"""Characters of a line that are shown."""
_PARSED: Final = 1 << 20
"""Characters of a file up to which all of it is parsed, so that a comment which began above is known as such."""


class ChangedFileError(UserError):
    """A file that cannot be shown as it was indexed; the message says why."""


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
            source = around(read_indexed(*_own(index, place, self._root)), path, line, parsed=file.parsed)
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


def reader_of(root: Path | None) -> Callable[[Index, int], str]:
    """What reads a row's file as it was indexed, and gives "" if that cannot be; ``root`` as for :class:`FileApi`."""

    def read(index: Index, row: int) -> str:
        place = int(np.searchsorted(index.file_edges, row, side="right")) - 1
        try:
            return read_indexed(*_own(index, place, root))
        except ChangedFileError:
            return ""

    return read


def _own(index: Index, place: int, root: Path | None) -> tuple[Path | None, IndexedFile]:
    """The folder and the name there of the file at a place."""
    return index.source(place) if isinstance(index, JointIndex) else (root, index.files[place])


def read_indexed(root: Path | None, file: IndexedFile) -> str:
    """The text of a file as it was indexed.

    Args:
        root: the indexed folder; None: not known.
        file: as the index has it, which is not trusted.

    Raises:
        ChangedFileError: it cannot be read, or is another one by now.
    """
    if root is None:
        raise ChangedFileError("the indexed folder is not known: start the server in it, or name it by --folder=DIR")
    path = PurePosixPath(file.path)
    if path.is_absolute() or ".." in path.parts or "\0" in file.path:
        raise ChangedFileError("its path does not lead into the indexed folder")
    try:
        data, _ = read_regular(root / path, LARGEST_SOURCE + 1)
    except OSError as error:
        raise ChangedFileError(f"it cannot be read: {reason(error)}") from error
    if not file.blobs or blob_names(data) != file.blobs:
        raise ChangedFileError("it has changed since it was indexed: bash run.sh index DIR")
    try:
        text = text_of(data).data
    except UserError as error:
        raise ChangedFileError(str(error)) from error
    return text.decode("utf-8", "replace").replace("\r\n", "\n")


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
