"""Base class of models that encode each side into one vector, independently; the score is their cosine."""

from abc import abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from data_prep.store.batching import Batch
from modeling.base import Encoded, NeuralRanker


class BiEncoder(NeuralRanker):
    """A model with ``query_vectors`` and ``code_vectors``; a zero vector scores 0 against everything."""

    @abstractmethod
    def query_vectors(self, queries: Batch) -> Float[Tensor, "queries dim"]:
        """One vector per query, of any length."""

    @abstractmethod
    def code_vectors(self, codes: Batch) -> Float[Tensor, "codes dim"]:
        """One vector per method, of any length."""

    def encode_query(self, queries: Batch) -> Encoded:
        """The queries' vectors, scaled to length 1, as the state of a single word."""
        return one_word(normalize(self.query_vectors(queries), dim=-1))

    def encode_code(self, codes: Batch) -> Encoded:
        """The methods' vectors, scaled to length 1, as the state of a single word."""
        return one_word(normalize(self.code_vectors(codes), dim=-1))

    def score_pairs(self, queries: Encoded, codes: Encoded) -> Float[Tensor, " pairs"]:
        """The cosine of query i with code i."""
        return (queries.states * codes.states).sum((1, 2))

    def score_matrix(
        self,
        queries: Encoded,
        codes: Encoded,
        *,
        pairs_per_block: int = 4096,  # noqa: ARG002 - nothing is stored per pair but its score
    ) -> Float[Tensor, "queries codes"]:
        """The cosine of every query with every code, as one matrix product."""
        return queries.states.squeeze(1) @ codes.states.squeeze(1).T


def one_word(vectors: Float[Tensor, "batch dim"]) -> Encoded:
    """Each vector as the state of a single word."""
    states = vectors[:, None]  # [batch, 1, dim]
    return Encoded(states, torch.ones_like(states[..., 0], dtype=torch.bool))
