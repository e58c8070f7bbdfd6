"""Copies among functions of any language by their code: which are left out, and splits of rows without them.

:func:`find_duplicates` compares the functions of a corpus. :func:`divided_rows` gives rows of one's own the split that
they say, else one by group, else by clusters of near-duplicates, else at random.
"""

import hashlib
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import filterfalse, islice, repeat
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
from jaxtyping import Bool, Int

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.pipeline.duplicates import candidates, distinct, of_identifiers
from data_prep.pipeline.shards import alphanumeric_runs
from data_prep.pipeline.splits import place_of, splits_of_groups
from data_prep.records import SplitName
from data_prep.store.arrays import Ragged, edges

SET_SIMILARITY: Final = 0.8
MULTISET_SIMILARITY: Final = 0.7
DIGITS: Final = b"0123456789"
LEAST_IDENTIFIERS: Final = 10
"""Of functions that are compared."""
_MOST: Final = 1_000  # identifiers of a function that are compared
_COMPARED_FUNCTIONS: Final = 50
"""Most functions of a band's group that each is compared with, those just before it."""
_encoded: Final = lru_cache(lambda words: frozenset(map(str.encode, words)))
LEAST_OF_SNIPPETS: Final = 5
"""Of codes that can be near copies: snippets are shorter than functions."""
LEAST_QUERY: Final = 3
"""Words of a query from which all rows with it are in one split."""
_LEAST_FILLED: Final = 0.5
"""Of the wanted pairs of a split; with less, another way of splitting is tried."""


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
    first, own = clusters([each.exact for each in functions], identifiers(functions), LEAST_IDENTIFIERS)
    exact = first != np.arange(len(functions))
    return Duplicates(exact, ~exact & (own != first))


def identifiers(functions: Sequence[Fingerprint]) -> Ragged:
    """The hashes of the identifiers of each function."""
    lengths = np.array([len(each.identifiers) // 4 for each in functions], np.int64)
    return Ragged(np.frombuffer(b"".join(each.identifiers for each in functions), np.int32), edges(lengths))


def clusters(
    codes: Sequence[bytes], lists: Ragged, least: int
) -> tuple[Int[np.ndarray, " functions"], Int[np.ndarray, " functions"]]:
    """For each function the first of its exact copies, and of its cluster of all, by :func:`find_duplicates`'s rules.

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
    return exact, near[exact]


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


@dataclass(frozen=True, slots=True)
class Divided:
    """The split of each row."""

    names: Sequence[SplitName]
    by: str  # how
    warning: str = ""


class SplitRow(NamedTuple):
    """What the split of a row depends on."""

    asked: bool  # whether it has a query; else it keeps the split that it says
    split: SplitName | None
    group: str
    exact: bytes  # of the code's fingerprint


def divided_rows(rows: Sequence[SplitRow], identifiers: Ragged, queries: Ragged, config: DataConfig) -> Divided:
    """The split of each row.

    Args:
        rows: in order.
        identifiers: of their codes, as hashes.
        queries: the words of their queries, as numbers.
        config: its shares, its seed, and ``split``: at random whatever the rows say.

    Raises:
        UserError: there are too few rows to be divided.
    """
    given = [None if config.split == "random" and row.asked else row.split for row in rows]
    names = _given(given)
    missing = _missing({name for name, row in zip(names, rows, strict=True) if row.asked})
    if not missing:
        return Divided([name or "train" for name in names], "as the rows or files say")
    drawn = np.array([row for row, name in enumerate(names) if name in (None, "train") and rows[row].asked], np.int64)
    wanted = {name: (config.test_share if name == "test" else config.valid_share) * len(drawn) for name in missing}
    if len(drawn) < len(missing) + 1:
        raise UserError(f"training, validation and test take three pairs or more, of which there are {len(drawn):,}")
    found = _drawn([rows[row] for row in drawn], identifiers.take(drawn), queries.take(drawn), wanted, config)
    whole = [name or "train" for name in names]
    for row, name in zip(drawn.tolist(), found.names, strict=True):
        whole[row] = name
    part = "validation" if "valid" in missing else "test"
    stated = f"as the rows or files say, {part} " if len(missing) == 1 else ""
    return Divided(whole, stated + found.by, found.warning)


def _given(names: Sequence[SplitName | None]) -> list[SplitName | None]:
    """The splits that rows say; those for validation are for training if none is for it."""
    stated = set(names)
    if "valid" in stated and not stated & {"train", None}:
        return ["train" if name == "valid" else name for name in names]
    return list(names)


def _missing(stated: set[SplitName | None]) -> list[SplitName]:
    """The splits that are to be drawn from training: none of a set that is a test alone."""
    if not stated & {"train", None}:
        return []
    return [name for name in ("valid", "test") if name not in stated]


def _drawn(
    rows: Sequence[SplitRow], identifiers: Ragged, queries: Ragged, wanted: dict[SplitName, float], config: DataConfig
) -> Divided:
    groups = [row.group for row in rows]
    told = ""
    if config.split != "random" and all(groups):
        if names := _by(groups, wanted, config.split_seed):
            return Divided(names, "by group")
        told = f"{len({*groups}):,} groups are too few or too large for a split by group; "
    near = _clusters([row.exact for row in rows], identifiers, queries)
    if config.split != "random" and (names := _by(near, wanted, config.split_seed)):
        return Divided(names, "by clusters of near-duplicates", told and f"{told}clusters are used")
    names = _random(len(rows), wanted, config.split_seed)
    train = {cluster for cluster, name in zip(near, names, strict=True) if name == "train"}
    tested = [cluster in train for cluster, name in zip(near, names, strict=True) if name != "train"]
    alike = f"{sum(tested):,} of {len(tested):,} pairs of validation and test have a near copy in training"
    largest = max(Counter(near).values())
    why = f"of {len(rows):,} pairs {largest:,} are near copies of each other, so that the split is random: "
    return Divided(names, "at random", told + ("" if config.split == "random" else why) + alike)


def _clusters(codes: Sequence[bytes], identifiers: Ragged, queries: Ragged) -> list[str]:
    """A name for the cluster of each row: near copies of a code, and all codes of a query, in words that stay."""
    groups, asked = Groups(clusters(codes, identifiers, LEAST_OF_SNIPPETS)[1]), dict[bytes, int]()
    words, bounds = queries.values.tobytes(), (queries.offsets * queries.values.itemsize).tolist()
    for row in np.flatnonzero(queries.lengths >= LEAST_QUERY).tolist():
        first = asked.setdefault(words[bounds[row] : bounds[row + 1]], row)
        if first != row:
            groups.join(row, first)
    firsts = groups.firsts()
    names = {row: codes[row].hex() + str(row) for row in np.unique(firsts).tolist()}
    return [names[row] for row in firsts.tolist()]


def _by(groups: Sequence[str], wanted: dict[SplitName, float], seed: int) -> list[SplitName]:
    """The split of each row by its group; none if a split would have far too few."""
    of_group = splits_of_groups(Counter((group,) for group in groups), wanted, seed)
    names = [of_group[(group,)] for group in groups]
    counts = Counter(names)
    filled = all(counts[name] >= max(1, _LEAST_FILLED * number) for name, number in wanted.items())
    return names if filled and counts["train"] else []


def _random(count: int, wanted: dict[SplitName, float], seed: int) -> list[SplitName]:
    """The split of each row, by an order that is random, but the same for the same seed."""
    order = sorted(range(count), key=lambda row: place_of((str(row),), seed))
    names: list[SplitName] = ["train"] * count
    start = 0
    for name, number in wanted.items():
        size = max(1, round(number))
        for row in order[start : start + size]:
            names[row] = name
        start += size
    return names
