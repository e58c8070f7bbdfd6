"""Training and validation data of a cross-encoder: matching pairs, each with a code that does not match."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from jaxtyping import Int64

from data_prep.gencodesearchnet.records import Example
from data_prep.gencodesearchnet.sampling import matching_negatives, ranking_blocks
from data_prep.gencodesearchnet.words import as_split
from data_prep.store.tokenizing import TokenizedPairs
from evaluation.metrics import count_better_and_tied, mrr
from modeling.pool_ranker import PoolRanker
from modeling.ranker import Scores
from modeling.transformers.joined_pairs import joined_lengths


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """Rows of a text, a code and whether they match (1) or not (0); texts and codes are given by position."""

    texts: Int64[np.ndarray, " rows"]
    codes: Int64[np.ndarray, " rows"]
    labels: Int64[np.ndarray, " rows"]
    lengths: Int64[np.ndarray, " rows"]  # tokens of the two together

    @classmethod
    def of(cls, pairs: Sequence[Example], tokens: TokenizedPairs, room: int, seed: int) -> "TrainingRows":
        """Each pair, followed by its text with a different code of another pair.

        Args:
            pairs: matching pairs.
            tokens: their tokens.
            room: maximum tokens of a text and a code together.
            seed: seed of the negatives.

        Raises:
            ValueError: all pairs have the same code.
        """
        own = np.arange(len(pairs))
        codes = np.stack((own, matching_negatives(pairs, seed, exclude_equal_code=True)), axis=1).ravel()
        texts = np.repeat(own, 2)
        both = tokens.query_lengths[texts], tokens.code_lengths[codes]
        lengths = joined_lengths(torch.from_numpy(both[0]), torch.from_numpy(both[1]), room).numpy()
        return cls(texts, codes, np.tile([1, 0], len(pairs)), lengths)

    def batches(self, size: int, seed: int, epoch: int, window: int) -> list[Int64[np.ndarray, " batch"]]:
        """The rows of each batch of an epoch: shuffled, and sorted by length within windows of ``window`` batches."""
        draws = np.random.default_rng((seed, epoch))
        order = draws.permutation(len(self.texts))
        if not window:
            return _cut(order, size)
        sorted_parts = [part[np.argsort(self.lengths[part], kind="stable")] for part in _cut(order, size * window)]
        found = list(chain.from_iterable(_cut(part, size) for part in sorted_parts))
        return [found[number] for number in draws.permutation(len(found))]


@dataclass(frozen=True, slots=True)
class Validation:
    """Validation of a model: the accuracy over pairs and as many negatives, and the MRR."""

    scores: Scores
    negatives: Int64[np.ndarray, " pairs"]
    blocks: Int64[np.ndarray, "queries candidates"]  # the pair's own code first

    @classmethod
    def of(
        cls, model: PoolRanker, pairs: Sequence[Example], seed: int, *, most: int, queries: int, distractors: int
    ) -> "Validation":
        """Sample negatives and distractors once.

        Args:
            model: scores the pairs, with its weights at the time of measuring.
            pairs: validation pairs.
            seed: seed of negatives and distractors.
            most: maximum number of pairs for the accuracy, the first ones.
            queries: maximum number of queries for the MRR, the first ones.
            distractors: codes beside the right one.

        Raises:
            ValueError: all pairs have the same code.
        """
        split = as_split("validation", pairs)
        scores = model.over(split, split)
        negatives = matching_negatives(pairs, seed, exclude_equal_code=True)[:most]
        blocks = ranking_blocks(len(pairs), min(distractors, len(pairs) - 1), seed, rows=min(queries, len(pairs)))
        return cls(scores, negatives, next(blocks))

    def measure(self) -> dict[str, float]:
        """Accuracy and MRR of the model as it is now."""
        own = np.arange(len(self.negatives))
        matching = self.scores(own, np.stack((own, self.negatives), axis=1)) >= 0.5  # [pairs, 2]
        ranked = self.scores(np.arange(len(self.blocks)), self.blocks)
        better, tied = count_better_and_tied(ranked, np.zeros(len(ranked), np.int64))
        return {"accuracy": float((matching == [True, False]).mean()), "mrr": mrr(1 + better + tied)}


def fingerprint(pairs: Sequence[Example]) -> str:
    """The sha256 of the pairs, in order."""
    total = hashlib.sha256()
    for pair in pairs:
        for half in (pair.text.encode(), pair.code.encode()):
            total.update(len(half).to_bytes(8, "big") + half)
    return total.hexdigest()


def _cut(rows: Int64[np.ndarray, " rows"], size: int) -> list[Int64[np.ndarray, " part"]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
