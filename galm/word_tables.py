"""GALM's embedding layers, eqs. 5 and 6, arranged as ``--model.tied`` and ``--model.code_tables`` select."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from data_prep.records import CODE_FIELDS, STRUCTURE_FIELDS
from data_prep.store.tokenizing import TokenizedPairs
from data_prep.store.vocabulary import PAD, Vocabularies
from galm.config import GalmConfig
from modeling.layers import shared_vectors, uniform_vectors, vectors_from_statistics, zero_vectors


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
    """Maps word ids of the query or of a code field to vectors."""

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
