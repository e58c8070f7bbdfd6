"""The record of an index: which folder it is of, what decided which files were found, and their sizes and times.

So a later run sees without a walk that nothing has changed, and a named index knows its folder. A record that is
missing, damaged or of another index costs a walk, nothing else. It is always in the user's cache folder: one that came
along with somebody else's files could name any folder, to be read into an index among those files.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.named_paths import cache_folder
from data_prep.files.reading import raise_if_passing
from data_prep.files.sealed import read_sealed, write_sealed
from search.files.tree import Found, modified_at
from search.files.tree_stamps import How, Stamp, unchanged

_FORMAT: Final = "galm tree 2"
_HOWS: Final[tuple[How, ...]] = ("itself", "target", "kind")


@dataclass(frozen=True, slots=True)
class TreeRecord:
    """What an index was made of."""

    root: str  # the folder's real path
    index: str  # sha256 of the index's content
    stamps: Mapping[tuple[How, str], Stamp]
    files: Sequence[Found]
    documents: bool = False  # whether texts and configuration are indexed too
    submodules: bool = False  # whether submodules are looked into
    vectors: bool = True  # whether the index is to have vectors
    everything: bool = False  # whether hidden folders, and those of others' code, are looked into

    @property
    def folder(self) -> Path:
        """The folder."""
        return Path(self.root)


def record_path(index: Path) -> Path:
    """The file of the record of an index.

    Raises:
        UserError: there is no cache folder.
    """
    return _record_path(os.path.realpath(index), os.path.realpath(cache_folder()))


@lru_cache(maxsize=16)
def _record_path(index: str, folder: str) -> Path:
    real, cache = Path(index), Path(folder)
    if real.is_relative_to(cache):
        return real.with_name(f"{real.name}.tree")
    return cache / "records" / f"{hashlib.sha256(os.fsencode(real)).hexdigest()[:32]}.tree"


def save_record(record: TreeRecord, index: Path) -> None:
    """Write the record of the file ``index``.

    Raises:
        UserError: there is no cache folder.
        OSError: it cannot be written.
    """
    names = [record.root, *(name for _, name in record.stamps), *(file.path for file in record.files)]
    hows = np.array([_HOWS.index(how) for how, _ in record.stamps], np.int64)
    stamps = np.array([*record.stamps.values()], np.int64).reshape(-1)
    files = np.array([(file.size, file.modified) for file in record.files], np.int64).reshape(-1)
    about = {
        "index": record.index,
        "stamps": len(hows),
        "files": len(record.files),
        "documents": record.documents,
        "submodules": record.submodules,
        "vectors": record.vectors,
        "everything": record.everything,
    }
    text = np.frombuffer("\0".join(names).encode("utf-8", "surrogateescape"), np.uint8)
    write_sealed(record_path(index), _FORMAT, about, [hows, stamps, files, text])


def read_record(index: Path) -> TreeRecord | None:
    """The record of the file ``index``; None if there is none, or it cannot be used.

    Raises:
        OSError: it cannot be read at this moment, which says nothing about it.
    """
    try:
        path = record_path(index)
        now = path.stat()
        return _read(path, (now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns))
    except (UserError, OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise_if_passing(error)
        return None


@lru_cache(maxsize=4)
def _read(path: Path, _: tuple[int, ...]) -> TreeRecord:
    """The record in a file, which is read again once its stamp is another one."""
    return _record(*read_sealed(path, _FORMAT))


def _record(about: Mapping[str, object], content: np.ndarray) -> TreeRecord:
    count, many = int(str(about["stamps"])), int(str(about["files"]))
    numbers = count * (1 + len(Stamp._fields)) + 2 * many
    values = content[: 8 * numbers].view(np.int64)
    root, *names = content[8 * numbers :].tobytes().decode("utf-8", "surrogateescape").split("\0")
    if len(names) != count + many:
        raise UserError(f"expected {count + many:,} names, got {len(names):,}")
    hows, rest = values[:count].tolist(), values[count:]
    stamps = rest[: count * len(Stamp._fields)].reshape(count, -1).tolist()
    sizes, times = rest[count * len(Stamp._fields) :].reshape(many, 2).T.tolist()
    keys = ((_HOWS[how], name) for how, name in zip(hows, names[:count], strict=True))
    return TreeRecord(
        root,
        str(about["index"]),
        dict(zip(keys, map(Stamp._make, stamps), strict=True)),
        [*map(Found, names[count:], sizes, times)],
        about["documents"] is True,
        about["submodules"] is True,
        about["vectors"] is True,
        about["everything"] is True,
    )


def want_vectors(index: Path, *, wanted: bool) -> None:
    """Note whether the file ``index`` is to have vectors, for later updates; a record that cannot be written stays."""
    record = read_record(index)
    if record and record.vectors != wanted:
        with suppress(OSError, UserError):
            save_record(replace(record, vectors=wanted), index)


def changed_files(record: TreeRecord) -> list[str] | None:
    """The known files that have changed or are gone; None if only a walk can tell.

    Raises:
        OSError: the folder cannot be opened.
    """
    root = os.open(record.root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if not unchanged(record.stamps, root):
            return None
        return _differing(record.files, root)
    finally:
        os.close(root)


def _differing(files: Sequence[Found], root: int) -> list[str]:
    """The paths of the files that are no longer as they were found."""
    found, stat = [], os.stat
    for path, size, modified in files:
        try:
            now = stat(path, dir_fd=root, follow_symlinks=False)
        except OSError:
            found.append(path)
            continue
        if now.st_size != size or modified_at(now) != modified:
            found.append(path)
    return found
