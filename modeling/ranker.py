"""The interface of everything that ranks code, trained or not; the evaluator, tables and fusion depend on it only.

BM25, a pretrained sentence encoder and a chat model implement it directly; :class:`modeling.pool_ranker.PoolRanker`
wraps a :class:`modeling.base.NeuralRanker`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final

import numpy as np

from data_prep.store.arrays import Float, Float32, Int64
from data_prep.store.split import Split

SCORES_PER_BLOCK: Final = 1 << 22
"""Scores in memory at a time: 16 MiB in float32."""


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


class Ranker(ABC):
    """Scores queries against codes."""

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
