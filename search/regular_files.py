"""Reading files of a folder that is not trusted: no link, no pipe, no more than is said."""

import os
import stat
from pathlib import Path


def read_regular(path: Path | str, most: int) -> tuple[bytes, os.stat_result]:
    """At most ``most`` bytes of a file, and its status after they were read; a link is not followed.

    Raises:
        OSError: the file cannot be read, or is a link.
        ValueError: it is no regular file.
    """
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would block
    try:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a regular file")
        with os.fdopen(number, "rb", closefd=False) as file:
            data = file.read(min(most, status.st_size + 1))
        return data, os.fstat(number)
    finally:
        os.close(number)


def reason(error: OSError) -> str:
    """Why the system refused, in a few words."""
    return error.strerror or str(error)
