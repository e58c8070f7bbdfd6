"""Nearest-neighbour search over the vectors of an index, by inner product.

:class:`VectorIndex` has three implementations: :class:`ExactVectors` here, which scans every row, and the optional
FAISS and Milvus (``approximate.py``). They differ in how they find candidates; all of them rescore the
candidates with the same sums over the same stored vectors, so they return the same scores, and rows with equal vectors
tie wherever they are.
"""

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.store.arrays import Float, Float32, Int64
from modeling.c_library import CompiledMeanwhile, load_c

LONGEST: Final = 1.01
"""Vectors have length 1, or 0 if nothing could be encoded; rounding to float16 may increase the length."""
_LARGEST: Final = 127
_ROUNDED_AT_ONCE: Final = 1024
"""Rows converted at a time, few enough for the processor's cache."""
HELD: Final = 1 << 29
"""Bytes of rounded vectors that :class:`ExactVectors` holds in memory."""
SLACK: Final = 1e-4
"""Tolerance for float32 sums in a different order: candidates may score this much below the last wanted row."""
WORTH_IT: Final = 250_000
"""Minimum number of rows for clusters: below, scanning every row takes less time than the model that reranks."""
_GROUPS: Final = 8
"""Groups of rows for each wanted row: the more, the fewer rows are scored anew."""
_BLOCK: Final = 16_384
"""Rows converted at a time."""
_FEW: Final = 1 << 24
"""Numbers of vectors that may be held as float32."""
_SIGN, _MAGNITUDE, _SIGN_MOVES, _MOVES = (np.uint32(each) for each in (0x8000, 0x7FFF, 16, 13))
"""Of the bits of a float16 number: its sign and the rest, and by how much each moves to that of a float32 one."""
_TIMES: Final = np.float32(2.0**112)


def can_round() -> bool:
    """Whether the inner loop, which is in C, can be used."""
    return search_loops() is not None


class RoundedVectors:
    """Rows rounded to 8 bits per number, and what they say of the exact inner products: a fast first scan.

    A row v is kept as s q with whole numbers q of at most 127 and the length e of v - s q, and a query x is rounded to
    t p likewise, with numbers of up to 16 bits. Since v x - s t q p = (v - s q) x + s q (x - t p), the error of the
    product s t q p is at most e |x| + (|v| + e) |x - t p| (Cauchy-Schwarz). The product q p of whole numbers is exact.
    """

    def __init__(self, vectors: Float[np.ndarray, "rows dim"]) -> None:
        """Round ``vectors``, which are finite and at most :data:`LONGEST` long."""
        self._numbers = np.empty(vectors.shape, np.int8)
        self._scales, self._errors = (np.empty(len(vectors), np.float32) for _ in range(2))
        for rows, block in blocks(vectors, _ROUNDED_AT_ONCE):
            scales = np.abs(block).max(axis=1, initial=0) / np.float32(_LARGEST)
            scales[scales == 0] = 1
            rounded = np.rint(block / scales[:, None])
            self._numbers[rows], self._scales[rows] = rounded, scales
            rounded *= scales[:, None]
            rounded -= block
            self._errors[rows] = np.sqrt(np.einsum("rd,rd->r", rounded, rounded))

    def products(
        self, query: Float32[np.ndarray, " dim"]
    ) -> tuple[Float32[np.ndarray, " rows"], Float32[np.ndarray, " rows"]]:
        """The inner product of each row with ``query``, and how far from it the exact one may be."""
        library = search_loops()
        assert library is not None
        rows, dim = len(self._numbers), len(query)
        widest = min((1 << 15) - 1, ((1 << 31) - 1) // (_LARGEST * max(1, dim)))
        scale = np.float32(np.abs(query).max(initial=0) / widest) or np.float32(1)
        rounded = np.rint(query / scale).astype(np.int16)
        sums = np.empty(rows, np.int32)
        library.inner_products(*given(self._numbers, rounded, sums), ctypes.c_int64(rows), ctypes.c_int64(dim))
        lost = np.float32(np.linalg.norm(query - rounded * scale))
        errors = self._errors * np.float32(np.linalg.norm(query) + lost) + np.float32(LONGEST) * lost
        return np.multiply(sums, self._scales * scale, dtype=np.float32), errors


def _reached_by(values: Float32[np.ndarray, " rows"], count: int) -> np.float32:
    """A value that at least ``count`` of ``values`` reach, which hardly more do if there are many.

    The best of each of some groups of rows are fewer to sort; neighbours, which are alike, are in different groups.
    """
    groups = _GROUPS * count
    if len(values) >= 2 * groups:
        values = values[: len(values) // groups * groups].reshape(-1, groups).max(axis=0)
    return np.float32(np.partition(values, len(values) - count)[len(values) - count])


def blocks(
    vectors: Float[np.ndarray, "rows dim"], size: int
) -> Iterator[tuple[slice, Float32[np.ndarray, "some dim"]]]:
    """The rows as float32, ``size`` at a time, with their places."""
    for start in range(0, len(vectors), size):
        rows = slice(start, min(start + size, len(vectors)))
        yield rows, single(vectors[rows])


def single(vectors: Float[np.ndarray, "some dim"]) -> Float32[np.ndarray, "some dim"]:
    """Finite float16 numbers as float32, by their bits, in a third of the time that numpy takes; others by numpy.

    The bits of exponent and fraction, moved to their places, are the number divided by 2¹¹².
    """
    if vectors.dtype != np.float16:
        return vectors.astype(np.float32, copy=False)
    bits = vectors.view(np.uint16).astype(np.uint32)
    signs = (bits & _SIGN) << _SIGN_MOVES
    bits &= _MAGNITUDE
    bits <<= _MOVES
    bits.view(np.float32)[:] *= _TIMES
    bits |= signs
    return bits.view(np.float32)


ROUNDED: Final = Path(__file__).with_name("rounded.c")
search_loops: Final = CompiledMeanwhile(lambda: load_c(ROUNDED, wait=False))
"""The scan of rounded rows, and other loops of a question; until they are compiled numpy does all, in more time."""


def given(*arrays: np.ndarray) -> Iterator[ctypes.c_void_p]:
    """The addresses of contiguous arrays."""
    return (ctypes.c_void_p(each.__array_interface__["data"][0]) for each in arrays)  # half the time of .ctypes


class VectorIndex(ABC):
    """Nearest-neighbour search over row vectors; subclasses only have to find the candidates of a query."""

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
        """Release all resources; the index cannot be used afterwards."""
        self.vectors = self.vectors[:0]

    def search(
        self, queries: Float32[np.ndarray, "queries dim"], count: int
    ) -> tuple[Float32[np.ndarray, "queries found"], Int64[np.ndarray, "queries found"]]:
        """The scores and row numbers of the ``count`` best rows of each query (all, if there are fewer), best first.

        A score is the inner product with the row's vector; of rows with equal scores the lower row number is first.

        Raises:
            UserError: the queries have another dimension or are not finite, or ``count`` is below 1.
        """
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
        parts = [self.scores(query, rows[start : start + _BLOCK]) for start in range(0, len(rows), _BLOCK)]
        scores = np.concatenate(parts) if len(parts) > 1 else parts[0]
        order = np.argsort(-scores, kind="stable")[:count]
        return scores[order], rows[order]

    def scores(
        self, query: Float32[np.ndarray, " dim"], rows: Int64[np.ndarray, " some"]
    ) -> Float32[np.ndarray, " some"]:
        """Inner products, summed in the same order for every row, unlike in a matrix product."""
        library, count, dim = search_loops(), *self.vectors.shape
        halves = self.vectors.dtype == np.float16 and self.vectors.flags.c_contiguous and query.dtype == np.float32
        if not (library and halves and len(rows) and rows.min() >= 0 and rows.max() < count):
            return np.asarray((single(self.vectors[rows]) * query).sum(axis=1))
        places, found = np.ascontiguousarray(rows, np.int64), np.empty(len(rows), np.float32)
        arrays = given(self.vectors, places, np.ascontiguousarray(query), found)
        library.half_products(*arrays, ctypes.c_int64(len(rows)), ctypes.c_int64(dim))
        return found


class ExactVectors(VectorIndex):
    """Exact search that scans every row; from the second query on rounded to 8 bits, with the same results.

    Rounding takes as long as several scans, which a single question does not need.
    """

    def __init__(self, vectors: Float[np.ndarray, "rows dim"], *, held: int = HELD) -> None:
        """``held``: maximum size in bytes of rounded vectors to hold in memory.

        Raises:
            UserError: the vectors are not finite, or longer than 1.
        """
        super().__init__(vectors)
        self._may_round = vectors.size <= held
        self._asked = False

    def candidates(self, query: Float32[np.ndarray, " dim"], count: int) -> Int64[np.ndarray, " some"]:
        """All rows whose score may be at least that of the last wanted row."""
        if self._may_round and self._asked and can_round():
            scores, errors = self._rounded.products(query)
            least, most = scores - errors, np.add(scores, errors, out=scores)
        else:
            least = most = self._scanned(query, self._single if self._asked else self.vectors)
        self._asked = True
        return np.flatnonzero(most >= _reached_by(least, count) - SLACK)

    def close(self) -> None:
        """Release the vectors, rounded ones too."""
        super().close()
        for name in ("_rounded", "_single"):
            self.__dict__.pop(name, None)
        self._may_round = False

    @cached_property
    def _rounded(self) -> RoundedVectors:
        self.__dict__.pop("_single", None)
        return RoundedVectors(self.vectors)

    @cached_property
    def _single(self) -> Float[np.ndarray, "rows dim"]:
        """Few vectors as float32, for questions that are asked before the rounded ones can be used."""
        return single(self.vectors) if self._may_round and self.vectors.size <= _FEW else self.vectors

    @staticmethod
    def _scanned(
        query: Float32[np.ndarray, " dim"], vectors: Float[np.ndarray, "rows dim"]
    ) -> Float32[np.ndarray, " rows"]:
        scores = np.empty(len(vectors), np.float32)
        for rows, block in blocks(vectors, _BLOCK):
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
        raise UserError(f"{what} needs {library.partition('.')[0]}: bash run.sh install vectors") from error


def vector_index(vectors: Float[np.ndarray, "rows dim"], name: str, path: Path, how: str) -> VectorIndex:
    """A searchable index of ``vectors``; FAISS's clusters are cached beside the file that holds them.

    Args:
        vectors: of length 1 or less, possibly memory-mapped.
        name: of the vectors: others have another one.
        path: the file that holds them.
        how: ``exact``, ``faiss``, or the file or URI of a Milvus; "": exact, or FAISS for large indexes if installed.

    Raises:
        UserError: ``how`` is something else, or its extra is not installed.
    """
    if how == "exact" or (how == "" and len(vectors) < WORTH_IT):
        return ExactVectors(vectors)
    from search.retrieval.approximate import MilvusVectors, clusters_path, installed, is_milvus, kept_faiss

    if how == "faiss" or (how == "" and installed()):
        return kept_faiss(vectors, name, clusters_path(path))
    if how == "":
        return ExactVectors(vectors)
    if is_milvus(how):
        return MilvusVectors(vectors, how)
    raise UserError(
        f"--nearest takes exact, faiss, none, a file NAME.db or a URI http://, https:// or tcp://, not {how!r}"
    )
