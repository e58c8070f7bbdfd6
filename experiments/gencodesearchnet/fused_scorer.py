"""Fusion of two scorers: their normalised scores are added, by a weight tuned on validation pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float32, Int64

from data_prep.gencodesearchnet.records import Example
from data_prep.gencodesearchnet.sampling import DISTRACTORS, ranking_blocks
from data_prep.gencodesearchnet.words import as_split
from data_prep.store.prepared_data import Split
from evaluation.fusion import Scale, weighted
from evaluation.metrics import count_better_and_tied, mrr
from modeling.ranker import Ranker, Scores

_WEIGHTS: Final = tuple(step / 10 for step in range(11))


@dataclass(frozen=True, slots=True)
class FusedScorer(Ranker):
    """``weight`` times the first scorer's score plus the rest of the second's, each on its scale."""

    scorers: tuple[Ranker, Ranker]
    scales: tuple[Scale, Scale]
    weight: float

    @classmethod
    def fitted(cls, first: Ranker, second: Ranker, pairs: Sequence[Example], seed: int) -> "FusedScorer":
        """The fusion with the best MRR on validation ``pairs``; of equally good ones the one with the least weight.

        Raises:
            ValueError: there are too few pairs.
        """
        split = as_split("validation", pairs)
        blocks = list(ranking_blocks(len(pairs), min(DISTRACTORS, len(pairs) - 1), seed))
        found = [_scored(scorer.over(split, split), blocks) for scorer in (first, second)]
        scales = Scale.of(found[0]), Scale.of(found[1])
        one, two = scales[0](found[0]), scales[1](found[1])
        best = max(_WEIGHTS, key=lambda weight: _mrr(weighted(one, two, weight)))
        return cls((first, second), scales, best)

    def over(self, queries: Split, corpus: Split) -> "ScaledSum":
        """Both scorers over a test set."""
        first, second = (scorer.over(queries, corpus) for scorer in self.scorers)
        return ScaledSum(first, second, self)


class ScaledSum(Scores):
    """Two scores on the scales of a :class:`FusedScorer`, weighted."""

    def __init__(self, first: Scores, second: Scores, fused: FusedScorer) -> None:
        """``fused``: the scales and the weight."""
        super().__init__(first.queries, first.codes)
        self._first, self._second, self._fused = first, second, fused

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The weighted sum for every candidate of each query."""
        scales = self._fused.scales
        one, two = scales[0](self._first(queries, candidates)), scales[1](self._second(queries, candidates))
        return weighted(one, two, self._fused.weight).astype(np.float32)


def _scored(
    score: Scores, blocks: Sequence[Int64[np.ndarray, "block candidates"]]
) -> Float32[np.ndarray, "queries candidates"]:
    return np.concatenate([score(block[:, 0], block) for block in blocks])


def _mrr(scores: Float32[np.ndarray, "queries candidates"]) -> float:
    better, tied = count_better_and_tied(scores, np.zeros(len(scores), dtype=np.int64))
    return mrr(1 + better + tied)
