"""Places of code as people and agents name them: an absolute path, one relative to the folder, a file's address.

A line may follow them; a path of Windows is that of the indexed file which it ends in.
"""

import difflib
import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from data_prep.errors import UserError, shown
from data_prep.traces.form import named_places, typed_path
from search.index.code_index import Index
from search.index.frame_locator import FrameLocator
from search.snippets.answer import file_of

_OF_WINDOWS: Final = re.compile(r"[A-Za-z]:[/\\]|\\\\")
_NEAREST: Final = 3
"""Paths that a message names."""


def place_of(index: Index, root: Path | None, path: str, line: int, here: Path | None = None) -> tuple[str, int]:
    """The path of an indexed file, and a line of it.

    Args:
        index: of the folder ``root``.
        root: the folder; None: not known.
        path: of a file, absolute or relative to the folder, which a line may follow.
        line: from 1; 0: the one that follows the path.
        here: the folder that relative paths are tried from first.

    Raises:
        UserError: no indexed file, or several, have such a path, or there is no line.
    """
    known = {file.path for file in index.files}
    places = [(path, 0), *named_places(path)]
    found = ((each, number) for name, number in places for each in _spellings(root, name, here) if each in known)
    file, written = next(found, ("", 0))
    if not file:
        name, written = places[1] if places[1:] else places[0]
        file = _by_its_end(index, root, name, here)
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


def _spellings(root: Path | None, path: str, here: Path | None = None) -> Iterator[str]:
    """What ``path`` may be relative to the folder, likeliest first."""
    plain = _plain(path)
    if "\0" in plain:
        return
    if here and root and plain:
        typed = Path(os.path.abspath(here / plain))  # noqa: PTH100 - a link in it is followed below
        yield os.path.relpath(os.path.realpath(typed.parent) + f"/{typed.name}", os.path.realpath(root))
    yield path
    for each in dict.fromkeys((plain, plain.replace("\\", "/"))):
        short = posixpath.normpath(each) if each else ""
        yield short
        for folder in dict.fromkeys((str(root), os.path.realpath(root))) if root else ():
            yield posixpath.relpath(short, folder) if short.startswith("/") else short
        yield short.removeprefix(f"{root.name}/") if root else short
    if plain.startswith("/") and root:  # through a link to the folder
        yield os.path.relpath(os.path.realpath(plain), os.path.realpath(root))


def _plain(path: str) -> str:
    return os.path.expanduser(typed_path(path))  # noqa: PTH111 - which knows no error


def _by_its_end(index: Index, root: Path | None, path: str, here: Path | None) -> str:
    """The one indexed file whose path ends in ``path``, or which a foreign path ends in.

    Raises:
        UserError: there is none, or there are several.
    """
    plain = _plain(path)
    short = posixpath.normpath(plain.replace("\\", "/") or ".")
    if _OF_WINDOWS.match(plain) or (root is None and short.startswith("/")):
        with_end = [file.path for file in index.files if short.endswith(f"/{file.path}")]
        if with_end:
            return max(with_end, key=len)
    elif not short.startswith(("/", "..")):
        with_end = [file.path for file in index.files if f"/{file.path}".endswith(f"/{short}")]
        if len(with_end) == 1:
            return with_end[0]
        if with_end:
            raise UserError(f"{len(with_end):,} indexed files end in {shown(path)}: name one of {_named(with_end)}")
    inside = next((each for each in _spellings(root, path, here) if each and not each.startswith(("/", "..", "~"))), "")
    there = root is not None and "\0" not in inside and os.path.isfile(root / inside)  # noqa: PTH113 - knows no error
    what = f"{shown(path)} is not indexed" if there else f"there is no indexed file {shown(path)}"
    if root and not inside and "\0" not in path and short.startswith(("/", "..")):
        what += f": it lies outside of the indexed folder {shown(str(root))}"
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
