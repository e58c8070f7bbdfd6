"""The vectors of a split's queries and functions by a bi-encoder, each computed once for all pools."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float, Float32, Int

from data_prep.store.batching import Batch
from data_prep.store.prepared_data import Split
from data_prep.store.tokenizing import TokenizedPairs
from experiments.context.pools import Pool, PoolScores, ranker_scores
from modeling.base import Encoded
from modeling.bi_encoder import BiEncoder
from modeling.pool_ranker import PoolRanker, scoring

_AT_ONCE = 256

Vectors = Float32[np.ndarray, "rows dim"]


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
    ids: TokenizedPairs = ranker.tokenizer.encode(codes)
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
