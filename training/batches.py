"""Batches of pairs of similar length, in an order that depends on the seed and the epoch alone."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from jaxtyping import Bool, Int

from data_prep.batching import PairIds

CHUNK: Final = 64
"""Batches a chunk: pairs are sorted by length inside a chunk. More: less padding, less mixing."""


def epoch_batches(pairs: PairIds, batch_size: int, seed: int, epoch: int) -> list[Int[np.ndarray, " _"]]:
    """All pairs once, as rows of ``pairs``, cut into batches of ``batch_size``.

    The pairs are shuffled, cut into chunks, sorted by length inside each chunk, cut into batches, and the batches are
    shuffled. Each batch has at least two pairs: a pair left over joins another batch.

    Raises:
        ValueError: there are fewer than two pairs, so that no pair has a negative.
    """
    if len(pairs) < 2:
        raise ValueError(
            f"training takes 2 pairs or more, because pairs are each other's negatives, but got {len(pairs)}"
        )
    random = np.random.default_rng((seed, epoch))
    order = random.permutation(len(pairs))
    chunks = [order[start : start + CHUNK * batch_size] for start in range(0, len(order), CHUNK * batch_size)]
    batches = [batch for chunk in chunks for batch in _cut(_by_length(pairs, chunk), batch_size)]
    if len(batches[-1]) == 1:
        batches[-2:] = [np.concatenate(batches[-2:])]
    return [batches[place] for place in random.permutation(len(batches))]


def batch_count(pairs: int, batch_size: int) -> int:
    """How many batches :func:`epoch_batches` gives, in every epoch."""
    return max(1, -(-pairs // batch_size) - (pairs % batch_size == 1))


def negatives_mask(
    query_keys: Int[np.ndarray, " pairs"], code_keys: Int[np.ndarray, " pairs"]
) -> Bool[np.ndarray, "pairs pairs"]:
    """Which code is a negative of which query: all but its own, and but those of pairs with the same query or code."""
    same = (query_keys[:, None] == query_keys[None, :]) | (code_keys[:, None] == code_keys[None, :])
    return np.logical_not(same)  # [queries, codes]


def _by_length(pairs: PairIds, rows: Int[np.ndarray, " rows"]) -> Int[np.ndarray, " rows"]:
    return rows[np.lexsort((pairs.code_lengths[rows], pairs.query_lengths[rows]))]


def _cut(rows: Int[np.ndarray, " rows"], size: int) -> Sequence[Int[np.ndarray, " _"]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
