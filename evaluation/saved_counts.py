"""Saved progress of an interrupted evaluation: counts of the queries ranked so far, in one file per process."""

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Float32, Float64, Int64

from data_prep.files.atomic import remove_leftovers, write_atomically
from data_prep.files.reading import ABSENT, read_whole
from modeling import distributed as processes

_EVERY: Final = 20.0
"""Seconds between writes."""


@dataclass(frozen=True, eq=False, slots=True)
class Counts:
    """The counts of ranked queries."""

    better: Int64[np.ndarray, " queries"]  # codes that scored higher than the gold
    tied: Int64[np.ndarray, " queries"]  # other codes that scored as high as the gold
    codes: Int64[np.ndarray, "queries depth"]  # the best codes, as rows of the pool
    scores: Float32[np.ndarray, "queries depth"]  # of these codes
    sought: Int64[np.ndarray, "queries most"]  # ranks of all codes that a query seeks, if it may seek several
    gained: Float64[np.ndarray, "queries one"]  # NDCG by people's grades, in one column; in none without grades

    def __len__(self) -> int:
        return len(self.better)

    @classmethod
    def none(cls, depth: int, most: int = 0, graded: int = 0) -> "Counts":
        """The counts of no query."""
        empty = np.empty(0, np.int64)
        top = (np.empty((0, depth), np.int64), np.empty((0, depth), np.float32))
        return cls(empty, empty, *top, np.empty((0, most), np.int64), np.empty((0, graded)))

    @classmethod
    def joined(cls, blocks: Sequence["Counts"]) -> "Counts":
        """Blocks of counts as one; there is at least one."""
        return cls(*(np.concatenate([getattr(block, each.name) for block in blocks]) for each in fields(cls)))


@dataclass
class SavedCounts:
    """Counts in a file; ``stamp`` identifies their model, pool and depth."""

    path: Path
    stamp: str
    seconds: float = 0.0  # of ranking before the counts that :meth:`load` returned were saved
    _begun: float = field(default_factory=time.monotonic)
    _saved: float = field(default_factory=time.monotonic)

    @property
    def _file(self) -> Path:
        """This process's file."""
        return self.path.with_name(f"{self.path.name}.{processes.rank()}-of-{processes.count()}")

    def load(self) -> Counts | None:
        """The saved counts; None if there are none, or if they have another stamp or are damaged."""
        self.seconds, self._begun = 0.0, time.monotonic()
        try:
            content = read_whole(self._file)
        except ABSENT:
            return None
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as saved:
                if str(saved["stamp"]) != self.stamp:
                    return None
                counts = Counts(*(saved[each.name] for each in fields(Counts)))
                self.seconds = float(saved["seconds"])
        except Exception:  # numpy raises many kinds of errors for a damaged file, which has a checksum
            return None
        return counts

    def save(self, done: Sequence[Counts]) -> None:
        """Save these blocks of counts, unless the last save was less than 20 seconds ago."""
        if time.monotonic() - self._saved < _EVERY:
            return
        buffer, counts = io.BytesIO(), Counts.joined(done)
        seconds = self.seconds + time.monotonic() - self._begun
        np.savez(
            buffer,
            stamp=self.stamp,
            seconds=seconds,
            **{each.name: getattr(counts, each.name) for each in fields(counts)},
        )
        remove_leftovers(self._file)
        write_atomically(self._file, buffer.getvalue())
        self._saved = time.monotonic()

    def remove(self) -> None:
        """Delete the saved counts, when the evaluation is done."""
        self._file.unlink(missing_ok=True)
