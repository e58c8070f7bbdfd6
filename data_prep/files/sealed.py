"""Files of a header line and binary content: written atomically, memory-mapped, with a checksum.

The header is the format's name and a JSON object: the writer's metadata, and ``bytes`` and ``sha256`` of the content.
It is padded with spaces, so that the content begins at a multiple of 64 bytes.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.array_types import UInt8
from data_prep.errors import UserError
from data_prep.files.access import ABSENT, make_own_folder, reading, reason
from data_prep.files.atomic import atomic_file
from data_prep.files.json_text import parse_json

_LONGEST_HEAD: Final = 4096
_ALIGNED: Final = 64


class UnusableFileError(UserError):
    """A file that cannot be used; the message states why."""


def write_sealed(path: Path, form: str, about: Mapping[str, Any], parts: Sequence[np.ndarray]) -> None:
    """Write the concatenated ``parts`` atomically, for the user alone; an older file is replaced.

    Args:
        path: of the file; its folder is created.
        form: name of the format, with its version.
        about: metadata for the header.
        parts: arrays.

    Raises:
        OSError: it cannot be written; an older file is unchanged.
    """
    raw = [np.ascontiguousarray(part).reshape(-1).view(np.uint8) for part in parts]
    head = {**about, "bytes": sum(map(len, raw)), "sha256": _sha256(about, raw)}
    line = f"{form} {json.dumps(head)}".encode()
    line += b" " * (-(len(line) + 1) % _ALIGNED) + b"\n"
    make_own_folder(path.parent)
    with atomic_file(path, private=True) as new, new.open("wb") as file:
        file.write(line)
        for part in raw:
            file.write(part.data)


def read_sealed(path: Path, form: str) -> tuple[dict[str, Any], UInt8[np.ndarray, " bytes"]]:
    """The metadata and the memory-mapped content.

    Raises:
        UnusableFileError: the file is missing, has another format or version, or is damaged.
        OSError: it cannot be read at this moment, which says nothing about it.
    """
    about, sha256, content = _opened(path, form, whole=True)
    if _sha256(about, [content]) != sha256:
        raise UnusableFileError(f"{path} is damaged: its sha256 is not what its first line says")
    return about, content


def read_sealed_head(path: Path, form: str) -> dict[str, Any]:
    """The metadata; of the content only the size is checked.

    Raises:
        UnusableFileError: the file is missing, has another format or version, or is truncated.
        OSError: it cannot be read at this moment, which says nothing about it.
    """
    return _opened(path, form, whole=False)[0]


def _opened(path: Path, form: str, *, whole: bool) -> tuple[dict[str, Any], str, UInt8[np.ndarray, " bytes"]]:
    """The metadata, the checksum, and with ``whole`` the content."""
    try:
        with reading(path) as file:
            line = file.readline(_LONGEST_HEAD)
            head = _head(path, form, line)
            size, there = head.pop("bytes"), os.fstat(file.fileno()).st_size - len(line)
            if there != size:
                raise UnusableFileError(f"{path} is damaged: {there:,} bytes follow its first line, not {size:,}")
            mapped = np.memmap(file, np.uint8, mode="r", offset=len(line)) if whole and size else ()
            return head, head.pop("sha256"), np.asarray(mapped, np.uint8)
    except ABSENT as error:
        raise UnusableFileError(f"{path} cannot be read ({reason(error)})") from error


def _head(path: Path, form: str, line: bytes) -> dict[str, Any]:
    if not line.startswith(f"{form} ".encode()):
        raise UnusableFileError(f"{path} does not begin {form!r}, but {line[:20]!r}")
    try:
        head = parse_json(line.removeprefix(form.encode()))
        if not isinstance(head, dict) or any(isinstance(value, list | dict) for value in head.values()):
            raise UserError("expected an object of numbers and texts alone")
        if not {"bytes", "sha256"} <= head.keys():
            raise UserError("expected bytes and sha256")
        return head
    except UserError as error:
        raise UnusableFileError(f"the first line of {path} is damaged ({error})") from error


def _sha256(about: Mapping[str, Any], parts: Sequence[np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for part in parts:
        digest.update(part.data)
    return digest.hexdigest()
