"""Attention layers shared by models: over the words of one side, and between both sides. Pads get no weight."""

from math import isqrt
from typing import Final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, arange, nn
from torch.nn.functional import normalize

from modeling.base import Encoded


def masked_softmax(
    logits: Float[Tensor, "*batch rows columns"], mask: Bool[Tensor, "*#batch #rows columns"], *, dim: int = -1
) -> Float[Tensor, "*batch rows columns"]:
    """Softmax over the axis ``dim`` where ``mask`` is True; 0 elsewhere, and all 0 in a row that is fully masked."""
    weights = torch.softmax(logits.masked_fill(~mask, float("-inf")), dim=dim)
    return weights.masked_fill(~mask, 0.0)  # a row without a True is NaN before this line


class WordAttention(nn.Module):
    """One weight per word: softmax over the words of a · x_i, with a learned vector a (UNIF, eq. 1 of TabCS)."""

    def __init__(self, dim: int) -> None:
        """The vector a is initialised near 0, so that all words start with about the same weight."""
        super().__init__()
        self.vector = nn.Parameter(torch.empty(dim).uniform_(-0.05, 0.05))

    def forward(
        self, states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"]
    ) -> Float[Tensor, "batch words 1"]:
        """Weights that sum to 1 over the words of each row."""
        return masked_softmax((states @ self.vector)[:, None], mask[:, None]).transpose(1, 2)


class PositionAttention(nn.Module):
    """One weight per position and dimension, as the releases of TabCS and FcarCS compute it.

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
        words = states.masked_fill(~mask[:, :, None], 0.0).transpose(1, 2)
        logits = torch.tanh(words @ self.weight + self.bias)  # [batch, dim, positions]
        return masked_softmax(logits, mask[:, None]).transpose(1, 2)


class CoAttention(nn.Module):
    """Each side pooled with weights that depend on the other (CARLCS eqs. 5 to 9, TabCS eqs. 5 to 9).

    F = tanh(C U Qᵀ); w_C = softmax over code words of the largest F of each row, w_Q = softmax over query words of the
    largest of each column; the score is cos(Cᵀ w_C, Qᵀ w_Q). The largest of tanh is the tanh of the largest.
    """

    def __init__(self, dim: int) -> None:
        """U has Xavier initialisation (Glorot and Bengio, 2010)."""
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
        """The score of query i with code i; 0 if either side has no words."""
        left, right = _with_pads(self.projected(codes), code_mask), _with_pads(queries, query_mask, right=True)
        affinity = left @ right.transpose(1, 2)  # [pairs, codewords, querywords]
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
        rows = max(1, min(_ROWS, isqrt(pairs_per_block)))
        left, code_places = word_blocks(codes, code_mask, rows)
        right, query_places = word_blocks(queries, query_mask, rows)
        words = [_with_pads(block.states, block.mask, right=True).flatten(0, 1).T for block in right]
        scores = []
        for block in left:
            projected = _with_pads(self.projected(block.states), block.mask).flatten(0, 1)
            pairs = zip(right, words, strict=True)
            scores.append(torch.cat([_block_scores(projected @ theirs, of, block) for of, theirs in pairs]))
        return torch.cat(scores, dim=1)[query_places][:, code_places]


def _block_scores(
    affinity: Float[Tensor, "allcodewords allquerywords"], queries: Encoded, codes: Encoded
) -> Float[Tensor, "queries codes"]:
    """The scores of all pairs of two blocks, from one matrix of their words' dot products."""
    product = affinity.view(*codes.mask.shape, *queries.mask.shape)  # [codes, codewords, queries, querywords]
    of_rows = torch.tanh(product.amax(3)).transpose(1, 2)  # [codes, queries, codewords]
    of_columns = torch.tanh(product.amax(1)).transpose(0, 1)  # [queries, codes, querywords]
    of_code = masked_softmax(of_rows, codes.mask[:, None]) @ codes.states  # [codes, queries, dim]
    of_query = masked_softmax(of_columns, queries.mask[:, None]) @ queries.states  # [queries, codes, dim]
    return (normalize(of_code, dim=-1).transpose(0, 1) * normalize(of_query, dim=-1)).sum(-1)


_ROWS: Final = 16
"""Rows of each side in a block of :meth:`CoAttention.matrix`: the products of its words fit in a core's cache."""

_FAR: Final = -1e4
"""Added to the dot products of pads, so that they are never the maximum if there is a word, nor get a gradient."""


def _with_pads(
    states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"], *, right: bool = False
) -> Float[Tensor, "batch words wider"]:
    """Append two columns that make left · right far below 0 at the pads of either; faster than masking the product."""
    pads = torch.where(mask, 0.0, _FAR).to(states.dtype)[:, :, None]
    return torch.cat([states, torch.ones_like(pads), pads] if right else [states, pads, torch.ones_like(pads)], dim=2)


def word_blocks(
    states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"], rows: int
) -> tuple[list[Encoded], Int[Tensor, " batch"]]:
    """Blocks of at most ``rows`` rows, shortest first, each as wide as its longest row and at least 1.

    In a block a row's words keep their order and precede its pads, wherever the pads were.

    Returns:
        The blocks, and for each row of the batch its index in the concatenated blocks.
    """
    lengths = mask.sum(1)
    order = lengths.argsort(stable=True)
    starts = arange(len(mask), device=mask.device)[:, None] * mask.shape[1]
    places = mask.sort(dim=1, descending=True, stable=True).indices + starts  # of each row, words before pads
    flat = states.flatten(0, 1)
    blocks = []
    for chosen in order.split(rows):
        width = max(1, int(lengths[chosen[-1]]))
        found = flat.index_select(0, places[chosen, :width].flatten()).view(len(chosen), width, -1)
        blocks.append(Encoded(found, arange(width, device=mask.device) < lengths[chosen, None]))
    return blocks, order.argsort()
