"""The alignment graph of a query and a method, equation by equation: words are nodes, their affinities edges.

Paper: Global Alignment Learning for Code Search (GALM), eqs. 7 to 13. Symbols: Q -> ``nodes``, C -> ``context``,
A -> ``attention``, Q̂ -> ``aligned``, V -> block cosines, E -> edges; i blocks of width k.

*Departures from the paper*: eqs. 12 and 13 as printed do not conform (V E_D with V n x 16 and E_D n x n; the two shapes
of the head swapped; the sum over nodes missing). Interpreted as in GSMN, their source:

    H¹ = ReLU(E_q V W_1 + b_1);   Hˡ = ReLU(E_D(Hˡ⁻¹) Hˡ⁻¹ W_l + b_l)
    s  = mean over the words j of  w_o · tanh(W_i H_j + b_i) + b_o

A change of an equation is made here: padded, masked, one tensor per equation.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Final

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.parametrizations import weight_norm
from torch_geometric.nn import DenseGCNConv

from galm.config import GalmConfig, Logits
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


def first_edges(config: GalmConfig, nodes: Encoded) -> Float[Tensor, "batch nodes nodes"]:
    """Edges between the words of one side: eq. 10, or the configured replacement."""
    if config.graph in ("uniform", "identity"):
        return fixed_edges(nodes.mask, nodes.states.dtype, alike=config.graph == "uniform")
    return edge_weights(nodes.states, nodes.mask, config.edges, config.edge_temperature, self_loops=config.self_loops)


class GlobalAlignment(nn.Module):
    """The dense GCN and the head: maps block cosines and first edges to one score per graph."""

    def __init__(self, config: GalmConfig) -> None:
        """Weights of ``config.layers`` convolutions and of the head."""
        super().__init__()
        self.config = config
        widths = [config.num_blocks] + [config.gcn_dim] * config.layers
        inputs = [config.num_blocks] * config.layers if config.layer_input == "first" else widths[:-1]
        layers = [DenseGCNConv(width, config.gcn_dim) for width in inputs[: 1 if config.share_layers else None]]
        self.layers = nn.ModuleList(layers * config.layers if config.share_layers else layers)
        read = widths[-1] + (config.num_blocks if config.skip and config.layers else 0)
        if config.head == "perceptron":
            self.head_in = nn.Linear(read, widths[-1])
            self.head_out = nn.Linear(widths[-1], 1)
            if config.weight_norm:
                weight_norm(self.head_in)
                weight_norm(self.head_out)
            elif config.starts_as_cosines:
                nn.init.zeros_(self.head_out.weight)
                nn.init.zeros_(self.head_out.bias)

    def forward(
        self,
        cosines: Float[Tensor, "graphs nodes blocks"],
        first_edges: Float[Tensor, "#graphs nodes nodes"],
        mask: Bool[Tensor, "graphs nodes"],
        weights: Float[Tensor, "graphs nodes"],
    ) -> Float[Tensor, " graphs"]:
        """Score each graph; ``weights`` (rows summing to 1, or 0 without words) average the nodes."""
        states = cosines
        for _, above in self.steps(cosines, first_edges, mask):
            states = above
        if self.config.skip and len(self.layers):
            states = torch.cat((states, cosines), dim=-1)
        found = self.read(states)
        if self.config.starts_as_cosines:
            found = found + cosines.mean(-1)
        return (found * weights).sum(-1)

    def steps(
        self,
        cosines: Float[Tensor, "graphs nodes blocks"],
        first_edges: Float[Tensor, "#graphs nodes nodes"],
        mask: Bool[Tensor, "graphs nodes"],
    ) -> Iterator[tuple[Float[Tensor, "#graphs nodes nodes"], Float[Tensor, "graphs nodes width"]]]:
        """The edges and the nodes of each layer."""
        states, edges = cosines, first_edges
        for number, layer in enumerate(self.layers):
            if number and self.config.graph == "alignment":
                edges = self.edges_between(states, mask)
            below = cosines if self.config.layer_input == "first" else states
            # Rows of the edges sum to 1 or are 0, so the layer's degree normalisation changes nothing.
            states = self.activated(layer(below, edges, add_loop=False))  # [graphs, nodes, width]
            yield edges, states

    def edges_between(
        self, states: Float[Tensor, "graphs nodes width"], mask: Bool[Tensor, "graphs nodes"]
    ) -> Float[Tensor, "graphs nodes nodes"]:
        """Edges between the nodes of a layer, eq. 11."""
        config = self.config
        return edge_weights(states, mask, config.edges, config.edge_temperature, self_loops=config.self_loops)

    def activated(self, states: Float[Tensor, "*graphs nodes width"]) -> Float[Tensor, "*graphs nodes width"]:
        """What follows a convolution."""
        return states.relu() if self.config.activation == "relu" else states

    def read(self, states: Float[Tensor, "*graphs nodes width"]) -> Float[Tensor, "*graphs nodes"]:
        """The score of each node, eq. 13 before its mean."""
        if self.config.head == "mean":
            return states.mean(-1)
        return self.head_out(torch.tanh(self.head_in(states))).squeeze(-1)


FLAT: Final = 0.95
"""Mean relative entropy of the edges of a layer from which on they are as good as uniform."""
ALIKE: Final = 0.05
"""Share of the variance of a layer's nodes inside graphs below which nodes of a graph are as good as equal."""


def graph_diagnostics(
    graph: GlobalAlignment,
    weights: Float[Tensor, "pairs nodes context"],
    cosines: Float[Tensor, "pairs nodes blocks"],
    first_edges: Float[Tensor, "#pairs nodes nodes"],
    nodes: Bool[Tensor, "pairs nodes"],
    context: Bool[Tensor, "pairs context"],
) -> Mapping[str, float]:
    """Relative entropy of attention and edges, and the variance of nodes inside graphs, of each layer."""
    found = {
        "graph/attention_entropy": relative_entropy(weights, nodes, context),
        "graph/layer0_node_variance": share_inside(cosines, nodes),
    }
    for number, (edges, states) in enumerate(graph.steps(cosines, first_edges, nodes), start=1):
        found[f"graph/layer{number}_edge_entropy"] = relative_entropy(edges, nodes, nodes)
        found[f"graph/layer{number}_node_variance"] = share_inside(states, nodes)
    return {name: value for name, value in found.items() if not math.isnan(value)}


def relative_entropy(
    weights: Float[Tensor, "graphs rows columns"],
    rows: Bool[Tensor, "graphs rows"],
    columns: Bool[Tensor, "graphs columns"],
) -> float:
    """Mean of H(row) / log n over the rows that have n of two columns or more: 1 of a uniform row, 0 of a one-hot one.

    NaN where there is no such row.
    """
    entropy = torch.special.entr(weights).sum(-1)  # [graphs, rows]
    count = columns.sum(-1, keepdim=True)  # [graphs, 1]
    used = rows & (count > 1)
    return float((entropy / count.clamp(min=2).log())[used].mean())


def share_inside(states: Float[Tensor, "graphs nodes width"], mask: Bool[Tensor, "graphs nodes"]) -> float:
    """Variance of the nodes around the mean of their graph, as a share of their whole variance.

    NaN where all nodes are equal.
    """
    weights = mask[..., None].to(states.dtype)
    graph_mean = (states * weights).sum(1, keepdim=True) / weights.sum(1, keepdim=True).clamp(min=1)
    mean = states[mask].mean(0)
    inside = ((states - graph_mean) * weights).square().sum()
    return float(inside / ((states - mean) * weights).square().sum())


def degenerate_parts(found: Mapping[str, float]) -> str:
    """A line with names and values of what is flat or alike among diagnostics; "" where nothing is."""
    flat = [name for name, value in found.items() if name.endswith("edge_entropy") and value >= FLAT]
    alike = [name for name, value in found.items() if name.endswith("node_variance") and value < ALIKE]
    parts = [
        *(f"{name} {found[name]:.3f} (1: uniform)" for name in flat),
        *(f"{name} {found[name]:.3f} (0: all nodes of a graph are equal)" for name in alike),
    ]
    return f"the graph is degenerate: {', '.join(parts)}" if parts else ""
