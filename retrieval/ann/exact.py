"""Nearest-neighbour search over the vectors of an index, by inner product.

The protocol :class:`VectorIndex` has three implementations: :class:`ExactVectors` here, which scans every row, and
the optional FAISS (:mod:`retrieval.ann.faiss_index`) and Milvus (:mod:`retrieval.ann.milvus`). They differ in how they
find candidates; all of them rescore the candidates with the same sums over the same stored vectors
(:class:`Settled`), so they return the same scores, and rows with equal vectors tie wherever they are.
"""

from abc import ABC, abstractmethod
from importlib import import_module
from types import ModuleType
from typing import Final, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Float32, Int64

HELD: Final = 1 << 28
"""Bytes of float32 vectors that :class:`ExactVectors` holds in memory; beyond that, it converts block by block."""
SLACK: Final = 1e-4
"""Tolerance for float32 sums in a different order: candidates may score this much below the last wanted row."""
_BLOCK: Final = 16_384
"""Rows converted at a time."""
_LONGEST: Final = 1.01
"""Vectors have length 1, or 0 if nothing could be encoded; rounding to float16 may increase the length."""


@runtime_checkable
class VectorIndex(Protocol):
    """Nearest-neighbour search over row vectors."""

    def search(
        self, queries: Float32[np.ndarray, "queries dim"], count: int
    ) -> tuple[Float32[np.ndarray, "queries found"], Int64[np.ndarray, "queries found"]]:
        """The scores and row numbers of the ``count`` best rows of each query (all, if there are fewer), best first.

        A score is the inner product with the row's vector; of rows with equal scores the lower row number is first.

        Raises:
            ValueError: the queries have another dimension or are not finite, or ``count`` is below 1.
        """

    def scores(
        self, query: Float32[np.ndarray, " dim"], rows: Int64[np.ndarray, " some"]
    ) -> Float32[np.ndarray, " some"]:
        """The scores of ``rows`` for one query, equal to those of :meth:`search`."""

    def close(self) -> None:
        """Release all resources; the index cannot be used afterwards."""


class Settled(ABC):
    """Base class of a :class:`VectorIndex`; subclasses only have to find the candidates of a query."""

    def __init__(self, vectors: Float[np.ndarray, "rows dim"]) -> None:
        """``vectors``: of length 1 or 0, float16 or float32, possibly memory-mapped.

        Raises:
            ValueError: they are not finite, or longer than 1.
        """
        for start in range(0, len(vectors), _BLOCK):
            lengths = np.linalg.norm(vectors[start : start + _BLOCK].astype(np.float32), axis=1)
            if not np.all(lengths <= _LONGEST):  # also true for NaN
                row = start + int(np.flatnonzero(~(lengths <= _LONGEST))[0])
                raise ValueError(f"expected vectors of length 1 or 0, row {row:,} has {lengths[row - start]}")
        self.vectors = vectors

    @abstractmethod
    def candidates(self, query: Float32[np.ndarray, " dim"], count: int) -> Int64[np.ndarray, " some"]:
        """At least ``count`` rows, ascending: the best and, if the search is exact, all that tie with the last."""

    def close(self) -> None:
        """Release the vectors."""
        self.vectors = self.vectors[:0]

    def search(
        self, queries: Float32[np.ndarray, "queries dim"], count: int
    ) -> tuple[Float32[np.ndarray, "queries found"], Int64[np.ndarray, "queries found"]]:
        """See :meth:`VectorIndex.search`."""
        rows, dim = self.vectors.shape
        if queries.shape[1] != dim:
            raise ValueError(f"expected queries of dimension {dim}, as the rows have, got {queries.shape[1]}")
        if not np.isfinite(queries).all():
            raise ValueError("expected finite queries, got NaN or infinity")
        if count < 1:
            raise ValueError(f"expected a count of 1 or more, got {count}")
        count = min(count, rows)
        scores = np.empty((len(queries), count), np.float32)
        best = np.empty((len(queries), count), np.int64)
        for number, query in enumerate(queries if count else ()):
            scores[number], best[number] = self._settled(query, count)
        return scores, best

    def _settled(
        self, query: Float32[np.ndarray, " dim"], count: int
    ) -> tuple[Float32[np.ndarray, " count"], Int64[np.ndarray, " count"]]:
        rows = self.candidates(query, count)
        if len(rows) < count:  # an approximate search found too few
            rows = np.arange(len(self.vectors))
        scores = np.concatenate(
            [self.scores(query, rows[start : start + _BLOCK]) for start in range(0, len(rows), _BLOCK)]
        )
        order = np.argsort(-scores, kind="stable")[:count]
        return scores[order], rows[order]

    def scores(
        self, query: Float32[np.ndarray, " dim"], rows: Int64[np.ndarray, " some"]
    ) -> Float32[np.ndarray, " some"]:
        """Inner products, summed in the same order for every row, unlike in a matrix product."""
        return (self.vectors[rows].astype(np.float32) * query).sum(axis=1)


class ExactVectors(Settled):
    """Exact search that scans every row."""

    def __init__(self, vectors: Float[np.ndarray, "rows dim"], *, held: int = HELD) -> None:
        """``held``: maximum size in bytes of float32 vectors to hold in memory.

        Raises:
            ValueError: the vectors are not finite, or longer than 1.
        """
        super().__init__(vectors)
        self._step = len(vectors) if 4 * vectors.size <= held else _BLOCK
        self._held = vectors.astype(np.float32, copy=False) if self._step == len(vectors) else vectors

    def candidates(self, query: Float32[np.ndarray, " dim"], count: int) -> Int64[np.ndarray, " some"]:
        """All rows whose score is at least that of the last wanted row."""
        scores = np.empty(len(self._held), np.float32)
        for start in range(0, len(scores), self._step):
            block = self._held[start : start + self._step].astype(np.float32, copy=False)
            # not matmul, whose threads would compete with the model's
            np.einsum("rd,d->r", block, query, out=scores[start : start + self._step])
        last = np.partition(scores, len(scores) - count)[len(scores) - count]
        return np.flatnonzero(scores >= last - SLACK)


def extra(library: str, what: str) -> ModuleType:
    """Import ``library``, one of requirements-vectors.txt.

    Raises:
        ValueError: it is not installed.
    """
    try:
        return import_module(library)
    except ImportError as error:
        raise ValueError(
            f"{what} needs {library.partition('.')[0]}: .venv/bin/python -m pip install -r requirements-vectors.txt"
        ) from error
