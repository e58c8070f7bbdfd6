"""Two rankers as one: their scores on a common scale, weighted.

The scores that each gives the pool for a query are brought to mean 0 and standard deviation 1, so that a cosine and a
sum of term weights can be added: score = weight * z of the first + (1 - weight) * z of the second.
"""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from jaxtyping import Float, Float32, Int64

from data_prep.store.prepared_data import Split
from modeling.ranker import Ranker, Scores
from retrieval.score_scales import weighted, z_scores

WEIGHTS: Final = tuple(round(0.05 * step, 2) for step in range(21))
"""What :func:`best_weight` tries."""


class FusedRanker(Ranker):
    """Two rankers as one."""

    def __init__(self, first: Ranker, second: Ranker, weight: float) -> None:
        """``weight`` of the first, from 0 to 1."""
        self.first, self.second, self.weight = first, second, weight

    def over(self, queries: Split, corpus: Split) -> "FusedScores":
        """Both rankers over these."""
        return FusedScores(self.first.over(queries, corpus), self.second.over(queries, corpus), self.weight)


class FusedScores(Scores):
    """The weighted sum of two scores, each standardised over all codes for each query."""

    def __init__(self, first: Scores, second: Scores, weight: float) -> None:
        """``weight`` of the first, from 0 to 1."""
        super().__init__(first.queries, first.codes)
        self._first, self._second, self._weight = first, second, weight

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """Of the scores of all codes those of the candidates."""
        everything = np.tile(np.arange(self.codes, dtype=np.int64), (len(queries), 1))
        one, other = (z_scores(scores(queries, everything)) for scores in (self._first, self._second))
        fused = weighted(one, other, self._weight).astype(np.float32)
        return np.take_along_axis(fused, candidates, axis=1)

    def blocks(self) -> Iterator[Float[np.ndarray, "block codes"]]:
        """Every query against every code, in the blocks of the first."""
        for one, other in _standardised(self._first, self._second):
            yield weighted(one, other, self._weight)


def best_weight(
    first: Ranker, second: Ranker, pool: Split, measure: Callable[[Float[np.ndarray, "block codes"], int], float]
) -> float:
    """The weight of the first by which ``pool``'s own queries are ranked best; of equal ones the largest.

    Args:
        first: ranks by itself at weight 1.
        second: ranks by itself at weight 0.
        pool: queries and methods, the gold of row i in column i.
        measure: of a block of scores whose first row is that of the pool's given number, what is to be large in sum.
    """
    sums, row = np.zeros(len(WEIGHTS)), 0
    for one, other in _standardised(first.over(pool, pool), second.over(pool, pool)):
        sums += [measure(weighted(one, other, weight), row) for weight in WEIGHTS]
        row += len(one)
    return WEIGHTS[len(WEIGHTS) - 1 - int(np.argmax(sums[::-1]))]


def _standardised(
    first: Scores, second: Scores
) -> Iterator[tuple[Float32[np.ndarray, "block codes"], Float32[np.ndarray, "block codes"]]]:
    """The scores of both in the blocks of the first."""
    waiting = second.blocks()
    kept = np.empty((0, 0), dtype=np.float32)
    for block in first.blocks():
        parts, rows = [kept] if len(kept) else [], len(kept)
        while rows < len(block):
            parts.append(np.array(next(waiting)))
            rows += len(parts[-1])
        joined = np.concatenate(parts)
        kept = joined[len(block) :]
        other = joined[: len(block)]
        yield z_scores(block.astype(np.float32)), z_scores(other.astype(np.float32))
