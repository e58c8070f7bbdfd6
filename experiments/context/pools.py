"""Scotch's MRR: a test set in shuffled pools of equal size, a query's own function among the others of its pool.

Ties count against the query, as in the paper's code. The last pool, which would be smaller and so easier, is padded by
functions of the other pools, which are not asked for again.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from data_prep.store.prepared_data import Split
from evaluation.metrics import count_better_and_tied
from modeling.ranker import Ranker


@dataclass(frozen=True, eq=False, slots=True)
class Pool:
    """Functions that are ranked together."""

    rows: Int64[np.ndarray, " pool"]
    """Of the split; the first ``asked`` are queries too."""
    asked: int


def pools(size: int, pool: int, seed: int) -> list[Pool]:
    """The pools of a split of ``size`` pairs; a split that is smaller than ``pool`` is one pool.

    Raises:
        ValueError: there are no pairs, or a pool would have no other function.
    """
    if size < 2 or pool < 2:
        raise ValueError(f"a pool has 2 functions or more, not {min(size, pool)}: prepare more data or raise --pool")
    order = np.random.default_rng(seed).permutation(size)
    found = []
    for start in range(0, size, pool):
        own = order[start : start + pool]
        found.append(Pool(np.concatenate([own, order[: min(pool - len(own), start)]]), len(own)))
    return found


def pool_ranks(ranker: Ranker, queries: Split, codes: Split, parts: list[Pool]) -> Int64[np.ndarray, " pairs"]:
    """The rank of each pair's own function, 1 is best, in the order of the split.

    Args:
        ranker: scores queries against functions.
        queries: the pairs as they are asked.
        codes: the same pairs in the same order.
        parts: as :func:`pools` made them.
    """
    ranks = np.zeros(len(codes), np.int64)
    for part in parts:
        own = part.rows[: part.asked]
        blocks = np.concatenate(list(ranker.over(queries.take(own), codes.take(part.rows)).blocks()))
        better, tied = count_better_and_tied(blocks, np.arange(part.asked))
        ranks[own] = 1 + better + tied
    return ranks
