"""A question that is a line of a file, such as ``context.go:120`` or ``context.go line 120``: what is at that line.

That is the innermost row there, with the comment above it; a file as a whole, or else the nearest row, where none is.
A message may be behind it, and words before. Where no file is called so, it is that line of those that are called
nearly so.

And the places of code as people, editors and agents name them: a path that is absolute, relative to the folder or
typed above it, or a file's address, which a line may follow; a path of Windows is that of the indexed file which it
ends in.
"""

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote

from data_prep.errors import UserError, shown
from search.engine.filters import known_path
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
_OF_WINDOWS: Final = re.compile(r"[A-Za-z]:[/\\]|\\\\")
_NEAREST: Final = 3
"""Paths that a message names."""


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


def known_pattern(index: Index, root: Path, path: str, *, whole: bool = True) -> str:
    """The same of one that files match; if the index is not ``whole``, they may be among what it lacks.

    Raises:
        UserError: no file matches it; the message names the nearest paths, or the folder that it lies outside of.
    """
    pattern = pattern_of(root, path)
    try:
        return known_path(index, pattern) if whole else pattern
    except UserError as error:
        near, is_outside = nearest_paths(index, typed_path(pattern)), pattern == path.strip() and pattern[:1] == "/"
        outside = f"; the indexed folder is {shown(str(root))}" if is_outside else ""
        raise UserError(f"{error}{f'; the nearest are {_named(near)}' if near else outside}") from None


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
    from difflib import get_close_matches  # which few questions need

    name, wanted = posixpath.basename(path).lower(), path.lower().split("/")
    names = {posixpath.basename(file.path).lower() for file in index.files}
    near = get_close_matches(name[:100], names, _NEAREST, 0.6)
    places = {each: number for number, each in enumerate(near)}
    alike = [
        (places[last], -len({*wanted} & {*file.path.lower().split("/")}), file.path)
        for file in index.files
        if (last := posixpath.basename(file.path).lower()) in places
    ]
    return [each for _, _, each in sorted(alike)[:_NEAREST]]


def _named(paths: list[str]) -> str:
    return ", ".join(shown(each) for each in paths[:_NEAREST])
