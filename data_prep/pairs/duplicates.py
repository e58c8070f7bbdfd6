"""Removal of exact and near-duplicate methods, so that no copy of a test method is in the training split."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Int

from data_prep.records import Pair

COMPARED_FIELDS: Final = ("name", "tokens", "api")
"""The fields whose words are compared."""

_BANDS: Final = 20
_ROWS: Final = 5
"""MinHash values per band: a pair of similarity s shares a band with probability 1 - (1 - s^5)^20, .9996 at .8."""
_COMPARED: Final = 100
"""Most methods of a group that each method is compared with."""


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
    """Rows with the name and nearly the words of an earlier remaining row; found by MinHash, then verified."""
    rows, names = _rows_of_shared_names(pairs)
    words = [_multiset(pairs[row]) for row in rows]
    dropped: set[int] = set()
    for earlier, later in _candidates(words, names):
        if earlier in dropped or later in dropped:
            continue
        if names[earlier] == names[later] and jaccard(words[earlier], words[later]) >= similarity:
            dropped.add(later)
    return {rows[row] for row in dropped}


def jaccard(one: frozenset[tuple[str, int]], other: frozenset[tuple[str, int]]) -> float:
    """Jaccard similarity; a word that occurs n times counts n times. Two empty sets have similarity 1."""
    shared = len(one & other)
    union = len(one) + len(other) - shared
    return shared / union if union else 1.0


def _rows_of_shared_names(pairs: Sequence[Pair]) -> tuple[list[int], list[int]]:
    """Rows of methods whose name is not unique, and a number for the name of each."""
    counts = Counter(pair.words("name") for pair in pairs)
    rows = [row for row, pair in enumerate(pairs) if counts[pair.words("name")] > 1]
    numbers: dict[tuple[str, ...], int] = {}
    return rows, [numbers.setdefault(pairs[row].words("name"), len(numbers)) for row in rows]


def _multiset(pair: Pair) -> frozenset[tuple[str, int]]:
    """The words, numbered by occurrence."""
    counts: Counter[str] = Counter()
    for field in COMPARED_FIELDS:
        counts.update(pair.words(field))
    return frozenset((word, time) for word, count in counts.items() for time in range(count))


def _candidates(words: Sequence[frozenset[tuple[str, int]]], names: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of rows (earlier, later), sorted, that share a name and the MinHash values of a band."""
    signatures = _signatures(words)
    numbers = np.asarray(names, np.int64)
    found = np.zeros(0, np.int64)
    for band in range(_BANDS):
        columns = (*signatures[band * _ROWS : (band + 1) * _ROWS], numbers)
        codes = (earlier * len(words) + later for earlier, later in _pairs_alike(columns))
        found = np.union1d(
            found, np.fromiter(codes, np.int64)
        )  # one number per pair: a set of tuples takes 20 times the memory
    return (divmod(int(code), len(words)) for code in found)


def _pairs_alike(columns: Sequence[Int[np.ndarray, " methods"]]) -> Iterator[tuple[int, int]]:
    """Pairs of rows (earlier, later) that are equal in all columns."""
    order = np.lexsort(columns)
    changes = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1, [len(order)]))
    for group in np.flatnonzero(np.diff(starts) > 1):
        rows = sorted(order[starts[group] : starts[group + 1]].tolist())
        for place, later in enumerate(rows):
            for earlier in rows[: min(place, _COMPARED)]:
                yield earlier, later


def _signatures(words: Sequence[frozenset[tuple[str, int]]]) -> Int[np.ndarray, "hashes methods"]:
    """MinHash of each set: for each of a fixed family of hash functions the least value over the set."""
    numbers: dict[tuple[str, int], int] = {}
    flat = np.array([numbers.setdefault(word, len(numbers)) for each in words for word in sorted(each)], np.int32)
    lengths = np.array([len(each) for each in words], np.int64)
    filled = np.flatnonzero(lengths)  # an empty set has no minimum: 0
    starts = (np.cumsum(lengths) - lengths)[filled]
    random = np.random.default_rng(0)
    signatures = np.zeros((_BANDS * _ROWS, len(words)), np.int32)
    for signature in signatures if len(filled) else ():
        hashed = random.permutation(len(numbers)).astype(np.int32)[flat]
        signature[filled] = np.minimum.reduceat(hashed, starts)
    return signatures
