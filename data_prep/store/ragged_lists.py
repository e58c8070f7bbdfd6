"""Variable-length lists of ints as two arrays, for words in memory and, memory-mapped, on disk."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from data_prep.array_types import Int, Int32, Int64
from data_prep.errors import UserError


@dataclass(frozen=True, eq=False, slots=True)
class Ragged:
    """Concatenated lists of ints of any length; list i is ``values[offsets[i]:offsets[i + 1]]``."""

    values: Int32[np.ndarray, " total"]
    offsets: Int64[np.ndarray, " edges"]  # lists + 1, from 0 to total

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> "Ragged":
        """Convert lists to arrays."""
        offsets = edges(np.fromiter((len(each) for each in lists), dtype=np.int64, count=len(lists)))
        values = np.fromiter(chain.from_iterable(lists), dtype=np.int32, count=int(offsets[-1]))
        return cls(values, offsets)

    @classmethod
    def checked(cls, values: np.ndarray, offsets: np.ndarray, *, lists: int, below: int) -> "Ragged":
        """Validate arrays from a file as ``lists`` lists of ints from 0 to ``below`` - 1.

        Raises:
            UserError: they are not.
        """
        if values.ndim != 1 or values.dtype != np.int32:
            raise UserError(f"expected a row of int32, got {values.dtype} {list(values.shape)}")
        if len(values) and not 0 <= values.min() <= values.max() < below:
            raise UserError(f"numbers from {values.min()} to {values.max()} where 0 to {below - 1} can stand")
        return cls(values, checked_edges(offsets, lists=lists, total=len(values)))

    @property
    def lengths(self) -> Int64[np.ndarray, " lists"]:
        """Length of each list."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Int32[np.ndarray, " ints"]:
        return self.values[self.offsets[:-1][row] : self.offsets[1:][row]]

    def take(self, rows: Int[np.ndarray, " rows"]) -> "Ragged":
        """The lists ``rows``, in that order; a row may repeat."""
        places, offsets = slices(self.offsets, rows)
        return Ragged(self.values[places], offsets)

    def cut(self, longest: int) -> "Ragged":
        """Each list's first ``longest`` ints."""
        lengths = self.lengths
        if lengths.max(initial=0) <= longest:
            return self
        lengths = np.minimum(lengths, longest)
        return Ragged(self.values[spread(self.offsets[:-1], lengths)], edges(lengths))


def slices(
    offsets: Int[np.ndarray, " edges"], rows: Int[np.ndarray, " rows"]
) -> tuple[Int64[np.ndarray, " places"], Int64[np.ndarray, " bounds"]]:
    """The places of the items of the lists ``rows``, one list after the other, and the offsets that they then have."""
    starts = offsets[:-1][rows]
    lengths = offsets[1:][rows] - starts
    return spread(starts, lengths), edges(lengths)


def spread(starts: Int[np.ndarray, " lists"], lengths: Int[np.ndarray, " lists"]) -> Int64[np.ndarray, " places"]:
    """``starts`` and what follows each, so many as ``lengths`` says."""
    ends = np.cumsum(lengths, dtype=np.int64)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)


def edges(lengths: Int[np.ndarray, " lists"]) -> Int64[np.ndarray, " edges"]:
    """Start and end offsets of lists of these lengths when concatenated."""
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)), dtype=np.int64)


def checked_edges(offsets: np.ndarray, *, lists: int, total: int) -> Int64[np.ndarray, " edges"]:
    """Check that ``offsets`` from a file divide ``total`` items into ``lists`` lists.

    Raises:
        UserError: they do not.
    """
    if offsets.shape != (lists + 1,) or offsets.dtype != np.int64:
        raise UserError(f"expected {lists + 1} offsets of int64, got {offsets.dtype} {list(offsets.shape)}")
    if offsets[0] != 0 or offsets[-1] != total or not (offsets[1:] >= offsets[:-1]).all():
        raise UserError(f"offsets that do not rise from 0 to {total}")
    return offsets
