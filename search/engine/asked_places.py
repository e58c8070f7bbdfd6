"""A question that is a line of a file, such as ``context.go:120`` or ``context.go line 120``: what is at that line.

That is the innermost row there, with the comment above it; a file as a whole, or else the nearest row, where none is.
And the paths of files as they are typed above the indexed folder.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from search.engine.matching import LineOwners
from search.index.code_index import Index
from search.index.frame_locator import named_places, typed_path

if TYPE_CHECKING:
    from search.engine.path_reading import PathReader

_OF_FILE: Final = re.compile(r"\s*lines?\s+(\d{1,9})\s+(?:of|in)\s+(\S+)\s*", re.IGNORECASE)
_MESSAGE: Final = re.compile(r"[:\s]\s*(?!(?:at|on|in|lines?)\b)[^\W\d]{2}", re.IGNORECASE)
"""What is behind a line if it has a message, which is asked for too."""


def rows_at(index: Index, paths: "PathReader", typed: str) -> tuple[Mapping[int, float], str] | None:
    """The rows at the line of a file that a question is, and how good each is; None: it is no such line.

    Args:
        index: of the rows.
        paths: reads its paths.
        typed: the question.

    Returns:
        The rows too of files without such a line, if there are no others, and then why these are not at it.
    """
    for path, line in _places(typed):
        if files := paths.files(path):
            lengths = {file: _lines(index, file) for file in files}
            there = {file: fit for file, fit in files.items() if line <= lengths[file]}
            rows = {_row(index, file, line): fit for file, fit in (there or files).items()}
            best = max(files, key=lambda file: files[file])
            return rows, "" if there else f"{index.files[best].path} has {lengths[best]:,} lines"
    return None


def _places(typed: str) -> Iterator[tuple[str, int]]:
    """The files and lines that a question may mean."""
    plain = typed.strip().strip("`'")
    if found := _OF_FILE.fullmatch(plain):
        yield found[2].strip("\"'`"), int(found[1])
    for path, line in named_places(plain.strip('"')):
        if not _MESSAGE.search(plain[len(path) :]):
            yield path.strip("\"'` "), line


def _lines(index: Index, file: int) -> int:
    """How many lines a file has; what is behind its last line break is one if it has code."""
    code = index.whole.lines_of_code(file)
    return max(0, len(code) - 2) + bool(code[-2:-1].any())


def _row(index: Index, file: int, line: int) -> int:
    """The row of a line of a file, or the nearest one."""
    if (row := LineOwners(index).at(file, line)) >= 0:
        return row
    first, end = index.file_edges[file : file + 2].tolist()
    if index.is_whole_file(first):
        return int(first)
    texts = {row: index.split.text(row) for row in range(first, end)}
    return min(texts, key=lambda row: max(texts[row].start_line - line, line - texts[row].end_line))


def path_inside(typed: str, folder: Path, here: Path | None) -> str:
    """The path inside of a folder of a path that begins above it; "" if it does not lie in it.

    Args:
        typed: absolute, relative to ``here``, or with the name of the folder in front.
        folder: absolute.
        here: absolute; None: what begins with ``./`` or ``../`` lies nowhere.
    """
    plain = os.path.expanduser(typed_path(typed)).replace("\\", "/")  # noqa: PTH111 - which knows no error
    if not plain.startswith(("/", "./", "../")):
        return plain.removeprefix(f"{folder.name}/") if plain.startswith(f"{folder.name}/") else ""
    if "\0" in plain or not (here or plain.startswith("/")):
        return ""
    whole = os.path.normpath(os.path.join(here or "", plain))  # noqa: PTH118
    links = os.path.realpath(os.path.dirname(whole)), os.path.basename(whole)  # noqa: PTH119, PTH120
    for above, each in ((str(folder), whole), (os.path.realpath(folder), os.path.join(*links))):  # noqa: PTH118
        if each.startswith(f"{above.rstrip('/')}/"):
            return each[len(above.rstrip("/")) + 1 :]
    return ""
