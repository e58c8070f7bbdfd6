"""Nearest-neighbour search over the vectors of an index, by inner product.

The protocol :class:`VectorIndex` has three implementations: :class:`ExactVectors` here, which scans every row, and
the optional FAISS (``faiss_index.py``) and Milvus (``milvus.py``). They differ in how they
find candidates; all of them rescore the candidates with the same sums over the same stored vectors
(:class:`Settled`), so they return the same scores, and rows with equal vectors tie wherever they are.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Final, Protocol, runtime_checkable

import numpy as np

from data_prep.array_types import Float, Float32, Int64
from data_prep.errors import UserError
from search.retrieval.ann.rounded import LONGEST, RoundedVectors, blocks, can_round

HELD: Final = 1 << 29
"""Bytes of rounded vectors that :class:`ExactVectors` holds in memory."""
SLACK: Final = 1e-4
"""Tolerance for float32 sums in a different order: candidates may score this much below the last wanted row."""
_BLOCK: Final = 16_384
"""Rows converted at a time."""


@runtime_checkable
class VectorIndex(Protocol):
    """Nearest-neighbour search over row vectors."""

    def search(
        self, queries: Float32[np.ndarray, "queries dim"], count: int
    ) -> tuple[Float32[np.ndarray, "queries found"], Int64[np.ndarray, "queries found"]]:
        """The scores and row numbers of the ``count`` best rows of each query (all, if there are fewer), best first.

        A score is the inner product with the row's vector; of rows with equal scores the lower row number is first.

        Raises:
            UserError: the queries have another dimension or are not finite, or ``count`` is below 1.
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
            UserError: they are not finite, or longer than 1.
        """
        for rows, block in blocks(vectors, _BLOCK):
            lengths = np.linalg.norm(block, axis=1)
            if not np.all(lengths <= LONGEST):  # also true for NaN
                place = int(np.flatnonzero(~(lengths <= LONGEST))[0])
                raise UserError(f"expected vectors of length 1 or 0, row {rows.start + place:,} has {lengths[place]}")
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
            raise UserError(f"expected queries of dimension {dim}, as the rows have, got {queries.shape[1]}")
        if not np.isfinite(queries).all():
            raise UserError("expected finite queries, got NaN or infinity")
        if count < 1:
            raise UserError(f"expected a count of 1 or more, got {count}")
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
    """Exact search that scans every row; from the second query on rounded to 8 bits, with the same results.

    Rounding takes as long as several scans, which a single question does not need.
    """

    def __init__(self, vectors: Float[np.ndarray, "rows dim"], *, held: int = HELD) -> None:
        """``held``: maximum size in bytes of rounded vectors to hold in memory.

        Raises:
            UserError: the vectors are not finite, or longer than 1.
        """
        super().__init__(vectors)
        self._may_round = vectors.size <= held and can_round()
        self._asked = False

    def candidates(self, query: Float32[np.ndarray, " dim"], count: int) -> Int64[np.ndarray, " some"]:
        """All rows whose score may be at least that of the last wanted row."""
        if self._may_round and self._asked:
            scores, errors = self._rounded.products(query)
            least, most = scores - errors, scores + errors
        else:
            least = most = self._scanned(query)
        self._asked = True
        last = np.partition(least, len(least) - count)[len(least) - count]
        return np.flatnonzero(most >= last - SLACK)

    def close(self) -> None:
        """Release the vectors, rounded ones too."""
        super().close()
        self.__dict__.pop("_rounded", None)
        self._may_round = False

    @cached_property
    def _rounded(self) -> RoundedVectors:
        return RoundedVectors(self.vectors)

    def _scanned(self, query: Float32[np.ndarray, " dim"]) -> Float32[np.ndarray, " rows"]:
        scores = np.empty(len(self.vectors), np.float32)
        for rows, block in blocks(self.vectors, _BLOCK):
            # not matmul, whose threads would compete with the model's
            np.einsum("rd,d->r", block, query, out=scores[rows])
        return scores


def extra(library: str, what: str) -> ModuleType:
    """Import ``library``, one of requirements-vectors.txt.

    Raises:
        UserError: it is not installed.
    """
    try:
        return import_module(library)
    except ImportError as error:
        raise UserError(
            f"{what} needs {library.partition('.')[0]}: "
            ".venv/bin/python -m pip install --no-deps -r locks/requirements-vectors.txt"
        ) from error
