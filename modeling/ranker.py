"""The interface of everything that ranks code, trained or not, and the fusion of two; all that tables need.

BM25, a pretrained sentence encoder and a chat model implement it directly; :class:`modeling.pool_ranker.PoolRanker`
wraps a :class:`modeling.base.NeuralRanker`.

Fused, the scores of each ranker for a query are standardised over the pool to mean 0 and standard deviation 1, so that
a cosine and a BM25 score can be added: score = weight * z of the first + (1 - weight) * z of the second.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import numpy as np

from data_prep.store.arrays import Float, Float32, Int64, weighted, z_scores
from data_prep.store.split import Split

SCORES_PER_BLOCK: Final = 1 << 22
"""Scores in memory at a time: 16 MiB in float32."""
_VECTORS_AT_ONCE: Final = 1 << 13
"""Candidates of a query whose vectors are copied at a time."""


class Scores(ABC):
    """Scores of given queries and codes, both addressed by position; higher is better."""

    def __init__(self, queries: int, codes: int) -> None:
        """The numbers of queries and codes."""
        self.queries, self.codes = queries, codes

    @abstractmethod
    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The score of every candidate of each query; NaN where there is no answer."""

    def blocks(self) -> Iterator[Float[np.ndarray, "block codes"]]:
        """Every query against every code, in blocks of queries, in order.

        The caller must be done with a block before requesting the next. A ranker overrides this if it has a faster way
        to compute the same scores.
        """
        step = max(1, SCORES_PER_BLOCK // max(1, self.codes))
        for start in range(0, self.queries, step):
            rows = np.arange(start, min(start + step, self.queries), dtype=np.int64)
            yield self(rows, np.tile(np.arange(self.codes, dtype=np.int64), (len(rows), 1)))


class VectorScores(Scores):
    """Dot products of vectors."""

    def __init__(self, queries: Float32[np.ndarray, "queries dim"], codes: Float32[np.ndarray, "codes dim"]) -> None:
        """One vector per text."""
        super().__init__(len(queries), len(codes))
        self._queries, self._codes = queries, codes

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The score of every candidate of each query."""
        scores = np.zeros(candidates.shape, np.float32)
        for row, query in enumerate(queries.tolist()):
            for start in range(0, candidates.shape[1], _VECTORS_AT_ONCE):
                part = slice(start, start + _VECTORS_AT_ONCE)
                scores[row, part] = self._codes[candidates[row, part]] @ self._queries[query]
        return scores

    def blocks(self) -> Iterator[Float32[np.ndarray, "block codes"]]:
        """Every query against every code, as matrix products."""
        step = max(1, SCORES_PER_BLOCK // max(1, self.codes))
        for start in range(0, self.queries, step):
            yield self._queries[start : start + step] @ self._codes.T


class Ranker(ABC):
    """Scores queries against codes."""

    reads: ClassVar[Literal["words", "subwords"]] = "words"
    """What it reads by default: the words of fields, or subwords of whole texts."""

    @property
    def natural_threshold(self) -> float | None:
        """The score from which a pair counts as a match if training fixed it; None if validation has to choose it."""
        return None

    @abstractmethod
    def over(self, queries: Split, corpus: Split) -> Scores:
        """Prepare scores of the queries of one split and the codes of another, with all work that is done only once.

        Raises:
            ValueError: the ranker cannot score these splits.
        """


def best_device() -> str:
    """The device that neural rankers run on: ``cuda`` if torch finds a GPU, else ``cpu``."""
    import torch  # slow to import, and not needed to look up a model by name

    return "cuda" if torch.cuda.is_available() else "cpu"


def has_bfloat16() -> bool:
    """Whether :func:`best_device` multiplies matrices faster in bfloat16: a recent GPU, AMX, or AVX-512 with it."""
    import torch

    if best_device() == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    found = torch.cpu.get_capabilities()
    return best_device() == "cpu" and bool(found.get("amx_bf16") or found.get("avx512_bf16"))


@dataclass(frozen=True, slots=True)
class Scale:
    """A standardisation fitted on validation pairs (mean 0, standard deviation 1), then fixed for all queries."""

    mean: float
    spread: float

    @classmethod
    def of(cls, scores: Float[np.ndarray, "queries candidates"]) -> "Scale":
        """Fit the scale to ``scores``."""
        return cls(float(scores.mean()), float(scores.std()) or 1.0)

    def __call__(self, scores: Float[np.ndarray, "block candidates"]) -> Float[np.ndarray, "block candidates"]:
        """The standardised scores."""
        return ((scores - self.mean) / self.spread).astype(np.float32)


WEIGHTS: Final[tuple[float, ...]] = tuple(np.round(np.arange(21) * 0.05, 2).tolist())
"""The fusion weights that :func:`best_weight` tries."""


class FusedRanker(Ranker):
    """The fusion of two rankers."""

    def __init__(self, first: Ranker, second: Ranker, weight: float) -> None:
        """``weight``: of the first, from 0 to 1."""
        self.first, self.second, self.weight = first, second, weight

    def over(self, queries: Split, corpus: Split) -> "FusedScores":
        """The fused scores of both rankers over these splits."""
        return FusedScores(self.first.over(queries, corpus), self.second.over(queries, corpus), self.weight)


class FusedScores(Scores):
    """The weighted sum of two rankers' scores, each standardised over all codes for each query."""

    def __init__(self, first: Scores, second: Scores, weight: float) -> None:
        """``weight``: of the first, from 0 to 1."""
        super().__init__(first.queries, first.codes)
        self._first, self._second, self._weight = first, second, weight

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The fused scores of the candidates; standardisation is over all codes."""
        everything = np.tile(np.arange(self.codes, dtype=np.int64), (len(queries), 1))
        one, other = (z_scores(scores(queries, everything)) for scores in (self._first, self._second))
        fused = weighted(one, other, self._weight).astype(np.float32)
        return np.take_along_axis(fused, candidates, axis=1)

    def blocks(self) -> Iterator[Float[np.ndarray, "block codes"]]:
        """Every query against every code, in the first ranker's blocks."""
        for one, other in _standardised(self._first, self._second):
            yield weighted(one, other, self._weight)


def best_weight(
    first: Scores, second: Scores, measure: Callable[[Float[np.ndarray, "block codes"], int], float]
) -> float:
    """The fusion weight of the first ranker that is best over the same queries and codes; the largest of equal ones.

    Args:
        first: scores of the ranker that ranks alone at weight 1.
        second: of that which ranks alone at weight 0.
        measure: takes a block of scores and the number of its first query; its sum is maximised.
    """
    sums, row = np.zeros(len(WEIGHTS)), 0
    for one, other in _standardised(first, second):
        sums += [measure(weighted(one, other, weight), row) for weight in WEIGHTS]
        row += len(one)
    return WEIGHTS[len(WEIGHTS) - 1 - int(np.argmax(sums[::-1]))]


def _standardised(
    first: Scores, second: Scores
) -> Iterator[tuple[Float32[np.ndarray, "block codes"], Float32[np.ndarray, "block codes"]]]:
    """The standardised scores of both rankers, in the first ranker's blocks."""
    for block, other in paired_blocks(first, second):
        yield z_scores(block.astype(np.float32)), z_scores(other.astype(np.float32))


def paired_blocks(
    first: Scores, second: Scores
) -> Iterator[tuple[Float[np.ndarray, "block codes"], Float[np.ndarray, "block codes"]]]:
    """Every query against every code by two rankers, in the first one's blocks."""
    waiting = second.blocks()
    rest = np.empty((0, 0), dtype=np.float32)
    for block in first.blocks():
        parts, rows = [rest] if len(rest) else [], len(rest)
        while rows < len(block):
            parts.append(np.array(next(waiting)))
            rows += len(parts[-1])
        joined = np.concatenate(parts)
        rest = joined[len(block) :]
        yield block, joined[: len(block)]
