"""The C kernels: compiled once for this CPU, loaded, and called with tensors.

Without a C compiler, GALM uses its PyTorch implementation: the same results, several times slower.
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
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

SOURCE: Final = Path(__file__).with_name("kernels.c")
FLAGS: Final = ("-O3", "-march=native", "-std=gnu11", "-fPIC", "-Wno-psabi")
LANES: Final = 16
"""Floats that the kernels process at a time; widths are multiples of it."""

_log = logging.getLogger(__name__)


class CosineInput(ctypes.Structure):
    """``cosine_input`` of the kernels."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("logits", "nodes", "context", "node_norms", "offsets")] + [
        (name, ctypes.c_int32) for name in ("contexts", "words", "dim", "blocks", "longest", "threads")
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


def call(name: str, *arguments: ctypes.Structure | Tensor) -> None:
    """Run a kernel on structures and tensors, which are passed by address."""
    library = kernels()
    assert library is not None
    addresses = [each.data_ptr() if isinstance(each, Tensor) else ctypes.addressof(each) for each in arguments]
    library[name](*map(ctypes.c_void_p, addresses))


def address(tensor: Tensor | None) -> int | None:
    """The address of a contiguous tensor of 32-bit numbers."""
    assert tensor is None or (tensor.is_contiguous() and tensor.dtype in (torch.float32, torch.int32))
    return None if tensor is None else tensor.data_ptr()


def fits(tensor: Tensor, *widths: int) -> bool:
    """Whether the kernels support such a tensor, with rows of these widths."""
    fitting = tensor.dtype == torch.float32 and tensor.device.type == "cpu"
    return fitting and all(width % LANES == 0 for width in widths) and kernels() is not None


@functools.cache
def kernels() -> ctypes.CDLL | None:
    """The compiled kernels; None without a C compiler, or if GALM_NATIVE=0 is set."""
    if os.environ.get("GALM_NATIVE") == "0":
        return None
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC", ""), "cc", "gcc", "clang"))), None)
    if compiler is None:
        _log.warning("there is no C compiler (cc): GALM runs in plain PyTorch, which is several times slower")
        return None
    try:
        return ctypes.CDLL(str(_compiled(compiler)))
    except (OSError, subprocess.CalledProcessError) as error:
        _log.warning("the C kernels cannot be used, so GALM runs in plain PyTorch, which is slower: %s", error)
        return None


def _compiled(compiler: str) -> Path:
    key = hashlib.sha256(SOURCE.read_bytes() + repr((compiler, FLAGS, torch.__version__)).encode() + _processor())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "galm"
    library = cache / f"kernels-{key.hexdigest()[:16]}.so"
    if not library.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            # Compiled for OpenMP, linked without it: when loaded, the calls resolve to torch's OpenMP library.
            for step in (["-fopenmp", "-c", str(SOURCE), "-o", "kernels.o"], ["-shared", "kernels.o", "-o", "made.so"]):
                subprocess.run([compiler, *FLAGS, *step], cwd=folder, check=True, capture_output=True)
            Path(folder, "made.so").replace(library)
    return library


def _processor() -> bytes:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor().encode()
    return "".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})).encode()
