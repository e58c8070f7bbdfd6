"""A source file of a folder: as it was found, its bytes, and git's names for them. Light to import."""

import hashlib
from pathlib import Path
from typing import Final, NamedTuple

from data_prep.errors import UserError
from data_prep.files.reading import read_regular
from data_prep.languages.java.declarations import LARGEST_FILE

_BINARY_WITHIN: Final = 8 << 10  # bytes


class Found(NamedTuple):
    """A source file, as it was when found."""

    path: str  # "/"-separated, relative to the root
    size: int  # bytes
    modified: int  # nanoseconds, st_mtime_ns


def read_source(root: Path, found: Found) -> bytes:
    """The bytes of a found file, cut to one more than the parser's limit.

    Raises:
        OSError: the file cannot be read, or has become a link.
        UserError: it has changed since it was found, or it is binary.
    """
    data, status = read_regular(root / found.path, LARGEST_FILE + 1)
    if (status.st_size, status.st_mtime_ns) != (found.size, found.modified):
        raise UserError("changed while it was read")
    if b"\0" in data[:_BINARY_WITHIN]:
        raise UserError(f"binary: a NUL byte in its first {_BINARY_WITHIN >> 10} KiB")
    return data


def blob_names(data: bytes) -> str:
    """The git blob hashes of a file with these bytes, by SHA-1 and SHA-256, as it is and with normalised line ends."""
    contents = [data, data.replace(b"\r\n", b"\n")] if b"\r\n" in data else [data]
    return " ".join(_blob(name, content) for content in contents for name in ("sha1", "sha256"))


def _blob(algorithm: str, content: bytes) -> str:
    return hashlib.new(algorithm, b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
