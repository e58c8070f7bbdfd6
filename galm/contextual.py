"""GALM's alignment over the states of a pretrained transformer, in place of tables of word vectors.

Equations 7 to 13 as in ``alignment_graph.py``: a query token attends to the code's tokens, the cosines of blocks are a
node's features, and a graph of L layers with a head reads them. A head of random weights learns nothing at the rate of
a pretrained encoder, so by default the score starts as a sum of cosines, to which the head adds, from 0 on:

    s = mean over the nodes j of  (mean over the blocks b of V[j, b]  +  w_o . tanh(W_i H_j + b_i) + b_o),

with w_o = 0 and b_o = 0 at first. With ``starts_as_cosines=false`` it is the paper's head alone. The cosine of the mean
token states may be added (``pooled``), which is the score of ``minilm``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from data_prep.bounds import check_bounds, real
from data_prep.store.batching import Batch
from galm.alignment_graph import GlobalAlignment, attention, block_cosines, first_edges
from galm.config import GalmConfig, Logits
from galm.model import degenerate_parts, graph_diagnostics
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
    attention_temperature: float = 20.0
    """Factor of the cosine in ``attention=cosine``."""
    edges: Logits = "cosine"
    """Logits of the edges, eqs. 10 and 11."""
    edge_temperature: float = 9.0
    """Factor of the cosine in ``edges=cosine``."""
    starts_as_cosines: bool = True
    """Whether the head, 0 at first, is added to the mean of the block cosines; false: the paper's head alone."""

    def __post_init__(self) -> None:
        super(GalmContextualConfig, self).__post_init__()
        check_bounds(self, {"attention_temperature": real(0, 1000, above=True)}, "model")
        if self.token_dim:
            self.graph_config(self.token_dim)

    def graph_config(self, dim: int) -> GalmConfig:
        """The configuration of the graph over vectors of width ``dim``.

        Raises:
            UserError: an option is out of its bounds, or the width has no such blocks.
        """
        names = ("num_blocks", "layers", "graph", "gcn_dim", "edges", "edge_temperature")
        return GalmConfig(dim=dim, **{name: getattr(self, name) for name in names})


class GalmContextual(TokenVectorRanker):
    """Scores a query against a method by the alignment graph of their tokens' contextual vectors."""

    config_type = GalmContextualConfig
    config: GalmContextualConfig

    def __init__(self, config: GalmContextualConfig, vocabularies: Subwords) -> None:
        """The transformer, the projection, and the graph with its head.

        Raises:
            UserError: the width of a token vector has no such blocks.
        """
        super().__init__(config, vocabularies)
        self.alignment_graph = GlobalAlignment(config.graph_config(config.token_dim or self.width))
        if config.starts_as_cosines:
            nn.init.zeros_(self.alignment_graph.head_out.weight)
            nn.init.zeros_(self.alignment_graph.head_out.bias)

    def score_pairs(self, queries: TokenVectors, codes: TokenVectors) -> Float[Tensor, " pairs"]:  # type: ignore[override]
        """Score query i against code i by the plain equations."""
        aligned = self._attention(queries.states, codes) @ codes.states  # [pairs, nodes, dim]
        return (queries.vectors * codes.vectors).sum(-1) + self._graph_score(aligned, queries)

    def score_matrix(  # type: ignore[override]
        self, queries: TokenVectors, codes: TokenVectors, *, pairs_per_block: int = 4096
    ) -> Float[Tensor, "queries codes"]:
        """Every query against every code; the words of a block of queries attend to each code as one matrix."""
        rows = max(1, pairs_per_block // max(1, len(codes)))
        parts = [queries.vectors[:0] @ codes.vectors.T]
        for start in range(0, len(queries), rows):
            parts.append(self._block(queries.rows(slice(start, start + rows)), codes))
        return torch.cat(parts)

    def _block(self, queries: TokenVectors, codes: TokenVectors) -> Float[Tensor, "queries codes"]:
        shape = (len(codes), len(queries))
        nodes = queries.states.flatten(0, 1).expand(len(codes), -1, -1)  # [codes, queries nodes, dim]
        weights = self._attention(nodes, codes)  # [codes, queries nodes, codetokens]
        aligned = (weights @ codes.states).unflatten(1, queries.mask.shape).flatten(0, 1)  # [codes queries, nodes, dim]
        repeated = queries.rows(torch.arange(len(queries), device=queries.mask.device).repeat(len(codes)))
        return queries.vectors @ codes.vectors.T + self._graph_score(aligned, repeated).view(shape).T

    def _graph_score(self, aligned: Float[Tensor, "graphs nodes dim"], queries: Encoded) -> Float[Tensor, " graphs"]:
        cosines = block_cosines(aligned, queries.states, self.config.num_blocks)
        weights = queries.mask.to(cosines.dtype)
        weights = weights / weights.sum(1, keepdim=True).clamp(min=1)
        score = self.alignment_graph(cosines, self._edges(queries), queries.mask, weights)
        return score + (cosines.mean(-1) * weights).sum(-1) if self.config.starts_as_cosines else score

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
        what = degenerate_parts(found)
        return f"the graph is degenerate: {what}" if what else ""
