"""Places of code as agents name them: an absolute path, one relative to the folder, ``file:line``, a file's address."""

import difflib
import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from data_prep.bounds import shown
from data_prep.errors import UserError
from search.index.code_index import Index
from search.snippets.answer import file_of
from search.traces.frame_locator import FrameLocator

_LINE: Final = re.compile(r":L?(\d{1,10})(?:[:-]L?\d{1,10})*:?\Z|#L(\d{1,10})(?:-L?\d{1,10})?\Z", re.ASCII)
"""What follows a path: its line, and a column or the last line."""
_NEAREST: Final = 3
"""Paths that a message names."""


def place_of(index: Index, root: Path, path: str, line: int) -> tuple[str, int]:
    """The path of an indexed file, and a line of it.

    Args:
        index: of the folder ``root``.
        root: the folder.
        path: of a file, absolute or relative to the folder, which a line may follow.
        line: from 1; 0: the one that follows the path.

    Raises:
        UserError: no indexed file, or several, have such a path, or there is no line.
    """
    found = _LINE.search(path) if not _is_indexed(index, path) else None
    written = int(found[1] or found[2]) if found else 0
    name = path[: found.start()] if found else path
    file = next((each for each in _spellings(root, name) if _is_indexed(index, each)), None)
    file = file or _by_its_end(index, root, name)
    if not (line or written):
        raise UserError(f"expected a line, from 1: give line, or the path as {file}:12")
    return file, line or written


def pattern_of(root: Path, path: str) -> str:
    """A folder, path or pattern as the search takes it: one that is absolute and in the folder begins at its top."""
    plain = path.strip().replace("\\", "/")
    plain = unquote(plain.removeprefix("file://")) if plain.startswith("file://") else plain
    if not plain.startswith("/") or "\0" in plain:
        return plain
    for folder, each in ((str(root), plain), (os.path.realpath(root), os.path.realpath(plain))):
        short = posixpath.relpath(each, folder)
        if short != ".." and not short.startswith("../"):
            return "/" if short == "." else f"/{short}{'/' * plain.endswith('/')}"
    return plain


def row_at(index: Index, path: str, line: int) -> int:
    """The innermost row of the index at a line.

    Raises:
        UserError: there is none.
    """
    row = FrameLocator(index).row_at(file_of(index, path), line)
    if row is None:
        raise UserError(f"line {line:,} of {shown(path)} is in no function, method or type")
    return row


def _is_indexed(index: Index, path: str) -> bool:
    return any(file.path == path for file in index.files)


def _spellings(root: Path, path: str) -> Iterator[str]:
    """What ``path`` may be relative to the folder, likeliest first."""
    yield path
    plain = unquote(path.removeprefix("file://")) if path.startswith("file://") else path
    for each in dict.fromkeys((plain.strip(), plain.strip().replace("\\", "/"))):
        short = posixpath.normpath(each) if each else ""
        yield short
        for folder in dict.fromkeys((str(root), os.path.realpath(root))):
            yield posixpath.relpath(short, folder) if short.startswith("/") else short
        yield short.removeprefix(f"{root.name}/")
    if plain.startswith("/") and "\0" not in plain:  # through a link to the folder
        yield os.path.relpath(os.path.realpath(plain), os.path.realpath(root))


def _by_its_end(index: Index, root: Path, path: str) -> str:
    """The one indexed file whose path ends in ``path``.

    Raises:
        UserError: there is none, or there are several.
    """
    short = posixpath.normpath(path.replace("\\", "/").strip() or ".")
    if not short.startswith(("/", "..")):
        with_end = [file.path for file in index.files if f"/{file.path}".endswith(f"/{short}")]
        if len(with_end) == 1:
            return with_end[0]
        if with_end:
            raise UserError(f"{len(with_end):,} indexed files end in {shown(path)}: name one of {_named(with_end)}")
    inside = next((each for each in _spellings(root, path) if each and not each.startswith(("/", ".."))), "")
    there = "\0" not in inside and os.path.isfile(root / inside)  # noqa: PTH113 - False for names that are too long
    what = f"{shown(path)} is not indexed" if there else f"there is no indexed file {shown(path)}"
    near = nearest_paths(index, short)
    raise UserError(f"{what}; the nearest are {_named(near)}" if near else what)


def nearest_paths(index: Index, path: str) -> list[str]:
    """The paths of indexed files that are most like ``path``, by their names and then by their folders."""
    name, wanted = posixpath.basename(path).lower(), path.lower().split("/")
    names = {posixpath.basename(file.path).lower() for file in index.files}
    near = difflib.get_close_matches(name[:100], names, _NEAREST, 0.6)
    places = {each: number for number, each in enumerate(near)}
    alike = [
        (places[last], -len({*wanted} & {*file.path.lower().split("/")}), file.path)
        for file in index.files
        if (last := posixpath.basename(file.path).lower()) in places
    ]
    return [each for _, _, each in sorted(alike)[:_NEAREST]]


def _named(paths: list[str]) -> str:
    return ", ".join(shown(each) for each in paths[:_NEAREST])
