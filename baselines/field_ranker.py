"""Base classes of baselines that encode each field separately and score by interaction of both sides' words."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from baselines.word_vectors import BaselineConfig, WordVectors
from data_prep.store.batching import Batch
from data_prep.store.vocabulary import Vocabularies
from modeling.base import Encoded, NeuralRanker
from modeling.layers import CoAttention


class FieldRanker(NeuralRanker):
    """A model that implements ``encode_field`` and sets ``words``; by default ``config.ast`` adds the AST field."""

    words: WordVectors

    @property
    def code_fields(self) -> tuple[str, ...]:
        """The code fields in the order of the papers and releases."""
        return ("name", "api", "tokens", "ast") if self.config.ast else ("name", "api", "tokens")

    @abstractmethod
    def encode_field(self, batch: Batch, field: str) -> Encoded:
        """Encode one field of a batch, or its queries."""

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
