"""A question that is a line of a file, such as ``context.go:120`` or ``context.go line 120``: what is at that line.

That is the innermost row there, with the comment above it; a file as a whole, or else the nearest row, where none is.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from search.engine.matching import LineOwners
from search.engine.path_reading import PathReader
from search.index.code_index import Index
from search.index.frame_locator import named_places

_OF_FILE: Final = re.compile(r"\s*lines?\s+(\d{1,9})\s+(?:of|in)\s+(\S+)\s*", re.IGNORECASE)
_MESSAGE: Final = re.compile(r"[:\s]\s*(?!(?:at|on|in|lines?)\b)[^\W\d]{2}", re.IGNORECASE)
"""What is behind a line if it has a message, which is asked for too."""


def rows_at(index: Index, paths: PathReader, typed: str) -> tuple[Mapping[int, float], str] | None:
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
