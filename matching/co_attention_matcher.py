"""The part that models share whose two sides read each other by co-attention: scores from the words of both."""

from typing import Any

from jaxtyping import Float
from torch import Tensor

from data_prep.vocabulary import Vocabularies
from matching.contract import Encoded, Matcher
from matching.layers import CoAttention


class CoAttentionMatcher(Matcher):
    """A model of ``encode_query`` and ``encode_code``, whose word states :class:`CoAttention` makes a score of."""

    def __init__(self, config: Any, vocabularies: Vocabularies, width: int) -> None:
        """``width``: of the states that both sides encode their words to."""
        super().__init__(config, vocabularies)
        self.co_attention = CoAttention(width)

    def score_pairs(self, queries: Encoded, codes: Encoded) -> Float[Tensor, " pairs"]:
        """Score query i against code i: the cosine of the two sides as each other's words weight them."""
        return self.co_attention.pairs(queries.states, queries.mask, codes.states, codes.mask)

    def score_matrix(
        self, queries: Encoded, codes: Encoded, *, pairs_per_block: int = 4096
    ) -> Float[Tensor, "queries codes"]:
        """Every query against every code, with the words of no side copied for each pair."""
        return self.co_attention.matrix(queries.states, queries.mask, codes.states, codes.mask, pairs_per_block)
