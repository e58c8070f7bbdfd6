"""Batches of pairs of similar length, in an order that depends only on the seed and the epoch."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from jaxtyping import Bool, Int

from data_prep.errors import UserError
from data_prep.store.tokenizing import TokenizedPairs

CHUNK: Final = 64
"""Batches per chunk; pairs are sorted by length inside a chunk. Larger chunks have less padding and less shuffling."""


def epoch_batches(
    pairs: TokenizedPairs, batch_size: int, seed: int, epoch: int, neighbours: int = 1, processes: int = 1
) -> list[Int[np.ndarray, " _"]]:
    """All pairs once, as rows of ``pairs``, cut into batches of ``batch_size``.

    The pairs are shuffled, sorted by length inside chunks, cut into batches, and the batches are shuffled. With
    ``neighbours`` above 1 this is done with runs of that many rows, mostly methods of one file; the offset of the runs
    differs by epoch. Each batch has at least two pairs, and one per process: a smaller remainder joins another batch.

    Raises:
        UserError: there are fewer than two pairs, so that no pair has a negative, or fewer pairs than processes.
    """
    least = max(2, processes)
    if len(pairs) < least:
        raise UserError(
            f"training takes {least} pairs or more, because pairs are each other's negatives and each process needs "
            f"one, but got {len(pairs)}"
        )
    random = np.random.default_rng((seed, epoch))
    first = int(random.integers(neighbours)) or neighbours
    runs = np.split(np.arange(len(pairs)), np.arange(first, len(pairs), neighbours))
    order, size = random.permutation(len(runs)), max(1, CHUNK * batch_size // neighbours)  # runs per chunk
    chunks = [[runs[place] for place in order[start : start + size]] for start in range(0, len(order), size)]
    rows = np.concatenate([run for chunk in chunks for run in _by_length(pairs, chunk)])
    batches = [rows[start : start + batch_size] for start in range(0, len(rows), batch_size)]
    if len(batches) > 1 and len(batches[-1]) < least:
        batches[-2:] = [np.concatenate(batches[-2:])]
    return [batches[place] for place in random.permutation(len(batches))]


def batch_count(pairs: int, batch_size: int, processes: int = 1) -> int:
    """Number of batches that :func:`epoch_batches` returns, in every epoch."""
    return max(1, -(-pairs // batch_size) - (0 < pairs % batch_size < max(2, processes)))


def negatives_mask(
    query_keys: Int[np.ndarray, " queries"],
    code_keys: Int[np.ndarray, " queries"],
    other_query_keys: Int[np.ndarray, " codes"] | None = None,
    other_code_keys: Int[np.ndarray, " codes"] | None = None,
) -> Bool[np.ndarray, "queries codes"]:
    """Which codes are negatives of which query: all except those of pairs with the same query or the same code.

    Without the ``other`` keys the codes are those of the queries' pairs.
    """
    others = query_keys if other_query_keys is None else other_query_keys
    codes = code_keys if other_code_keys is None else other_code_keys
    same = (query_keys[:, None] == others[None, :]) | (code_keys[:, None] == codes[None, :])
    return np.logical_not(same)  # [queries, codes]


def _by_length(pairs: TokenizedPairs, runs: Sequence[Int[np.ndarray, " _"]]) -> list[Int[np.ndarray, " _"]]:
    means = [(pairs.query_lengths[run].mean(), pairs.code_lengths[run].mean()) for run in runs]
    return [runs[place] for place in sorted(range(len(runs)), key=means.__getitem__)]
