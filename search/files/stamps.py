"""What is known of files and folders at a time, by which it is seen later whether they have changed.

Each folder, ignore file and git's index gets a stamp, with what changes whenever a folder's entries or a file's content
do. As long as none has changed, another walk would find the same. One that was taken within a tick of such a change
proves nothing, and is never equal.
"""

import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple

How = Literal["itself", "target", "kind"]
"""What is told of a path: of a link itself, of what it leads to, or only whether there is a file or a folder."""
TICK: Final = 100_000_000
"""Nanoseconds within which two changes may have the same time."""


def modified_at(status: os.stat_result) -> int:
    """When a file was last changed, in nanoseconds, even if the time of its content was restored, as by ``cp -p``."""
    return max(status.st_mtime_ns, status.st_ctime_ns)


class Found(NamedTuple):
    """A source file, as it was when found."""

    path: str  # "/"-separated, relative to the root
    size: int  # bytes
    modified: int  # nanoseconds, as modified_at says


class Stamp(NamedTuple):
    """Of one path; all 0 if nothing is there."""

    mode: int = 0
    inode: int = 0
    size: int = 0  # bytes
    modified: int = 0  # nanoseconds
    changed: int = 0  # nanoseconds


_stamp: Final = Stamp._make
UNTRUSTED: Final = Stamp(-1)
"""Taken within a tick of a change."""


class Seen:
    """The stamps of one walk, each taken before its path was read."""

    def __init__(self, root: Path) -> None:
        """Nothing has been seen; ``root``: the folder that is walked."""
        self._start, self._root = f"{root}/", str(root)
        self.stamps: dict[tuple[How, str], Stamp] = {}

    def look(self, path: str, how: How = "itself") -> None:
        """Take the stamp of an absolute path, unless it was taken before."""
        name = path.removeprefix(self._start) if path != self._root else "."
        if (how, name) in self.stamps:
            return
        now = time.time_ns()
        stamp = stamp_of(path, how)
        racy = how != "kind" and stamp.changed > now - TICK
        self.stamps[how, name] = UNTRUSTED if racy else stamp

    def look_for_checkout(self) -> None:
        """Take the stamps of what decides which git checkout contains the root."""
        real = Path(os.path.realpath(self._root))
        for each in (real, *real.parents):
            self.look(f"{each}/.git" if each != real else f"{self._root}/.git", "kind")
            if os.path.lexists(each / ".git"):
                return


def stamp_of(path: str, how: How, folder: int | None = None) -> Stamp:
    """The present stamp of ``path``, which may be relative to the opened ``folder``."""
    try:
        found = os.stat(path, dir_fd=folder, follow_symlinks=how == "target")
    except (OSError, ValueError):  # absent, or not to be seen: then its walk cannot have read it either
        return Stamp()
    if how == "kind":
        return Stamp(stat.S_IFMT(found.st_mode))
    return _stamp((found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


def unchanged(stamps: Mapping[tuple[How, str], Stamp], root: int) -> bool:
    """Whether all stamps are as they were; ``root``: the opened folder, to which paths are relative."""
    if UNTRUSTED in stamps.values():
        return False
    return all(stamp_of(name, how, root) == stamp for (how, name), stamp in stamps.items())
