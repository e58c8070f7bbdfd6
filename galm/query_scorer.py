"""GALM's scores of one query against many methods without torch: numpy and the C kernels, on one thread.

The same equations as :mod:`galm.ragged`, for the settings of the shipped model (:func:`covers`); equal to it within
float32 rounding. Vectors of words are read from their tables for the words that occur, once each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, Int, Int32, Int64

from data_prep.store.ragged_lists import Ragged, edges
from galm.config import GalmConfig
from galm.kernel_library import (
    LANES,
    CosineInput,
    GraphInput,
    ReadingInput,
    array_address,
    call_with_arrays,
    one_thread_kernels,
)

_SETTINGS: Final[Mapping[str, Any]] = {
    "graph": "alignment", "attention": "raw", "affinity": "word", "edges": "raw", "self_loops": True,
    "activation": "relu", "skip": False, "layer_input": "previous", "share_layers": False, "weight_norm": False,
    "normalise": False, "tied": False, "code_tables": "offsets", "head": "perceptron", "readout": "weighted",
    "nodes": "query_and_name",
}  # fmt: skip


@runtime_checkable
class Table(Protocol):
    """A table of word vectors."""

    def rows(self, ids: Int64[np.ndarray, " words"]) -> Float32[np.ndarray, "words dim"]:
        """The vectors of some words."""


def covers(config: object) -> bool:
    """Whether a model with this configuration can be scored here; it also needs a C compiler, for the kernels."""
    if not isinstance(config, GalmConfig) or any(getattr(config, name) != value for name, value in _SETTINGS.items()):
        return False
    widths = (config.dim, config.num_blocks, config.gcn_dim)
    fields_fit = {*config.code_fields} <= {"name", "tokens", "api"} and "name" in config.code_fields
    return fields_fit and config.layers > 0 and not any(width % LANES for width in widths) and has_kernels()


def has_kernels() -> bool:
    """Whether the kernels can be used."""
    return one_thread_kernels() is not None


def shapes(config: GalmConfig, words: int) -> dict[str, tuple[int, ...]]:
    """Name -> shape of all weights; ``words``: rows of the tables."""
    tables = [*config.code_fields, "query", "shared"]
    found: dict[str, tuple[int, ...]] = {f"words.tables.{table}.weight": (words, config.dim) for table in tables}
    width = config.gcn_dim
    for side in ("query", "code"):
        graph = f"graphs.{side}"
        found[f"importance.{side}.weight"] = (1, config.dim)
        for number in range(config.layers):
            found[f"{graph}.layers.{number}.lin.weight"] = (width, width if number else config.num_blocks)
            found[f"{graph}.layers.{number}.bias"] = (width,)
        found |= {f"{graph}.head_in.weight": (width, width), f"{graph}.head_in.bias": (width,)}
        found |= {f"{graph}.head_out.weight": (1, width), f"{graph}.head_out.bias": (1,)}
    return found


@dataclass(frozen=True, eq=False, slots=True)
class WordLists:
    """Lists of words, one after the other, by the places of their vectors."""

    vectors: Float32[np.ndarray, "distinct dim"]  # blocks interleaved
    places: Int32[np.ndarray, " words"]
    offsets: Int32[np.ndarray, " edges"]  # lists + 1
    is_node: np.ndarray  # of each word, whether it is a node of a graph

    @property
    def states(self) -> Float32[np.ndarray, "words dim"]:
        """The vector of each word."""
        return self.vectors[self.places]

    def nodes(self) -> "WordLists":
        """The lists of only those words that are nodes."""
        counts = np.add.reduceat(np.append(self.is_node, False), self.offsets[:-1], dtype=np.int64)
        counts[np.diff(self.offsets) == 0] = 0
        kept = self.is_node
        return WordLists(self.vectors, self.places[kept], edges(counts).astype(np.int32), kept[kept])


class QueryScorer:
    """A model's weights, and what it computes from them for one query."""

    def __init__(self, config: GalmConfig, weights: Mapping[str, np.ndarray], tables: Mapping[str, Table]) -> None:
        """Take the weights in float32, without those of ``tables``, which are by field, and ``shared``."""
        self.config, self._weights, self._tables = config, weights, tables

    def query(self, ids: Sequence[int]) -> WordLists:
        """A query's words, all of which are nodes (eq. 6)."""
        return self._lists({"query": Ragged.of([ids])}, frozenset(("query",)))

    def codes(self, fields: Mapping[str, Ragged]) -> WordLists:
        """The words of methods, field by field; those of names are nodes (eq. 5)."""
        return self._lists({field: fields[field] for field in self.config.code_fields}, frozenset(("name",)))

    def scores(self, query: WordLists, codes: WordLists) -> Float32[np.ndarray, " codes"]:
        """The score of each method."""
        of_query = self._side("query", query, codes)[:, 0]
        of_codes = self._side("code", codes.nodes(), query)[0]
        return of_query + of_codes

    def attention(self, query: WordLists, code: WordLists) -> Float32[np.ndarray, "querywords codewords"]:
        """The attention of a query's words to those of one method, eq. 7."""
        return _softmax(query.states @ code.states.T)

    def _lists(self, fields: Mapping[str, Ragged], nodes: frozenset[str]) -> WordLists:
        size = len(next(iter(fields.values())))
        owners = np.concatenate([np.repeat(np.arange(size), lists.lengths) for lists in fields.values()])
        ids = np.concatenate([lists.values for lists in fields.values()]).astype(np.int64)
        numbers = np.repeat(np.arange(len(fields)), [len(lists.values) for lists in fields.values()])
        order = np.argsort(owners, kind="stable")  # list by list, in each the fields in order
        keys, places = _distinct((ids * len(fields) + numbers)[order])
        vectors = np.empty((len(keys), self.config.dim), np.float32)
        for number, field in enumerate(fields):
            own = keys % len(fields) == number
            words = keys[own] // len(fields)
            vectors[own] = self._tables[field].rows(words) + self._tables["shared"].rows(words)
        of_nodes = np.array([field in nodes for field in fields])[numbers][order]
        offsets = edges(np.bincount(owners, minlength=size).astype(np.int64)).astype(np.int32)
        return WordLists(interleaved(vectors, self.config.num_blocks), places, offsets, of_nodes)

    def _side(self, side: str, graphs: WordLists, context: WordLists) -> Float32[np.ndarray, "contexts graphs"]:
        """The score of every graph in every context, eqs. 7 to 13."""
        weights, prefix = self._weights, f"graphs.{side}"
        states = graphs.states
        if not len(states):
            return np.zeros((len(context.offsets) - 1, len(graphs.offsets) - 1), np.float32)
        words, places = _distinct(graphs.places)  # each distinct word is a row of Y
        cosines = self._cosines(graphs.vectors[words], context)  # [contexts, words, blocks]
        found = cosines @ weights[f"{prefix}.layers.0.lin.weight"].T
        found = _convolved(
            found, weights[f"{prefix}.layers.0.bias"], graphs.offsets,
            edge_weights=first_edges(states, graphs.offsets), places=places,
        )  # fmt: skip
        for number in range(1, self.config.layers):
            above = found @ weights[f"{prefix}.layers.{number}.lin.weight"].T
            found = _convolved(above, weights[f"{prefix}.layers.{number}.bias"], graphs.offsets, states=found)
        read = _readings(
            found @ weights[f"{prefix}.head_in.weight"].T + weights[f"{prefix}.head_in.bias"],
            weights[f"{prefix}.head_out.weight"][0],
        ) + weights[f"{prefix}.head_out.bias"]  # [contexts, nodes]  # fmt: skip
        importance = interleaved(weights[f"importance.{side}.weight"], self.config.num_blocks)[0]
        return _pooled(read, states @ importance, graphs.offsets)

    def _cosines(
        self, nodes: Float32[np.ndarray, "words dim"], context: WordLists
    ) -> Float32[np.ndarray, "contexts words blocks"]:
        """V of every word in every context, eqs. 7 to 9."""
        blocks, dim = self.config.num_blocks, self.config.dim
        nodes, vectors = np.ascontiguousarray(nodes), context.vectors
        logits = np.ascontiguousarray(nodes @ vectors.T)
        norms = np.square(nodes).reshape(len(nodes), -1, blocks).sum(1)
        offsets, places = np.ascontiguousarray(context.offsets), np.ascontiguousarray(context.places)
        out = np.empty((len(offsets) - 1, len(nodes), blocks), np.float32)
        sizes = len(out), len(nodes), dim, blocks, int(np.diff(offsets).max(initial=0)), 1, len(vectors)
        arrays = logits, nodes, vectors, norms, offsets, places
        call_with_arrays("cosines_forward", CosineInput(*map(array_address, arrays), *sizes), out)
        return out


def _distinct(keys: Int[np.ndarray, " keys"]) -> tuple[Int64[np.ndarray, " distinct"], Int32[np.ndarray, " keys"]]:
    """The distinct keys, ascending, and the place of each key among them: for small numbers faster than sorting."""
    place = np.zeros(int(keys.max(initial=-1)) + 1, np.int32)
    place[keys] = 1
    distinct = np.flatnonzero(place)
    place[distinct] = np.arange(len(distinct), dtype=np.int32)
    return distinct, place[keys]


def interleaved(words: Float32[np.ndarray, "words dim"], blocks: int) -> Float32[np.ndarray, "words dim"]:
    """The columns reordered so that the blocks' k-th entries are adjacent."""
    return np.ascontiguousarray(words.reshape(len(words), blocks, -1).transpose(0, 2, 1)).reshape(words.shape)


def first_edges(
    states: Float32[np.ndarray, "words dim"], offsets: Int32[np.ndarray, " edges"]
) -> Float32[np.ndarray, " cells"]:
    """The edges of eq. 10 of each graph, row by row: the softmax of its words' products."""
    lengths = np.diff(offsets)
    found = np.empty(int(np.square(lengths).sum()), np.float32)
    starts = edges(np.square(lengths).astype(np.int64))
    for length in np.unique(lengths[lengths > 0]).tolist():  # graphs of one size together
        own = np.flatnonzero(lengths == length)
        rows = states[offsets[own][:, None] + np.arange(length)]  # [graphs, length, dim]
        weights = _softmax(rows @ rows.transpose(0, 2, 1)).reshape(len(own), -1)
        found[starts[own][:, None] + np.arange(length * length)] = weights
    return found


def _convolved(
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
    contexts, rows, width = below.shape
    out = np.empty((contexts, int(offsets[-1]), width), np.float32)
    arrays = (states, below, edge_weights, np.ascontiguousarray(bias), places, offsets, cells)
    sizes = contexts, len(lengths), rows, width, int(lengths.max()), 1, 1
    call_with_arrays("convolution_forward", GraphInput(*map(array_address, arrays), *sizes, 1.0), out)
    return out


def _readings(
    inner: Float32[np.ndarray, "contexts nodes width"], weights: Float32[np.ndarray, " width"]
) -> Float32[np.ndarray, "contexts nodes"]:
    """The sum w · tanh(x) of each node, eq. 13 before its mean."""
    inner, weights = np.ascontiguousarray(inner), np.ascontiguousarray(weights)
    out = np.empty(inner.shape[:2], np.float32)
    reading = ReadingInput(array_address(inner), array_address(weights), out.size, len(weights), 1)
    call_with_arrays("readings_forward", reading, out)
    return out


def _pooled(
    values: Float32[np.ndarray, "contexts nodes"],
    logits: Float32[np.ndarray, " nodes"],
    offsets: Int32[np.ndarray, " edges"],
) -> Float32[np.ndarray, "contexts graphs"]:
    """The mean over each graph's nodes, weighted by the softmax of ``logits``; 0 without nodes."""
    lengths, found = np.diff(offsets), np.zeros((len(values), len(offsets) - 1), np.float32)
    starts, counts = offsets[:-1][lengths > 0], lengths[lengths > 0]
    shares = np.exp(logits - np.repeat(np.maximum.reduceat(logits, starts), counts))
    shares /= np.repeat(np.add.reduceat(shares, starts), counts)
    found[:, lengths > 0] = np.add.reduceat(values * shares, starts, axis=1)
    return found


def _softmax(logits: Float32[np.ndarray, "*rows columns"]) -> Float32[np.ndarray, "*rows columns"]:
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True), np.float32)
