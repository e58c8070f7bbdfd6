"""Scores of all pairs: every graph of one side's words in every context of the other side.

Equal words have equal vectors, so cosines are computed once per context and distinct word; with pooled attention,
which depends on all words of a graph, once per context and node.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from galm.alignment_graph import block_cosines, prepared
from galm.config import GalmConfig
from galm.dense_gcn import GlobalAlignment
from galm.native import fits
from galm.ragged import Graphs, block_cosines_of, interleaved, offsets_of
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
            parts.append(
                replace(
                    self,
                    places=self.places[rows, columns],
                    mask=self.mask[rows, columns],
                    edges=self.edges[rows, columns, columns],
                    weights=self.weights[rows, columns],
                )
            )
        return parts


def distinct_words(encoded: EncodedWords) -> tuple[Float[Tensor, "distinct dim"], Int[Tensor, "batch words"]]:
    """The vectors of the distinct words, and their row for every word of ``encoded`` (0 at pads)."""
    _, rows = torch.unique(encoded.words[encoded.mask], return_inverse=True)
    one_of_each = torch.empty(int(rows.max()) + 1 if len(rows) else 0, dtype=torch.long, device=rows.device)
    one_of_each.scatter_reduce_(0, rows, torch.arange(len(rows), device=rows.device), "amin", include_self=False)
    places = torch.zeros_like(encoded.words)
    places[encoded.mask] = rows
    vectors = encoded.states[encoded.mask][one_of_each]
    return vectors if len(rows) else vectors.new_zeros(1, vectors.shape[1]), places  # no words: a row for the pads


def every_node(
    encoded: EncodedWords,
) -> tuple[Float[Tensor, "nodes dim"], Int[Tensor, "batch words"], Int[Tensor, " nodes"]]:
    """The vectors of all words, their row for every word of ``encoded`` (0 at pads), and each row's graph."""
    owners = encoded.mask.nonzero()[:, 0]
    places = torch.zeros_like(encoded.words)
    places[encoded.mask] = torch.arange(len(owners), device=places.device)
    vectors = encoded.states[encoded.mask]
    if not len(owners):  # a row for the pads
        return vectors.new_zeros(1, vectors.shape[1]), places, owners.new_zeros(1)
    return vectors, places, owners


def all_scores(
    config: GalmConfig,
    graph: GlobalAlignment,
    nodes: Nodes,
    context: EncodedWords,
    pairs_per_block: int,
    *,
    bfloat16: bool,
) -> Float[Tensor, "contexts graphs"]:
    """The score of every graph in every context, at most about ``pairs_per_block`` at a time.

    Equal to the reference implementation within rounding, and much faster if the kernels are available.
    """
    at_once = min(pairs_per_block, CACHED_FLOATS // config.gcn_dim)  # pairs
    step = max(1, at_once // min(len(nodes), GRAPHS_PER_PART))  # contexts
    parts, fast = nodes.parts(), is_fast(config, nodes.vectors)
    ragged = [Graphs.of(part.places, part.mask, part.edges, part.weights) for part in parts] if fast else []
    rows = []
    for at in range(0, len(context), step):
        block = context.rows(slice(at, at + step))
        if fast:
            rows.append(graph.ragged(ragged_cosines(config, nodes, block), ragged, bfloat16=bfloat16))
        else:
            cosines = padded_cosines(config, nodes, block)
            rows.append(torch.cat([padded_scores(graph, cosines, part) for part in parts], dim=1))
    return torch.cat(rows)


def is_fast(config: GalmConfig, vectors: Tensor) -> bool:
    """Whether the kernels compute this model on these vectors."""
    return config.layer_input == "previous" and fits(
        vectors, config.dim, config.gcn_dim if config.layers else config.num_blocks
    )


def ragged_cosines(config: GalmConfig, nodes: Nodes, context: EncodedWords) -> Float[Tensor, "contexts words blocks"]:
    """V of every row of ``nodes.vectors`` in every context, eqs. 7 to 9, by the kernels."""
    words = context.states[context.mask]  # [contextwords, dim]
    logits = logits_of(config, nodes, words)
    offsets = offsets_of(context.mask.sum(1))
    blocks = config.num_blocks
    return block_cosines_of(logits, interleaved(nodes.vectors, blocks), interleaved(words, blocks), offsets, blocks)


def padded_cosines(config: GalmConfig, nodes: Nodes, context: EncodedWords) -> Float[Tensor, "contexts words blocks"]:
    """:func:`ragged_cosines` by the plain equations."""
    weights = masked_softmax(logits_of(config, nodes, context.states), context.mask[:, None, :])
    return block_cosines(weights @ context.states, nodes.vectors.expand(len(context), -1, -1), config.num_blocks)


def logits_of(
    config: GalmConfig, nodes: Nodes, words: Float[Tensor, "*contexts contextwords dim"]
) -> Float[Tensor, "*contexts words contextwords"]:
    """Logits of the attention: eq. 7, or eq. 3, tanh of the largest over all words of a graph."""
    left = prepared(nodes.vectors, config.attention, config.attention_temperature)[0]
    logits: Tensor = left @ prepared(words, config.attention, config.attention_temperature)[1].transpose(-1, -2)
    if nodes.owners is None:
        return logits
    place = nodes.owners[:, None].expand_as(logits)
    shape = (*logits.shape[:-2], len(nodes), logits.shape[-1])
    largest = logits.new_zeros(shape).scatter_reduce(-2, place, logits, "amax", include_self=False)
    return largest.tanh()[..., nodes.owners, :]


def padded_scores(
    graph: GlobalAlignment, cosines: Float[Tensor, "contexts words blocks"], nodes: Nodes
) -> Float[Tensor, "contexts graphs"]:
    """Scores by the plain equations, from the cosines of distinct words."""
    size = (len(cosines), len(nodes))
    pairs = cosines[:, nodes.places].flatten(0, 1)  # [contexts * graphs, nodes, blocks]
    spread = [each.expand(len(cosines), *each.shape).flatten(0, 1) for each in (nodes.edges, nodes.mask, nodes.weights)]
    scores: Tensor = graph(pairs, *spread)
    return scores.view(size)
