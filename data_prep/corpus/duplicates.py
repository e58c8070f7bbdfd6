"""Removal of exact and near-duplicate functions of a corpus, over all of its files.

Exact (row K-6, as in Code Clippy): the sequence of alphanumeric runs is the same. Near (CodeSearchNet's rule, Allamanis
2019): functions of ten identifiers or more, language keywords aside, whose sets have a Jaccard similarity of .8 or more
and whose multisets one of .7 or more; of each transitive cluster one is kept. Candidates are found by MinHash.
"""

import hashlib
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from zlib import crc32

import numpy as np
from jaxtyping import Bool, Int, UInt

from data_prep.corpus.records import alphanumeric_runs

SET_SIMILARITY: Final = 0.8
MULTISET_SIMILARITY: Final = 0.7
LEAST_IDENTIFIERS: Final = 10

_IDENTIFIER: Final = re.compile(rb"[^\W\d]\w*")
_MOST: Final = 1_000  # identifiers of a function that are compared
_BANDS: Final = 20
_ROWS: Final = 5
"""MinHash values per band: functions of set similarity s share a band with probability 1 - (1 - s^5)^20, .9996 at .8.
"""
_COMPARED: Final = 50
"""Most functions of a band's group that each is compared with."""
_PRIME: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What of a function's code is compared."""

    exact: bytes
    identifiers: bytes  # sorted 32-bit hashes of the identifiers, each as often as it occurs

    @classmethod
    def of(cls, code: bytes, keywords: frozenset[str]) -> "Fingerprint":
        """That of code without comments."""
        runs = alphanumeric_runs(code)
        words = (word for word in _IDENTIFIER.findall(runs)[:_MOST] if word.decode("utf-8", "replace") not in keywords)
        digest = hashlib.blake2b(runs, digest_size=16).digest()
        return cls(digest, array("I", sorted(map(crc32, words))).tobytes())


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Which of a sequence of functions are left out."""

    exact: Bool[np.ndarray, " functions"]
    near: Bool[np.ndarray, " functions"]


def find_duplicates(functions: Sequence[Fingerprint]) -> Duplicates:
    """The functions that copy an earlier one; of each cluster the first is not among them."""
    exact = np.zeros(len(functions), bool)
    seen: set[bytes] = set()
    for row, function in enumerate(functions):
        exact[row] = function.exact in seen
        seen.add(function.exact)
    rows = np.flatnonzero(~exact).tolist()
    near = np.zeros(len(functions), bool)
    near[rows] = _near([np.frombuffer(functions[row].identifiers, np.uint32) for row in rows])
    return Duplicates(exact, near)


def _near(lists: Sequence[UInt[np.ndarray, " _"]]) -> Bool[np.ndarray, " functions"]:
    """The functions that are not the first of their cluster."""
    long = np.array([row for row, each in enumerate(lists) if len(each) >= LEAST_IDENTIFIERS], np.int64)
    first = np.arange(len(lists))

    def root(row: int) -> int:
        while first[row] != row:
            first[row] = first[first[row]]
            row = int(first[row])
        return row

    for one, other in _candidates([np.unique(lists[row]) for row in long]):
        a, b = root(int(long[one])), root(int(long[other]))
        if a != b and alike(lists[long[one]], lists[long[other]]):
            first[max(a, b)] = min(a, b)
    return first != np.arange(len(lists))


def alike(one: UInt[np.ndarray, " _"], other: UInt[np.ndarray, " _"]) -> bool:
    """Whether two sorted lists of identifiers are those of near-duplicates."""
    (a, times_a), (b, times_b) = np.unique(one, return_counts=True), np.unique(other, return_counts=True)
    shared, in_a, in_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
    if len(shared) < SET_SIMILARITY * (len(a) + len(b) - len(shared)):
        return False
    together = int(np.minimum(times_a[in_a], times_b[in_b]).sum())
    return together >= MULTISET_SIMILARITY * (len(one) + len(other) - together)


def _candidates(sets: Sequence[UInt[np.ndarray, " _"]]) -> Iterator[tuple[int, int]]:
    """Pairs of rows (earlier, later) that share the MinHash values of a band, each pair once."""
    if len(sets) < 2:
        return
    signatures = _signatures(sets)
    codes = np.zeros(0, np.int64)
    for band in range(_BANDS):
        codes = np.union1d(codes, _alike(signatures[band * _ROWS : (band + 1) * _ROWS]))
    for code in codes.tolist():
        yield divmod(code, len(sets))


def _alike(columns: Int[np.ndarray, "rows functions"]) -> Int[np.ndarray, " pairs"]:
    """``earlier * functions + later`` of the functions that are equal in all rows."""
    count = columns.shape[1]
    order = np.lexsort((*columns, np.arange(count))[::-1])
    ordered = columns[:, order]
    starts = np.flatnonzero(np.concatenate(([True], np.any(ordered[:, 1:] != ordered[:, :-1], axis=0))))
    place = np.arange(count) - np.repeat(starts, np.diff(np.append(starts, count)))  # within the group
    found = []
    for distance in range(1, _COMPARED + 1):
        later = np.flatnonzero(place >= distance)
        if not len(later):
            break
        one, other = order[later - distance], order[later]
        found.append(np.minimum(one, other) * count + np.maximum(one, other))
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def _signatures(sets: Sequence[UInt[np.ndarray, " _"]]) -> Int[np.ndarray, "hashes functions"]:
    """MinHash of each set: for each of a fixed family of linear hash functions the least value over the set."""
    flat = np.concatenate(sets).astype(np.uint64) % _PRIME
    lengths = np.array([len(each) for each in sets], np.int64)
    starts = np.cumsum(lengths) - lengths
    random = np.random.default_rng(0)
    signatures = np.zeros((_BANDS * _ROWS, len(sets)), np.int32)
    for signature in signatures:
        factor, offset = (np.uint64(number) for number in random.integers(1, _PRIME, 2))
        signature[:] = np.minimum.reduceat((flat * factor + offset) % np.uint64(_PRIME), starts)
    return signatures
