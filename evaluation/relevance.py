"""Ranks and recall where a query may have several relevant documents, and documents that may not be counted.

``rank = 1 + other documents that score at least as high as the best relevant one``: ties count against the ranker, and
a query is a hit at k if any of its relevant documents is in the top k.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int64
from scipy.stats import binomtest

from data_prep.errors import UserError
from evaluation.metrics import top_at_k

Columns = Sequence[int]
"""Numbers of documents."""


def best_ranks(
    blocks: Iterable[Float[np.ndarray, "_ documents"]], relevant: Sequence[Columns], ignored: Sequence[Columns]
) -> Int64[np.ndarray, " queries"]:
    """The rank of the best relevant document of each query.

    Args:
        blocks: scores of all queries, in order, against all documents.
        relevant: documents sought by each query; at least one.
        ignored: documents that do not count for each query, such as the query's own post.

    Raises:
        UserError: a score is NaN, or a query has no relevant document.
    """
    ranks = np.empty(len(relevant), np.int64)
    row = 0
    for block in blocks:
        for scores in block:
            if not relevant[row]:
                raise UserError(f"query {row} has no relevant document")
            if np.isnan(scores).any():
                raise UserError(f"scores must be numbers, but query {row} scores NaN")
            best = scores[list(relevant[row])].max()
            at_least = scores >= best
            at_least[[*relevant[row], *ignored[row]]] = False
            ranks[row] = 1 + np.count_nonzero(at_least)
            row += 1
    assert row == len(relevant), f"{row} of {len(relevant)} queries were scored"
    return ranks


@dataclass(frozen=True, slots=True)
class Recall:
    """Recall at one depth, with its 95 % interval over queries (Wilson, JASA 1927)."""

    k: int
    value: float
    low: float
    high: float


def recall_at(ranks: Int64[np.ndarray, " queries"], k: int) -> Recall:
    """The share of queries with a relevant document among the first ``k``.

    Raises:
        UserError: there are no queries.
    """
    value = top_at_k(ranks, k)
    ends = binomtest(int((ranks <= k).sum()), len(ranks)).proportion_ci(method="wilson")
    return Recall(k, value, float(ends.low), float(ends.high))


def chance_recall(documents: int, relevant: Sequence[Columns], k: int) -> float:
    """Expected recall at ``k`` of a random order: 1 - C(N - g, k) / C(N, k), averaged over the queries' g."""
    k = min(k, documents)
    misses = []
    for columns in relevant:
        places = np.arange(k)
        misses.append(np.prod(np.maximum(0, documents - len(columns) - places) / (documents - places)))
    return float(1 - np.mean(misses))
