"""Classes of queries, and the difference in MRR between two rankers in each class."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from jaxtyping import Bool, Float, Int

from evaluation.comparison import Entry
from evaluation.queries import QueryFacts
from evaluation.run_comparison import Runs, compare_runs

LEAST: Final = 20
"""Minimum number of queries of a class; with fewer, an interval is not informative."""

LENGTH: Final = "query length"
OVERLAP: Final = "overlap with its method"
KINDS: Final = (LENGTH, OVERLAP)
"""The kinds of classes."""

_LENGTHS: Final = {"up to 3": 3, "4-5": 5, "6-8": 8, "9-12": 12, "13-18": 18}
"""Label -> maximum words; longer queries are a separate class."""
_OVERLAPS: Final = {"none": 0.0, "up to 1/4": 0.25, "up to 1/2": 0.5, "up to 3/4": 0.75}
"""Label -> maximum share; above these are "not all" and "all"."""


@dataclass(frozen=True, eq=False, slots=True)
class QueryClass:
    """Queries with a property in common."""

    kind: str  # one of KINDS, or "" for all queries
    label: str
    rows: Bool[np.ndarray, " queries"]  # which of all queries

    @property
    def size(self) -> int:
        """Number of queries."""
        return int(np.count_nonzero(self.rows))


@dataclass(frozen=True, slots=True)
class Gain:
    """The MRR of one ranker minus another's, over some queries."""

    mean: float
    low: float  # ends of the 95 % interval over seeds and queries
    high: float

    @property
    def sign(self) -> int:
        """1 or -1 if the interval is above or below 0, else 0."""
        return int(self.low > 0) - int(self.high < 0)


def query_classes(facts: QueryFacts) -> list[QueryClass]:
    """All queries, then for each of ``KINDS`` the classes of at least ``LEAST`` queries, in ascending order."""
    everything = QueryClass("", "all queries", np.ones(len(facts.words), dtype=np.bool_))
    found = (*length_classes(facts.lengths), *overlap_classes(facts.overlap))
    return [everything, *(each for each in found if each.size >= LEAST)]


def length_classes(lengths: Int[np.ndarray, " queries"]) -> list[QueryClass]:
    """Classes by the number of words."""
    labels = (*_LENGTHS, f"{max(_LENGTHS.values()) + 1} or more")
    edges = (-1.0, *map(float, _LENGTHS.values()), float("inf"))
    return _between(LENGTH, labels, edges, lengths.astype(np.float64))


def overlap_classes(shares: Float[np.ndarray, " queries"]) -> list[QueryClass]:
    """Classes by a share from 0 to 1; 0 and 1 are separate classes."""
    edges = (-1.0, *_OVERLAPS.values(), math.nextafter(1.0, 0.0), 1.0)
    return _between(OVERLAP, (*_OVERLAPS, "not all", "all"), edges, shares)


def _between(
    kind: str, labels: Sequence[str], edges: Sequence[float], values: Float[np.ndarray, " queries"]
) -> list[QueryClass]:
    """A class for each two adjacent edges: above the first, up to and including the second."""
    bounds = zip(labels, pairwise(edges), strict=True)
    return [QueryClass(kind, label, (low < values) & (values <= high)) for label, (low, high) in bounds]


def gain(entry: Entry, other: Entry, rows: Bool[np.ndarray, " queries"], files: Sequence[int]) -> Gain:
    """How much higher the MRR of ``entry`` is than that of ``other`` over the queries ``rows``.

    ``files``: a number for the file of each query, of all of them.
    """
    first, second = (Runs(each.values[:, rows], trained=each.trained) for each in (entry.runs, other.runs))
    found = compare_runs(first, second, np.asarray(files)[rows])
    return Gain(found.mean, found.low, found.high)
