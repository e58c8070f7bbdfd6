"""GALM: Global Alignment Learning for Code Search, in a consistent reading of its equations 5 to 13.

A query word attends to the words of a method (eq. 7); the cosines between the blocks of the word and of its attention
output are the features of a graph node (eqs. 8, 9); a complete graph connects the query's words (eqs. 10, 11); a dense
graph convolution and a small head compute one score from it (eqs. 12, 13).

Which file to change: ``alignment_graph.py`` for an equation from 7 on, ``config.py`` for an option, and this file for
the word vectors (eqs. 5, 6) and for how all are joined. What is in ``fast/`` computes the same faster, for the options
that ``fast/kernels.py`` lists: any other is computed by the plain form, and one line says so.

Departures from the paper, where its printed shapes do not conform: see ``alignment_graph.py``. Pads are masked
everywhere. Words have no position: a score does not depend on the order of the words on either side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding, normalize

from data_prep.records import CODE_FIELDS, STRUCTURE_FIELDS
from data_prep.store.batching import Batch
from data_prep.store.split import TokenizedPairs
from data_prep.store.tokenizing import PAD, Vocabularies
from galm.alignment_graph import (
    GlobalAlignment,
    attention,
    block_cosines,
    degenerate_parts,
    first_edges,
    graph_diagnostics,
    pooled_attention,
)
from galm.config import GalmConfig
from galm.fast.all_pairs import EncodedWords, Nodes, all_scores, distinct_words
from galm.fast.kernel_functions import torch_kernels
from modeling.base import Encoded, NeuralRanker
from modeling.layers import masked_softmax, shared_vectors, uniform_vectors, vectors_from_statistics, zero_vectors


def tied_rows(vocabularies: Vocabularies) -> Int[Tensor, " querywords"]:
    """Row of each query word in a table of all code words followed by the words that occur only in queries."""
    query, code = vocabularies.query, vocabularies.code
    rows, after = [PAD], len(code)
    known = set(code.words)
    for number in range(1, len(query)):
        word = query.word(number)
        if number <= query.unknown_buckets:
            rows.append(min(number, code.unknown_buckets))
        elif word in known:
            rows.append(code.id(word))
        else:
            rows.append(after)
            after += 1
    return torch.tensor(rows, device="cpu")  # also if a model is built on the meta device


class WordTables(nn.Module):
    """Maps word ids of the query or of a code field to vectors, eqs. 5 and 6.

    ``--model.tied`` and ``--model.code_tables`` arrange them.
    """

    def __init__(self, config: GalmConfig, vocabularies: Vocabularies) -> None:
        """Create tables with uniform initial vectors."""
        super().__init__()
        self.config, self.vocabularies = config, vocabularies
        one = config.code_tables == "one"
        apart = STRUCTURE_FIELDS if one else config.code_fields
        self.table_of = {field: field if field in apart else "code" for field in config.code_fields}
        self.table_of["query"] = "code" if config.tied else "query"
        rows = tied_rows(vocabularies)
        self.query_rows: Tensor  # query id -> row of a table shared by both sides
        self.register_buffer("query_rows", rows, persistent=False)
        both = max(len(vocabularies.code), int(rows.max()) + 1)
        sizes = {table: both if config.tied else len(vocabularies.of(table)) for table in self.table_of.values()}
        if config.code_tables == "offsets":
            sizes["shared"] = both
        tables = {table: nn.Embedding(size, config.dim, padding_idx=PAD) for table, size in sizes.items()}
        self.tables = nn.ModuleDict(tables)
        uniform_vectors(tables.values(), config.init_range)
        if config.code_tables == "offsets":
            whole = ("shared", *STRUCTURE_FIELDS)
            zero_vectors([table for name, table in tables.items() if name not in whole])

    def forward(self, field: str, ids: Int[Tensor, " words"]) -> Float[Tensor, "words dim"]:
        """Vectors of the words of a field."""
        vectors: Tensor
        if field in STRUCTURE_FIELDS:
            vectors = self.tables[field](ids)
            return vectors
        shared_ids = self.query_rows[ids] if field == "query" else ids
        vectors = self.tables[self.table_of[field]](shared_ids if self.config.tied else ids)
        if self.config.code_tables == "offsets":
            vectors = vectors + self.tables["shared"](shared_ids)
        return vectors

    def table(self, field: str) -> nn.Embedding:
        """The table of a field."""
        table = self.tables[self.table_of[field]]
        assert isinstance(table, nn.Embedding)
        return table

    def keys(self, field: str, ids: Int[Tensor, "*words"]) -> Int[Tensor, "*words"]:
        """A key for each word of a code field; equal keys have equal vectors."""
        tables = list(dict.fromkeys(self.table_of[field] for field in self.config.code_fields))
        most = max(len(self.vocabularies.of(field)) for field in CODE_FIELDS)
        return ids + tables.index(self.table_of[field]) * most

    def start_from(self, train: TokenizedPairs) -> None:
        """Initialise the vectors as ``--model.init`` selects."""
        if self.config.init == "uniform":
            return
        fields = [field for field in self.config.code_fields if field not in STRUCTURE_FIELDS]
        query, codes = self.table("query"), list(dict.fromkeys(map(self.table, fields)))
        shared_vectors(query, codes, self.vocabularies)
        if self.config.init == "statistics":
            vectors_from_statistics(query, codes, train, fields)

    def known_words(self) -> Mapping[str, tuple[Float[Tensor, "words dim"], Sequence[str]]]:
        """The vectors of the known words of each table, without PAD and unknown words."""
        found = {}
        for field, table in self.table_of.items():
            vocabulary = self.vocabularies.of(field)
            first = len(vocabulary) - len(vocabulary.words)
            ids = torch.arange(first, len(vocabulary), device=self.query_rows.device)
            if field != "query" or not self.config.tied:
                found[f"{table} words"] = (self(field, ids), vocabulary.words)
        return found


class Galm(NeuralRanker):
    """Scores a query against a method by the alignment graph of their words."""

    config_type = GalmConfig
    config: GalmConfig

    def __init__(self, config: GalmConfig, vocabularies: Vocabularies) -> None:
        """Embedding layers, graph and head."""
        super().__init__(config, vocabularies)
        self.words = WordTables(config, vocabularies)
        self.dropout = nn.Dropout(config.dropout)
        sides = (config.nodes,) if config.nodes in ("query", "code") else ("query", "code")
        self.graphs = nn.ModuleDict({side: GlobalAlignment(config) for side in sides})
        self.importance = nn.ModuleDict()
        if config.readout == "weighted":
            for side in sides:
                linear = nn.Linear(config.dim, 1, bias=False)
                nn.init.zeros_(linear.weight)
                self.importance[side] = linear

    @classmethod
    def get_ready(cls) -> None:
        """Compile the kernels."""
        torch_kernels(wait=False)

    @property
    def code_fields(self) -> tuple[str, ...]:
        """The configured code fields."""
        return self.config.code_fields

    @property
    def expensive_scoring(self) -> bool:
        """With a graph, by measurement (``bash run.sh speed selected``)."""
        return self.config.layers > 0

    def start_from(self, train: TokenizedPairs) -> None:
        """Initialise the word vectors as ``--model.init`` selects."""
        self.words.start_from(train)

    def encode_query(self, queries: Batch) -> EncodedWords:
        """The query's word vectors, eq. 6."""
        words = queries["query"]
        return EncodedWords(self._states(queries, ("query",)), words.mask, words.ids, words.mask)

    def encode_code(self, codes: Batch) -> EncodedWords:
        """The method's word vectors, eq. 5: its fields concatenated along the length."""
        fields = self.code_fields
        keys = torch.cat([self.words.keys(field, codes[field].ids) for field in fields], dim=1)
        mask = torch.cat([codes[field].mask for field in fields], dim=1)
        if self.training and self.config.word_dropout:
            kept = mask & (torch.rand(mask.shape, device=mask.device) >= self.config.word_dropout)
            mask = torch.where(kept.any(1, keepdim=True), kept, mask)
        nodes = mask
        if self.config.nodes == "query_and_name":
            of_name = [torch.full_like(codes[field].mask[0], field == "name") for field in fields]
            nodes = mask & torch.cat(of_name)
        return EncodedWords(self._states(codes, fields), mask, keys, nodes)

    def _states(self, batch: Batch, fields: Sequence[str]) -> Float[Tensor, "batch words dim"]:
        """Vectors of the words of fields, normalised and with dropout, which are computed once for equal words."""
        vectors, places, keys, count = [], [], [], 0
        for field in fields:
            distinct, rows = torch.unique(batch[field].ids, return_inverse=True)
            vectors.append(self.words(field, distinct))
            keys.append(distinct if field == "query" else self.words.keys(field, distinct))
            places.append(rows + count)
            count += len(distinct)
        return embedding(torch.cat(places, dim=1), self._finished(torch.cat(vectors), torch.cat(keys)))

    def _finished(self, states: Float[Tensor, "words dim"], keys: Int[Tensor, " words"]) -> Float[Tensor, "words dim"]:
        """Normalisation and dropout, with one mask for equal keys: of words that are in several fields of a table."""
        if self.config.normalise:
            states = normalize(states, dim=-1)
        if self.training and self.config.dropout:
            distinct, places = torch.unique(keys, return_inverse=True)
            states = states * self.dropout(states.new_ones(len(distinct), states.shape[-1]))[places]
        return states

    def score_pairs(self, queries: EncodedWords, codes: EncodedWords) -> Float[Tensor, " pairs"]:  # type: ignore[override]
        """Score query i against code i by the plain equations."""
        sides = {"query": (queries, codes), "code": (replace(codes, mask=codes.nodes), queries)}
        scores = []
        for side, graph in self.graphs.items():
            nodes, context = sides[side]
            weights = self.attention_of(nodes, context)  # [pairs, nodes, context]
            cosines = block_cosines(weights @ context.states, nodes.states, self.config.num_blocks)
            scores.append(graph(cosines, first_edges(self.config, nodes), nodes.mask, self.word_weights(side, nodes)))
        return torch.stack(scores).sum(0)

    def attention_of(self, nodes: Encoded, context: Encoded) -> Float[Tensor, "pairs nodes context"]:
        """The attention of each node word to each word of the other side, eq. 7."""
        config = self.config
        if config.affinity == "pooled":
            return pooled_attention(nodes, context, config.attention, config.attention_temperature)
        return attention(nodes.states, context.states, context.mask, config.attention, config.attention_temperature)

    def alignment(self, queries: Encoded, codes: Encoded) -> Float[Tensor, "pairs querywords codewords"]:
        """The attention of eq. 7; if only code words are nodes, their attention to the query's words."""
        if "query" in self.graphs:
            return self.attention_of(queries, codes)
        return self.attention_of(codes, queries).transpose(-1, -2)

    def edges(self, queries: Encoded) -> Float[Tensor, "queries words words"] | None:
        """The edges of eq. 10, if query words are nodes."""
        return first_edges(self.config, queries) if "query" in self.graphs else None

    @torch.no_grad()
    def diagnostics(self, queries: Batch, codes: Batch) -> Mapping[str, float]:
        """Relative entropy of attention and edges, and the variance of nodes inside graphs, of each layer.

        Layer 0 are the block cosines V; of several sides that have nodes the first is looked at.
        """
        asked, read = self.encode_query(queries), self.encode_code(codes)
        side, graph = next(iter(self.graphs.items()))
        assert isinstance(graph, GlobalAlignment)
        nodes, context = (asked, read) if side == "query" else (replace(read, mask=read.nodes), asked)
        weights = self.attention_of(nodes, context)
        cosines = block_cosines(weights @ context.states, nodes.states, self.config.num_blocks)
        return graph_diagnostics(graph, weights, cosines, first_edges(self.config, nodes), nodes.mask, context.mask)

    def collapse_warning(self, found: Mapping[str, float]) -> str:
        """What makes the graph degenerate."""
        return degenerate_parts(found)

    def word_vectors(self) -> Mapping[str, tuple[Float[Tensor, "words dim"], Sequence[str]]]:
        """The known words of each table."""
        return self.words.known_words()

    def word_weights(self, side: str, nodes: Encoded) -> Float[Tensor, "batch nodes"]:
        """Weight of each node in the score: 1/n over its side's words, or learned; 0 at pads."""
        if side in self.importance:
            return masked_softmax(self.importance[side](nodes.states).squeeze(-1), nodes.mask)
        weights = nodes.mask.to(nodes.states.dtype)
        return weights / weights.sum(1, keepdim=True).clamp(min=1e-8)

    def score_matrix(  # type: ignore[override]
        self, queries: EncodedWords, codes: EncodedWords, *, pairs_per_block: int = 4096
    ) -> Float[Tensor, "queries codes"]:
        """Every query against every code, words that occur several times once; equal to :meth:`score_pairs`.

        Under autocast to bfloat16, only products that tolerate rounding are rounded.
        """
        device = queries.states.device.type
        bfloat16 = torch.is_autocast_enabled(device)
        scores = []
        with torch.autocast(device, enabled=False):
            for side, graph in self.graphs.items():
                assert isinstance(graph, GlobalAlignment)
                words, context = (queries, codes) if side == "query" else (replace(codes, mask=codes.nodes), queries)
                nodes = self._nodes(side, words)
                found = all_scores(self.config, graph, nodes, context, pairs_per_block, bfloat16=bfloat16)
                scores.append(found.T if side == "query" else found)
        return torch.stack(scores).sum(0)

    def _nodes(self, side: str, words: EncodedWords) -> Nodes:
        """The graphs over one side's words, without columns that have no node in any graph."""
        columns = words.mask.any(0)
        if not columns.all() and columns.any():
            cut = (words.states[:, columns], words.mask[:, columns], words.words[:, columns], words.nodes[:, columns])
            words = EncodedWords(*cut)
        graphs = (words.mask, first_edges(self.config, words), self.word_weights(side, words))
        pooled = self.config.affinity == "pooled"
        vectors, places, owners = distinct_words(words, every_node=pooled)
        return Nodes(vectors, places, *graphs, owners if pooled else None)
