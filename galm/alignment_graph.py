"""The alignment graph of a query and a method, equation by equation: words are nodes, their affinities edges.

Paper: Global Alignment Learning for Code Search (GALM), eqs. 7 to 11. Symbols: Q -> ``nodes``, C -> ``context``,
A -> ``attention``, Q̂ -> ``aligned``, V -> block cosines, E -> edges; i blocks of width k.

A change of an equation is made here, or in ``dense_gcn.py`` for eqs. 12 and 13: padded, masked, one tensor per
equation. The kernels compute the same faster, for the configurations that ``kernels.py`` lists.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import normalize

from galm.config import Logits
from modeling.base import Encoded
from modeling.layers import masked_softmax

CLAMP = 1e-8
"""Minimum product of norms in a block cosine, so that a zero block has cosine 0."""


def prepared(words: Float[Tensor, "*batch words dim"], logits: Logits, temperature: float) -> tuple[Tensor, Tensor]:
    """The left and right factors whose product is the logits of ``words`` with themselves."""
    if logits == "cosine":
        unit = normalize(words, dim=-1)
        return unit * temperature, unit
    if logits == "scaled":
        return words / words.shape[-1] ** 0.5, words
    return words, words


def affinities(
    nodes: Float[Tensor, "*batch nodes dim"],
    context: Float[Tensor, "*contexts context dim"],
    logits: Logits,
    temperature: float,
) -> Float[Tensor, "*contexts nodes context"]:
    """Q Cᵀ, the logits of eq. 7."""
    left, right = prepared(nodes, logits, temperature)[0], prepared(context, logits, temperature)[1]
    return left @ right.transpose(-1, -2)


def attention(
    nodes: Float[Tensor, "*batch nodes dim"],
    context: Float[Tensor, "*batch context dim"],
    context_mask: Bool[Tensor, "*batch context"],
    logits: Logits = "raw",
    temperature: float = 1.0,
) -> Float[Tensor, "*batch nodes context"]:
    """A = softmax over the context words of (Q Cᵀ), eq. 7; rows sum to 1."""
    return masked_softmax(affinities(nodes, context, logits, temperature), context_mask[..., None, :])


def pooled_attention(
    nodes: Encoded, context: Encoded, logits: Logits = "raw", temperature: float = 1.0
) -> Float[Tensor, "batch nodes context"]:
    """One attention for all nodes: softmax over the context words of tanh of their largest affinities, eq. 3."""
    affinity = affinities(nodes.states, context.states, logits, temperature)
    affinity = affinity.masked_fill(~nodes.mask[:, :, None], float("-inf"))
    largest = torch.tanh(affinity.amax(1, keepdim=True))  # [batch, 1, context]
    return masked_softmax(largest, context.mask[:, None]).expand_as(affinity)


def block_cosines(
    aligned: Float[Tensor, "*batch nodes dim"], nodes: Float[Tensor, "*batch nodes dim"], blocks: int
) -> Float[Tensor, "*batch nodes blocks"]:
    """V[j, b] = cos(Q̂[j, b], Q[j, b]) over the b-th contiguous slice of width dim / blocks, eqs. 8 and 9."""
    left, right = aligned.unflatten(-1, (blocks, -1)), nodes.unflatten(-1, (blocks, -1))  # [batch, nodes, blocks, k]
    product = (left * right).sum(-1)  # [batch, nodes, blocks]
    norms = left.square().sum(-1) * right.square().sum(-1)  # [batch, nodes, blocks]
    return product / norms.clamp(min=CLAMP**2).sqrt()


def edge_weights(
    states: Float[Tensor, "*batch nodes width"],
    mask: Bool[Tensor, "*batch nodes"],
    logits: Logits = "raw",
    temperature: float = 1.0,
    *,
    self_loops: bool = True,
) -> Float[Tensor, "*batch nodes nodes"]:
    """E = row softmax of (H Hᵀ): eq. 10 on the query's own words, eq. 11 on a layer's nodes; the graph is complete.

    Without ``self_loops`` a node has edges to others only, and one that is alone has none.
    """
    left, right = prepared(states, logits, temperature)
    allowed = mask[..., None, :]  # [batch, 1, nodes]
    if not self_loops:
        allowed = allowed & ~torch.eye(mask.shape[-1], dtype=torch.bool, device=mask.device)
    return masked_softmax(left @ right.transpose(-1, -2), allowed)


def fixed_edges(
    mask: Bool[Tensor, "graphs nodes"], dtype: torch.dtype, *, alike: bool
) -> Float[Tensor, "graphs nodes nodes"]:
    """Edges independent of the words: uniform if ``alike``, else only self-loops."""
    edges = mask[:, None, :] & mask[:, :, None] if alike else torch.diag_embed(mask)
    return edges.to(dtype) / edges.sum(-1, keepdim=True).clamp(min=1)
