"""Scores of all pairs: every graph of one side's words against every context of the other's.

Equal words have equal vectors, so a word and a context are brought together once for each distinct word.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from galm.alignment_graph import attention, block_cosines, prepared
from galm.config import GalmConfig
from galm.dense_gcn import GlobalAlignment
from galm.native import fits
from galm.ragged import Graphs, block_cosines_of, interleaved, offsets_of
from matching.contract import Encoded

GRAPHS_PER_PART = 64
"""Graphs taken together: as many as keep their nodes in the processor's cache."""
CACHED_FLOATS = 2048 * 32
"""Of the graphs' states, a float a pair counted: as many as the processor's cache keeps the nodes of."""


@dataclass(frozen=True, slots=True)
class EncodedWords(Encoded):
    """Word vectors, which word each is, and which words may be nodes of a graph."""

    words: Int[Tensor, "batch words"]  # equal where the vectors are equal
    nodes: Bool[Tensor, "batch words"]


@dataclass(frozen=True, slots=True)
class Nodes:
    """The graphs of one side: for each list of words its nodes, edges and the weights of its nodes."""

    vectors: Float[Tensor, "words dim"]  # of the distinct words
    places: Int[Tensor, "graphs nodes"]  # row of each node's word in them
    mask: Bool[Tensor, "graphs nodes"]
    edges: Float[Tensor, "graphs nodes nodes"]
    weights: Float[Tensor, "graphs nodes"]

    def __len__(self) -> int:
        return len(self.places)

    def parts(self) -> list["Nodes"]:
        """The same, some graphs at a time, without columns that are padding in all of them."""
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
    """The vectors of the distinct words, and the row in them of every word of ``encoded`` (0 at pads)."""
    _, rows = torch.unique(encoded.words[encoded.mask], return_inverse=True)
    one_of_each = torch.empty(int(rows.max()) + 1 if len(rows) else 0, dtype=torch.long, device=rows.device)
    one_of_each.scatter_reduce_(0, rows, torch.arange(len(rows), device=rows.device), "amin", include_self=False)
    places = torch.zeros_like(encoded.words)
    places[encoded.mask] = rows
    vectors = encoded.states[encoded.mask][one_of_each]
    return vectors if len(rows) else vectors.new_zeros(1, vectors.shape[1]), places  # no words: a row for the pads


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

    Equal to the plain form within rounding, and much faster where the kernels can be used.
    """
    at_once = min(pairs_per_block, CACHED_FLOATS // config.graph_width)  # pairs
    step = max(1, at_once // min(len(nodes), GRAPHS_PER_PART))  # contexts
    parts, fast = nodes.parts(), is_fast(config, nodes.vectors)
    ragged = [Graphs.of(part.places, part.mask, part.edges, part.weights) for part in parts] if fast else []
    rows = []
    for at in range(0, len(context), step):
        block = context.rows(slice(at, at + step))
        if fast:
            rows.append(graph.ragged(ragged_cosines(config, nodes.vectors, block), ragged, bfloat16=bfloat16))
        else:
            cosines = padded_cosines(config, nodes.vectors, block)
            rows.append(torch.cat([padded_scores(graph, cosines, part) for part in parts], dim=1))
    return torch.cat(rows)


def is_fast(config: GalmConfig, vectors: Tensor) -> bool:
    """Whether the kernels compute this model on these vectors."""
    covered = config.layer_input == "previous" and config.edges != "cosine"
    return covered and fits(vectors, config.dim, config.graph_width if config.layers else config.blocks)


def ragged_cosines(
    config: GalmConfig, vectors: Float[Tensor, "words dim"], context: EncodedWords
) -> Float[Tensor, "contexts words blocks"]:
    """V of every distinct word against every context, eqs. 7 to 9, by the kernels."""
    words = context.states[context.mask]  # [contextwords, dim]
    left = prepared(vectors, config.attention, config.attention_temperature)[0]
    logits = left @ prepared(words, config.attention, config.attention_temperature)[1].T
    offsets = offsets_of(context.mask.sum(1))
    blocks = config.blocks
    return block_cosines_of(logits, interleaved(vectors, blocks), interleaved(words, blocks), offsets, blocks)


def padded_cosines(
    config: GalmConfig, vectors: Float[Tensor, "words dim"], context: EncodedWords
) -> Float[Tensor, "contexts words blocks"]:
    """The same by the plain equations."""
    nodes = vectors.expand(len(context), *vectors.shape)
    weights = attention(nodes, context.states, context.mask, config.attention, config.attention_temperature)
    return block_cosines(weights @ context.states, nodes, config.blocks)


def padded_scores(
    graph: GlobalAlignment, cosines: Float[Tensor, "contexts words blocks"], nodes: Nodes
) -> Float[Tensor, "contexts graphs"]:
    """Scores by the plain graph, on the cosines of distinct words."""
    size = (len(cosines), len(nodes))
    pairs = cosines[:, nodes.places].flatten(0, 1)  # [contexts * graphs, nodes, blocks]
    spread = [each.expand(len(cosines), *each.shape).flatten(0, 1) for each in (nodes.edges, nodes.mask, nodes.weights)]
    scores: Tensor = graph(pairs, *spread)
    return scores.view(size)
