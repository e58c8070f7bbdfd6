"""The manifest of a prepared data set: a description, and size and checksum of every file."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.json_text import parse_json, sorted_json
from data_prep.files.reading import ABSENT, read_whole, reading

FORMAT_VERSION: Final = 1
"""Incremented when the layout changes; a store of another version is rebuilt."""

MANIFEST: Final = "manifest.json"


class DamagedStore(UserError):  # noqa: N818 - names a state
    """A prepared data set that cannot be used; the message states why."""


def file_sha256(path: Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: the file cannot be read, or is not a regular file.
    """
    with reading(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sealed_file(path: Path) -> dict[str, str | int]:
    """The seal of a file: its name, size and checksum."""
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": file_sha256(path)}


def manifest_sha256(manifest: Mapping[str, Any]) -> str:
    """The checksum of the rest of a manifest.

    Raises:
        UserError: it is nested too deeply.
    """
    rest = {key: value for key, value in manifest.items() if key != "manifest_sha256"}
    return hashlib.sha256(sorted_json(rest)).hexdigest()


def read_manifest(folder: Path, files: Sequence[str], splits: Sequence[str]) -> dict[str, Any]:
    """The manifest in ``folder``, which lists these ``files`` and ``splits``; the files are not checked.

    Raises:
        DamagedStore: it is missing, was changed, or has another format.
        OSError: it cannot be read at this moment, which says nothing about it.
    """
    path = folder / MANIFEST
    try:
        manifest = parse_json(read_whole(path))
        version = manifest.get("format_version") if isinstance(manifest, dict) else None
        if version != FORMAT_VERSION:
            raise DamagedStore(f"{path} is of format {version}, this program reads format {FORMAT_VERSION}")
        if manifest.get("manifest_sha256") != manifest_sha256(manifest):
            raise DamagedStore(f"{path} was changed after it was written")
    except FileNotFoundError as error:
        raise DamagedStore(f"{path} is missing") from error
    except DamagedStore:
        raise
    except (*ABSENT, UserError) as error:
        raise DamagedStore(f"{path} cannot be read: {error}") from error
    if not _is_list_of_seals(manifest.get("files"), files):
        raise DamagedStore(f"{path} lists other files than format {FORMAT_VERSION} has")
    if not _is_sizes(manifest.get("split_sizes"), splits):
        raise DamagedStore(f"{path} does not say how many pairs each split has")
    return manifest


def _is_list_of_seals(content: object, files: Sequence[str]) -> bool:
    if not isinstance(content, list) or not all(isinstance(seal, dict) for seal in content):
        return False
    return [seal.get("name") for seal in content] == list(files)


def _is_sizes(content: object, splits: Sequence[str]) -> bool:
    if not isinstance(content, dict) or {*content} != {*splits}:
        return False
    return all(type(size) is int and size >= 0 for size in content.values())


def check_file(folder: Path, seal: Mapping[str, Any]) -> None:
    """Compare a file with its ``seal``.

    Raises:
        DamagedStore: it is missing, truncated or changed.
        OSError: it cannot be read at this moment, which says nothing about it.
    """
    path = folder / seal["name"]
    try:
        size = path.stat().st_size
        if size != seal.get("bytes"):
            raise DamagedStore(f"{path} has {size} bytes instead of {seal.get('bytes')}")
        if file_sha256(path) != seal.get("sha256"):
            raise DamagedStore(f"{path} was changed: its sha256 is not the manifest's")
    except FileNotFoundError as error:
        raise DamagedStore(f"{path} is missing") from error
    except ABSENT as error:
        raise DamagedStore(f"{path} cannot be read: {error.strerror}") from error
