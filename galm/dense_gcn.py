"""Global alignment: graph convolutions over the alignment graph, and the scoring head on its nodes.

Paper: GALM, eqs. 12 and 13 in their consistent reading: the printed shapes do not conform (V E_D with V n x 16 and
E_D n x n; the two shapes of the head swapped; the sum over nodes missing). Interpreted as in GSMN, their source:

    H¹ = ReLU(E_q V W_1 + b_1);   Hˡ = ReLU(E_D(Hˡ⁻¹) Hˡ⁻¹ W_l + b_l)
    s  = mean over the words j of  w_o · tanh(W_i H_j + b_i) + b_o
"""

from collections.abc import Iterator

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm
from torch_geometric.nn import DenseGCNConv

from galm.alignment_graph import edge_weights
from galm.config import GalmConfig


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
        return (self.read(states) * weights).sum(-1)

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
