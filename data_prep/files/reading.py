"""Opening files that are not trusted: no pipe, device or folder is waited for, and no more is read than is said."""

import errno
import os
import stat
from io import BufferedRandom, BufferedReader
from pathlib import Path


def open_regular(path: Path | str, *, follow: bool = True) -> BufferedReader:
    """A file opened for reading bytes, without waiting where it is a pipe.

    Args:
        path: of the file.
        follow: whether ``path`` may be a link; the folders above may be links in any case.

    Raises:
        OSError: the file cannot be read, is no regular file, or is a link that is not followed.
    """
    number = _number(path, os.O_RDONLY | (0 if follow else os.O_NOFOLLOW))
    return os.fdopen(number, "rb")


def append_regular(path: Path | str) -> BufferedRandom:
    """A file opened for reading and for adding to its end, made where there is none; a link is followed.

    Raises:
        OSError: the file cannot be read or written, or is no regular file.
    """
    number = _number(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    return os.fdopen(number, "r+b")


def _number(path: Path | str, flags: int) -> int:
    number = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
    except BaseException:
        os.close(number)
        raise
    return number


def read_regular(path: Path | str, most: int, *, follow: bool = False) -> tuple[bytes, os.stat_result]:
    """At most ``most`` bytes of a file, and its status after they were read; by default a link is not followed.

    Raises:
        OSError: the file cannot be read, is no regular file, or is a link that is not followed.
    """
    with open_regular(path, follow=follow) as file:
        data = file.read(min(most, os.fstat(file.fileno()).st_size + 1))
        return data, os.fstat(file.fileno())


def read_whole(path: Path | str) -> bytes:
    """All bytes of a file that the user names; a link is followed.

    Raises:
        OSError: the file cannot be read, or is no regular file.
    """
    with open_regular(path) as file:
        return file.read()


def reason(error: OSError) -> str:
    """Why the system refused, in a few words."""
    return error.strerror or str(error)
