"""Global alignment: graph convolutions over the alignment graph, and the scoring head on its nodes.

Paper: GALM, eqs. 12 and 13 in their consistent reading: the printed shapes do not conform (V E_D with V n x 16 and
E_D n x n; the two shapes of the head swapped; the sum over nodes missing). Interpreted as in GSMN, their source:

    H¹ = ReLU(E_q V W_1 + b_1);   Hˡ = ReLU(E_D(Hˡ⁻¹) Hˡ⁻¹ W_l + b_l)
    s  = mean over the words j of  w_o · tanh(W_i H_j + b_i) + b_o
"""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.parametrizations import weight_norm
from torch_geometric.nn import DenseGCNConv

from galm.alignment_graph import edge_weights
from galm.config import GalmConfig
from galm.ragged import Graphs, convolution, readings


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

    def ragged(
        self, cosines: Float[Tensor, "contexts words blocks"], parts: Sequence[Graphs], *, bfloat16: bool = False
    ) -> Float[Tensor, "contexts graphs"]:
        """:meth:`forward` for every context and the graphs of every part, one part after the other.

        With ``bfloat16`` the products with the weights of the later layers and of the head are rounded to it.
        """
        layers = [layer for layer in self.layers if isinstance(layer, DenseGCNConv)]
        if not layers:  # a word is scored once, since it is the same node in every graph
            found = self._readings(cosines, bfloat16)
            return torch.cat([found[:, graphs.words] @ graphs.pooling for graphs in parts], dim=1)
        below = layers[0].lin(cosines)  # [contexts, words, width], each distinct word once
        scores = []
        for graphs in parts:
            states = self._convolved(graphs, below, layers[0].bias, edges=graphs.edges, distinct=True)
            for layer in layers[1:]:
                above = rounded(layer.lin, states, bfloat16)
                if self.config.graph == "alignment":
                    states = self._convolved(graphs, above, layer.bias, states=states)
                else:
                    states = self._convolved(graphs, above, layer.bias, edges=graphs.edges)
            if self.config.skip:
                states = torch.cat((states, cosines[:, graphs.words]), dim=-1)
            scores.append(self._readings(states, bfloat16) @ graphs.pooling)
        return torch.cat(scores, dim=1)

    def _convolved(
        self,
        graphs: Graphs,
        below: Float[Tensor, "contexts rows width"],
        bias: Float[Tensor, " width"],
        *,
        states: Float[Tensor, "contexts nodes width"] | None = None,
        edges: Float[Tensor, " cells"] | None = None,
        distinct: bool = False,
    ) -> Float[Tensor, "contexts nodes width"]:
        """A layer by the kernels; cosine edges are the products of nodes of length sqrt(temperature)."""
        config, scale = self.config, 1.0
        if states is not None and config.edges == "cosine":
            states = normalize(states, dim=-1) * config.edge_temperature**0.5
        elif config.edges == "scaled":
            scale = config.gcn_dim**-0.5
        inside = bias if config.activation == "relu" else None  # the kernels' ReLU comes with the bias
        found = convolution(
            graphs, below, inside, states=states, edges=edges, scale=scale, self_loops=config.self_loops,
            distinct=distinct,
        )  # fmt: skip
        return found if inside is not None else found + bias

    def _readings(
        self, states: Float[Tensor, "contexts nodes width"], bfloat16: bool
    ) -> Float[Tensor, "contexts nodes"]:
        """:meth:`read`, by the kernels."""
        if self.config.head == "mean":
            return states.mean(-1)
        inner = rounded(self.head_in, states, bfloat16)
        return readings(inner, self.head_out.weight[0]) + self.head_out.bias

    def read(self, states: Float[Tensor, "*graphs nodes width"]) -> Float[Tensor, "*graphs nodes"]:
        """The score of each node, eq. 13 before its mean."""
        if self.config.head == "mean":
            return states.mean(-1)
        return self.head_out(torch.tanh(self.head_in(states))).squeeze(-1)


def rounded(linear: nn.Module, states: Float[Tensor, "*rows width"], bfloat16: bool) -> Float[Tensor, "*rows out"]:
    """Apply a linear layer, optionally in bfloat16; the result has the precision of ``states``."""
    with torch.autocast(states.device.type, torch.bfloat16, enabled=bfloat16):
        product: Tensor = linear(states)
    return product.to(states.dtype)
