"""The files of a commit of a bare or plain clone, read from its objects: nothing is checked out."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from data_prep.sources.git_repository import GitRepository, bare_repository
from data_prep.sources.source_tree import Entry

_LINK: Final = "120000"
_SUBMODULE: Final = "160000"
_REASONS: Final = {_LINK: "a link", _SUBMODULE: "a submodule"}
MISSING: Final = "an object that the clone lacks"
LARGEST_READ: Final = 16 << 20
"""Bytes of a file that is read at all."""


class GitTree:
    """A commit of a repository."""

    published = False

    def __init__(self, repository: GitRepository, commit: str) -> None:
        """Look up the commit.

        Raises:
            GitError: it is not there.
        """
        self._repository = repository
        listed = repository.entries(commit)
        self._sizes = repository.sizes([digest for mode, digest, _ in listed if mode not in _REASONS])
        self._digests = {path: digest for _, digest, path in listed}
        self._entries = [self._entry(*each) for each in sorted(listed, key=lambda each: each[2])]

    def _entry(self, mode: str, digest: str, path: str) -> Entry:
        size = self._sizes.get(digest)
        return Entry(path, size or 0, _REASONS.get(mode, "" if size is not None else MISSING))

    def entries(self) -> Sequence[Entry]:
        """All files, sorted by path."""
        return self._entries

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Path and content of each of ``paths``; a content is read once for all paths that have it."""
        places: dict[str, list[str]] = {}
        for path in paths:
            places.setdefault(self._digests[path], []).append(path)
        sizes = {digest: self._sizes[digest] for digest in places if self._sizes[digest] <= LARGEST_READ}
        for digest, data in self._repository.contents(sizes):
            for path in places[digest]:
                yield path, data


def mirror_of(folder: Path, name: str) -> GitRepository | None:
    """The clone of ``owner/name`` among the mirrors of a folder; None if there is none.

    It may be bare or plain, in ``OWNER+NAME``, ``OWNER/NAME`` or ``OWNER/NAME.git``, there or in a folder ``repo``.
    """
    for place in (name.replace("/", "+"), name, f"{name}.git"):
        for inside in (folder / place, folder / place / "repo"):
            if inside.is_dir() and (found := bare_repository(inside)) is not None:
                return found
    return None
