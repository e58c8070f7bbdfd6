"""Eqs. 7 to 9 for every query against every code, without padding: the fast form of ``alignment_graph.py``.

The plain form works on a tensor [queries, codes, words, dim]. Here the words of all nodes stand in one list, and the
codes are taken one after the other: one product gives the logits of all words, then a block of [words, dim] per code
stays in the processor's cache. The backward pass forms Q̂ again instead of storing it. Equal to the plain form within
float32 rounding, in values and gradients.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from galm.alignment_graph import CLAMP


def interleaved(words: Float[Tensor, "words dim"], blocks: int) -> Float[Tensor, "words dim"]:
    """The columns reordered so that the blocks' k-th entries are neighbours: sums over a block then run over rows."""
    return words.unflatten(1, (blocks, -1)).transpose(1, 2).reshape(words.shape)  # [words, k * blocks]


def block_sums(products: Float[Tensor, "words dim"], blocks: int) -> Float[Tensor, "words blocks"]:
    """Sums over each block of interleaved columns."""
    return products.unflatten(1, (-1, blocks)).sum(1)


class RaggedBlockCosines(torch.autograd.Function):
    """V of every node word against every context, from the logits of all node words with all context words."""

    @staticmethod
    def forward(
        ctx: Any,
        logits: Float[Tensor, "words contextwords"],
        nodes: Float[Tensor, "words dim"],
        context: Float[Tensor, "contextwords dim"],
        lengths: Sequence[int],
        blocks: int,
    ) -> Float[Tensor, "contexts words blocks"]:
        """``nodes`` and ``context`` interleaved; ``lengths`` are the words of each context, in order, 0 allowed."""
        ctx.lengths, ctx.blocks = lengths, blocks
        cosines = nodes.new_zeros(len(lengths), len(nodes), blocks)
        node_norms = block_sums(nodes.square(), blocks)  # squared
        aligned, products = torch.empty_like(nodes), torch.empty_like(nodes)
        weights, start = torch.zeros_like(logits), 0
        for row, length in enumerate(lengths):
            if length:
                part = slice(start, start + length)
                weights[:, part] = share = torch.softmax(logits[:, part], dim=1)
                torch.mm(share, context[part], out=aligned)
                norms = block_sums(torch.mul(aligned, aligned, out=products), blocks).mul_(node_norms)
                dots = block_sums(torch.mul(aligned, nodes, out=products), blocks)
                torch.mul(dots, norms.clamp_(min=CLAMP**2).rsqrt_(), out=cosines[row])
            start += length
        ctx.save_for_backward(weights, nodes, context, node_norms, cosines)
        return cosines

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Float[Tensor, "contexts words blocks"]) -> tuple[Tensor | None, ...]:
        """Of V = d r with d = <Q̂, Q>, r = (|Q̂|² |Q|²)^(-1/2): dQ̂ = g r Q - g V / |Q̂|² Q̂, and the same for Q."""
        weights, nodes, context, node_norms, cosines = ctx.saved_tensors
        to_nodes, to_context, to_logits = torch.zeros_like(nodes), torch.zeros_like(context), torch.zeros_like(weights)
        aligned, own = torch.empty_like(nodes), torch.zeros_like(node_norms)
        wide = nodes.unflatten(1, (-1, ctx.blocks))
        start = 0
        for row, length in enumerate(ctx.lengths):
            if length:
                part = slice(start, start + length)
                share, words = weights[:, part].contiguous(), context[part]
                torch.mm(share, words, out=aligned)
                norms = block_sums(aligned.square(), ctx.blocks)
                products = norms * node_norms
                alive = products > CLAMP**2  # below the clamp r is constant
                cross = gradient[row] * products.clamp_(min=CLAMP**2).rsqrt_()  # [words, blocks]
                turn = torch.where(alive, gradient[row] * cosines[row], 0.0)
                seen = aligned.view_as(wide)
                to_nodes.view_as(wide).addcmul_(seen, cross[:, None])
                own += turn
                seen.mul_((turn / norms.clamp(min=CLAMP**2)).neg_()[:, None]).addcmul_(wide, cross[:, None])
                to_share = torch.mm(aligned, words.T)
                to_context[part] = torch.mm(share.T, aligned)
                to_logits[:, part] = share * (to_share - (to_share * share).sum(1, keepdim=True))
            start += length
        to_nodes.view_as(wide).sub_(wide * (own / node_norms.clamp(min=CLAMP**2))[:, None])
        return to_logits, to_nodes, to_context, None, None


def all_block_cosines(
    logits: Float[Tensor, "words contextwords"],
    nodes: Float[Tensor, "words dim"],
    context: Float[Tensor, "contextwords dim"],
    lengths: Sequence[int],
    blocks: int,
) -> Float[Tensor, "contexts words blocks"]:
    """V[c, j] of node word j against context c (eqs. 7 to 9), the next ``lengths[c]`` of the context words."""
    left, right = interleaved(nodes, blocks), interleaved(context, blocks)
    result: Tensor = RaggedBlockCosines.apply(logits, left, right, lengths, blocks)  # type: ignore[no-untyped-call]
    return result
