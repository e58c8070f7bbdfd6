"""What ranks raw text against raw code of any language: BM25, sentence encoders, cross-encoders.

The contract of GenCodeSearchNet, whose records are two strings; a :class:`modeling.pool_ranker.Ranker` reads word
lists.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, Int64


@runtime_checkable
class BlockScores(Protocol):
    """Scores over the texts and codes that a scorer has read."""

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The score of every candidate of each query, both by position; higher is better."""


@runtime_checkable
class TextScorer(Protocol):
    """Scores pairs of a text and a code."""

    @property
    def natural_threshold(self) -> float | None:
        """The score from which on a pair is called a match, where training fixed it; None: validation has to."""

    def over(self, texts: Sequence[str], codes: Sequence[str]) -> BlockScores:
        """Read a test set, as far as that can be done once."""
