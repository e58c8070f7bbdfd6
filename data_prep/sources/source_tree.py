"""The files of a source tree, wherever they are: of a repository at a commit, or of a package's archive."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from data_prep.errors import UserError
from data_prep.sources.archives import read_archive
from data_prep.sources.git_repository import GitRepository

MAX_KEPT_BYTES: Final = 2 << 30
"""Maximum total size of the wanted files of a package, which are held in memory."""
LARGEST_READ: Final = 16 << 20
"""Bytes of a file of a repository that is read at all."""
MISSING: Final = "an object that the clone lacks"
_UNREAD: Final = {"120000": "a link", "160000": "a submodule"}
_DIST_INFO: Final = re.compile(r"[^/]+\.dist-info/(?:licenses/)?(?P<name>[^/]+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a tree."""

    path: str
    size: int = 0  # bytes
    reason: str = ""  # why it cannot be read: a link, a submodule, an object that is not there; "" if it can


@runtime_checkable
class SourceTree(Protocol):
    """The files of a repository at a commit, or of a package."""

    published: bool
    """Whether it is a package, which may have only what was made from the sources."""

    def entries(self) -> Sequence[Entry]:
        """All files, sorted by path."""
        ...

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Path and content of each of ``paths``, files that can be read."""
        ...


class GitTree:
    """A commit of a repository, read from its objects: nothing is checked out."""

    published = False

    def __init__(self, repository: GitRepository, commit: str) -> None:
        """Look up the commit.

        Raises:
            GitError: it is not there.
        """
        self._repository = repository
        self._entries: list[Entry] = []
        self._digests: dict[str, str] = {}
        for mode, path, digest, size in sorted(repository.entries(commit), key=lambda each: each[1]):
            self._digests[path] = digest
            self._entries.append(Entry(path, size or 0, _UNREAD.get(mode, MISSING if size is None else "")))

    def entries(self) -> Sequence[Entry]:
        """All files, sorted by path."""
        return self._entries

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Path and content of each of ``paths``; a content is read once for all paths that have it."""
        sizes = {entry.path: entry.size for entry in self._entries}
        places: dict[str, list[str]] = {}
        for path in paths:
            if sizes[path] <= LARGEST_READ:
                places.setdefault(self._digests[path], []).append(path)
        for digest, data in self._repository.contents({each: sizes[same[0]] for each, same in places.items()}):
            for path in places[digest]:
                yield path, data


class PackageTree:
    """The wanted files of an archive, without the folder around all of them; licences of a wheel are at the top."""

    published = True

    def __init__(self, archive: Path, wanted: Callable[[str], bool]) -> None:
        """Read the files.

        Raises:
            UserError: the archive is missing, rejected as hostile, damaged, or has far too much.
        """
        left_out: dict[str, str] = {}
        files: dict[str, bytes] = {}
        size = 0
        for path, data in read_archive(archive, wanted, left_out.__setitem__):
            size += len(data)
            if size > MAX_KEPT_BYTES:
                raise UserError(f"{archive} is refused: its sources have more than {MAX_KEPT_BYTES >> 30} GiB")
            files[path] = data
        tops = {path.partition("/")[0] for path in files}
        top = f"{tops.pop()}/" if len(tops) == 1 and all("/" in path for path in files) else ""
        self._files = {_place(path.removeprefix(top)): data for path, data in files.items()}
        self._left_out = {path.removeprefix(top): reason for path, reason in left_out.items()}

    def entries(self) -> Sequence[Entry]:
        """The wanted files, and links and others that cannot be read, sorted by path."""
        found = [Entry(path, len(data)) for path, data in self._files.items()]
        found += [
            Entry(path, 0, "a link" if "link" in reason else "too large") for path, reason in self._left_out.items()
        ]
        return sorted(found, key=lambda entry: entry.path)

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Path and content of each of ``paths``."""
        return ((path, self._files[path]) for path in paths)


def _place(path: str) -> str:
    found = _DIST_INFO.fullmatch(path)
    return found["name"] if found else path
