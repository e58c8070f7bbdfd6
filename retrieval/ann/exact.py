"""Vectors of the rows of an index, and which of them are nearest to that of a query: the inner product decides.

There is one protocol, :class:`VectorIndex`, and three ways behind it: :class:`ExactVectors` here, which looks at every
row; FAISS (:mod:`retrieval.ann.faiss_index`) and Milvus (:mod:`retrieval.ann.milvus`), which are extras. Each names
candidates its own way; all score these by the same sums over the same stored vectors (:class:`Settled`), so that they
give the same scores, and rows of equal vectors tie wherever they stand.
"""

from abc import ABC, abstractmethod
from importlib import import_module
from types import ModuleType
from typing import Final, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Float32, Int64

HELD: Final = 1 << 28
"""Bytes of vectors that :class:`ExactVectors` keeps in memory as float32; of more, a block at a time is converted."""
SLACK: Final = 1e-4
"""By how much sums of float32 in another order may differ, and candidates lie below the last that is wanted."""
_BLOCK: Final = 16_384
"""Rows that are converted at a time."""
_LONGEST: Final = 1.01
"""Vectors are of length 1 or, where nothing could be read, 0; float16 and dropped bits add to that."""


@runtime_checkable
class VectorIndex(Protocol):
    """Rows by their vectors."""

    def search(
        self, queries: Float32[np.ndarray, "queries dim"], count: int
    ) -> tuple[Float32[np.ndarray, "queries found"], Int64[np.ndarray, "queries found"]]:
        """The scores and numbers of the ``count`` best rows of each query (all, if there are fewer), best first.

        A score is the inner product with the row's vector; of equal ones the lower row stands first.

        Raises:
            ValueError: the queries are of another dimension or not finite, or ``count`` is below 1.
        """

    def scores(
        self, query: Float32[np.ndarray, " dim"], rows: Int64[np.ndarray, " some"]
    ) -> Float32[np.ndarray, " some"]:
        """The scores of ``rows`` for one query, as :meth:`search` gives them."""

    def close(self) -> None:
        """Let go of what is open; nothing can be asked afterwards."""


class Settled(ABC):
    """A :class:`VectorIndex` of which only the candidates of a query are left to be named."""

    def __init__(self, vectors: Float[np.ndarray, "rows dim"]) -> None:
        """``vectors``: of length 1 or 0, float16 or float32, which may lie in a mapped file.

        Raises:
            ValueError: they are not finite, or longer than 1.
        """
        for start in range(0, len(vectors), _BLOCK):
            lengths = np.linalg.norm(vectors[start : start + _BLOCK].astype(np.float32), axis=1)
            if not np.all(lengths <= _LONGEST):  # NaN is not below anything
                row = start + int(np.flatnonzero(~(lengths <= _LONGEST))[0])
                raise ValueError(f"expected vectors of length 1 or 0, row {row:,} has {lengths[row - start]}")
        self.vectors = vectors

    @abstractmethod
    def candidates(self, query: Float32[np.ndarray, " dim"], count: int) -> Int64[np.ndarray, " some"]:
        """``count`` rows or more, ascending: the best and, where the way is exact, all that tie with the last."""

    def close(self) -> None:
        """Let go of the vectors."""
        self.vectors = self.vectors[:0]

    def search(
        self, queries: Float32[np.ndarray, "queries dim"], count: int
    ) -> tuple[Float32[np.ndarray, "queries found"], Int64[np.ndarray, "queries found"]]:
        """As :meth:`VectorIndex.search` has it."""
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
        if len(rows) < count:  # an approximate way found too few
            rows = np.arange(len(self.vectors))
        scores = np.concatenate(
            [self.scores(query, rows[start : start + _BLOCK]) for start in range(0, len(rows), _BLOCK)]
        )
        order = np.argsort(-scores, kind="stable")[:count]
        return scores[order], rows[order]

    def scores(
        self, query: Float32[np.ndarray, " dim"], rows: Int64[np.ndarray, " some"]
    ) -> Float32[np.ndarray, " some"]:
        """Inner products, each summed in the same order wherever its row stands, unlike a matrix product's."""
        return (self.vectors[rows].astype(np.float32) * query).sum(axis=1)


class ExactVectors(Settled):
    """Looks at every row."""

    def __init__(self, vectors: Float[np.ndarray, "rows dim"], *, held: int = HELD) -> None:
        """``held``: bytes of float32 up to which the vectors are kept in memory.

        Raises:
            ValueError: the vectors are not finite, or longer than 1.
        """
        super().__init__(vectors)
        self._step = len(vectors) if 4 * vectors.size <= held else _BLOCK
        self._held = vectors.astype(np.float32, copy=False) if self._step == len(vectors) else vectors

    def candidates(self, query: Float32[np.ndarray, " dim"], count: int) -> Int64[np.ndarray, " some"]:
        """All rows whose score is that of the last wanted, or more."""
        scores = np.empty(len(self._held), np.float32)
        for start in range(0, len(scores), self._step):
            block = self._held[start : start + self._step].astype(np.float32, copy=False)
            # not matmul, whose threads would spin beside the model's
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
