"""Whether an index is of its folder as it is now, which costs no walk if no folder has changed: by the index's record.

The record says which folder the index is of, what decided which files were found, and their sizes and times. One that
is missing, damaged or of another index costs a walk, nothing else. It is always in the user's cache folder: one that
came along with somebody else's files could name any folder, to be read into an index among those files.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.access import cache_folder, raise_if_passing
from data_prep.store.arrays import read_sealed, write_sealed
from search.files.ignore_files import How
from search.files.languages import indexed_suffixes
from search.files.tree import Found, checkout_of, found_files
from search.files.unread import Unread
from search.files.walk import Seen, Stamp, modified_at, unchanged
from search.index.index_file import read_head

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


_MOST_WALKED: Final = 20_000
"""Files of a tree that is walked before an answer if its folders have changed, .02 s for each thousand."""
_NAMED: Final = 3
"""Files that a line names."""
MOST_NAMED: Final = 200
"""Files that an answer in JSON names."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """What is known of an index and its folder, for those who read an answer."""

    reading: tuple[str, ...] = ()
    """Files that have changed, are new or gone, and are being read: hits in them may be old."""
    unknown: bool = False
    """Whether files may have changed that are not named, since they are still being looked for."""
    trouble: str = ""
    """Why the index could not be brought up to date; "" if nothing is wrong."""

    @property
    def line(self) -> str:
        """The same in one line; "" if the index is of the folder as it is now."""
        if self.trouble:
            return f"answered from the index as it was: {self.trouble}"
        if self.reading:
            count, some = len(self.reading), ", ".join(self.reading[:_NAMED])
            more = f" and {count - _NAMED:,} more" if count > _NAMED else ""
            which = "1 changed file is being read: hits in it" if count == 1 else f"{count:,} changed files are being "
            which += "" if count == 1 else "read: hits in them"
            return f"{which} may be old ({some}{more})"
        return "changed files are being read: hits may be old" if self.unknown else ""

    @property
    def told(self) -> dict[str, Any]:
        """What an answer in JSON has besides: nothing, or one object, ``freshness``."""
        if not self.line:
            return {}
        about = {"line": self.line, "changed": list(self.reading[:MOST_NAMED]), "changed_count": len(self.reading)}
        return {"freshness": about}


CURRENT: Final = Freshness()


def looked_at(index: Path, root: Path | None = None) -> tuple[Path | None, Freshness]:
    """The folder of an index, and at once what has changed in it; no source file is read.

    Args:
        index: the file.
        root: its folder; None: as it was noted when the index was made.

    Raises:
        UnusableIndexError: there is no index, or it is of another version.
    """
    record, head = read_record(index), read_head(index)
    root = root or (record.folder if record else None)
    if root is None:
        return None, Freshness(trouble=f"which folder it is of is not known: make it again, by --out={index}")
    if not root.is_dir():
        return root, Freshness(trouble=f"{root} no longer exists")
    if record is None or (record.index, record.root) != (head.content, os.path.realpath(root)):
        return root, Freshness(unknown=True)
    try:
        changed = changed_files(record)
        if changed is None and len(record.files) <= _MOST_WALKED:
            changed = _walked(record, index)
    except (UserError, OSError):  # which the reading of what has changed reports
        changed = None
    return root, Freshness(tuple(changed or ()), unknown=changed is None)


def _walked(record: TreeRecord, index: Path) -> list[str]:
    """The files that another walk finds changed, new or gone; if there are none, what it saw is noted."""
    root, told = record.folder, lambda *_: None
    seen, suffixes = Seen(root), indexed_suffixes(documents=record.documents)
    chosen = Unread(record.everything)
    found = found_files(root, suffixes, told, checkout_of(root, told), chosen, submodules=record.submodules, seen=seen)
    changed = differing(record.files, found)
    if not changed:
        with suppress(OSError, UserError):  # then the next one walks again
            save_record(replace(record, stamps=seen.stamps), index)
    return changed


def differing(before: Sequence[Found], now: Sequence[Found]) -> list[str]:
    """The paths of files that have changed, are new or gone."""
    return sorted({each.path for each in {*before} ^ {*now}})
