"""Vectors rounded to 8 bits per number, and what they say of the exact inner products: a fast first scan.

A row v is kept as s q with whole numbers q of at most 127 and the length e of v - s q, and a query x is rounded to
t p likewise, with numbers of up to 16 bits. Since v x - s t q p = (v - s q) x + s q (x - t p), the error of the
product s t q p is at most e |x| + (|v| + e) |x - t p| (Cauchy-Schwarz). The product q p of whole numbers is exact.
"""

import ctypes
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.array_types import Float, Float32
from modeling.c_library import load_c

LONGEST: Final = 1.01
"""Vectors have length 1, or 0 if nothing could be encoded; rounding to float16 may increase the length."""
_LARGEST: Final = 127
_BLOCK: Final = 1024
"""Rows converted at a time, few enough for the processor's cache."""


@functools.cache
def can_round() -> bool:
    """Whether the inner loop, which is in C, can be used."""
    return _library() is not None


class RoundedVectors:
    """Rows in 8 bits."""

    def __init__(self, vectors: Float[np.ndarray, "rows dim"]) -> None:
        """Round ``vectors``, which are finite and at most :data:`LONGEST` long."""
        self._numbers = np.empty(vectors.shape, np.int8)
        self._scales, self._errors = (np.empty(len(vectors), np.float32) for _ in range(2))
        for rows, block in blocks(vectors, _BLOCK):
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
        library = _library()
        assert library is not None
        rows, dim = len(self._numbers), len(query)
        widest = min(np.iinfo(np.int16).max, np.iinfo(np.int32).max // (_LARGEST * max(1, dim)))
        scale = np.float32(np.abs(query).max(initial=0) / widest) or np.float32(1)
        rounded = np.rint(query / scale).astype(np.int16)
        sums = np.empty(rows, np.int32)
        arrays = (ctypes.c_void_p(each.ctypes.data) for each in (self._numbers, rounded, sums))
        library.inner_products(*arrays, ctypes.c_int64(rows), ctypes.c_int64(dim))
        lost = np.float32(np.linalg.norm(query - rounded * scale))
        errors = self._errors * np.float32(np.linalg.norm(query) + lost) + np.float32(LONGEST) * lost
        return sums.astype(np.float32) * (self._scales * scale), errors


def blocks(
    vectors: Float[np.ndarray, "rows dim"], size: int
) -> Iterator[tuple[slice, Float32[np.ndarray, "some dim"]]]:
    """The rows as float32, ``size`` at a time, with their places."""
    for start in range(0, len(vectors), size):
        rows = slice(start, min(start + size, len(vectors)))
        yield rows, vectors[rows].astype(np.float32, copy=False)


@functools.cache
def _library() -> ctypes.CDLL | None:
    return load_c(Path(__file__).with_name("rounded.c"), "nearest vectors are found with numpy, several times slower")
