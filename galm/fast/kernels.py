"""The C kernels of GALM, on numpy's arrays or torch's tensors, the configurations that they compute, and plain forms.

They are a faster form of the equations in :mod:`galm.alignment_graph`, which are changed first.
:mod:`galm.fast.all_pairs` uses the kernels for all scores of a batch, :mod:`galm.fast.query_scorer` for one query
without torch. Light to import: no torch.

What they compute for one query is also here by numpy: for a machine without a C compiler, and while they are compiled.
These forms are equal to the kernels within rounding; a question takes a few times as long. Their arrays are those of
:mod:`galm.fast.query_scorer`, with the blocks' k-th entries adjacent.
"""

import ctypes
import functools
import hashlib
import logging
import struct
from collections.abc import Container, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.installation import processors
from data_prep.store.arrays import Float32, Int32
from galm.config import GalmConfig
from modeling.c_library import CompiledMeanwhile, load_c

SOURCE: Final = Path(__file__).with_name("kernels.c")
LANES: Final = 16
"""Floats that the kernels process at a time; widths are multiples of it."""

_log = logging.getLogger(__name__)


class _Any:
    """Contains every value."""

    def __contains__(self, value: object) -> bool:
        return True


ANY: Final = _Any()
WIDTHS: Final = range(LANES, 1 << 30, LANES)

KERNEL_FORM: Final[Mapping[str, Container[object]]] = {
    "fields": ANY, "dim": WIDTHS, "num_blocks": ANY, "layers": ANY,
    "graph": ("alignment", "query", "uniform", "identity"), "gcn_dim": WIDTHS,
    "attention": ("raw", "scaled", "cosine"), "attention_temperature": ANY, "affinity": ("word", "pooled"),
    "edges": ("raw", "scaled", "cosine"), "edge_temperature": ANY, "self_loops": (True, False),
    "activation": ("relu", "none"), "skip": (True, False), "nodes": ("query", "code", "both", "query_and_name"),
    "layer_input": ("previous",), "share_layers": (True, False), "weight_norm": (True, False),
    "normalise": (True, False), "tied": (True, False), "code_tables": ("one", "per_field", "offsets"),
    "init": ("uniform", "shared", "statistics"), "init_range": ANY, "dropout": ANY, "word_dropout": ANY,
    "head": ("perceptron", "mean"), "readout": ("mean", "weighted"), "starts_as_cosines": (True, False),
}  # fmt: skip
"""Option -> the values for which :mod:`galm.fast.all_pairs` gives the scores and gradients of the plain equations.

A value that is not listed, and an option that is not, is computed by the plain equations. The test of this list walks
every value of every choice.
"""


def not_computed(config: GalmConfig, form: Mapping[str, Container[object]]) -> str:
    """The first option that ``form`` does not list with its value, as typed; "" if it computes the configuration."""
    for field in fields(config):
        value = getattr(config, field.name)
        if value not in form.get(field.name, ()):
            return f"--model.{field.name}={str(value).lower() if isinstance(value, bool) else value}"
    read_alone = config.layers == 0 and config.num_blocks not in WIDTHS  # without a layer the head reads the cosines
    return f"--model.layers=0 with --model.num_blocks={config.num_blocks}" if read_alone else ""


@functools.cache
def say_once(line: str) -> None:
    """Log one line, once in a process."""
    _log.warning(line)


def kernels_for(
    made_for: str, options: Sequence[str] = (), *, wait: bool = True, calls: str = ""
) -> ctypes.CDLL | None:
    """The compiled kernels; None without a C compiler, or if GALM_NATIVE=0 is set. As :func:`load_c` takes them."""
    headers = b"".join(each.read_bytes() for each in sorted(SOURCE.parent.glob("*.h")))
    made_for = f"{made_for}, {hashlib.sha256(headers).hexdigest()}"
    without = "GALM runs in plain PyTorch, which takes twice as long" if wait else ""
    return load_c(SOURCE, without, made_for, tuple(options), wait=wait, calls=calls)


one_thread_kernels: Final = CompiledMeanwhile(lambda: kernels_for("one thread", wait=False))
"""The kernels for one thread, which need no OpenMP library; None if there are none, or not yet."""


def call(library: ctypes.CDLL | None, name: str, *arguments: Any) -> int | None:
    """Run a kernel on packed structures and addresses, and on arrays, which are passed by address.

    Returns:
        The address that the kernel returns, if it does.
    """
    assert library is not None
    kernel = getattr(library, name)  # which is kept, unlike library[name]
    kernel.restype = ctypes.c_void_p
    address: int | None = kernel(
        *(each if isinstance(each, bytes) else ctypes.c_void_p(_address(each)) for each in arguments)
    )
    return address


def addresses(*arrays: Any) -> bytes:
    """A structure of pointers, null for None."""
    return struct.pack(f"{len(arrays)}P", *map(_address, arrays))


def cosine_input(logits: Any, nodes: Any, context: Any, norms: Any, offsets: Any, *, threads: int) -> bytes:
    """``cosine_input`` of the kernels, without places."""
    longest = int((offsets[1:] - offsets[:-1]).max())
    sizes = (len(offsets) - 1, *nodes.shape, norms.shape[-1], longest, threads, len(context))
    return addresses(logits, nodes, context, norms, offsets, None) + struct.pack("7i", *sizes)


def graph_input(
    states: Any, below: Any, edges: Any, bias: Any, places: Any, offsets: Any, cells: Any,
    *, longest: int, threads: int, self_loops: bool = True, scale: float = 1.0,
) -> bytes:  # fmt: skip
    """``graph_input`` of the kernels."""
    contexts, rows, width = below.shape
    sizes = (contexts, len(offsets) - 1, rows, width, longest, threads, self_loops)
    return addresses(states, below, edges, bias, places, offsets, cells) + struct.pack("7if", *sizes, scale)


def reading_input(inner: Any, weights: Any, *, threads: int) -> bytes:
    """``reading_input`` of the kernels."""
    width = len(weights)
    rows = int(np.prod(inner.shape)) // width
    return addresses(inner, weights) + struct.pack("3i", rows, width, threads)


def word_lists(
    vectors: Any, norms: Any, places: Any, offsets: Any, edges: Any = None, cells: Any = None, shares: Any = None
) -> bytes:
    """``word_lists`` of the kernels."""
    arrays = addresses(vectors, norms, places, offsets, edges, cells, shares)
    return arrays + struct.pack("2i", len(vectors), len(offsets) - 1)


def query_input(
    query: bytes, codes: bytes, query_weights: Any, code_weights: Any,
    *, dim: int, blocks: int, width: int, layers: int, count: int,
) -> bytes:  # fmt: skip
    """``query_input`` of the kernels; ``query`` and ``codes``: one and two :func:`word_lists`."""
    weights = addresses(query_weights, code_weights)
    return query + codes + weights + struct.pack("6i", dim, blocks, width, layers, count, _is_helped())


@functools.cache
def _is_helped() -> bool:
    """Whether there is a processor for another thread."""
    return processors() > 1


def _address(array: Any) -> int:
    """The address of a contiguous numpy array or torch tensor of 32-bit numbers, or 64-bit places; 0 of None."""
    if array is None or isinstance(array, int):
        return array or 0
    assert array.itemsize == 4 or array.dtype == np.int64
    if isinstance(array, np.ndarray):
        assert array.flags.c_contiguous
        return int(array.__array_interface__["data"][0])  # half the time of .ctypes.data
    assert array.is_contiguous()
    return int(array.data_ptr())


_CLAMP: Final = np.float32(1e-16)
"""The least product of two squared norms, as in the kernels."""
_TOGETHER: Final = 32
"""Contexts that are computed together, few enough for the processor's cache."""


def cosines(
    nodes: Float32[np.ndarray, "words dim"],
    norms: Float32[np.ndarray, "words blocks"],
    vectors: Float32[np.ndarray, "vectors dim"],
    offsets: Int32[np.ndarray, " edges"],
    places: Int32[np.ndarray, " contextwords"],
) -> Float32[np.ndarray, "contexts words blocks"]:
    """V of every word, whose blocks have these squared ``norms``, in every context, eqs. 7 to 9; 0 in an empty one."""
    logits, by_block = products(nodes, vectors), nodes.reshape(len(nodes), -1, norms.shape[1])
    lengths, found = np.diff(offsets), np.zeros((len(offsets) - 1, *norms.shape), np.float32)
    order = np.argsort(lengths, kind="stable")[np.count_nonzero(lengths == 0) :]
    for first in range(0, len(order), _TOGETHER):  # contexts that are about as long
        own = order[first : first + _TOGETHER]
        number = np.arange(lengths[own[-1]])
        there = number < lengths[own][:, None]  # [contexts, longest]
        words = places[np.where(there, offsets[own][:, None] + number, 0)]
        shares = softmax(np.where(there, logits.take(words, 1), -np.inf)).swapaxes(0, 1)
        aligned = (shares @ vectors.take(words, 0)).reshape(
            len(own), *by_block.shape
        )  # [contexts, words, dim / blocks, blocks]
        both = np.square(aligned).sum(2) * norms
        found[own] = (aligned * by_block).sum(2) / np.sqrt(np.maximum(both, _CLAMP))
    return found


def products(
    left: Float32[np.ndarray, "lefts dim"], right: Float32[np.ndarray, "rights dim"]
) -> Float32[np.ndarray, "lefts rights"]:
    """The inner product of each pair of rows; BLAS takes half the time if the longer matrix is first."""
    return left @ right.T if len(left) >= len(right) else np.ascontiguousarray((right @ left.T).T)


def convolved(
    below: Float32[np.ndarray, "contexts rows width"],
    bias: Float32[np.ndarray, " width"],
    offsets: Int32[np.ndarray, " edges"],
    *,
    edge_weights: Float32[np.ndarray, " cells"] | None = None,
    states: Float32[np.ndarray, "contexts nodes width"] | None = None,
    places: Int32[np.ndarray, " nodes"] | None = None,
) -> Float32[np.ndarray, "contexts nodes width"]:
    """A layer, eq. 12: the edges are given, graph by graph and row by row, or those of eq. 11 between ``states``."""
    found = np.empty((len(below), int(offsets[-1]), below.shape[2]), np.float32)
    lengths = np.diff(offsets)
    cells = np.cumsum(np.square(lengths)) - np.square(lengths)
    for size in (np.flatnonzero(np.bincount(lengths)[1:]) + 1).tolist():  # graphs of one size together
        graphs = np.flatnonzero(lengths == size)
        own = offsets[graphs][:, None] + np.arange(size)  # [graphs, size]
        if edge_weights is not None:
            edges = edge_weights[cells[graphs][:, None] + np.arange(size * size)].reshape(-1, size, size)
        else:
            assert states is not None
            nodes = states[:, own]
            edges = softmax(nodes @ nodes.swapaxes(-1, -2))  # [contexts, graphs, size, size]
        rows = below[:, own if places is None else places[own]]
        found[:, own] = np.maximum(edges @ rows + bias, 0)
    return found


def readings(
    inner: Float32[np.ndarray, "contexts nodes width"], weights: Float32[np.ndarray, " width"]
) -> Float32[np.ndarray, "contexts nodes"]:
    """The sum w · tanh(x) of each node, eq. 13 before its mean."""
    return np.asarray(np.tanh(inner) @ weights, np.float32)


def softmax(logits: Float32[np.ndarray, "*rows columns"]) -> Float32[np.ndarray, "*rows columns"]:
    """The shares of each row."""
    if not logits.shape[-1]:
        return logits
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True), np.float32)


def product(
    rows: Float32[np.ndarray, "contexts nodes width"], weights: Float32[np.ndarray, "to width"]
) -> Float32[np.ndarray, "contexts nodes to"]:
    """``rows`` by ``weights``, as one product: for each context apart numpy takes three times as long.

    The sums are the same but for a single node, which numpy multiplies as a vector.
    """
    if rows.shape[1] == 1:
        return np.asarray(rows @ weights.T)
    return np.asarray(rows.reshape(-1, rows.shape[-1]) @ weights.T).reshape(*rows.shape[:-1], len(weights))


def shares_in_lists(
    logits: Float32[np.ndarray, " words"], offsets: Int32[np.ndarray, " edges"]
) -> Float32[np.ndarray, " words"]:
    """The softmax of ``logits`` within each list."""
    if not len(logits) or len(offsets) == 2:  # one list, as of a query
        return softmax(logits)
    lengths = np.diff(offsets)
    starts, counts = offsets[:-1][lengths > 0], lengths[lengths > 0]
    shares = np.exp(logits - np.repeat(np.maximum.reduceat(logits, starts), counts))
    return np.asarray(shares / np.repeat(np.add.reduceat(shares, starts), counts), np.float32)


def pooled(
    values: Float32[np.ndarray, "contexts nodes"],
    shares: Float32[np.ndarray, " nodes"],
    offsets: Int32[np.ndarray, " edges"],
) -> Float32[np.ndarray, "contexts graphs"]:
    """The mean over each graph's nodes, weighted by their ``shares``; 0 without nodes."""
    lengths, found = np.diff(offsets), np.zeros((len(values), len(offsets) - 1), np.float32)
    found[:, lengths > 0] = np.add.reduceat(values * shares, offsets[:-1][lengths > 0], axis=1)
    return found
