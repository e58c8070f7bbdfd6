"""Removal of exact and near-duplicates, so that no copy of a test function is in the training split.

:func:`drop_duplicates` compares the methods of Java files by their words, :func:`find_duplicates` the functions of a
corpus by their code. Both find candidates by MinHash, and compare these.
"""

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import filterfalse
from typing import Final
from zlib import crc32

import numpy as np
from jaxtyping import Bool, Int, UInt

from data_prep.pipeline.shards import alphanumeric_runs
from data_prep.records import Pair
from data_prep.store.ragged_lists import edges

COMPARED_FIELDS: Final = ("name", "tokens", "api")
"""The fields of a method whose words are compared."""
SET_SIMILARITY: Final = 0.8
MULTISET_SIMILARITY: Final = 0.7
DIGITS: Final = b"0123456789"
LEAST_IDENTIFIERS: Final = 10
"""Of functions that are compared."""

_BANDS: Final = 20
_ROWS: Final = 5
"""MinHash values per band: a pair of similarity s shares a band with probability 1 - (1 - s^5)^20, .9996 at .8."""
_COMPARED_METHODS: Final = 100
"""Most methods of a band's group that each is compared with, the first ones."""
_COMPARED_FUNCTIONS: Final = 50
"""Most functions of a band's group that each is compared with, those just before it."""
_MOST: Final = 1_000  # identifiers of a function that are compared
_PRIME: Final = (1 << 31) - 1

_Words = frozenset[tuple[str, int]]
"""A multiset: the words, numbered by occurrence."""
_Identifiers = UInt[np.ndarray, " _"]
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
    for earlier, later in _candidates(_of_words(words), _COMPARED_METHODS, first=True, equal=names):
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
        names = [name for word in runs.split() if (name := word.lstrip(DIGITS))][:_MOST]
        words = filterfalse(_encoded(keywords).__contains__, names)
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
    rows = np.flatnonzero(~exact).tolist()
    near = np.zeros(len(functions), bool)
    near[rows] = _not_first([np.frombuffer(functions[row].identifiers, np.uint32) for row in rows])
    return Duplicates(exact, near)


def clusters(functions: Sequence[Fingerprint], least: int = LEAST_IDENTIFIERS) -> Int[np.ndarray, " functions"]:
    """For each function the first of its cluster of exact and near copies, by the rules of :func:`find_duplicates`.

    Args:
        functions: in order.
        least: identifiers of functions that can be near copies.
    """
    firsts: dict[bytes, int] = {}
    exact = np.array([firsts.setdefault(each.exact, row) for row, each in enumerate(functions)], np.int64)
    rows = np.unique(exact)
    near = np.arange(len(functions))
    near[rows] = rows[_firsts([np.frombuffer(functions[row].identifiers, np.uint32) for row in rows], least)]
    return near[exact]


def _not_first(lists: Sequence[_Identifiers]) -> Bool[np.ndarray, " functions"]:
    """The functions that are not the first of their cluster of near-duplicates."""
    return _firsts(lists, LEAST_IDENTIFIERS) != np.arange(len(lists))


def _firsts(lists: Sequence[_Identifiers], least: int) -> Int[np.ndarray, " functions"]:
    """The first of the cluster of near-duplicates of each function, itself if it is in none."""
    long = np.array([row for row, each in enumerate(lists) if len(each) >= least], np.int64)
    groups = Groups(len(lists))
    for one, other in _candidates(_of_identifiers([lists[row] for row in long]), _COMPARED_FUNCTIONS, first=False):
        a, b = groups.first(int(long[one])), groups.first(int(long[other]))
        if a != b and _alike(lists[long[one]], lists[long[other]]):
            groups.join(a, b)
    return np.array([groups.first(row) for row in range(len(lists))], np.int64)


class Groups:
    """Disjoint sets of rows, each named by its first one."""

    def __init__(self, rows: int) -> None:
        self._up = list(range(rows))

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


def _alike(one: _Identifiers, other: _Identifiers) -> bool:
    """Whether two sorted lists of identifiers are those of near-duplicates."""
    a, b = Counter(one.tolist()), Counter(other.tolist())
    shared = a.keys() & b.keys()
    if len(shared) < SET_SIMILARITY * (len(a) + len(b) - len(shared)):
        return False
    together = sum(map(min, map(a.__getitem__, shared), map(b.__getitem__, shared)))
    return together >= MULTISET_SIMILARITY * (len(one) + len(other) - together)


def _candidates(
    signatures: Int[np.ndarray, "hashes sets"], most: int, *, first: bool, equal: Int[np.ndarray, " sets"] | None = None
) -> Iterator[tuple[int, int]]:
    """Pairs of rows (earlier, later) that share the MinHash values of a band, sorted, each pair once.

    Args:
        signatures: the MinHash values.
        most: rows of a band's group that each is paired with.
        first: whether these are the first of the group, or those just before the row.
        equal: is to be the same in both as well.
    """
    count = signatures.shape[1]
    codes = np.zeros(0, np.int64)  # one number per pair: a set of tuples takes 20 times the memory
    for band in np.split(signatures, _BANDS):
        columns = [*(band[:3:2] + (band[1::2].astype(np.int64) << 32)), band[4]]  # three are sorted sooner than five
        codes = np.union1d(codes, _equal_pairs([*columns, *([] if equal is None else [equal])], most, first=first))
    return (divmod(int(code), count) for code in codes)


def _equal_pairs(columns: Sequence[Int[np.ndarray, " sets"]], most: int, *, first: bool) -> Int[np.ndarray, " pairs"]:
    """``earlier * sets + later`` of the rows that are equal in all columns."""
    order = np.lexsort(columns)  # stable: in a group, rows rise
    changes = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    starts = np.flatnonzero(np.concatenate(([True], changes)))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))  # within the group
    found = [np.zeros(0, np.int64)]
    for step in range(most):
        later = np.flatnonzero(place > step)
        if not len(later):
            break
        earlier = later - place[later] + step if first else later - step - 1
        found.append(order[earlier] * len(order) + order[later])
    return np.concatenate(found)


def _of_words(sets: Sequence[_Words]) -> Int[np.ndarray, "hashes sets"]:
    """Signatures by random permutations of all words."""
    numbers: dict[tuple[str, int], int] = {}
    flat = np.array([numbers.setdefault(word, len(numbers)) for each in sets for word in sorted(each)], np.int32)
    random = np.random.default_rng(0)
    lengths, number = np.fromiter(map(len, sets), int), len(numbers)
    return _signatures(lengths, lambda: random.permutation(number).astype(np.int32)[flat])


def _of_identifiers(lists: Sequence[_Identifiers]) -> Int[np.ndarray, "hashes sets"]:
    """Signatures of the sets of sorted lists, none of them empty, by linear hash functions."""
    starts = edges(np.fromiter(map(len, lists), np.int64, len(lists)))[:-1]
    whole = np.concatenate([np.zeros(0, np.uint32), *lists])
    is_first = np.append(True, whole[1:] != whole[:-1])[: len(whole)]
    is_first[starts] = True
    flat = whole[is_first].astype(np.uint64) % _PRIME
    random = np.random.default_rng(0)

    def hashed() -> UInt[np.ndarray, " items"]:
        factor, offset = (np.uint64(number) for number in random.integers(1, _PRIME, 2))
        values = flat * factor  # in place from here on: of a million functions they are large
        values += offset
        values %= np.uint64(_PRIME)
        return values

    return _signatures(np.add.reduceat(is_first, starts, dtype=np.int64) if len(starts) else starts, hashed)


def _signatures(lengths: Int[np.ndarray, " sets"], hashed: Callable[[], np.ndarray]) -> Int[np.ndarray, "hashes sets"]:
    """MinHash of each set: for each of a family of hash functions the least value over the set.

    Args:
        lengths: of the sets; an empty one has no minimum: 0.
        hashed: the values of the next function at the items of all sets.
    """
    filled = np.flatnonzero(lengths)
    starts = (np.cumsum(lengths) - lengths)[filled]
    signatures = np.zeros((_BANDS * _ROWS, len(lengths)), np.int32)
    for signature in signatures if len(filled) else ():
        signature[filled] = np.minimum.reduceat(hashed(), starts)
    return signatures
