"""Scores of different rankers on one scale, so that a cosine and a sum of term weights can be added. Numpy alone."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


def z_scores(scores: Float[np.ndarray, "*some candidates"]) -> Float[np.ndarray, "*some candidates"]:
    """The scores of each query at mean 0 and standard deviation 1; 0 where all are equal.

    The precision is that of ``scores``.
    """
    if not scores.shape[-1]:
        return scores
    centred = scores - scores.mean(axis=-1, keepdims=True)
    spread = centred.std(axis=-1, keepdims=True)
    return np.asarray(centred / np.where(spread > 0, spread, 1))


def weighted(
    first: Float[np.ndarray, "*some candidates"], second: Float[np.ndarray, "*some candidates"], weight: float
) -> Float[np.ndarray, "*some candidates"]:
    """``weight`` of the first and the rest of the second."""
    return weight * first + (1 - weight) * second


@dataclass(frozen=True, slots=True)
class Scale:
    """What brings scores to mean 0 and standard deviation 1 on validation pairs, fixed for all queries afterwards."""

    mean: float
    spread: float

    @classmethod
    def of(cls, scores: Float[np.ndarray, "queries candidates"]) -> "Scale":
        """The scale of these scores."""
        return cls(float(scores.mean()), float(scores.std()) or 1.0)

    def __call__(self, scores: Float[np.ndarray, "block candidates"]) -> Float[np.ndarray, "block candidates"]:
        """The scores on it."""
        return ((scores - self.mean) / self.spread).astype(np.float32)
