"""Opening untrusted files: never blocks on a pipe, device or folder, and limits how much is read."""

import errno
import os
import stat
from io import BufferedRandom, BufferedReader
from pathlib import Path


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


def append_regular(path: Path | str) -> BufferedRandom:
    """Open a file for reading and appending, creating it if needed; links are followed.

    Raises:
        OSError: the file cannot be read or written, or is not a regular file.
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
    """Read at most ``most`` bytes of a file, and its status afterwards; by default links are not followed.

    Raises:
        OSError: the file cannot be read, is not a regular file, or is a link that is not followed.
    """
    with open_regular(path, follow=follow) as file:
        data = file.read(min(most, os.fstat(file.fileno()).st_size + 1))
        return data, os.fstat(file.fileno())


def read_whole(path: Path | str) -> bytes:
    """Read all bytes of a file; links are followed.

    Raises:
        OSError: the file cannot be read, or is not a regular file.
    """
    with open_regular(path) as file:
        return file.read()


def reason(error: OSError) -> str:
    """The system's error message, in a few words."""
    return error.strerror or str(error)
