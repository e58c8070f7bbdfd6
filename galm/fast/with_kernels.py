"""The steps of :mod:`galm.fast.query_scorer` by the C kernels; :mod:`galm.fast.in_numpy` has their plain forms."""

import numpy as np

from data_prep.array_types import Float32, Int32
from data_prep.store.ragged_lists import edges
from galm.fast.in_numpy import products
from galm.fast.kernels import call, cosine_input, graph_input, one_thread_kernels, reading_input


def cosines(
    nodes: Float32[np.ndarray, "words dim"],
    norms: Float32[np.ndarray, "words blocks"],
    vectors: Float32[np.ndarray, "vectors dim"],
    offsets: Int32[np.ndarray, " edges"],
    places: Int32[np.ndarray, " contextwords"],
) -> Float32[np.ndarray, "contexts words blocks"]:
    """V of every word, whose blocks have these squared ``norms``, in every context, eqs. 7 to 9."""
    logits = products(nodes, vectors)
    offsets, places = np.ascontiguousarray(offsets), np.ascontiguousarray(places)
    out = np.empty((len(offsets) - 1, *norms.shape), np.float32)
    call(
        one_thread_kernels(), "cosines_forward",
        cosine_input(logits, nodes, vectors, norms, offsets, places, threads=1), out,
    )  # fmt: skip
    return out


def convolved(
    below: Float32[np.ndarray, "contexts rows width"],
    bias: Float32[np.ndarray, " width"],
    offsets: Int32[np.ndarray, " edges"],
    *,
    edge_weights: Float32[np.ndarray, " cells"] | None = None,
    states: Float32[np.ndarray, "contexts nodes width"] | None = None,
    places: Int32[np.ndarray, " nodes"] | None = None,
) -> Float32[np.ndarray, "contexts nodes width"]:
    """A layer, eq. 12: the edges are given, or those of eq. 11 between ``states``."""
    below, lengths = np.ascontiguousarray(below), np.diff(offsets)
    cells = edges(np.square(lengths).astype(np.int64)).astype(np.int32)
    bias = np.ascontiguousarray(bias)
    out = np.empty((len(below), int(offsets[-1]), below.shape[2]), np.float32)
    given = graph_input(
        states, below, edge_weights, bias, places, offsets, cells, longest=int(lengths.max()), threads=1
    )
    call(one_thread_kernels(), "convolution_forward", given, out)
    return out


def readings(
    inner: Float32[np.ndarray, "contexts nodes width"], weights: Float32[np.ndarray, " width"]
) -> Float32[np.ndarray, "contexts nodes"]:
    """The sum w · tanh(x) of each node, eq. 13 before its mean."""
    inner, weights = np.ascontiguousarray(inner), np.ascontiguousarray(weights)
    out = np.empty(inner.shape[:2], np.float32)
    call(one_thread_kernels(), "readings_forward", reading_input(inner, weights, threads=1), out)
    return out
