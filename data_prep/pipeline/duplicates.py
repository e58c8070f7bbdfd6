"""Removal of exact and near-duplicates, so that no copy of a test function is in the training split.

:func:`drop_duplicates` compares the methods of Java files by their words, :func:`find_duplicates` the functions of a
corpus by their code. Both find candidates by MinHash, and compare these.
"""

import hashlib
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import filterfalse, islice, repeat
from typing import Final
from zlib import crc32

import numpy as np
from jaxtyping import Bool, Int

from data_prep.pipeline.minhash import candidates, distinct, of_identifiers, of_words
from data_prep.pipeline.shards import alphanumeric_runs
from data_prep.records import Pair
from data_prep.store.arrays import Ragged, edges

COMPARED_FIELDS: Final = ("name", "tokens", "api")
"""The fields of a method whose words are compared."""
SET_SIMILARITY: Final = 0.8
MULTISET_SIMILARITY: Final = 0.7
DIGITS: Final = b"0123456789"
LEAST_IDENTIFIERS: Final = 10
"""Of functions that are compared."""

_COMPARED_METHODS: Final = 100
"""Most methods of a band's group that each is compared with, the first ones."""
_COMPARED_FUNCTIONS: Final = 50
"""Most functions of a band's group that each is compared with, those just before it."""
_MOST: Final = 1_000  # identifiers of a function that are compared

_Words = frozenset[tuple[str, int]]
"""A multiset: the words, numbered by occurrence."""
_encoded: Final = lru_cache(lambda words: frozenset(map(str.encode, words)))


@dataclass(frozen=True, slots=True)
class Distinct:
    """The remaining pairs, in order, and the numbers of dropped pairs by reason."""

    pairs: list[Pair]
    dropped: dict[str, int]


def drop_duplicates(pairs: Sequence[Pair], similarity: float) -> Distinct:
    """Keep one of each group of equal or nearly equal methods, the first by path and line.

    Exact: the words of name, tokens and api are the same. Near: the names are the same, and the multisets of all words
    of the three fields have a Jaccard similarity of ``similarity`` or more (1: exact ones only). The names must be
    equal so that methods that differ in one word but do different things, like ``getWidth`` and ``getHeight``, are not
    merged. With official splits, test methods take precedence over validation, and validation over training.
    """
    order = sorted(range(len(pairs)), key=lambda row: _priority(pairs[row]))
    dropped = {"same query and code": 0, "same code": 0, "near-duplicate code": 0}
    kept = _exact(pairs, order, dropped)
    if similarity < 1:
        near = near_duplicates([pairs[row] for row in kept], similarity)
        dropped["near-duplicate code"] = len(near)
        kept = [row for place, row in enumerate(kept) if place not in near]
    return Distinct([pairs[row] for row in sorted(kept)], dropped)


def _priority(pair: Pair) -> tuple[int, str, str, int]:
    method = pair.method
    return ("test", "valid", "train", None).index(method.split), method.origin, method.path, method.start_line


def _exact(pairs: Sequence[Pair], order: Sequence[int], dropped: dict[str, int]) -> list[int]:
    kept: list[int] = []
    queries: dict[tuple[tuple[str, ...], ...], set[tuple[str, ...]]] = {}
    for row in order:
        code = tuple(pairs[row].words(field) for field in COMPARED_FIELDS)
        seen = queries.setdefault(code, set())
        if not seen:
            kept.append(row)
        else:
            dropped["same query and code" if pairs[row].query in seen else "same code"] += 1
        seen.add(pairs[row].query)
    return kept


def near_duplicates(pairs: Sequence[Pair], similarity: float) -> set[int]:
    """Rows with the name and nearly the words of an earlier remaining row."""
    counts = Counter(pair.words("name") for pair in pairs)
    rows = [row for row, pair in enumerate(pairs) if counts[pair.words("name")] > 1]
    numbers = {name: number for number, name in enumerate(counts)}
    names = np.array([numbers[pairs[row].words("name")] for row in rows], np.int64)
    words = [_multiset(pairs[row]) for row in rows]
    dropped: set[int] = set()
    found = candidates(of_words(words), _COMPARED_METHODS, first=True, equal=names)
    for earlier, later in zip(*(rows.tolist() for rows in found), strict=True):
        if earlier not in dropped and later not in dropped and jaccard(words[earlier], words[later]) >= similarity:
            dropped.add(later)
    return {rows[row] for row in dropped}


def jaccard(one: _Words, other: _Words) -> float:
    """Jaccard similarity; a word that occurs n times counts n times. Two empty sets have similarity 1."""
    shared = len(one & other)
    union = len(one) + len(other) - shared
    return shared / union if union else 1.0


def _multiset(pair: Pair) -> _Words:
    counts: Counter[str] = Counter()
    for field in COMPARED_FIELDS:
        counts.update(pair.words(field))
    return frozenset((word, time) for word, count in counts.items() for time in range(count))


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What of a function's code is compared."""

    exact: bytes
    identifiers: bytes  # sorted 32-bit hashes of the identifiers, each as often as it occurs

    @classmethod
    def of(cls, code: bytes, keywords: frozenset[str]) -> "Fingerprint":
        """That of code without comments."""
        runs = alphanumeric_runs(code)
        names = filter(None, map(bytes.lstrip, runs.split(b" "), repeat(DIGITS)))
        words = filterfalse(_encoded(keywords).__contains__, islice(names, _MOST))
        digest = hashlib.blake2b(runs, digest_size=16).digest()
        return cls(digest, array("I", sorted(map(crc32, words))).tobytes())


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Which of a sequence of functions are left out."""

    exact: Bool[np.ndarray, " functions"]
    near: Bool[np.ndarray, " functions"]


def find_duplicates(functions: Sequence[Fingerprint]) -> Duplicates:
    """The functions that copy an earlier one; of each cluster the first is not among them.

    Exact (row K-6, as in Code Clippy): the sequence of alphanumeric runs is the same. Near (CodeSearchNet's rule,
    Allamanis 2019): functions of ten identifiers or more, language keywords aside, whose sets have a Jaccard similarity
    of .8 or more and whose multisets one of .7 or more; of each transitive cluster one is kept.
    """
    exact = np.zeros(len(functions), bool)
    seen: set[bytes] = set()
    for row, function in enumerate(functions):
        exact[row] = function.exact in seen
        seen.add(function.exact)
    rows = np.flatnonzero(~exact)
    near = np.zeros(len(functions), bool)
    near[rows] = _firsts(identifiers(functions).take(rows), LEAST_IDENTIFIERS) != np.arange(len(rows))
    return Duplicates(exact, near)


def identifiers(functions: Sequence[Fingerprint]) -> Ragged:
    """The hashes of the identifiers of each function."""
    lengths = np.array([len(each.identifiers) // 4 for each in functions], np.int64)
    return Ragged(np.frombuffer(b"".join(each.identifiers for each in functions), np.int32), edges(lengths))


def clusters(codes: Sequence[bytes], lists: Ragged, least: int) -> Int[np.ndarray, " functions"]:
    """For each function the first of its cluster of exact and near copies, by the rules of :func:`find_duplicates`.

    Args:
        codes: what is ``exact`` of their fingerprints, in order.
        lists: their :func:`identifiers`.
        least: identifiers of functions that can be near copies.
    """
    firsts: dict[bytes, int] = {}
    exact = np.array([firsts.setdefault(code, row) for row, code in enumerate(codes)], np.int64)
    rows = np.unique(exact)
    near = np.arange(len(codes))
    near[rows] = rows[_firsts(lists.take(rows), least)]
    return near[exact]


def _firsts(lists: Ragged, least: int) -> Int[np.ndarray, " functions"]:
    """The first of the cluster of near-duplicates of each function, itself if it is in none."""
    long = np.flatnonzero(lists.lengths >= least)
    kept = lists.take(long)
    flat, lengths = distinct(kept)
    earlier, later = candidates(of_identifiers(flat, lengths), _COMPARED_FUNCTIONS, first=False)
    for sizes, similarity in ((lengths, SET_SIMILARITY), (kept.lengths, MULTISET_SIMILARITY)):
        a, b = sizes[earlier], sizes[later]
        may = np.minimum(a, b) >= similarity * np.maximum(a, b)
        earlier, later = earlier[may], later[may]
    groups, values, bounds = Groups(np.arange(len(long))), kept.values.data, kept.offsets.tolist()
    for one, other in zip(earlier.tolist(), later.tolist(), strict=True):
        if groups.first(one) != groups.first(other) and _alike(
            values[bounds[one] : bounds[one + 1]], values[bounds[other] : bounds[other + 1]]
        ):
            groups.join(one, other)
    firsts = np.arange(len(lists))
    firsts[long] = long[groups.firsts()]
    return firsts


class Groups:
    """Disjoint sets of rows, each named by its first one."""

    def __init__(self, firsts: Int[np.ndarray, " rows"]) -> None:
        """``firsts``: for each row the first of its set at the beginning."""
        self._up = firsts.tolist()

    def firsts(self) -> Int[np.ndarray, " rows"]:
        """For each row the first one of its set."""
        up = np.array(self._up, np.int64)
        while (above := up[up]).tobytes() != up.tobytes():
            up = above
        return up

    def first(self, row: int) -> int:
        """The first row of the set that has ``row``."""
        up = self._up
        while up[row] != row:
            up[row] = up[up[row]]
            row = up[row]
        return row

    def join(self, one: int, other: int) -> None:
        """Make one set of those that have two rows."""
        a, b = self.first(one), self.first(other)
        self._up[max(a, b)] = min(a, b)


def _alike(one: memoryview, other: memoryview) -> bool:
    """Whether two sorted lists of identifiers are those of near-duplicates."""
    if one == other:
        return True
    a, b = Counter(one.tolist()), Counter(other.tolist())
    shared = a.keys() & b.keys()
    if len(shared) < SET_SIMILARITY * (len(a) + len(b) - len(shared)):
        return False
    together = sum(map(min, map(a.__getitem__, shared), map(b.__getitem__, shared)))
    return together >= MULTISET_SIMILARITY * (len(one) + len(other) - together)
