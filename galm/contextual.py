"""GALM's alignment over the states of a pretrained transformer, in place of tables of word vectors.

Equations 7 to 13 as in ``alignment_graph.py``: a query token attends to the code's tokens, the cosines of blocks are a
node's features, and a graph of L layers with a head reads them. A head of random weights learns nothing at the rate of
a pretrained encoder, so by default the score starts as a sum of cosines, to which the head adds, from 0 on:

    s = mean over the nodes j of  (mean over the blocks b of V[j, b]  +  w_o . tanh(W_i H_j + b_i) + b_o),

with w_o = 0 and b_o = 0 at first. With ``starts_as_cosines=false`` it is the paper's head alone. The cosine of the mean
token states may be added (``pooled``), which is the score of ``minilm``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from data_prep.errors import real
from data_prep.store.batching import Batch
from galm.alignment_graph import (
    GlobalAlignment,
    attention,
    block_cosines,
    degenerate_parts,
    first_edges,
    graph_diagnostics,
)
from galm.config import GalmConfig, Logits
from galm.fast.all_pairs import Nodes, all_scores
from galm.fast.kernel_functions import torch_kernels
from modeling.base import Encoded
from modeling.transformers.late_interaction import TokenVectorRanker, TokenVectors, TokenVectorsConfig
from modeling.transformers.subword_pairs import Subwords


@dataclass(frozen=True, slots=True)
class GalmContextualConfig(TokenVectorsConfig):
    """Configuration of GALM over contextual states (section ``model``)."""

    num_blocks: int = 16
    """Blocks that a token vector is split into, eq. 8."""
    layers: int = 1
    """Number of graph convolutions L; 0: the head reads the block cosines."""
    graph: Literal["alignment", "query", "uniform", "identity"] = "alignment"
    """Edges: from the query's tokens, then the nodes (eqs. 10, 11); the tokens in every layer; uniform; self-loops."""
    gcn_dim: int = 32
    """Width of the graph's nodes after the first layer."""
    attention: Logits = "cosine"
    """Logits of eq. 7; of vectors of length 1, so that only the cosine with its temperature can be sharp."""
    attention_temperature: Annotated[float, real(0, 1000, above=True)] = 20.0
    """Factor of the cosine in ``attention=cosine``."""
    edges: Logits = "cosine"
    """Logits of the edges, eqs. 10 and 11."""
    edge_temperature: float = 9.0
    """Factor of the cosine in ``edges=cosine``."""
    starts_as_cosines: bool = True
    """Whether the head, 0 at first, is added to the mean of the block cosines; false: the paper's head alone."""

    def __post_init__(self) -> None:
        super(GalmContextualConfig, self).__post_init__()
        if self.token_dim:
            self.graph_config(self.token_dim)

    def graph_config(self, dim: int) -> GalmConfig:
        """The configuration of the graph over vectors of width ``dim``.

        Raises:
            UserError: an option is out of its bounds, or the width has no such blocks.
        """
        names = {each.name for each in fields(GalmConfig)} & {each.name for each in fields(self)}
        return GalmConfig(dim=dim, **{name: getattr(self, name) for name in names})


class GalmContextual(TokenVectorRanker):
    """Scores a query against a method by the alignment graph of their tokens' contextual vectors."""

    config_type = GalmContextualConfig
    config: GalmContextualConfig

    @classmethod
    def get_ready(cls) -> None:
        """Compile the kernels."""
        torch_kernels(wait=False)

    def __init__(self, config: GalmContextualConfig, vocabularies: Subwords) -> None:
        """The transformer, the projection, and the graph with its head.

        Raises:
            UserError: the width of a token vector has no such blocks.
        """
        super().__init__(config, vocabularies)
        self.alignment_graph = GlobalAlignment(config.graph_config(config.token_dim or self.width))

    def score_pairs(self, queries: TokenVectors, codes: TokenVectors) -> Float[Tensor, " pairs"]:  # type: ignore[override]
        """Score query i against code i by the plain equations."""
        aligned = self._attention(queries.states, codes) @ codes.states  # [pairs, nodes, dim]
        cosines = block_cosines(aligned, queries.states, self.config.num_blocks)
        score = self.alignment_graph(cosines, self._edges(queries), queries.mask, self._weights(queries))
        return (queries.vectors * codes.vectors).sum(-1) + score

    def score_matrix(  # type: ignore[override]
        self, queries: TokenVectors, codes: TokenVectors, *, pairs_per_block: int = 4096
    ) -> Float[Tensor, "queries codes"]:
        """Every query against every code, as GALM over word vectors does; equal to :meth:`score_pairs`."""
        with torch.autocast(queries.states.device.type, enabled=False):
            asked, read = queries.in_float32(), codes.in_float32()
            vectors = asked.states[asked.mask]
            places = asked.mask.flatten().cumsum(0).sub(1).view(asked.mask.shape) * asked.mask
            nodes = Nodes(vectors, places, asked.mask, self._edges(asked), self._weights(asked))
            graph = self.alignment_graph
            found = all_scores(graph.config, graph, nodes, read, pairs_per_block, bfloat16=False)
            return asked.vectors @ read.vectors.T + found.T

    @staticmethod
    def _weights(queries: Encoded) -> Float[Tensor, "queries nodes"]:
        weights = queries.mask.to(queries.states.dtype)
        return weights / weights.sum(1, keepdim=True).clamp(min=1)

    def _attention(
        self, nodes: Float[Tensor, "batch nodes dim"], codes: Encoded
    ) -> Float[Tensor, "batch nodes codetokens"]:
        config = self.config
        return attention(nodes, codes.states, codes.mask, config.attention, config.attention_temperature)

    def alignment(  # type: ignore[override]
        self, queries: TokenVectors, codes: TokenVectors
    ) -> Float[Tensor, "pairs querysubwords codesubwords"]:
        """The attention of eq. 7."""
        return self.by_subword(self._attention(queries.states, codes), queries, codes)

    def edges(self, queries: TokenVectors) -> Float[Tensor, "queries subwords subwords"]:  # type: ignore[override]
        """The edges of eq. 10, or the configured replacement."""
        return self.by_subword(self._edges(queries), queries, queries)

    def _edges(self, queries: Encoded) -> Float[Tensor, "queries nodes nodes"]:
        return first_edges(self.alignment_graph.config, queries)

    @torch.no_grad()
    def diagnostics(self, queries: Batch, codes: Batch) -> Mapping[str, float]:
        """As of GALM: entropies of attention and edges, and the variance of nodes inside graphs."""
        asked, read = self.encode_query(queries), self.encode_code(codes)
        weights = self._attention(asked.states, read)
        cosines = block_cosines(weights @ read.states, asked.states, self.config.num_blocks)
        return graph_diagnostics(self.alignment_graph, weights, cosines, self._edges(asked), asked.mask, read.mask)

    def collapse_warning(self, found: Mapping[str, float]) -> str:
        """What makes the graph degenerate."""
        return degenerate_parts(found)
