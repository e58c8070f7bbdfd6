"""Paths given by the user, with early checks that they can be written to, and where a user's files are stored.

The latter by the XDG Base Directory Specification, out of reach of other users.
"""

import os
import re
import stat
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from data_prep.bounds import shown
from data_prep.errors import UserError
from data_prep.files.reading import reason

HOMES: Final = {"XDG_CACHE_HOME": ".cache", "XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share"}
"""Variables that name folders, and what they name by default, relative to the user's home folder."""
OWN: Final = 0o700
"""Mode of a folder of which other users see nothing."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_WRITABLE: Final = stat.S_IWGRP | stat.S_IWOTH
_LINE: Final = re.compile(
    r":L?(\d{1,9})(?:[:,-].*)?"  # file.py:12, :12:5, :12-20, :12: a message
    r"|\((\d{1,9})(?:[ ]?[,:;-][ ]?\d{1,9})*\)(?:[ ]?:.*)?"  # file.ts(12,5): a message
    r"|#L?(\d{1,9})(?:C\d{1,9})?(?:-L?\d{1,9}(?:C\d{1,9})?)?:?",  # file.go#L12-L20
    re.ASCII | re.DOTALL,
)
_LONGEST_PLACE: Final = 1 << 12
_PLACES: Final = 4
"""Meanings of a place that are tried."""


def named_places(typed: str) -> list[tuple[str, int]]:
    """The files and lines that a place may mean, the shortest path first; none if it names no line.

    Behind the path is ``:LINE``, ``#LLINE`` or ``(LINE)``, with or without a column, a last line and, behind another
    colon, text.
    """
    plain = plain_path(typed)
    starts = (match.start() for match in re.finditer(r"[:(#]", plain[:_LONGEST_PLACE]))
    found = ((plain[:start].rstrip(), _LINE.fullmatch(plain, start)) for start in starts)
    lines = ((path, int(next(filter(None, line.groups())))) for path, line in found if path and line)
    return [*islice(lines, _PLACES)]


def plain_path(typed: str) -> str:
    """A path without blanks around it, of an address of a file."""
    typed = typed.strip()
    if not typed.startswith("file://"):
        return typed
    path = unquote(typed.removeprefix("file://").removeprefix("localhost"))
    return path[1:] if re.match(r"/[A-Za-z]:[/\\]", path) else path


def named_path(text: str) -> Path:
    """The absolute path that ``text`` names, with ``~`` expanded.

    Raises:
        UserError: it is not a valid path.
    """
    if "\0" in text:
        raise UserError(f"expected a path, got {shown(text)}: no path has a NUL character")
    try:
        os.fsencode(text)
        return Path(text).expanduser().absolute()
    except UnicodeEncodeError as error:
        raise UserError(f"expected a path, got {shown(text)}: no path has half a pair of surrogates") from error
    except RuntimeError as error:  # pathlib's error for an unknown home
        raise UserError(f"expected a path, got {shown(text)}: there is no such home folder") from error
    except FileNotFoundError as error:
        raise UserError(f"{shown(text)} begins at the current folder, which was deleted: go to another one") from error


def check_file_place(path: Path, option: str) -> None:
    """Check that a file can be written to ``path``.

    Raises:
        UserError: it cannot; the message names ``option``, such as ``--out``, and the reason.
    """
    status = _status(path, option)
    if status and not stat.S_ISREG(status.st_mode):
        what = "is a folder" if stat.S_ISDIR(status.st_mode) else "is no regular file"
        raise UserError(f"{option}={path} {what}: name a file")
    _check_folder(path.parent, path, option)


def check_folder_place(path: Path, option: str) -> None:
    """Check that ``path`` is a writable folder or can be created.

    Raises:
        UserError: it cannot; the message names ``option``, such as ``--out``, and the reason.
    """
    _check_folder(path, path, option)


def check_replaceable_folder(path: Path, option: str, mark: str) -> None:
    """Check that replacing ``path`` as a whole loses nothing: it is absent, empty, or has the file ``mark``.

    Raises:
        UserError: it has other content, or cannot be written; the message names ``option``, such as ``--out``.
    """
    check_folder_place(path, option)
    if path.is_dir() and any(path.iterdir()) and not (path / mark).is_file():
        raise UserError(f"{option}={path} has other content, which would be lost: name an empty or a new folder")


def _check_folder(folder: Path, path: Path, option: str) -> None:
    """Check the ``folder`` for ``path``, or its nearest existing parent."""
    for each in (folder, *folder.parents):
        status = _status(each, option)
        if status is None:
            continue
        if not stat.S_ISDIR(status.st_mode):
            raise UserError(f"{option}={path} cannot be written: {each} is no folder")
        if not os.access(each, os.W_OK | os.X_OK):
            raise UserError(f"{option}={path} cannot be written: no permission to write in {each}")
        return


def _status(path: Path, option: str) -> os.stat_result | None:
    """The status of ``path``; None if nothing is there."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise UserError(f"{option}={path} cannot be written: it is a link to nothing") from None
        return None
    except OSError as error:  # a loop of links, a name that is too long, no permission
        raise UserError(f"{option}={path} cannot be written: {reason(error)}") from error


def home_of(variable: str) -> Path:
    """The folder that one of :data:`HOMES` names; a relative one is ignored, as the specification demands.

    Raises:
        UserError: it names none, and the user has no home folder.
    """
    named = Path(os.environ.get(variable, ""))
    if named.is_absolute():
        return named
    try:
        home = Path.home()
    except RuntimeError:
        home = Path()
    if not home.is_absolute():
        raise UserError(f"there is no home folder to store files in: set {variable}=/path")
    return home / HOMES[variable]


def forget_relative_homes() -> None:
    """Remove relative :data:`HOMES` from the environment: libraries would read files of the current folder."""
    for variable in HOMES:
        if not Path(os.environ.get(variable, "/")).is_absolute():
            del os.environ[variable]


def own_folder(variable: str) -> Path:
    """This program's folder in one of :data:`HOMES`; it need not exist yet.

    Raises:
        UserError: the user has no home folder, or other users may have written into this program's.
    """
    folder = home_of(variable) / "galm"
    try:
        status = folder.stat()
    except OSError:  # nothing is there; or whoever opens its files says what is wrong
        return folder
    if status.st_uid != os.geteuid():
        raise UserError(f"{folder} belongs to another user, so it is not used: set {variable}=/path")
    if status.st_mode & _WRITABLE:
        raise UserError(f"other users may write into {folder}, so it is not used: remove it, or chmod 700 {folder}")
    if status.st_mode & _OTHERS:
        with suppress(OSError):  # of a file system that cannot be written
            folder.chmod(OWN)
    return folder


def cache_folder() -> Path:
    """Where indexes and compiled kernels are stored, by default ``~/.cache/galm``; as :func:`own_folder`."""
    return own_folder("XDG_CACHE_HOME")


def is_own_file(status: os.stat_result) -> bool:
    """Whether no other user may have written a file of this status."""
    return status.st_uid == os.geteuid() and not status.st_mode & _WRITABLE


def make_own_folder(folder: Path) -> None:
    """Create ``folder`` and its missing parents, for the user alone.

    Raises:
        OSError: it cannot be created.
    """
    for each in (*reversed(folder.parents), folder):
        if not each.is_dir():
            each.mkdir(OWN, exist_ok=True)


def absolute_path() -> str:
    """``PATH`` without relative and empty entries, which mean the current folder, whoever filled it."""
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(place for place in places if Path(place).is_absolute())
