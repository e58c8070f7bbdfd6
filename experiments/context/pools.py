"""Scotch's MRR: a test set in shuffled pools of equal size, a query's own function among the others of its pool.

Ties count against the query, as in the paper's code. The last pool, which would be smaller and so easier, is padded by
functions of the other pools, which are not asked for again. A bi-encoder computes its vectors once for all pools.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float32, Int, Int64

from data_prep.errors import UserError
from data_prep.store.batching import Batch
from data_prep.store.prepared_data import Split
from evaluation.metrics import count_better_and_tied
from modeling.base import Encoded
from modeling.bi_encoder import BiEncoder
from modeling.pool_ranker import PoolRanker, scoring
from modeling.ranker import Ranker

_AT_ONCE = 256
"""Texts that are encoded together."""
Vectors = Float32[np.ndarray, "rows dim"]


@dataclass(frozen=True, eq=False, slots=True)
class Pool:
    """Functions that are ranked together."""

    rows: Int64[np.ndarray, " pool"]
    """Of the split; the first ``asked`` are queries too."""
    asked: int

    @property
    def own(self) -> Int64[np.ndarray, " asked"]:
        """The rows that are queries."""
        return self.rows[: self.asked]


PoolScores = Callable[[Pool], Float[np.ndarray, "asked pool"]]
"""The scores of a pool's queries against its functions; higher is better."""


def pools(rows: Int64[np.ndarray, " rows"], size: int, seed: int) -> list[Pool]:
    """The pools of some rows of a split; if there are fewer than ``size``, all are one pool.

    Raises:
        UserError: there are no pairs, or a pool would have no other function.
    """
    if min(len(rows), size) < 2:
        raise UserError(
            f"a pool has 2 functions or more, not {min(len(rows), size)}: prepare more data or raise --pools"
        )
    order, found = np.random.default_rng(seed).permutation(rows), []
    for start in range(0, len(rows), size):
        own = order[start : start + size]
        found.append(Pool(np.concatenate([own, order[: min(size - len(own), start)]]), len(own)))
    return found


def pool_ranks(
    systems: Mapping[str, PoolScores], parts: Sequence[Pool], size: int
) -> dict[str, Int64[np.ndarray, " pairs"]]:
    """The rank of each pair's own function by each system, 1 is best, in the order of the split.

    Args:
        systems: name -> scores of a pool.
        parts: as :func:`pools` made them.
        size: pairs of the split; those that are in no pool have rank 0.
    """
    ranks = {name: np.zeros(size, np.int64) for name in systems}
    for part in parts:
        for name, scores in systems.items():
            better, tied = count_better_and_tied(scores(part), np.arange(part.asked))
            ranks[name][part.own] = 1 + better + tied
    return ranks


def ranker_scores(ranker: Ranker, queries: Split, codes: Split) -> PoolScores:
    """The scores of a ranker, which reads each pool anew.

    Args:
        ranker: scores queries against functions.
        queries: the pairs as they are asked.
        codes: the same pairs in the same order.
    """

    def scores(part: Pool) -> Float[np.ndarray, "asked pool"]:
        return np.concatenate([*ranker.over(queries.take(part.own), codes.take(part.rows)).blocks()])

    return scores


def model_scores(ranker: PoolRanker, codes: Split) -> Callable[[Split], PoolScores]:
    """A function that gives the scores of queries, as they are asked, against ``codes``, their own functions."""
    if not isinstance(ranker.model, BiEncoder):
        return lambda queries: ranker_scores(ranker, queries, codes)
    vectors = code_vectors(ranker, codes)

    def of_queries(queries: Split) -> PoolScores:
        asked = query_vectors(ranker, queries)

        def scores(part: Pool) -> Float[np.ndarray, "asked pool"]:
            return np.asarray(asked[part.own] @ vectors[part.rows].T)

        return scores

    return of_queries


def query_vectors(ranker: PoolRanker, queries: Split) -> Vectors:
    """One vector per query, whose inner products with those of functions are the scores."""
    ids = ranker.tokenizer.encode(queries)
    return _vectors(ranker, ids.query_lengths, ids.queries, ranker.model.encode_query)


def code_vectors(ranker: PoolRanker, codes: Split) -> Vectors:
    """One vector per function."""
    ids = ranker.tokenizer.encode(codes)
    return _vectors(ranker, ids.code_lengths, ids.codes, ranker.model.encode_code)


def _vectors(
    ranker: PoolRanker,
    lengths: Int[np.ndarray, " rows"],
    batch: Callable[[Int[np.ndarray, " rows"]], Batch],
    encode: Callable[[Batch], Encoded],
) -> Vectors:
    order = np.argsort(lengths, kind="stable")  # little padding
    parts = []
    with scoring(ranker.model):
        for start in range(0, len(order), _AT_ONCE):
            words = {name: each.to(ranker.device) for name, each in batch(order[start : start + _AT_ONCE]).items()}
            parts.append(encode(words).states[:, 0].float().cpu())
    found = np.empty((len(order), parts[0].shape[1] if parts else 0), np.float32)
    found[order] = torch.cat(parts).numpy()
    return found
