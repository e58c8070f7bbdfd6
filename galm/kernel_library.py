"""The C kernels without torch: their compilation, once for this CPU, and the structures of their arguments.

:mod:`galm.native` calls them with tensors, on several threads; :mod:`galm.query_scorer` with arrays, on one.
"""

import ctypes
import functools
import hashlib
import logging
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

SOURCE: Final = Path(__file__).with_name("kernels.c")
FLAGS: Final = ("-O3", "-march=native", "-std=gnu11", "-fPIC", "-Wno-psabi", "-Wno-unknown-pragmas")
LANES: Final = 16
"""Floats that the kernels process at a time; widths are multiples of it."""

_log = logging.getLogger(__name__)


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


@functools.cache
def one_thread_kernels() -> ctypes.CDLL | None:
    """The kernels for one thread, which need no OpenMP library; None if :func:`load_kernels` has none."""
    return load_kernels("one thread", (["-c", str(SOURCE), "-o", "kernels.o"],))


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


def load_kernels(made_for: str, steps: Sequence[Sequence[str]]) -> ctypes.CDLL | None:
    """Compile the kernels, unless that was done before, and load them.

    Args:
        made_for: what they are compiled for, besides this CPU and compiler.
        steps: arguments of the compiler that make ``kernels.o``.

    Returns:
        None without a C compiler, or if GALM_NATIVE=0 is set.
    """
    if os.environ.get("GALM_NATIVE") == "0":
        return None
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC", ""), "cc", "gcc", "clang"))), None)
    if compiler is None:
        _log.warning("there is no C compiler (cc): GALM runs in plain PyTorch, which is several times slower")
        return None
    try:
        return ctypes.CDLL(str(_compiled(compiler, made_for, steps)))
    except (OSError, subprocess.CalledProcessError) as error:
        _log.warning("the C kernels cannot be used, so GALM runs in plain PyTorch, which is slower: %s", error)
        return None


def _compiled(compiler: str, made_for: str, steps: Sequence[Sequence[str]]) -> Path:
    key = hashlib.sha256(SOURCE.read_bytes() + repr((compiler, FLAGS, made_for)).encode() + _processor())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "galm"
    library = cache / f"kernels-{key.hexdigest()[:16]}.so"
    if not library.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            for step in (*steps, ["-shared", "kernels.o", "-o", "made.so"]):
                subprocess.run([compiler, *FLAGS, *step], cwd=folder, check=True, capture_output=True)
            Path(folder, "made.so").replace(library)
    return library


def _processor() -> bytes:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor().encode()
    return "".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})).encode()
