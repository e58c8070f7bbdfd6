"""What the kernels compute for one query, by numpy: for a machine without a C compiler, and while they are compiled.

Plain forms, equal to the kernels within rounding; a question takes a few times as long. Arrays are those of
:mod:`galm.fast.query_scorer`, with the blocks' k-th entries adjacent.
"""

from typing import Final

import numpy as np

from data_prep.array_types import Float32, Int32

_CLAMP: Final = np.float32(1e-16)
"""The least product of two squared norms, as in the kernels."""


def cosines(
    nodes: Float32[np.ndarray, "words dim"],
    norms: Float32[np.ndarray, "words blocks"],
    vectors: Float32[np.ndarray, "vectors dim"],
    offsets: Int32[np.ndarray, " edges"],
    places: Int32[np.ndarray, " contextwords"],
) -> Float32[np.ndarray, "contexts words blocks"]:
    """V of every word, whose blocks have these squared ``norms``, in every context, eqs. 7 to 9; 0 in an empty one."""
    logits, by_block = products(nodes, vectors), nodes.reshape(len(nodes), -1, norms.shape[1])
    found = np.zeros((len(offsets) - 1, *norms.shape), np.float32)
    for number, (start, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        own = places[start:end]
        if len(own):
            aligned = (softmax(logits[:, own]) @ vectors[own]).reshape(by_block.shape)  # [words, dim / blocks, blocks]
            both = np.square(aligned).sum(1) * norms
            found[number] = (aligned * by_block).sum(1) / np.sqrt(np.maximum(both, _CLAMP))
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
    cell = 0
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        size, own = end - start, slice(start, end)
        if edge_weights is not None:
            edges = edge_weights[cell : cell + size * size].reshape(size, size)
        else:
            assert states is not None
            edges = softmax(states[:, own] @ states[:, own].transpose(0, 2, 1))  # [contexts, size, size]
        cell += size * size
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
