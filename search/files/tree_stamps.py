"""What decided which files a walk found: its folders, ignore files and git's index, each with a stamp.

As long as no stamp has changed, another walk would find the same files. A stamp has what changes whenever a folder's
entries or a file's content do. One that was taken within a tick of such a change proves nothing, and is never equal.
"""

import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple

TICK: Final = 100_000_000
"""Nanoseconds within which two changes may have the same time."""

How = Literal["itself", "target", "kind"]
"""itself: a link's own stamp; target: that of what it leads to; kind: only whether there is a file or a folder."""


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
