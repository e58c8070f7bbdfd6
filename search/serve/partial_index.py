"""The index of the files that are read so far, while the first one of a folder is made."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from search.files.languages import indexed_suffixes
from search.files.tree import checkout_of, found_files
from search.index.build import index_of, watched
from search.index.code_index import Index
from search.index.read_part import Part, Watch

_GROWN: Final = 2
"""How many times as many files must have been read to make it again."""
_FIRST: Final = 400
"""Files that the first one has about, since a question waits until it is made."""
_ALONE: Final = 2000
"""Most files that are read while another process makes the index."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is that a question may wait for."""

    read: int  # files
    files: int  # that are to be read; 0 if it is not known yet
    doing: str


class PartialIndex(Watch):
    """What was read so far. Thread-safe."""

    chunk = 8  # few, so that the first ones are there soon

    def __init__(self, asked: str = "") -> None:
        """Nothing was read yet; ``asked`` as in :class:`Watch`."""
        self.asked, self.files, self.read = asked, 0, 0
        self.sought: Sequence[str] = ()
        """The paths of the files that will be read, if known."""
        self.ended = False
        """Whether nobody needs it any more."""
        self.begun = threading.Event()
        """Set once it is known how many files will be read."""
        self._parts: list[Part] = []
        self._beside: list[Part] = []
        self._lock, self._making = threading.Lock(), threading.Thread()
        self._made: tuple[Index | None, int] = None, 0
        self._in_made = 0  # of those beside

    def begin(self, files: int) -> None:
        """So many files will be read."""
        self.files = files
        self.begun.set()

    def take(self, part: Part) -> None:
        """These were read."""
        self._parts.append(part)
        self.read += len(part.files)

    def add(self, part: Part) -> None:
        """These were read beside the others."""
        self._beside.append(part)

    @property
    def paths(self) -> set[str]:
        """Of the files that were read."""
        return {file.path for part in (*self._parts, *self._beside) for file in part.files}

    @property
    def progress(self) -> Progress:
        """How far the reading is."""
        if not self.files:
            return Progress(0, 0, "looking for files that are new or have changed")
        read = f"{self.read:,} of {self.files:,} files are read" if self.read < self.files else "completing the index"
        return Progress(self.read, self.files, read)

    def index(self, until: float = 0.0) -> tuple[Index | None, int]:
        """The index of what was read so far or earlier, and its number of files; None before the first.

        Only the first one is waited for; a later one is made in a thread, for the next question.

        Args:
            until: the time, as of ``time.monotonic``, up to which one with all that was added is waited for.
        """
        with self._lock:
            if self._made[0] is None and self._parts:
                self._make()
        while self._begin_next() and time.monotonic() < until and self._in_made < len(self._beside):
            self._making.join(max(0.0, until - time.monotonic()))
        return self._made

    def _begin_next(self) -> bool:
        """Begin to make the next index if much was read since, or some was added; whether one is being made."""
        with self._lock:
            due = _GROWN * self._made[1] <= self.read < self.files or self._in_made < len(self._beside)
            if due and self._parts and not self._making.is_alive():
                self._making = threading.Thread(target=self._make, daemon=True, name="partial index")
                self._making.start()
            return self._making.is_alive()

    def _make(self) -> None:
        parts, beside, known = list[Part](), [*self._beside], set[str]()
        for part in [*self._parts]:
            if self._made[0] is not None or len(known) < _FIRST:
                known.update(file.path for file in part.files)
                parts.append(part)
        for part in beside:
            files = [place for place, file in enumerate(part.files) if file.path not in known]
            known.update(file.path for file in part.files)
            parts.append(part.taken(files))
        self._made, self._in_made = (index_of(parts), len(known)), len(beside)

    def read_alone(self, root: Path) -> None:
        """Read the likeliest files of a folder, until :attr:`ended`, while another process makes the index."""
        found = found_files(
            root, indexed_suffixes(documents=False), lambda *_: None, checkout_of(root, lambda *_: None)
        )
        self.begin(len(found))
        self.sought = [each.path for each in found]
        for _ in watched(root, found, 1, self):
            if self.ended or self.read >= _ALONE:
                return
