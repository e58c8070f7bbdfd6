"""An index that is being made, in memory, of the files that were read so far; and where a server keeps its index."""

import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from search.files.languages import indexed_suffixes
from search.files.tree import checkout_of, found_files
from search.index.build import index_of, watched
from search.index.code_index import Index
from search.index.freshness import record_path
from search.index.read_part import Part, Watch

_GROWN: Final = 2
"""How many times as many files must have been read to make it again."""
_ALONE: Final = 2000
"""Most files that are read while another process makes the index."""


class PartialIndex(Watch):
    """What was read so far. Thread-safe."""

    chunk = 8  # few, so that the first ones are there soon

    def __init__(self, asked: str = "") -> None:
        """Nothing was read yet; ``asked`` as in :class:`Watch`."""
        self.asked, self.files, self.read = asked, 0, 0
        self.ended = False
        """Whether nobody needs it any more."""
        self._parts: list[Part] = []
        self._lock, self._making = threading.Lock(), False
        self._made: tuple[Index | None, int] = None, 0

    def begin(self, files: int) -> None:
        """So many files will be read."""
        self.files = files

    def take(self, part: Part) -> None:
        """These were read."""
        self._parts.append(part)
        self.read += len(part.files)

    def index(self) -> tuple[Index | None, int]:
        """The index of what was read so far or earlier, and its number of files; None before the first.

        Only the first one is waited for; a later one is made in a thread, for the next question.
        """
        with self._lock:
            if self._made[0] is None and self._parts:
                self._make()
            elif _GROWN * self._made[1] <= self.read < self.files and not self._making and self._parts:
                self._making = True
                threading.Thread(target=self._make_next, daemon=True, name="partial index").start()
            return self._made

    def _make(self) -> None:
        parts = [*self._parts]
        self._made = index_of(parts), sum(len(part.files) for part in parts)

    def _make_next(self) -> None:
        try:
            self._make()
        finally:
            self._making = False

    def read_alone(self, root: Path) -> None:
        """Read the likeliest files of a folder, until :attr:`ended`, while another process makes the index."""
        found = found_files(
            root, indexed_suffixes(documents=False), lambda *_: None, checkout_of(root, lambda *_: None)
        )
        self.begin(len(found))
        for _ in watched(root, found, 1, self):
            if self.ended or self.read >= _ALONE:
                return


class IndexPlace:
    """The file of an index."""

    def __init__(self, path: Path) -> None:
        """``path``: where the commands keep it."""
        self.path, self.trouble = path, ""
        self._own: Path | None = None

    def settle(self, tell: Callable[[str, str], None]) -> None:
        """Keep it in a folder of this process, if it cannot be written where it is; what it has is copied."""
        folder = self.path.parent
        if self._own or is_writable(folder):
            return
        try:
            self._own = Path(tempfile.mkdtemp(prefix="galm-"))
        except OSError:  # it is kept in memory, as far as it is read
            return
        mine = self._own / self.path.name
        for each, copy in ((self.path, mine), (record_path(self.path), record_path(mine))):
            with suppress(OSError):
                shutil.copyfile(each, copy)
        self.path = mine
        self.trouble = "the index cannot be stored: it is kept until this server ends"
        tell(str(folder), self.trouble)

    def close(self) -> None:
        """Remove what was kept for this process."""
        if self._own:
            shutil.rmtree(self._own, ignore_errors=True)
            record_path(self.path).unlink(missing_ok=True)


def is_writable(folder: Path) -> bool:
    """Whether a folder can be written to, or be made."""
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
