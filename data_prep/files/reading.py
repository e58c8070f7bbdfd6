"""Opening untrusted files: never blocks on a pipe, device or folder, and limits how much is read.

An error of reading says that a file is not there or no file (:data:`ABSENT`), that it may not be read, or nothing about
it, as too many open files do (:func:`raise_if_passing`). Only the first is a reason to make a file again.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedRandom, BufferedReader
from pathlib import Path
from typing import Final

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


def reason(error: OSError) -> str:
    """The system's error message, in a few words."""
    return error.strerror or str(error)
