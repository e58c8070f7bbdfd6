"""What the baselines over words have in common: embedding layers, and models that encode each field separately.

By default pads are masked and unknown words have a separate vector. ``release_compatible`` follows the released code of
DeepCS, UNIF, CARLCS, TabCS and FcarCS: every field is padded to a fixed length, id 0 stands for both pads and unknown
words, and its trainable vector is treated like that of a word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import pad

from data_prep.errors import LENGTH, SHARE, WIDTH, Bounded
from data_prep.records import STRUCTURE_FIELDS
from data_prep.store.batching import Batch, Words
from data_prep.store.tokenizing import FIRST_UNKNOWN, PAD, Vocabularies
from modeling.base import Encoded, NeuralRanker
from modeling.layers import CoAttention, PositionAttention, WordAttention, shared_vectors


@dataclass(frozen=True, slots=True)
class BaselineConfig(Bounded, section="model"):
    """Options shared by the baselines."""

    dim: Annotated[int, WIDTH] = 100
    """Width of a word vector (all releases: 100)."""
    dropout: Annotated[float, SHARE] = 0.25
    """Dropout rate on word vectors (all releases: 0.25)."""
    init: Literal["uniform", "shared"] = "uniform"
    """Initial vectors: independent for each table, as in the releases, or the same for the same word on both sides,
    as in galm."""
    release_compatible: bool = False
    """Pads and unknown words as in the released code: one trainable vector, never masked."""
    query_length: Annotated[int, LENGTH] = 30
    name_length: Annotated[int, LENGTH] = 6
    tokens_length: Annotated[int, LENGTH] = 40
    api_length: Annotated[int, LENGTH] = 30
    ast_length: Annotated[int, LENGTH] = 20
    statements_length: Annotated[int, LENGTH] = 20
    """Length of each field if attention is per position or ``release_compatible`` is set: shorter ones are padded,
    longer ones truncated (the TabCS release's lengths for CodeSearchNet). Otherwise only the lengths of section
    ``words`` apply."""

    def length(self, field: str) -> int:
        """The length of ``field``."""
        length: int = getattr(self, f"{field}_length")
        return length


@dataclass(frozen=True, slots=True)
class AttentiveConfig(BaselineConfig):
    """Options of a baseline that weights the words of a field."""

    attention: Literal["word", "position"] = "word"
    """One weight per word, or per position and dimension; ``release_compatible`` implies the latter."""

    @property
    def by_position(self) -> bool:
        """Whether attention weights are per position."""
        return self.release_compatible or self.attention == "position"

    def word_attention(self, positions: int) -> nn.Module:
        """A new attention over the words of so many positions."""
        return PositionAttention(positions) if self.by_position else WordAttention(self.dim)


class WordVectors(nn.Module):
    """A table of word vectors for each field, with dropout."""

    def __init__(
        self, config: BaselineConfig, vocabularies: Vocabularies, fields: Sequence[str], *, fixed: bool
    ) -> None:
        """Build tables for ``fields``, uniform in ±0.05 like Keras; ``fixed``: pad every field to its full length."""
        super().__init__()
        self.config, self.fixed = config, fixed or config.release_compatible
        self.vocabularies = {field: vocabularies.of(field) for field in fields}
        self.tables = nn.ModuleDict(
            {field: nn.Embedding(len(words), config.dim) for field, words in self.vocabularies.items()}
        )
        for field in fields:
            nn.init.uniform_(self._table(field).weight, -0.05, 0.05)
        if config.init == "shared":
            shared_vectors(self._table("query"), self._code_tables(), vocabularies)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, field: str, words: Words) -> tuple[Float[Tensor, "batch words dim"], Bool[Tensor, "batch words"]]:
        """The vectors of a field's words, and their mask; with ``release_compatible`` it is True everywhere."""
        ids, mask = words.ids, words.mask
        if self.fixed:
            room = self.config.length(field) - ids.shape[1]  # negative: cut
            ids, mask = pad(ids, (0, room), value=PAD), pad(mask, (0, room), value=False)
        if self.config.release_compatible:
            unknown = (ids >= FIRST_UNKNOWN) & (ids < FIRST_UNKNOWN + self.vocabularies[field].unknown_buckets)
            ids, mask = ids.masked_fill(unknown, PAD), torch.ones_like(mask)
        return self.dropout(self.tables[field](ids)), mask

    def known_words(self) -> Mapping[str, tuple[Float[Tensor, "words dim"], Sequence[str]]]:
        """The vectors of the known words of each table, without PAD and unknown words."""
        found = {}
        for field, vocabulary in self.vocabularies.items():
            known = self._table(field).weight[len(vocabulary) - len(vocabulary.words) :]
            found[f"{field} words"] = (known, vocabulary.words)
        return found

    def _table(self, field: str) -> nn.Embedding:
        table = self.tables[field]
        assert isinstance(table, nn.Embedding)
        return table

    def _code_tables(self) -> list[nn.Embedding]:
        """The tables over the code vocabulary."""
        return [self._table(field) for field in self.vocabularies if field not in ("query", *STRUCTURE_FIELDS)]


class FieldRanker(NeuralRanker):
    """A model that sets ``words`` and ``attention``; by default ``config.ast`` adds the AST field."""

    words: WordVectors
    attention: nn.ModuleDict
    """Field -> its attention, unless :meth:`encode_field` is another."""

    @property
    def code_fields(self) -> tuple[str, ...]:
        """The code fields in the order of the papers and releases."""
        return ("name", "api", "tokens", "ast") if self.config.ast else ("name", "api", "tokens")

    def encode_field(self, batch: Batch, field: str) -> Encoded:
        """Encode one field of a batch, or its queries: the words, weighted."""
        states, mask = self.words(field, batch[field])
        return Encoded(states * self.attention[field](states, mask), mask)

    def encode_query(self, queries: Batch) -> Encoded:
        """The encoded words of the query."""
        return self.encode_field(queries, "query")

    def encode_code(self, codes: Batch) -> Encoded:
        """The encoded code fields, concatenated along the length."""
        return self.joined([self.encode_field(codes, field) for field in self.code_fields])

    def joined(self, parts: Sequence[Encoded]) -> Encoded:
        """Concatenate fields along the length."""
        return Encoded(torch.cat([each.states for each in parts], 1), torch.cat([each.mask for each in parts], 1))

    def word_vectors(self) -> Mapping[str, tuple[Float[Tensor, "words dim"], Sequence[str]]]:
        """The known words of each table."""
        return self.words.known_words()


class CoAttentionRanker(FieldRanker):
    """A field ranker that scores by :class:`modeling.layers.CoAttention`."""

    def __init__(self, config: BaselineConfig, vocabularies: Vocabularies, width: int) -> None:
        """``width``: dimension of a field's states."""
        super().__init__(config, vocabularies)
        self.co_attention = CoAttention(width)

    @property
    def expensive_scoring(self) -> bool:
        """By measurement (``bash run.sh speed selected``)."""
        return True

    def score_pairs(self, queries: Encoded, codes: Encoded) -> Float[Tensor, " pairs"]:
        """Score query i against code i: the cosine of both sides, each weighted by the other's words."""
        return self.co_attention.pairs(queries.states, queries.mask, codes.states, codes.mask)

    def score_matrix(
        self, queries: Encoded, codes: Encoded, *, pairs_per_block: int = 4096
    ) -> Float[Tensor, "queries codes"]:
        """Every query against every code, without copying words for each pair."""
        return self.co_attention.matrix(queries.states, queries.mask, codes.states, codes.mask, pairs_per_block)

    def alignment(self, queries: Encoded, codes: Encoded) -> Float[Tensor, "pairs querywords codewords"]:
        """F of each pair, transposed."""
        return torch.tanh(queries.states @ self.co_attention.projected(codes.states).transpose(1, 2))
