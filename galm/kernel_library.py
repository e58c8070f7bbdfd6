"""The C kernels without torch, and the structures of their arguments.

:mod:`galm.native` calls them with tensors, on several threads; :mod:`galm.query_scorer` with arrays, on one.
"""

import ctypes
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from modeling.c_library import load_c

SOURCE: Final = Path(__file__).with_name("kernels.c")
LANES: Final = 16
"""Floats that the kernels process at a time; widths are multiples of it."""


class CosineInput(ctypes.Structure):
    """``cosine_input`` of the kernels."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("logits", "nodes", "context", "node_norms", "offsets", "places")),
        *((name, ctypes.c_int32) for name in ("contexts", "words", "dim", "blocks", "longest", "threads", "vectors")),
    ]


class CosineOutput(ctypes.Structure):
    """``cosine_output`` of the kernels."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("logits", "nodes", "own", "context")]


class GraphInput(ctypes.Structure):
    """``graph_input`` of the kernels."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("states", "below", "edges", "bias", "places", "offsets", "cells")),
        *(
            (name, ctypes.c_int32)
            for name in ("contexts", "graphs", "rows", "width", "longest", "threads", "self_loops")
        ),
        ("scale", ctypes.c_float),
    ]


class GraphOutput(ctypes.Structure):
    """``graph_output`` of the kernels."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("states", "below", "edges", "bias")]


class ReadingInput(ctypes.Structure):
    """``reading_input`` of the kernels."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("inner", "weights")),
        *((name, ctypes.c_int32) for name in ("nodes", "width", "threads")),
    ]


def kernels_for(made_for: str, options: Sequence[str] = ()) -> ctypes.CDLL | None:
    """The compiled kernels; None without a C compiler, or if GALM_NATIVE=0 is set. As :func:`load_c` takes them."""
    return load_c(SOURCE, "GALM runs in plain PyTorch, which is several times slower", made_for, options)


@functools.cache
def one_thread_kernels() -> ctypes.CDLL | None:
    """The kernels for one thread, which need no OpenMP library; None if there are none."""
    return kernels_for("one thread")


def call_with_arrays(name: str, *arguments: ctypes.Structure | np.ndarray) -> None:
    """Run a kernel on one thread, on structures and contiguous arrays, which are passed by address."""
    library = one_thread_kernels()
    assert library is not None
    addresses = [each.ctypes.data if isinstance(each, np.ndarray) else ctypes.addressof(each) for each in arguments]
    library[name](*map(ctypes.c_void_p, addresses))


def array_address(array: np.ndarray | None) -> int | None:
    """The address of a contiguous array of 32-bit numbers."""
    assert array is None or (array.flags.c_contiguous and array.dtype in (np.float32, np.int32))
    return None if array is None else array.ctypes.data
