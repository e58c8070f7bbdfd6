"""What the kernels compute for one query, by numpy: for a machine without a C compiler, and while they are compiled.

Plain forms, equal to the kernels within rounding; a question takes a few times as long. Arrays are those of
:mod:`galm.fast.query_scorer`, with the blocks' k-th entries adjacent.
"""

from typing import Final

import numpy as np

from data_prep.array_types import Float32, Int32

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
    if not len(logits):
        return logits
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
