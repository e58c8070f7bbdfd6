"""The part that models share which make one vector of each side, without the other: a score is their cosine."""

from abc import abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from data_prep.store.batching import Batch
from modeling.contract import Encoded, NeuralRanker


class BiEncoder(NeuralRanker):
    """A model of ``query_vectors`` and ``code_vectors``; a vector of zeros has a score of 0 with everything."""

    @abstractmethod
    def query_vectors(self, queries: Batch) -> Float[Tensor, "queries dim"]:
        """One vector a query, of any length."""

    @abstractmethod
    def code_vectors(self, codes: Batch) -> Float[Tensor, "codes dim"]:
        """One vector a method, of any length."""

    def encode_query(self, queries: Batch) -> Encoded:
        """The queries' vectors, of length 1, as the state of a single word."""
        return _encoded(self.query_vectors(queries))

    def encode_code(self, codes: Batch) -> Encoded:
        """The methods' vectors, of length 1, as the state of a single word."""
        return _encoded(self.code_vectors(codes))

    def score_pairs(self, queries: Encoded, codes: Encoded) -> Float[Tensor, " pairs"]:
        """The cosine of query i and code i."""
        return (queries.states * codes.states).sum((1, 2))

    def score_matrix(
        self,
        queries: Encoded,
        codes: Encoded,
        *,
        pairs_per_block: int = 4096,  # noqa: ARG002 - nothing is held for a pair but its score
    ) -> Float[Tensor, "queries codes"]:
        """The cosine of every query and every code: one product."""
        return queries.states.squeeze(1) @ codes.states.squeeze(1).T


def _encoded(vectors: Float[Tensor, "batch dim"]) -> Encoded:
    states = normalize(vectors, dim=-1)[:, None]  # [batch, 1, dim]
    return Encoded(states, torch.ones_like(states[..., 0], dtype=torch.bool))
