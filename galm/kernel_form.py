"""All scores of a batch by the C kernels, where they compute the configuration: equal to the plain equations.

Word vectors come directly from embedding tables, so equal words have equal vectors: terms that depend only on a word
and a context (eqs. 7 to 9, and V times the first layer's weight) are computed once per distinct word.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch_geometric.nn import DenseGCNConv

from galm.config import GalmConfig
from galm.dense_gcn import GlobalAlignment
from galm.kernel_functions import Graphs, convolution, readings, torch_kernels
from galm.kernels import KERNEL_FORM, not_computed, say_once


def is_fast(config: GalmConfig, vectors: Tensor) -> bool:
    """Whether the kernels compute this model on these vectors; if only the model is beyond them, one line says so."""
    if vectors.dtype != torch.float32 or vectors.device.type != "cpu" or torch_kernels() is None:
        return False
    option = not_computed(config, KERNEL_FORM)
    if option:
        say_once(f"the C kernels do not compute {option}: GALM runs in plain PyTorch, which is several times slower")
    return not option


class KernelGraph:
    """:class:`GlobalAlignment` by the kernels."""

    def __init__(self, graph: GlobalAlignment, *, bfloat16: bool) -> None:
        """With ``bfloat16`` the products with the weights of the later layers and of the head are rounded to it."""
        self.graph, self.config, self.bfloat16 = graph, graph.config, bfloat16
        self.layers = [layer for layer in graph.layers if isinstance(layer, DenseGCNConv)]

    def scores(
        self, cosines: Float[Tensor, "contexts words blocks"], parts: Sequence[Graphs]
    ) -> Float[Tensor, "contexts graphs"]:
        """Eqs. 12 and 13 for every context and the graphs of every part, one part after the other."""
        if not self.layers:  # a word is scored once, since it is the same node in every graph
            found = self._readings(cosines)
            return torch.cat([found[:, graphs.words] @ graphs.pooling for graphs in parts], dim=1)
        below = self.layers[0].lin(cosines)  # [contexts, words, width], each distinct word once
        scores = []
        for graphs in parts:
            states = self._convolved(graphs, below, 0, graphs.edges, distinct=True)
            for number, layer in enumerate(self.layers[1:], start=1):
                edges = None if self.config.graph == "alignment" else graphs.edges
                states = self._convolved(graphs, self._rounded(layer.lin, states), number, edges, states)
            if self.config.skip:
                states = torch.cat((states, cosines[:, graphs.words]), dim=-1)
            scores.append(self._readings(states) @ graphs.pooling)
        return torch.cat(scores, dim=1)

    def _convolved(
        self,
        graphs: Graphs,
        below: Float[Tensor, "contexts rows width"],
        number: int,
        edges: Float[Tensor, " cells"] | None,
        states: Float[Tensor, "contexts nodes width"] | None = None,
        *,
        distinct: bool = False,
    ) -> Float[Tensor, "contexts nodes width"]:
        """A layer; without ``edges`` those of ``states``. Cosines are products of nodes of length sqrt(temperature)."""
        config, bias = self.config, self.layers[number].bias
        states = None if edges is not None else states
        if states is not None and config.edges == "cosine":
            states = normalize(states, dim=-1) * config.edge_temperature**0.5
        scale = config.gcn_dim**-0.5 if config.edges == "scaled" else 1.0
        inside = bias if config.activation == "relu" else None  # the kernels' ReLU comes with the bias
        found = convolution(graphs, below, inside, edges, states, distinct, scale, config.self_loops)
        return found if inside is not None else found + bias

    def _readings(self, states: Float[Tensor, "contexts nodes width"]) -> Float[Tensor, "contexts nodes"]:
        if self.config.head == "mean":
            return states.mean(-1)
        inner = self._rounded(self.graph.head_in, states)
        return readings(inner, self.graph.head_out.weight[0]) + self.graph.head_out.bias

    def _rounded(self, linear: nn.Module, states: Float[Tensor, "*rows width"]) -> Float[Tensor, "*rows out"]:
        """A linear layer, in bfloat16 if so configured; the result has the precision of ``states``."""
        with torch.autocast(states.device.type, torch.bfloat16, enabled=self.bfloat16):
            product: Tensor = linear(states)
        return product.to(states.dtype)
