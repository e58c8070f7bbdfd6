"""Scores of all pairs: every graph of one side's words in every context of the other side.

Equal words have equal vectors, so cosines, and their products with the first layer's weight, are computed once per
context and distinct word; with pooled attention, which depends on all words of a graph, once per context and node. The
C kernels are used for the configurations that they compute, else the plain equations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch_geometric.nn import DenseGCNConv

from galm.alignment_graph import GlobalAlignment, affinities, block_cosines
from galm.config import GalmConfig
from galm.fast.kernel_functions import (
    Graphs,
    block_cosines_of,
    convolution,
    interleaved,
    offsets_of,
    readings,
    torch_kernels,
)
from galm.fast.kernels import KERNEL_FORM, not_computed, say_once
from modeling.base import Encoded
from modeling.layers import masked_softmax

GRAPHS_PER_PART = 64
"""Graphs per part, so that their nodes fit in the CPU cache."""
CACHED_FLOATS = 2048 * 32
"""Size of the states of a block, counting one vector of ``gcn_dim`` floats per pair, that fits in the CPU cache."""


@dataclass(frozen=True, slots=True)
class EncodedWords(Encoded):
    """Word vectors, the id of each word, and which words are nodes of a graph."""

    words: Int[Tensor, "batch words"]  # equal where the vectors are equal
    nodes: Bool[Tensor, "batch words"]


@dataclass(frozen=True, slots=True)
class Nodes:
    """The graphs of one side: nodes, edges and node weights of each list of words."""

    vectors: Float[Tensor, "words dim"]  # of the distinct words, or of every node
    places: Int[Tensor, "graphs nodes"]  # row of each node's word in ``vectors``
    mask: Bool[Tensor, "graphs nodes"]
    edges: Float[Tensor, "graphs nodes nodes"]
    weights: Float[Tensor, "graphs nodes"]
    owners: Int[Tensor, " words"] | None = None  # the graph of each vector, for pooled attention

    def __len__(self) -> int:
        return len(self.places)

    def parts(self) -> list["Nodes"]:
        """Parts of a few graphs each, without columns that are padding in all of them."""
        parts = []
        for at in range(0, len(self), GRAPHS_PER_PART):
            rows = slice(at, at + GRAPHS_PER_PART)
            longest = int((self.mask[rows] * torch.arange(1, 1 + self.mask.shape[1], device=self.mask.device)).max())
            columns = slice(max(1, longest))
            lists = {name: getattr(self, name)[rows, columns] for name in ("places", "mask", "weights")}
            parts.append(replace(self, edges=self.edges[rows, columns, columns], **lists))
        return parts


def distinct_words(
    encoded: EncodedWords, *, every_node: bool = False
) -> tuple[Float[Tensor, "distinct dim"], Int[Tensor, "batch words"], Int[Tensor, " distinct"]]:
    """The vectors of the distinct words, their row for every word of ``encoded`` (0 at pads), and a list that has each.

    With ``every_node`` each word of each list is taken as distinct.
    """
    owners = encoded.mask.nonzero()[:, 0]
    keys = torch.arange(len(owners), device=owners.device) if every_node else encoded.words[encoded.mask]
    _, rows = torch.unique(keys, return_inverse=True)
    one_of_each = torch.empty(int(rows.max()) + 1 if len(rows) else 0, dtype=torch.long, device=rows.device)
    one_of_each.scatter_reduce_(0, rows, torch.arange(len(rows), device=rows.device), "amin", include_self=False)
    places = torch.zeros_like(encoded.words)
    places[encoded.mask] = rows
    vectors, owners = encoded.states[encoded.mask][one_of_each], owners[one_of_each]
    if not len(rows):  # no words: a row for the pads
        return vectors.new_zeros(1, vectors.shape[1]), places, owners.new_zeros(1)
    return vectors, places, owners


def all_scores(
    config: GalmConfig,
    graph: GlobalAlignment,
    nodes: Nodes,
    context: Encoded,
    pairs_per_block: int,
    *,
    bfloat16: bool,
) -> Float[Tensor, "contexts graphs"]:
    """The score of every graph in every context, at most about ``pairs_per_block`` at a time.

    By the kernels if they compute the configuration, which is several times faster and equal within rounding.
    """
    at_once = min(pairs_per_block, CACHED_FLOATS // config.gcn_dim)  # pairs
    step = max(1, at_once // min(len(nodes), GRAPHS_PER_PART))  # contexts
    blocks = (context.rows(slice(at, at + step)) for at in range(0, len(context), step))
    parts = nodes.parts()
    if is_fast(config, nodes.vectors):
        fast = KernelGraph(graph, bfloat16=bfloat16)
        graphs = [Graphs.of(part.places, part.mask, part.edges, part.weights) for part in parts]
        return torch.cat([fast.scores(kernel_cosines(config, nodes, block), graphs) for block in blocks])
    rows = []
    for block in blocks:
        cosines = plain_cosines(config, nodes, block)
        rows.append(torch.cat([plain_scores(graph, cosines, part) for part in parts], dim=1))
    return torch.cat(rows)


def kernel_cosines(config: GalmConfig, nodes: Nodes, context: Encoded) -> Float[Tensor, "contexts words blocks"]:
    """V of every row of ``nodes.vectors`` in every context, eqs. 7 to 9, by the kernels."""
    words, blocks = context.states[context.mask], config.num_blocks  # [contextwords, dim]
    offsets, logits = offsets_of(context.mask.sum(1)), attention_logits(config, nodes, words)
    return block_cosines_of(logits, interleaved(nodes.vectors, blocks), interleaved(words, blocks), offsets, blocks)


def plain_cosines(config: GalmConfig, nodes: Nodes, context: Encoded) -> Float[Tensor, "contexts words blocks"]:
    """:func:`kernel_cosines` by the plain equations."""
    weights = masked_softmax(attention_logits(config, nodes, context.states), context.mask[:, None, :])
    return block_cosines(weights @ context.states, nodes.vectors.expand(len(context), -1, -1), config.num_blocks)


def attention_logits(
    config: GalmConfig, nodes: Nodes, words: Float[Tensor, "*contexts contextwords dim"]
) -> Float[Tensor, "*contexts words contextwords"]:
    """Logits of the attention: eq. 7, or eq. 3, tanh of the largest over all words of a graph."""
    logits = affinities(nodes.vectors, words, config.attention, config.attention_temperature)
    if nodes.owners is None:
        return logits
    place = nodes.owners[:, None].expand_as(logits)
    shape = (*logits.shape[:-2], len(nodes), logits.shape[-1])
    largest = logits.new_zeros(shape).scatter_reduce(-2, place, logits, "amax", include_self=False)
    return largest.tanh()[..., nodes.owners, :]


def plain_scores(
    graph: GlobalAlignment, cosines: Float[Tensor, "contexts words blocks"], nodes: Nodes
) -> Float[Tensor, "contexts graphs"]:
    """Scores by the plain equations, from the cosines of distinct words."""
    size = (len(cosines), len(nodes))
    pairs = cosines[:, nodes.places].flatten(0, 1)  # [contexts * graphs, nodes, blocks]
    spread = [each.expand(len(cosines), *each.shape).flatten(0, 1) for each in (nodes.edges, nodes.mask, nodes.weights)]
    scores: Tensor = graph(pairs, *spread)
    return scores.view(size)


def is_fast(config: GalmConfig, vectors: Tensor) -> bool:
    """Whether the kernels compute this model on these vectors; if only the model is beyond them, one line says so."""
    if vectors.dtype != torch.float32 or vectors.device.type != "cpu" or torch_kernels() is None:
        return False
    option = not_computed(config, KERNEL_FORM)
    if option:
        say_once(f"the C kernels do not compute {option}: GALM runs in plain PyTorch, which takes twice as long")
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
        of_words = cosines.mean(-1) if self.config.starts_as_cosines else None  # [contexts, words]
        if not self.layers:  # a word is scored once, since it is the same node in every graph
            found = self._readings(cosines) if of_words is None else self._readings(cosines) + of_words
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
            found = self._readings(states)
            scores.append((found if of_words is None else found + of_words[:, graphs.words]) @ graphs.pooling)
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
