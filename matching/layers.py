"""Attention layers that models share: over the words of one side, and between two sides. Pads never get weight."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import normalize


def masked_softmax(
    logits: Float[Tensor, "*batch rows columns"], mask: Bool[Tensor, "*#batch #rows columns"]
) -> Float[Tensor, "*batch rows columns"]:
    """Softmax over the last axis where ``mask`` is True; 0 elsewhere, and all 0 in a row without a True."""
    weights = torch.softmax(logits.masked_fill(~mask, float("-inf")), dim=-1)
    return weights.masked_fill(~mask, 0.0)  # a row without a True is NaN before this line


class WordAttention(nn.Module):
    """One weight a word: softmax over the words of a · x_i, with a learned vector a (UNIF, eq. 1 of TabCS)."""

    def __init__(self, dim: int) -> None:
        """The vector a starts near 0, so that all words start with about the same weight."""
        super().__init__()
        self.vector = nn.Parameter(torch.empty(dim).uniform_(-0.05, 0.05))

    def forward(
        self, states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"]
    ) -> Float[Tensor, "batch words 1"]:
        """Weights that sum to 1 over the words of each row."""
        return masked_softmax((states @ self.vector)[:, None], mask[:, None]).transpose(1, 2)


class PositionAttention(nn.Module):
    """One weight a position and dimension, as the releases of TabCS and FcarCS compute it.

    Z = softmax over the positions of tanh(Xᵀ W + b) with X in [positions, dim], W in [positions, positions].
    """

    def __init__(self, positions: int) -> None:
        """W and b as in the releases, uniform in ±0.05."""
        super().__init__()
        self.weight = nn.Parameter(torch.empty(positions, positions).uniform_(-0.05, 0.05))
        self.bias = nn.Parameter(torch.empty(positions).uniform_(-0.05, 0.05))

    def forward(
        self, states: Float[Tensor, "batch positions dim"], mask: Bool[Tensor, "batch positions"]
    ) -> Float[Tensor, "batch positions dim"]:
        """Weights that sum to 1 over the positions, for each row and dimension."""
        logits = torch.tanh(states.transpose(1, 2) @ self.weight + self.bias)  # [batch, dim, positions]
        return masked_softmax(logits, mask[:, None]).transpose(1, 2)


class CoAttention(nn.Module):
    """Each side read with weights that the other decides (CARLCS eqs. 5 to 9, TabCS eqs. 5 to 9).

    F = tanh(C U Qᵀ); w_C = softmax over code words of the largest F of each row, w_Q = softmax over query words of the
    largest of each column; the score is cos(Cᵀ w_C, Qᵀ w_Q). The largest of tanh is the tanh of the largest.
    """

    def __init__(self, dim: int) -> None:
        """U as Glorot and Bengio (2010) draw it."""
        super().__init__()
        self.weight = nn.Parameter(torch.empty(dim, dim))
        nn.init.xavier_uniform_(self.weight)

    def projected(self, codes: Float[Tensor, "codes codewords dim"]) -> Float[Tensor, "codes codewords dim"]:
        """C U, which does not depend on the query."""
        return codes @ self.weight

    def pairs(
        self,
        queries: Float[Tensor, "pairs querywords dim"],
        query_mask: Bool[Tensor, "pairs querywords"],
        codes: Float[Tensor, "pairs codewords dim"],
        code_mask: Bool[Tensor, "pairs codewords"],
    ) -> Float[Tensor, " pairs"]:
        """The score of query i with code i; 0 where a side has no words."""
        affinity = self.projected(codes) @ queries.transpose(1, 2)  # [pairs, codewords, querywords]
        alive = code_mask[:, :, None] & query_mask[:, None, :]
        affinity = affinity.masked_fill(~alive, float("-inf"))
        code_weights = masked_softmax(torch.tanh(affinity.amax(2))[:, None], code_mask[:, None])
        query_weights = masked_softmax(torch.tanh(affinity.amax(1))[:, None], query_mask[:, None])
        of_code, of_query = (code_weights @ codes).squeeze(1), (query_weights @ queries).squeeze(1)  # [pairs, dim]
        return (normalize(of_code, dim=-1) * normalize(of_query, dim=-1)).sum(-1)

    def matrix(
        self,
        queries: Float[Tensor, "queries querywords dim"],
        query_mask: Bool[Tensor, "queries querywords"],
        codes: Float[Tensor, "codes codewords dim"],
        code_mask: Bool[Tensor, "codes codewords"],
        pairs_per_block: int,
    ) -> Float[Tensor, "queries codes"]:
        """:meth:`pairs` for every query with every code, at most ``pairs_per_block`` pairs at a time."""
        step = max(1, pairs_per_block // max(1, len(queries)))  # codes a block
        scores = []
        for at in range(0, len(codes), step):
            block, mask = codes[at : at + step], code_mask[at : at + step]
            affinity = torch.einsum("cwd,qvd->qcwv", self.projected(block), queries)
            alive = mask[None, :, :, None] & query_mask[:, None, None, :]
            affinity = affinity.masked_fill(~alive, float("-inf"))  # [queries, block, codewords, querywords]
            code_weights = masked_softmax(torch.tanh(affinity.amax(3)), mask[None])  # [queries, block, codewords]
            query_weights = masked_softmax(torch.tanh(affinity.amax(2)), query_mask[:, None])
            of_code = torch.einsum("qcw,cwd->qcd", code_weights, block)
            of_query = torch.einsum("qcv,qvd->qcd", query_weights, queries)
            scores.append((normalize(of_code, dim=-1) * normalize(of_query, dim=-1)).sum(-1))
        return torch.cat(scores, dim=1)
