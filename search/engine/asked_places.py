"""A question that is a line of a file, such as ``context.go:120`` or ``context.go line 120``: what is at that line.

That is the innermost row there, with the comment above it; a file as a whole, or else the nearest row, where none is.
A message may be behind it, and words before. Where no file is called so, it is that line of those that are called
nearly so. And the paths of files as they are typed above the indexed folder.
"""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from search.engine.matching import LineOwners
from search.index.code_index import Index
from search.index.frame_locator import named_places, typed_path

if TYPE_CHECKING:
    from search.engine.path_reading import PathReader

_OF_FILE: Final = re.compile(r"\s*lines?\s+(\d{1,9})\s+(?:of|in)\s+(\S+)\s*", re.IGNORECASE)
_INSIDE: Final = re.compile(
    r"(?:^|(?<=[\s\"'`(\[<>])|(?<=\s[A-Za-z]:)|(?<=file://))([^\s\"'`()\[\]<>:]+\.\w+)"
    r"(?::(?: ?[(\[])?|#L|\(|:? ?(?:on )?line | (?=\d{1,9}:\d{1,9} (?:error|[Ww]arning)))(\d{1,9})(?!\w)"
)
"""The same behind other words, and as compilers, linters and test runners print it."""
_MOST: Final = 4
"""Of these, how many are read."""
_MESSAGE: Final = re.compile(r"[:\s]\s*(?!(?:at|on|in|lines?)\b)[^\W\d]{2}", re.IGNORECASE)
"""What is behind a line if it has a message, as compilers print it: the other hits are of its words."""


class AtLine(NamedTuple):
    """What is at a line of a file."""

    rows: Mapping[int, float]  # -> how good each is
    beyond: str = ""  # why these are not at it, if no such file has as many lines
    missing: str = ""  # the path, if no file has it and these are of files that are called nearly so


def rows_at(index: Index, paths: "PathReader", typed: str) -> AtLine | None:
    """What is at the line of a file that a question is, or that it has before a message; None: it has no such line.

    Args:
        index: of the rows.
        paths: reads its paths.
        typed: the question.
    """
    near: AtLine | None = None
    for path, line, has_message in _places(typed):
        known = paths.files(path)
        if files := known or paths.near_files(path):
            lengths = {file: _lines(index, file) for file in files}
            there = {file: fit for file, fit in files.items() if line <= lengths[file]}
            rows = {_row(index, file, line): fit for file, fit in (there or files).items()}
            if known and (there or not has_message):
                best = max(files, key=lambda file: files[file])
                return AtLine(rows, "" if there else f"{index.files[best].path} has {lengths[best]:,} lines")
            near = near or (None if known else AtLine(rows, missing=path))
    return near


def _places(typed: str) -> Iterator[tuple[str, int, bool]]:
    """The files and lines that a question may mean, and whether a message is behind them."""
    plain = typed.strip().strip("`'")
    if found := _OF_FILE.fullmatch(plain):
        yield found[2].strip("\"'`"), int(found[1]), False
    for path, line in named_places(plain.strip('"')):
        yield path.strip("\"'` "), line, _MESSAGE.search(plain[len(path) :]) is not None
    for inside in islice(_INSIDE.finditer(plain), _MOST):
        yield inside[1], int(inside[2]), True


def _lines(index: Index, file: int) -> int:
    """How many lines a file has; what is behind its last line break is one if it has code."""
    code = index.whole.lines_of_code(file)
    return max(0, len(code) - 2) + bool(code[-2:-1].any())


def _row(index: Index, file: int, line: int) -> int:
    """The row of a line of a file, or the nearest one."""
    if (row := LineOwners(index).at(file, line)) >= 0:
        return row
    rows = index.rows_of(file)
    if index.is_whole_file(rows[0]):
        return rows[0]
    texts = {row: index.split.text(row) for row in rows}
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
