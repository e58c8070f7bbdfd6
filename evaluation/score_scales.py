"""Standardisation of scores, so that those of different rankers can be added. Depends only on numpy."""

from dataclasses import dataclass

import numpy as np

from data_prep.array_types import Float


def z_scores(scores: Float[np.ndarray, "*some candidates"]) -> Float[np.ndarray, "*some candidates"]:
    """The scores of each query standardised to mean 0 and standard deviation 1; 0 if all are equal.

    The result has the precision of ``scores``.
    """
    if not scores.shape[-1]:
        return scores
    centred = scores - scores.mean(axis=-1, keepdims=True)
    spread = centred.std(axis=-1, keepdims=True)
    return np.asarray(centred / np.where(spread > 0, spread, 1))


def weighted(
    first: Float[np.ndarray, "*some candidates"], second: Float[np.ndarray, "*some candidates"], weight: float
) -> Float[np.ndarray, "*some candidates"]:
    """The weighted sum: ``weight`` of the first and ``1 - weight`` of the second."""
    return weight * first + (1 - weight) * second


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
