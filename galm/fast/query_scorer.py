"""GALM's scores of one query against many methods without torch, on one thread.

One kernel computes all of it, or without the kernels the steps of :mod:`galm.fast.kernels`. Equal to the
plain equations within float32 rounding, for the configurations of ``QUERY_FORM``: those of the recipe ``galm_plus``,
with and without a graph. Vectors are read from their tables for the words that occur, once each.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Final, Protocol, runtime_checkable

import numpy as np

from data_prep.store.arrays import Float32, Int, Int32, Int64, Ragged, distinct, edges, slices, spread
from galm.config import GalmConfig
from galm.fast import kernels
from galm.fast.kernels import ANY, WIDTHS, not_computed, one_thread_kernels, say_once, shares_in_lists, softmax

_FIELDS: Final = ("name", "tokens", "api")
QUERY_FORM: Final[Mapping[str, Container[object]]] = {
    "fields": [",".join(some) for n in (1, 2, 3) for some in permutations(_FIELDS, n) if "name" in some],
    "dim": WIDTHS, "num_blocks": WIDTHS, "layers": ANY, "graph": ("alignment",), "gcn_dim": WIDTHS,
    "attention": ("raw",), "attention_temperature": ANY, "affinity": ("word",), "edges": ("raw",),
    "edge_temperature": ANY, "self_loops": (True,), "activation": ("relu",), "skip": (False,),
    "nodes": ("query_and_name",), "layer_input": ("previous",), "share_layers": (False,), "weight_norm": (False,),
    "normalise": (False,), "tied": (False,), "code_tables": ("offsets",), "init": ("uniform",), "init_range": ANY,
    "dropout": ANY, "word_dropout": ANY, "head": ("perceptron",), "readout": ("weighted",),
    "starts_as_cosines": (False,),
}  # fmt: skip
"""Option -> the values that are computed here, as ``KERNEL_FORM`` lists them: those of ``galm_plus``."""


_SIDES: Final = ("query", "code")
_AT_ONCE: Final = 1024
"""Graphs whose edges are computed at a time, so that memory does not grow with their number."""


@runtime_checkable
class Table(Protocol):
    """A table of word vectors."""

    def rows(self, ids: Int64[np.ndarray, " words"]) -> Float32[np.ndarray, "words dim"]:
        """The vectors of some words."""


def covers(config: GalmConfig) -> bool:
    """Whether a model with this configuration is scored here; if only its options are beyond it, one line says so."""
    option = not_computed(config, QUERY_FORM)
    if option:
        say_once(f"{option} is not computed without torch: the search loads torch, which takes longer")
    return not option


def shapes(config: GalmConfig, words: int) -> dict[str, tuple[int, ...]]:
    """Name -> shape of all weights; ``words``: rows of the tables."""
    tables = [*config.code_fields, "query", "shared"]
    found: dict[str, tuple[int, ...]] = {f"words.tables.{table}.weight": (words, config.dim) for table in tables}
    width = config.gcn_dim if config.layers else config.num_blocks
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

    vectors: Float32[np.ndarray, "distinct dim"]  # of the words that occur; blocks interleaved
    norms: Float32[np.ndarray, "distinct blocks"]  # of their blocks, squared
    places: Int32[np.ndarray, " words"]
    offsets: Int32[np.ndarray, " edges"]  # lists + 1

    @property
    def states(self) -> Float32[np.ndarray, "words dim"]:
        """The vector of each word."""
        return self.vectors[self.places]

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """All that they are."""
        return self.vectors, self.norms, self.places, self.offsets

    def take(self, rows: Int[np.ndarray, " rows"]) -> "WordLists":
        """The lists ``rows``, in that order."""
        own, offsets = slices(self.offsets, rows)
        words, places = distinct(self.places[own])
        return WordLists(self.vectors.take(words, 0), self.norms.take(words, 0), places, offsets.astype(np.int32))


@dataclass(frozen=True, eq=False)
class Graphs:
    """Lists of words, each of which is a graph."""

    lists: WordLists
    edges: Float32[np.ndarray, " cells"]  # of eq. 10, graph by graph and row by row
    cells: Int64[np.ndarray, " edges"]  # where those of each graph begin; lists + 1
    shares: Float32[np.ndarray, " words"]  # of each word in the mean of its graph

    @classmethod
    def of(cls, lists: WordLists, importance: Float32[np.ndarray, " dim"]) -> "Graphs":
        """Graphs over all words of each list, in whose mean a word weighs by its ``importance``."""
        cells = edges(np.square(np.diff(lists.offsets)).astype(np.int64))
        logits = (lists.vectors @ importance)[lists.places]
        return cls(lists, first_edges(lists, cells), cells, shares_in_lists(logits, lists.offsets))

    def take(self, rows: Int[np.ndarray, " rows"]) -> "Graphs":
        """The graphs ``rows``, in that order."""
        own, cells = slices(self.cells, rows)
        words, _ = slices(self.lists.offsets, rows)
        return Graphs(self.lists.take(rows), self.edges[own], cells, self.shares[words])

    @cached_property
    def packed(self) -> bytes:
        """As the kernel takes them."""
        return kernels.word_lists(*self.lists.arrays, self.edges, self.cells, self.shares)


@dataclass(frozen=True, eq=False)
class Codes:
    """Methods: their words, field by field, and the graphs of their names (eq. 5)."""

    words: WordLists
    names: Graphs

    def take(self, rows: Int[np.ndarray, " rows"]) -> "Codes":
        """The methods ``rows``, in that order."""
        return Codes(self.words.take(rows), self.names.take(rows))

    @cached_property
    def packed(self) -> bytes:
        """As the kernel takes them."""
        return kernels.word_lists(*self.words.arrays) + self.names.packed


class Scoring:
    """Scores that another thread has begun to compute."""

    _work: int | None = None

    def __init__(self, given: bytes, rows: Int32[np.ndarray, " rows"], kept: object) -> None:
        """``given``: as the kernel takes it; ``kept``: what it leads to."""
        self._found, self._kept = np.empty(len(rows), np.float32), (given, rows, kept)
        self._work = kernels.call(kernels.one_thread_kernels(), "query_scores_begin", given, rows, self._found)

    def __call__(self) -> Float32[np.ndarray, " rows"]:
        """The scores, once all are computed."""
        if self._work is not None:
            work, self._work = self._work, None
            kernels.call(kernels.one_thread_kernels(), "query_scores_end", work)
        return self._found

    def __del__(self) -> None:
        self()


class QueryScorer:
    """A model's weights, and what it computes from them for one query."""

    def __init__(self, config: GalmConfig, weights: Mapping[str, np.ndarray], tables: Mapping[str, Table]) -> None:
        """Take the weights in float32, without those of ``tables``, which are by field, and ``shared``."""
        self.config, self._weights, self._tables = config, weights, tables
        self._importance = {
            side: interleaved(weights[f"importance.{side}.weight"], config.num_blocks)[0] for side in _SIDES
        }
        self._in_a_row = [self._weights_of(side) for side in _SIDES]

    def query(self, ids: Sequence[int]) -> Graphs:
        """A query's words, all of which are nodes (eq. 6)."""
        words = sorted({*ids})
        places = np.array([*map(words.index, ids)], np.int32)
        lists = self._word_lists(self._vectors("query", np.array(words)), places, np.array([0, len(ids)]))
        return Graphs.of(lists, self._importance["query"])

    def codes(self, fields: Mapping[str, Ragged]) -> Codes:
        """Methods, by the words of their fields."""
        words = self._lists({field: fields[field] for field in self.config.code_fields})
        return Codes(words, Graphs.of(self._lists({"name": fields["name"]}), self._importance["code"]))

    def scores(self, query: Graphs, codes: Codes, rows: Int[np.ndarray, " rows"]) -> Float32[np.ndarray, " rows"]:
        """The scores of the methods ``rows`` of ``codes``."""
        if begun := self.begun(query, codes, rows):
            return begun()
        codes = codes.take(rows)
        of_query = self._side("query", query, codes.words)[:, 0]
        of_codes = self._side("code", codes.names, query.lists)[0]
        return of_query + of_codes

    def begun(self, query: Graphs, codes: Codes, rows: Int[np.ndarray, " rows"]) -> Scoring | None:
        """The same by the kernels, beside what else is done before it is called; None without kernels."""
        if not one_thread_kernels():
            return None
        config = self.config
        width = config.gcn_dim if config.layers else config.num_blocks
        sizes = {"dim": config.dim, "blocks": config.num_blocks, "width": width, "layers": config.layers}
        given = kernels.query_input(query.packed, codes.packed, *self._in_a_row, **sizes, count=len(rows))
        return Scoring(given, rows.astype(np.int32), (query, codes))

    def _weights_of(self, side: str) -> Float32[np.ndarray, " weights"]:
        """The weights of one side's graphs, one after the other: matrices turned, as the kernel multiplies by them."""
        parts = ("weight", "bias")
        names = [f"layers.{number}.{part}" for number in range(self.config.layers) for part in ("lin.weight", "bias")]
        names += [f"{place}.{part}" for place in ("head_in", "head_out") for part in parts]
        own = [self._weights[f"graphs.{side}.{name}"].T.ravel() for name in names]
        return np.concatenate(own).astype(np.float32, copy=False)

    def attention(self, query: Graphs, code: Codes) -> Float32[np.ndarray, "querywords codewords"]:
        """The attention of a query's words to those of one method, eq. 7."""
        return softmax(query.lists.states @ code.words.states.T)

    def _lists(self, fields: Mapping[str, Ragged]) -> WordLists:
        """The words of all fields, list by list, in each the fields in order."""
        offsets = edges(np.sum([lists.lengths for lists in fields.values()], axis=0))
        found, starts = np.empty(offsets[-1], np.int64), offsets[:-1]
        for number, lists in enumerate(fields.values()):
            found[spread(starts, lists.lengths)] = lists.values.astype(np.int64) * len(fields) + number
            starts = starts + lists.lengths
        keys, places = distinct(found)
        vectors = np.empty((len(keys), self.config.dim), np.float32)
        for number, field in enumerate(fields):
            own = keys % len(fields) == number
            vectors[own] = self._vectors(field, keys[own] // len(fields))
        return self._word_lists(vectors, places, offsets)

    def _vectors(self, field: str, words: Int64[np.ndarray, " words"]) -> Float32[np.ndarray, "words dim"]:
        return self._tables[field].rows(words) + self._tables["shared"].rows(words)

    def _word_lists(
        self,
        vectors: Float32[np.ndarray, "distinct dim"],
        places: Int32[np.ndarray, " words"],
        offsets: Int64[np.ndarray, " edges"],
    ) -> WordLists:
        """``vectors``: with their blocks one after the other."""
        vectors = interleaved(vectors, blocks := self.config.num_blocks)
        norms = np.square(vectors).reshape(len(vectors), self.config.dim // blocks, blocks).sum(1)
        return WordLists(vectors, norms, places, offsets.astype(np.int32))

    def _side(self, side: str, graphs: Graphs, context: WordLists) -> Float32[np.ndarray, "contexts graphs"]:
        """The score of every graph in every context, eqs. 7 to 13."""
        weights, prefix, lists = self._weights, f"graphs.{side}", graphs.lists
        if not len(lists.places):
            return np.zeros((len(context.offsets) - 1, len(lists.offsets) - 1), np.float32)
        # each distinct word is a row of Y
        cosines = kernels.cosines(lists.vectors, lists.norms, context.vectors, context.offsets, context.places)
        first = {"edge_weights": graphs.edges, "places": lists.places} if self.config.layers else {}
        found = cosines if first else cosines[:, lists.places]
        for number in range(self.config.layers):
            above = kernels.product(found, weights[f"{prefix}.layers.{number}.lin.weight"])
            bias = f"{prefix}.layers.{number}.bias"
            given = {"states": found} if number else first
            found = kernels.convolved(above, weights[bias], lists.offsets, **given)
        read = kernels.readings(
            kernels.product(found, weights[f"{prefix}.head_in.weight"]) + weights[f"{prefix}.head_in.bias"],
            weights[f"{prefix}.head_out.weight"][0],
        ) + weights[f"{prefix}.head_out.bias"]  # [contexts, nodes]  # fmt: skip
        return kernels.pooled(read, graphs.shares, lists.offsets)


def interleaved(words: Float32[np.ndarray, "words dim"], blocks: int) -> Float32[np.ndarray, "words dim"]:
    """The columns reordered so that the blocks' k-th entries are adjacent."""
    count, dim = words.shape
    return np.ascontiguousarray(words.reshape(count, blocks, dim // blocks).transpose(0, 2, 1)).reshape(count, dim)


def first_edges(lists: WordLists, cells: Int64[np.ndarray, " edges"]) -> Float32[np.ndarray, " cells"]:
    """The edges of eq. 10 of each graph, row by row: the softmax of its words' products."""
    lengths = np.diff(lists.offsets)
    if len(lengths) == 1:
        return softmax((own := lists.states) @ own.T).ravel()
    found = np.empty(cells[-1], np.float32)
    for length in np.flatnonzero(np.bincount(lengths)).tolist():  # graphs of one size together
        graphs = np.flatnonzero(lengths == length)
        for start in range(0, len(graphs) if length else 0, _AT_ONCE):
            own = graphs[start : start + _AT_ONCE]
            rows = lists.vectors[lists.places[lists.offsets[own][:, None] + np.arange(length)]]  # [graphs, length, dim]
            weights = softmax(rows @ rows.transpose(0, 2, 1)).reshape(len(own), -1)
            found[cells[own][:, None] + np.arange(length * length)] = weights
    return found
