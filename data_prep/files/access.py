"""Files: paths that a user names, checked early, the user's own folders, and untrusted files, opened without blocking.

A user's own folders are those of the XDG Base Directory Specification, out of reach of other users.

An error of reading says that a file is not there or no file (:data:`ABSENT`), that it may not be read, or nothing about
it, as too many open files do (:func:`raise_if_passing`). Only the first is a reason to make a file again.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom, BufferedReader
from pathlib import Path
from typing import Final

from data_prep.errors import UserError, shown

HOMES: Final = {"XDG_CACHE_HOME": ".cache", "XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share"}
"""Variables that name folders, and what they name by default, relative to the user's home folder."""
OWN: Final = 0o700
"""Mode of a folder of which other users see nothing."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_WRITABLE: Final = stat.S_IWGRP | stat.S_IWOTH


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
    check_folder_place(path.parent, option, path)


def check_folder_place(folder: Path, option: str, file: Path | None = None) -> None:
    """Check that ``folder``, or that of a ``file`` to be, is a writable folder or can be created.

    Raises:
        UserError: it cannot; the message names ``option``, such as ``--out``, and the reason.
    """
    path = file or folder
    for each in (folder, *folder.parents):
        status = _status(each, option)
        if status is None:
            continue
        if not stat.S_ISDIR(status.st_mode):
            raise UserError(f"{option}={path} cannot be written: {each} is no folder")
        if not os.access(each, os.W_OK | os.X_OK):
            raise UserError(f"{option}={path} cannot be written: no permission to write in {each}")
        return


def check_replaceable_folder(path: Path, option: str, mark: str) -> None:
    """Check that replacing ``path`` as a whole loses nothing: it is absent, empty, or has the file ``mark``.

    Raises:
        UserError: it has other content, or cannot be written; the message names ``option``, such as ``--out``.
    """
    check_folder_place(path, option)
    if path.is_dir() and any(path.iterdir()) and not (path / mark).is_file():
        raise UserError(f"{option}={path} has other content, which would be lost: name an empty or a new folder")


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


_OF_KIND: Final = frozenset({errno.ELOOP, errno.ENXIO, errno.ENODEV})
"""Errors of opening links in a circle or not to be followed, and sockets."""
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors for lack of space: on the disk, in the user's quota, in one file."""
MANY_OPEN: Final = frozenset({errno.EMFILE, errno.ENFILE})
"""Errors for too many open files: of the process, of the machine."""
MAX_RATIO: Final = 200
"""Maximum compression ratio of a file or an archive's member; that of Java code is between 3 and 10."""
RATIO_FROM: Final = 64 << 20
"""Bytes of lines or rows; smaller outputs are never bombs."""
_PASSING: Final = FULL | MANY_OPEN | {errno.ENOMEM, errno.ENOBUFS, errno.EAGAIN, errno.EIO}


class NotRegularError(OSError):
    """What is in the place of a file is no regular file."""


ABSENT: Final = (FileNotFoundError, NotADirectoryError, IsADirectoryError, NotRegularError)
"""Errors of reading where there is no file."""


def raise_if_passing(error: Exception) -> None:
    """Raise an error of reading again if it is of the machine at this moment, and says nothing about the file.

    Raises:
        OSError: too many files are open, memory is full, or the disk fails.
    """
    if isinstance(error, OSError) and error.errno in _PASSING:
        raise error


def open_regular(path: Path | str, *, follow: bool = True) -> BufferedReader:
    """Open a file for reading bytes, without blocking on pipes.

    Args:
        path: of the file.
        follow: whether ``path`` may be a link; its parent folders may always be links.

    Raises:
        OSError: the file cannot be read, is not a regular file, or is a link that is not followed.
    """
    number = _number(path, os.O_RDONLY | (0 if follow else os.O_NOFOLLOW))
    return os.fdopen(number, "rb")


@contextmanager
def reading(path: Path | str, *, follow: bool = True) -> Iterator[BufferedReader]:
    """:func:`open_regular` for a block, whose errors name the file even if the system's name none.

    Raises:
        OSError: as :func:`open_regular`, and of the block.
    """
    with open_regular(path, follow=follow) as file:
        try:
            yield file
        except OSError as error:
            if error.errno is None or error.filename is not None:
                raise
            raise OSError(error.errno, error.strerror, str(path)) from error


def append_regular(path: Path | str) -> BufferedRandom:
    """Open a file for reading and appending, creating it if needed; links are followed.

    Raises:
        OSError: the file cannot be read or written, or is not a regular file.
    """
    number = _number(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    return os.fdopen(number, "r+b")


def _number(path: Path | str, flags: int) -> int:
    try:
        number = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno not in _OF_KIND:
            raise
        raise NotRegularError(error.errno, error.strerror, str(path)) from error
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise NotRegularError(errno.EINVAL, "not a regular file", str(path))
    except BaseException:
        os.close(number)
        raise
    return number


def read_regular(path: Path | str, most: int, *, follow: bool = False) -> tuple[bytes, os.stat_result]:
    """Read at most ``most`` bytes of a file, and its status afterwards; by default links are not followed.

    Raises:
        OSError: the file cannot be read, is not a regular file, or is a link that is not followed.
    """
    with reading(path, follow=follow) as file:
        data = file.read(min(most, os.fstat(file.fileno()).st_size + 1))
        return data, os.fstat(file.fileno())


def read_whole(path: Path | str) -> bytes:
    """Read all bytes of a file; links are followed.

    Raises:
        OSError: the file cannot be read, or is not a regular file.
    """
    with reading(path) as file:
        return file.read()


def file_sha256(path: Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: the file cannot be read, or is not a regular file.
    """
    with reading(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def reason(error: Exception) -> str:
    """The message of an error, of one of the system without number and file."""
    return getattr(error, "strerror", None) or str(error)
