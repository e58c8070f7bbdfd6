"""A list of repositories that are indexed apart and searched together: a text file that a script can write.

One repository a line, its fields separated by tabs:

    FOLDER <tab> NAME <tab> GROUPS

``FOLDER`` is where it is checked out, relative to the list's own folder if not absolute. ``NAME`` is how hits name it,
such as ``team/shop``; empty or left out: the folder's own name. ``GROUPS`` are those who may see it on a shared
server, separated by commas: groups, ``user:NAME`` for a single user, ``*`` for every user; empty or left out: nobody.
Empty lines and lines that begin with # are ignored.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data_prep.errors import UserError, shown
from data_prep.files.access import named_path, open_regular, reason
from search.opening import index_place

EVERYBODY: Final = "*"
"""In place of a group: every user."""
USER: Final = "user:"
"""Begins what stands for a single user."""
_LARGEST: Final = 64 << 20  # bytes
_MOST: Final = 100_000
"""Repositories."""
_NAME: Final = re.compile(r"[\w][\w.-]{0,99}(?:/[\w][\w.-]{0,99}){0,9}", re.ASCII)
_UNNAMED: Final = re.compile(r"[^\w.-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Repository:
    """A line of the list."""

    name: str
    folder: Path  # absolute
    groups: frozenset[str]

    @property
    def index(self) -> Path:
        """The file of its index."""
        return index_place(self.folder)

    def visible_to(self, groups: frozenset[str]) -> bool:
        """Whether somebody may see it who is in ``groups``, which ``user:NAME`` can be one of."""
        return EVERYBODY in self.groups or not self.groups.isdisjoint(groups)


def read_list(path: Path) -> list[Repository]:
    """The repositories of a list, in its order; raises what :func:`content_of` and :func:`parsed_list` do."""
    return parsed_list(content_of(path), path)


def content_of(path: Path) -> bytes:
    """The bytes of a list.

    Raises:
        UserError: it cannot be read, or is too large.
    """
    try:
        with open_regular(path) as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise UserError(f"the list of repositories {path} cannot be read: {reason(error)}") from error
    if len(data) > _LARGEST:
        raise UserError(f"the list of repositories {path} has more than {_LARGEST >> 20} MiB")
    return data


def parsed_list(data: bytes, path: Path) -> list[Repository]:
    """The repositories of the list in ``path``, whose bytes are ``data``.

    Raises:
        UserError: it has no repository, or a line has another form; the message has its number.
    """
    found: list[Repository] = []
    for number, line in _lines(data, path):
        try:
            found.append(_repository(line, path.parent))
        except UserError as error:
            raise UserError(f"{path}, line {number}: {error}") from error
        if len(found) > _MOST:
            raise UserError(f"{path}, line {number}: a list has at most {_MOST:,} repositories")
    if not found:
        raise UserError(f"{path} names no repository: one a line, FOLDER, NAME and GROUPS separated by tabs")
    _check_apart(found, path)
    return found


def _lines(data: bytes, path: Path) -> Iterator[tuple[int, str]]:
    """The lines that name something, with their numbers."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data[: error.start].count(b"\n") + 1
        raise UserError(f"{path}, line {number}: expected UTF-8, got the byte {data[error.start]:#x}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip(" \t\r") and not line.startswith("#"):
            yield number, line.removesuffix("\r")


def _repository(line: str, beside: Path) -> Repository:
    folder, name, groups, *more = (each.strip(" ") for each in [*line.split("\t"), "", ""])
    if any(more) or not folder:
        raise UserError(f"expected FOLDER, NAME and GROUPS, separated by tabs, got {shown(line)}")
    if not groups.isprintable():
        raise UserError(f"expected groups of printable characters, got {shown(groups)}")
    place = named_path(os.path.normpath(beside / Path(folder).expanduser()))
    name = name or _UNNAMED.sub("_", place.name).lstrip("_.-")
    if not _NAME.fullmatch(name):
        raise UserError(f"expected a name of letters, digits and ._-, in parts separated by /, got {shown(name)}")
    return Repository(name, place, frozenset(filter(None, (each.strip(" ") for each in groups.split(",")))))


def _check_apart(found: list[Repository], path: Path) -> None:
    """Refuse two repositories of one name or one folder, or a name inside of another one."""
    names = {each.name.lower() for each in found}
    seen: dict[str, str] = {}
    for each in found:
        own, real = each.name.lower(), os.path.realpath(each.folder)
        inside = next((above for above in _above(own) if above in names), None)
        if inside:
            raise UserError(f"{path}: the name {each.name} lies inside of {inside}: give one of them another name")
        if own in seen:
            raise UserError(f"{path}: two repositories have the name {each.name}: name one of them in its second field")
        if real in seen:
            raise UserError(f"{path}: {each.name} and {seen[real]} are the same folder {real}")
        seen |= {own: each.name, real: each.name}


def _above(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name
