"""FcarCS: co-attention between the query and each field of a method, by convolutions over their affinities.

Paper: Deng et al., "Fine-Grained Co-Attentive Representation Learning for Semantic Code Search", SANER 2022. With X_k
the words of field k and Q those of the query, both weighted by an attention over their words:

    F_k = tanh(X_k U Qᵀ)                                                              affinities, one U for all fields
    w_Q = softmax over query words of the mean over code words of Dense(ReLU(Conv(F_k)));   w_k likewise from F_kᵀ
    q_k = Qᵀ w_Q;   c_k = X_kᵀ w_k
    score = cos(sum over k of β_k c_k, sum over k of γ_k q_k)         β, γ: attentions over the fields, one per side

A convolution runs along one side and has the other side's positions as channels, so fields have fixed lengths.

Departures by default, where pads are masked: from the paper none in the equations, but its convolutions drop the last
position and these retain it, like the released code; means are over words; a field without words is excluded from β and
γ. From the released code: attentions have one weight per word, softmax(tanh(a · x + b)), as printed.
``release_compatible`` is the released code: pads are included, and attentions have one weight per position and
dimension.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import normalize

from baselines.word_model import BaselineConfig, FieldRanker, WordVectors
from data_prep.errors import WIDTH
from data_prep.store.tokenizing import Vocabularies
from modeling.base import Encoded
from modeling.layers import PositionAttention, WordAttention, masked_softmax

CodeField = tuple[str, Float[Tensor, "codes words dim"], Bool[Tensor, "codes words"]]
"""A field's name, its words, and their mask."""


@dataclass(frozen=True, slots=True)
class FcarcsConfig(BaselineConfig):
    """Configuration of FcarCS (section ``model``)."""

    filters: Annotated[int, WIDTH] = 100
    """Filters of each convolution (the release: 100)."""
    structure: Literal["statements", "ast", "none"] = "statements"
    """Input from the syntax tree besides name, API and tokens: statement trees, each as one word, for data prepared
    with `--data.statements=true`; the kinds of its nodes, as in TabCS; or nothing, the paper's ablation.
    """


class BoundedWordAttention(WordAttention):
    """One weight per word: softmax over the words of tanh(a · x_i + b)."""

    def __init__(self, dim: int) -> None:
        """The bias is initialised like the vector."""
        super().__init__(dim)
        self.bias = nn.Parameter(torch.empty(()).uniform_(-0.05, 0.05))

    def forward(
        self, states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"]
    ) -> Float[Tensor, "batch words 1"]:
        """Weights that sum to 1 over the words of each row."""
        logits = torch.tanh(states @ self.vector + self.bias)
        return masked_softmax(logits[:, None], mask[:, None]).transpose(1, 2)


class AffinityReader(nn.Module):
    """Weights of one side's words (columns), computed from their affinities to the words of the other side (rows)."""

    def __init__(self, columns: int, filters: int) -> None:
        """For at most ``columns`` words; weights have Xavier initialisation (Glorot and Bengio, 2010)."""
        super().__init__()
        self.conv = nn.Conv1d(columns, filters, 2)
        self.dense = nn.Linear(filters, columns, bias=False)
        for layer in (self.conv, self.dense):
            nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(self.conv.bias)  # type: ignore[arg-type]

    def forward(
        self,
        affinity: Float[Tensor, "rows columns pairs"],
        row_mask: Bool[Tensor, "rows pairs"],
        column_mask: Bool[Tensor, "columns pairs"],
    ) -> Float[Tensor, "columns pairs"]:
        """Softmax over the columns; ``affinity`` is 0 at pads, so that omitted columns change nothing.

        Pairs are the last axis, so that a window of two adjacent rows is copied as a whole and the mean is over the
        first axis: memory is the bottleneck here, not arithmetic.
        """
        columns, ones = affinity.shape[1], row_mask[:, None].to(affinity.dtype)
        after = torch.cat([affinity[1:], torch.zeros_like(affinity[:1])])  # a row of zeros after the last
        windows = torch.cat([affinity, after, ones], dim=1)  # [rows, 2 columns + 1, pairs]; nothing but 0 at pads
        kernel = self.conv.weight[:, :columns].transpose(1, 2).flatten(1)
        kernel = torch.cat([kernel, self.conv.bias[:, None]], dim=1)  # type: ignore[index]  # [filters, 2 columns + 1]
        found = torch.relu_(torch.bmm(kernel.expand(len(windows), -1, -1), windows))  # [rows, filters, pairs]
        mean = found.sum(0) / row_mask.sum(0).clamp(min=1)  # before the dense layer, as both are linear
        logits = self.dense.weight[:columns] @ mean
        return masked_softmax(logits, column_mask, dim=0)


class Fcarcs(FieldRanker):
    """Scores a query against a method by the cosine of their co-attentive vectors."""

    config_type = FcarcsConfig
    config: FcarcsConfig

    @property
    def code_fields(self) -> tuple[str, ...]:
        """The code fields in the order of the paper and the release."""
        fields = ("name", "api", "tokens")
        return fields if self.config.structure == "none" else (*fields, self.config.structure)

    def __init__(self, config: FcarcsConfig, vocabularies: Vocabularies) -> None:
        """Build tables and attentions per field, readers per field and side, one U, and field attentions per side."""
        super().__init__(config, vocabularies)
        self.words = WordVectors(config, vocabularies, (*self.code_fields, "query"), fixed=True)
        self.attention = nn.ModuleDict(
            {each: self._attention(config.length(each)) for each in (*self.code_fields, "query")}
        )
        self.affinity = nn.Parameter(nn.init.xavier_uniform_(torch.empty(config.dim, config.dim)))
        length, filters = config.length, config.filters
        self.of_code = nn.ModuleDict({each: AffinityReader(length(each), filters) for each in self.code_fields})
        self.of_query = nn.ModuleDict({each: AffinityReader(length("query"), filters) for each in self.code_fields})
        self.fusion = nn.ModuleDict({side: self._attention(len(self.code_fields)) for side in ("code", "query")})

    def _attention(self, positions: int) -> nn.Module:
        return PositionAttention(positions) if self.config.release_compatible else BoundedWordAttention(self.config.dim)

    def alignment(self, queries: Encoded, codes: Encoded) -> Float[Tensor, "pairs querywords codewords"]:
        """F_k of all fields of each pair, transposed."""
        return torch.tanh(queries.states @ (codes.states @ self.affinity).transpose(1, 2))

    def score_pairs(self, queries: Encoded, codes: Encoded) -> Float[Tensor, " pairs"]:
        """Score query i against code i."""
        words, mask = trimmed(queries.states, queries.mask)
        of_code, of_query, present = [], [], []
        for field, code, code_mask in self._fields(codes):
            product = torch.einsum("ptd,pnd->tnp", code @ self.affinity, words)
            code_weights, query_weights = self._weights(field, product, code_mask.T, mask.T)
            of_code.append(torch.einsum("tp,ptd->pd", code_weights, code))
            of_query.append(torch.einsum("np,pnd->pd", query_weights, words))
            present.append(code_mask.any(1))
        return self._fused(torch.stack(of_code, 1), torch.stack(of_query, 1), torch.stack(present, 1))

    def score_matrix(
        self, queries: Encoded, codes: Encoded, *, pairs_per_block: int = 4096
    ) -> Float[Tensor, "queries codes"]:
        """Every query against every code, like :meth:`score_pairs` but without copying words for each pair."""
        pairs = min(pairs_per_block, _PAIRS)
        rows = max(1, min(pairs, _QUERIES, len(queries)))
        left = [queries.rows(slice(at, at + rows)) for at in range(0, len(queries), rows)]
        right = [codes.rows(slice(at, at + pairs // rows)) for at in range(0, len(codes), pairs // rows)]
        return torch.cat([torch.cat([self._block(query, code) for code in right], dim=1) for query in left])

    def _block(self, queries: Encoded, codes: Encoded) -> Float[Tensor, "queries codes"]:
        words, mask = trimmed(queries.states, queries.mask)
        shape = (len(codes), len(queries))
        columns = words.permute(2, 1, 0).flatten(1)  # [dim, querywords · queries]
        query_mask = mask.T[:, None].expand(-1, *shape).flatten(1)  # [querywords, pairs]
        of_code, query_weights, present = [], [], []
        for field, code, code_mask in self._fields(codes):
            pair_mask = code_mask.T[:, :, None].expand(-1, *shape).flatten(1)  # [codewords, pairs]
            projected = (code @ self.affinity).transpose(0, 1).flatten(0, 1)  # [codewords · codes, dim]
            product = (projected @ columns).view(-1, len(codes), *query_mask.shape[:1], len(queries))
            product = product.transpose(1, 2).flatten(2)  # [codewords, querywords, pairs]
            code_weights, weights = self._weights(field, product, pair_mask, query_mask)
            of_code.append((code_weights.view(-1, *shape).permute(1, 2, 0) @ code).flatten(0, 1))
            query_weights.append(weights.view(-1, *shape).permute(2, 1, 0))
            present.append(pair_mask.any(0))
        of_query = torch.stack(query_weights, 2).flatten(1, 2) @ words  # [queries, codes · fields, dim]
        of_query = of_query.view(len(queries), len(codes), len(present), -1).transpose(0, 1).flatten(0, 1)
        return self._fused(torch.stack(of_code, 1), of_query, torch.stack(present, 1)).view(shape).T

    def _fields(self, codes: Encoded) -> Iterator[CodeField]:
        """The fields of a batch of methods, without trailing pads."""
        lengths = [self.config.length(field) for field in self.code_fields]
        for field, states, mask in zip(
            self.code_fields, codes.states.split(lengths, 1), codes.mask.split(lengths, 1), strict=True
        ):
            yield field, *trimmed(states, mask)

    def _weights(
        self,
        field: str,
        logits: Float[Tensor, "codewords querywords pairs"],
        code_mask: Bool[Tensor, "codewords pairs"],
        query_mask: Bool[Tensor, "querywords pairs"],
    ) -> tuple[Float[Tensor, "codewords pairs"], Float[Tensor, "querywords pairs"]]:
        """The weights of the words of a field and of the query, from X_k U Qᵀ."""
        affinity = torch.tanh(logits)  # 0 at pads, whose states have weight 0
        of_code = self.of_code[field](affinity.transpose(0, 1), query_mask, code_mask)
        return of_code, self.of_query[field](affinity, code_mask, query_mask)

    def _fused(
        self,
        codes: Float[Tensor, "pairs fields dim"],
        queries: Float[Tensor, "pairs fields dim"],
        present: Bool[Tensor, "pairs fields"],
    ) -> Float[Tensor, " pairs"]:
        """The cosine of both sides, each the weighted sum of its vectors for the fields; 0 if one side has no words."""
        code = (self.fusion["code"](codes, present) * codes).sum(1)
        query = (self.fusion["query"](queries, present) * queries).sum(1)
        return (normalize(code, dim=-1) * normalize(query, dim=-1)).sum(-1)


_QUERIES: Final = 64
"""Queries per block; of similar lengths if the caller has sorted them."""

_PAIRS: Final = 512
"""Pairs per block, so that intermediate results fit in a core's cache."""


def trimmed(
    states: Float[Tensor, "batch positions dim"], mask: Bool[Tensor, "batch positions"]
) -> tuple[Float[Tensor, "batch words dim"], Bool[Tensor, "batch words"]]:
    """Remove trailing positions where no row has a word; at least one remains."""
    words = max(1, int(mask.sum(1).max()))
    return states[:, :words], mask[:, :words]
