"""Candidates for near-duplicates by MinHash, and removal of duplicate methods: no copy of a test is in training.

Candidates are pairs of sets that share the values of a band, found in several threads.
:func:`drop_duplicates` compares the methods of Java files by their words.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Int, UInt

from data_prep.installation import processors
from data_prep.records import Pair
from data_prep.store.arrays import Ragged

_BANDS: Final = 20
_ROWS: Final = 5
"""MinHash values per band: a pair of similarity s shares a band with probability 1 - (1 - s^5)^20, .9996 at .8."""
_PRIME: Final = (1 << 31) - 1
COMPARED_FIELDS: Final = ("name", "tokens", "api")
"""The fields of a method whose words are compared."""
_COMPARED_METHODS: Final = 100
"""Most methods of a band's group that each is compared with, the first ones."""


_Words = frozenset[tuple[str, int]]
"""A multiset: the words, numbered by occurrence."""


def candidates(
    signatures: Int[np.ndarray, "hashes sets"], most: int, *, first: bool, equal: Int[np.ndarray, " sets"] | None = None
) -> tuple[Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"]]:
    """Pairs of rows (earlier, later) that share the MinHash values of a band, sorted, each pair once.

    Args:
        signatures: the MinHash values.
        most: rows of a band's group that each is paired with.
        first: whether these are the first of the group, or those just before the row.
        equal: is to be the same in both as well.
    """
    count = signatures.shape[1]
    factors = np.random.default_rng(1).integers(1, 1 << 62, _ROWS, np.int64) * 2 + 1

    def of_band(band: Int[np.ndarray, "rows sets"]) -> Int[np.ndarray, " pairs"]:
        key = np.zeros(count, np.int64)
        for values, factor in zip(band, factors, strict=True):
            key += values * factor  # 64 bits, of which one column is sorted sooner than five
        return _equal_pairs([key, *([] if equal is None else [equal])], most, first=first)

    codes = np.zeros(0, np.int64)  # one number per pair: a set of tuples takes 20 times the memory
    with ThreadPoolExecutor(processors()) as threads:
        for found in threads.map(of_band, np.split(signatures, _BANDS)):
            codes = np.union1d(codes, found)
    return codes // max(1, count), codes % max(1, count)


def _equal_pairs(columns: Sequence[Int[np.ndarray, " sets"]], most: int, *, first: bool) -> Int[np.ndarray, " pairs"]:
    """``earlier * sets + later`` of the rows that are equal in all columns."""
    order = np.lexsort(columns)  # stable: in a group, rows rise
    changes = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    starts = np.flatnonzero(np.concatenate(([True], changes)))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))  # within the group
    found, later = [np.zeros(0, np.int64)], np.arange(len(order))
    for step in range(most):
        later = later[place[later] > step]
        if not len(later):
            break
        earlier = later - place[later] + step if first else later - step - 1
        found.append(order[earlier] * len(order) + order[later])
    return np.concatenate(found)


def of_words(sets: Sequence[_Words]) -> Int[np.ndarray, "hashes sets"]:
    """Signatures by random permutations of all words."""
    numbers: dict[tuple[str, int], int] = {}
    flat = np.array([numbers.setdefault(word, len(numbers)) for each in sets for word in sorted(each)], np.int32)
    random = np.random.default_rng(0)
    lengths, number = np.fromiter(map(len, sets), int), len(numbers)
    return _signatures(lengths, lambda _: random.permutation(number).astype(np.int32)[flat], threads=1)


def distinct(lists: Ragged) -> tuple[UInt[np.ndarray, " items"], Int[np.ndarray, " sets"]]:
    """The sets of sorted lists, none of them empty: their items one after the other, and their lengths."""
    is_first = np.append(True, lists.values[1:] != lists.values[:-1])[: len(lists.values)]
    is_first[lists.offsets[:-1]] = True
    lengths = np.add.reduceat(is_first, lists.offsets[:-1], dtype=np.int64) if len(lists) else lists.lengths
    return lists.values[is_first].view(np.uint32), lengths


def of_identifiers(
    flat: UInt[np.ndarray, " items"], lengths: Int[np.ndarray, " sets"]
) -> Int[np.ndarray, "hashes sets"]:
    """Signatures of sets, by linear hash functions."""
    items, random = flat.astype(np.uint64) % _PRIME, np.random.default_rng(0)
    factors = random.integers(1, _PRIME, (_BANDS * _ROWS, 2)).astype(np.uint64)

    def hashed(number: int) -> UInt[np.ndarray, " items"]:
        values = items * factors[number, 0]  # in place from here on: of a million functions they are large
        values += factors[number, 1]
        values %= np.uint64(_PRIME)
        return values

    return _signatures(lengths, hashed, processors())


def _signatures(
    lengths: Int[np.ndarray, " sets"], hashed: Callable[[int], np.ndarray], threads: int
) -> Int[np.ndarray, "hashes sets"]:
    """MinHash of each set: for each of a family of hash functions the least value over the set.

    Args:
        lengths: of the sets; an empty one has no minimum: 0.
        hashed: the values of a function, by its number, at the items of all sets.
        threads: that compute them, in order if it is one.
    """
    filled = np.flatnonzero(lengths)
    starts = (np.cumsum(lengths) - lengths)[filled]
    signatures = np.zeros((_BANDS * _ROWS, len(lengths)), np.int32)

    def fill(number: int) -> None:
        signatures[number, filled] = np.minimum.reduceat(hashed(number), starts)

    with ThreadPoolExecutor(threads) as pool:
        [*pool.map(fill, range(len(signatures) if len(filled) else 0))]
    return signatures


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
