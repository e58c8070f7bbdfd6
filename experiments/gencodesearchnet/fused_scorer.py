"""Two scorers as one: their scores on one scale, added by a weight that is best on validation pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float32, Int64

from data_prep.gencodesearchnet.records import Example
from data_prep.gencodesearchnet.sampling import DISTRACTORS, ranking_blocks
from evaluation.metrics import count_better_and_tied, mrr
from modeling.text_scorer import BlockScores, TextScorer
from retrieval.score_scales import Scale, weighted

_WEIGHTS: Final = tuple(step / 10 for step in range(11))


@dataclass(frozen=True, slots=True)
class FusedScorer:
    """``weight`` of the first scorer's score and the rest of the second's, each on its scale."""

    scorers: tuple[TextScorer, TextScorer]
    scales: tuple[Scale, Scale]
    weight: float

    @classmethod
    def fitted(cls, first: TextScorer, second: TextScorer, pairs: Sequence[Example], seed: int) -> "FusedScorer":
        """The mixture of the best MRR on validation ``pairs``; of equally good ones that of the least weight.

        Raises:
            ValueError: there are too few pairs.
        """
        texts, codes = [pair.text for pair in pairs], [pair.code for pair in pairs]
        blocks = list(ranking_blocks(len(pairs), min(DISTRACTORS, len(pairs) - 1), seed))
        found = [_scored(scorer.over(texts, codes), blocks) for scorer in (first, second)]
        scales = Scale.of(found[0]), Scale.of(found[1])
        one, two = scales[0](found[0]), scales[1](found[1])
        best = max(_WEIGHTS, key=lambda weight: _mrr(weighted(one, two, weight)))
        return cls((first, second), scales, best)

    @property
    def natural_threshold(self) -> None:
        """None: no training fixed which sum is a match."""
        return

    def over(self, texts: Sequence[str], codes: Sequence[str]) -> BlockScores:
        """Both scorers over a test set."""
        first, second = (scorer.over(texts, codes) for scorer in self.scorers)

        def scores(
            queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
        ) -> Float32[np.ndarray, "block candidates"]:
            one, two = self.scales[0](first(queries, candidates)), self.scales[1](second(queries, candidates))
            return weighted(one, two, self.weight).astype(np.float32)

        return scores


def _scored(
    score: BlockScores, blocks: Sequence[Int64[np.ndarray, "block candidates"]]
) -> Float32[np.ndarray, "queries candidates"]:
    return np.concatenate([score(block[:, 0], block) for block in blocks])


def _mrr(scores: Float32[np.ndarray, "queries candidates"]) -> float:
    better, tied = count_better_and_tied(scores, np.zeros(len(scores), dtype=np.int64))
    return mrr(1 + better + tied)
