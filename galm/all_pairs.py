"""Scores of all pairs: every graph of one side's words in every context of the other side.

Equal words have equal vectors, so cosines are computed once per context and distinct word; with pooled attention,
which depends on all words of a graph, once per context and node.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from galm.alignment_graph import affinities, block_cosines
from galm.config import GalmConfig
from galm.dense_gcn import GlobalAlignment
from galm.kernel_form import KernelGraph, is_fast
from galm.kernel_functions import Graphs, block_cosines_of, interleaved, offsets_of
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
    context: EncodedWords,
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


def kernel_cosines(config: GalmConfig, nodes: Nodes, context: EncodedWords) -> Float[Tensor, "contexts words blocks"]:
    """V of every row of ``nodes.vectors`` in every context, eqs. 7 to 9, by the kernels."""
    words, blocks = context.states[context.mask], config.num_blocks  # [contextwords, dim]
    offsets, logits = offsets_of(context.mask.sum(1)), attention_logits(config, nodes, words)
    return block_cosines_of(logits, interleaved(nodes.vectors, blocks), interleaved(words, blocks), offsets, blocks)


def plain_cosines(config: GalmConfig, nodes: Nodes, context: EncodedWords) -> Float[Tensor, "contexts words blocks"]:
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
