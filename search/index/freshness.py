"""Whether an index is of its folder as it is now, which costs no walk if no folder has changed: by the index's record.

The record says which folder the index is of, what decided which files were found, and their sizes and times. One that
is missing, damaged or of another index costs a walk, nothing else. It is always in the user's cache folder: one that
came along with somebody else's files could name any folder, to be read into an index among those files.
"""

import ctypes
import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.access import cache_folder, raise_if_passing
from data_prep.store.arrays import Int64, read_sealed, write_sealed
from search.files.stamps import Found, How, Seen, Stamp, modified_at, unchanged
from search.index.index_file import read_head, tree_sha256
from search.retrieval.exact import given, search_loops

_FORMAT: Final = "galm tree 2"
_HOWS: Final[tuple[How, ...]] = ("itself", "target", "kind")
_CHOICES: Final = ("documents", "submodules", "vectors", "everything")


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
    repositories: str = ""  # checksum of the git repositories that are not looked into

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


@dataclass(frozen=True, eq=False)
class StoredTree:
    """A record as its file has it: a look at the folder needs no more."""

    about: Mapping[str, object]
    hows: Int64[np.ndarray, " stamps"]  # places in _HOWS
    stamps: Int64[np.ndarray, "stamps 5"]
    files: Int64[np.ndarray, "files 2"]  # size and time of each
    names: bytes  # the root's, those of the stamps and of the files, each with a NUL behind it

    @classmethod
    def of(cls, record: TreeRecord) -> "StoredTree":
        """A record as arrays."""
        names = [record.root, *(name for _, name in record.stamps), *(file.path for file in record.files)]
        about = {"index": record.index, "stamps": len(record.stamps), "files": len(record.files)}
        return cls(
            {**about, "repositories": record.repositories, **{name: getattr(record, name) for name in _CHOICES}},
            np.array([_HOWS.index(how) for how, _ in record.stamps], np.int64),
            np.array([*record.stamps.values()], np.int64).reshape(-1, len(Stamp._fields)),
            np.array([(file.size, file.modified) for file in record.files], np.int64).reshape(-1, 2),
            "\0".join([*names, ""]).encode("utf-8", "surrogateescape"),
        )

    @classmethod
    def read(cls, about: Mapping[str, object], content: np.ndarray) -> "StoredTree":
        """What a file has.

        Raises:
            UserError, ValueError, KeyError: its parts do not fit together.
        """
        count, many, width = int(str(about["stamps"])), int(str(about["files"])), len(Stamp._fields)
        numbers = count * (1 + width) + 2 * many
        hows, stamps, files = np.split(content[: 8 * numbers].view(np.int64), [count, count * (1 + width)])
        names = content[8 * numbers :].tobytes() + b"\0"
        known = {"index", *_CHOICES} <= about.keys() and not ((hows < 0) | (hows >= len(_HOWS))).any()
        if not known or names.count(b"\0") != 1 + count + many:
            raise UserError("the parts of the record do not fit together")
        return cls(about, hows, stamps.reshape(count, width), files.reshape(many, 2), names)

    @property
    def root(self) -> str:
        """The folder's real path."""
        return self.names.partition(b"\0")[0].decode("utf-8", "surrogateescape")

    @cached_property
    def record(self) -> TreeRecord:
        """The record."""
        about, count = self.about, len(self.hows)
        root, *names = self.names.decode("utf-8", "surrogateescape").split("\0")[:-1]
        keys = ((_HOWS[how], name) for how, name in zip(self.hows.tolist(), names[:count], strict=True))
        stamps = dict(zip(keys, map(Stamp._make, self.stamps.tolist()), strict=True))
        files = [*map(Found, names[count:], *self.files.T.tolist())]
        chosen = {name: about[name] is True for name in _CHOICES}
        inside = str(about.get("repositories", ""))  # which older records do not have
        return TreeRecord(root, str(about["index"]), stamps, files, **chosen, repositories=inside)


def save_record(record: TreeRecord, index: Path) -> None:
    """Write the record of the file ``index``.

    Raises:
        UserError: there is no cache folder.
        OSError: it cannot be written.
    """
    tree = StoredTree.of(record)
    text = np.frombuffer(tree.names[:-1], np.uint8)
    write_sealed(record_path(index), _FORMAT, tree.about, [tree.hows, tree.stamps, tree.files, text])


def read_record(index: Path) -> TreeRecord | None:
    """The record of the file ``index``; None if there is none, or it cannot be used.

    Raises:
        OSError: it cannot be read at this moment, which says nothing about it.
    """
    return tree.record if (tree := _stored(index)) else None


def _stored(index: Path) -> StoredTree | None:
    """The same as its file has it."""
    try:
        path = record_path(index)
        now = path.stat()
        return _read(path, (now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns))
    except (UserError, OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise_if_passing(error)
        return None


@lru_cache(maxsize=4)
def _read(path: Path, _: tuple[int, ...]) -> StoredTree:
    """The record in a file, which is read again once its stamp is another one."""
    return StoredTree.read(*read_sealed(path, _FORMAT))


def want_vectors(index: Path, *, wanted: bool) -> None:
    """Note whether the file ``index`` is to have vectors, for later updates; a record that cannot be written stays."""
    record = read_record(index)
    if record and record.vectors != wanted:
        with suppress(OSError, UserError):
            save_record(replace(record, vectors=wanted), index)


def changed_files(tree: StoredTree) -> list[str] | None:
    """The known files that have changed or are gone; None if only a walk can tell.

    Raises:
        OSError: the folder cannot be opened.
    """
    root = os.open(tree.root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        library, count = search_loops(), len(tree.hows)
        if library is None:
            record = tree.record
            return _differing(record.files, root) if unchanged(record.stamps, root) else None
        hows = np.concatenate([tree.hows, np.zeros(len(tree.files), np.int64)])
        now = np.empty((len(hows), len(Stamp._fields)), np.int64)
        names = np.frombuffer(tree.names, np.uint8)[tree.names.index(0) + 1 :]
        library.take_stamps(*given(names, hows, now), ctypes.c_int64(len(hows)), ctypes.c_int(root))
        if not np.array_equal(now[:count], tree.stamps):  # nor is one that is untrusted
            return None
        sizes, times = tree.files.T
        changed = np.flatnonzero((now[count:, 2] != sizes) | (now[count:, 3:].max(axis=1) != times)).tolist()
        return [tree.record.files[place].path for place in changed]
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
_NAMED: Final = 3  # files that a line names
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
            which = f"{'at least ' * self.unknown}{count:,} changed files are being read: hits in them"
            which = "1 changed file is being read: hits in it" if count == 1 else which
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
    tree, head = _stored(index), read_head(index)
    root = root or (Path(tree.root) if tree else None)
    if root is None:
        return None, Freshness(trouble=f"which folder it is of is not known: make it again, by --out={index}")
    if not root.is_dir():
        return root, Freshness(trouble=f"{root} no longer exists")
    if tree is None or (tree.about["index"], tree.root) != (head.content, os.path.realpath(root)):
        return root, Freshness(unknown=True)
    try:
        changed = changed_files(tree)
        if changed is None and len(tree.files) <= _MOST_WALKED:
            changed = _walked(tree.record, index)
    except (UserError, OSError):  # which the reading of what has changed reports
        changed = None
    return root, Freshness(tuple(changed or ()), unknown=changed is None)


def _walked(record: TreeRecord, index: Path) -> list[str]:
    """The files that another walk finds changed, new or gone; if there are none, what it saw is noted."""
    from search.files.languages import indexed_suffixes  # what a look at an unchanged folder does not need
    from search.files.tree import checkout_of, found_files
    from search.files.unread import Unread

    root, told = record.folder, lambda *_: None
    seen, suffixes, chosen = Seen(root), indexed_suffixes(documents=record.documents), Unread(record.everything)
    found = found_files(root, suffixes, told, checkout_of(root, told), chosen, submodules=record.submodules, seen=seen)
    moved = tree_sha256(None, (), chosen.repositories) != record.repositories
    changed = differing(record.files, found) or ["."] * moved
    if not changed:
        with suppress(OSError, UserError):  # then the next one walks again
            save_record(replace(record, stamps=seen.stamps), index)
    return changed


def differing(before: Sequence[Found], now: Sequence[Found]) -> list[str]:
    """The paths of files that have changed, are new or gone."""
    return sorted({each.path for each in {*before} ^ {*now}})
