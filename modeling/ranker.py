"""What ranks code, trained or not: the evaluator, the tables and the fusion know this contract and no model.

BM25, a sentence tokenizer as it comes and a chat model are rankers by themselves; a
:class:`modeling.contract.NeuralRanker` becomes one in :class:`modeling.pool_ranker.PoolRanker`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final

import numpy as np
from jaxtyping import Float, Float32, Int64

from data_prep.store.prepared_data import Split

SCORES_PER_BLOCK: Final = 1 << 22
"""Scores held at a time: 16 MiB in float32."""


class Scores(ABC):
    """Scores of queries and codes that were read; both go by position, and higher is better."""

    def __init__(self, queries: int, codes: int) -> None:
        """So many of each."""
        self.queries, self.codes = queries, codes

    @abstractmethod
    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The score of every candidate of each query; NaN where there is no answer."""

    def blocks(self) -> Iterator[Float[np.ndarray, "block codes"]]:
        """Every query against every code, some queries at a time, in order.

        The caller is done with a block before it asks for the next. A ranker overrides this where it has a faster form
        of the same scores.
        """
        step = max(1, SCORES_PER_BLOCK // max(1, self.codes))
        for start in range(0, self.queries, step):
            rows = np.arange(start, min(start + step, self.queries), dtype=np.int64)
            yield self(rows, np.tile(np.arange(self.codes, dtype=np.int64), (len(rows), 1)))


class Ranker(ABC):
    """Scores queries against codes."""

    @property
    def natural_threshold(self) -> float | None:
        """The score from which on a pair is called a match, where training fixed it; None: validation has to."""
        return None

    @abstractmethod
    def over(self, queries: Split, corpus: Split) -> Scores:
        """Read the queries of one split and the codes of another, as far as that can be done once.

        Raises:
            ValueError: the ranker cannot do with these.
        """
