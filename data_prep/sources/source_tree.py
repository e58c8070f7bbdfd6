"""The files of a source tree, wherever they are: what a repository at a commit and a package have in common."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


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
