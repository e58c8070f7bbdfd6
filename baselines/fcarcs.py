"""FcarCS: each field of a method co-attends with the query through convolutions over their affinities.

Paper: Deng et al., "Fine-Grained Co-Attentive Representation Learning for Semantic Code Search", SANER 2022. With X_k
the words of field k and Q those of the query, each already weighted by an attention over its words:

    F_k = tanh(X_k U Qᵀ)                                                              affinities, one U for all fields
    w_Q = softmax over query words of the mean over code words of Dense(ReLU(Conv(F_k)));   w_k likewise from F_kᵀ
    q_k = Qᵀ w_Q;   c_k = X_kᵀ w_k
    score = cos(sum over k of β_k c_k, sum over k of γ_k q_k)         β, γ: attentions over the fields, one a side

A convolution goes along one side and has the other side's positions as its channels, so fields have fixed lengths.

Departures of the default reading, in which a pad takes no part: from the paper none in the equations, but its
convolutions lose the last place and ours keep it, like the released code; means go over words; a field without words
is left out of β and γ. From the released code: attentions give a word one weight, softmax(tanh(a · x + b)), as printed.
``parity`` is the released code: pads take part, and an attention has weights for each position and dimension.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import linear, normalize, pad

from baselines.word_vectors import BaselineConfig, WordVectors
from data_prep.batching import Batch
from data_prep.vocabulary import Vocabularies
from matching.contract import Encoded, Matcher
from matching.layers import PositionAttention, WordAttention, masked_softmax

CodeField = tuple[str, Float[Tensor, "codes words dim"], Bool[Tensor, "codes words"]]
"""A field's name, its words, and where they stand."""


@dataclass(frozen=True, slots=True)
class FcarcsConfig(BaselineConfig):
    """Configuration of FcarCS (section ``model``)."""

    filters: int = 100
    """Filters of each convolution (the release: 100)."""
    ast: bool = True
    """Whether the statement tree is read beside name, API and tokens; without it: the paper's ablation."""

    def __post_init__(self) -> None:
        BaselineConfig.__post_init__(self)
        if self.filters < 1:
            raise ValueError(f"--model.filters takes a whole number of 1 or more, not {self.filters}")


class BoundedWordAttention(WordAttention):
    """One weight a word, softmax over the words of tanh(a · x_i + b)."""

    def __init__(self, dim: int) -> None:
        """The bias starts as the vector does."""
        super().__init__(dim)
        self.bias = nn.Parameter(torch.empty(()).uniform_(-0.05, 0.05))

    def forward(
        self, states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"]
    ) -> Float[Tensor, "batch words 1"]:
        """Weights that sum to 1 over the words of each row."""
        logits = torch.tanh(states @ self.vector + self.bias)
        return masked_softmax(logits[:, None], mask[:, None]).transpose(1, 2)


class AffinityReader(nn.Module):
    """Weights of one side's words (columns), read from their affinities to the words of the other (rows)."""

    def __init__(self, columns: int, filters: int) -> None:
        """For at most ``columns`` words; weights as Glorot and Bengio (2010) draw them."""
        super().__init__()
        self.conv = nn.Conv1d(columns, filters, 2)
        self.dense = nn.Linear(filters, columns, bias=False)
        for layer in (self.conv, self.dense):
            nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(self.conv.bias)  # type: ignore[arg-type]

    def forward(
        self,
        affinity: Float[Tensor, "pairs rows columns"],
        row_mask: Bool[Tensor, "pairs rows"],
        column_mask: Bool[Tensor, "pairs columns"],
    ) -> Float[Tensor, "pairs columns"]:
        """Softmax over the columns; ``affinity`` is 0 at pads, so that columns which are left out change nothing."""
        columns = affinity.shape[2]
        windows = torch.cat([affinity, pad(affinity[:, 1:], (0, 0, 0, 1))], dim=2)  # a row of zeros after the last
        kernel = self.conv.weight[:, :columns].transpose(1, 2).flatten(1)  # [filters, 2 columns]
        found = torch.relu(linear(windows, kernel, self.conv.bias))  # [pairs, rows, filters]; faster than conv1d
        shares = row_mask.to(found.dtype) / row_mask.sum(1, keepdim=True).clamp(min=1)
        mean = torch.einsum("pr,prf->pf", shares, found)  # before the dense layer, as both are linear
        logits = mean @ self.dense.weight[:columns].T
        return masked_softmax(logits[:, None], column_mask[:, None]).squeeze(1)


class Fcarcs(Matcher):
    """Scores a query against a method by the cosine of what each side is in the light of the other."""

    config_type = FcarcsConfig
    config: FcarcsConfig

    def __init__(self, config: FcarcsConfig, vocabularies: Vocabularies) -> None:
        """Tables and attentions a field, readers a field and side, one U, and an attention over fields a side."""
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
        return PositionAttention(positions) if self.config.parity else BoundedWordAttention(self.config.dim)

    @property
    def code_fields(self) -> tuple[str, ...]:
        """The code fields in the order of the releases."""
        return ("name", "api", "tokens", "ast") if self.config.ast else ("name", "api", "tokens")

    def encode_query(self, queries: Batch) -> Encoded:
        """The query's words, weighted."""
        return self._encoded(queries, "query")

    def encode_code(self, codes: Batch) -> Encoded:
        """The words of all fields, weighted within their field and joined along the length."""
        parts = [self._encoded(codes, field) for field in self.code_fields]
        return Encoded(torch.cat([each.states for each in parts], 1), torch.cat([each.mask for each in parts], 1))

    def _encoded(self, batch: Batch, field: str) -> Encoded:
        states, mask = self.words(field, batch[field])
        return Encoded(states * self.attention[field](states, mask), mask)

    def word_vectors(self) -> Mapping[str, tuple[Float[Tensor, "words dim"], Sequence[str]]]:
        """The known words of each table."""
        return self.words.known_words()

    def score_pairs(self, queries: Encoded, codes: Encoded) -> Float[Tensor, " pairs"]:
        """Score query i against code i."""
        words, mask = trimmed(queries.states, queries.mask)
        of_code, of_query, present = [], [], []
        for field, code, code_mask in self._fields(codes):
            affinity = (code @ self.affinity) @ words.transpose(1, 2)
            code_weights, query_weights = self._weights(field, affinity, code_mask, mask)
            of_code.append(torch.einsum("pt,ptd->pd", code_weights, code))
            of_query.append(torch.einsum("pn,pnd->pd", query_weights, words))
            present.append(code_mask.any(1))
        return self._fused(torch.stack(of_code, 1), torch.stack(of_query, 1), torch.stack(present, 1))

    def score_matrix(
        self, queries: Encoded, codes: Encoded, *, pairs_per_block: int = 4096
    ) -> Float[Tensor, "queries codes"]:
        """Every query against every code: as :meth:`score_pairs`, without a copy of both sides' words a pair."""
        rows = [queries.rows(slice(at, at + pairs_per_block)) for at in range(0, len(queries), pairs_per_block)]
        step = max(1, pairs_per_block // max(1, len(queries)))  # codes a block
        columns = [codes.rows(slice(at, at + step)) for at in range(0, len(codes), step)]
        return torch.cat([torch.cat([self._block(row, column) for column in columns], dim=1) for row in rows])

    def _block(self, queries: Encoded, codes: Encoded) -> Float[Tensor, "queries codes"]:
        words, mask = trimmed(queries.states, queries.mask)
        shape = (len(queries), len(codes))
        of_code, of_query, present = [], [], []
        for field, code, code_mask in self._fields(codes):
            affinity = torch.einsum("ctd,qnd->qctn", code @ self.affinity, words).flatten(0, 1)
            masks = code_mask.repeat(len(queries), 1), mask.repeat_interleave(len(codes), 0)  # [pairs, words]
            code_weights, query_weights = self._weights(field, affinity, *masks)
            of_code.append(torch.einsum("qct,ctd->qcd", code_weights.unflatten(0, shape), code).flatten(0, 1))
            of_query.append(torch.einsum("qcn,qnd->qcd", query_weights.unflatten(0, shape), words).flatten(0, 1))
            present.append(masks[0].any(1))
        return self._fused(torch.stack(of_code, 1), torch.stack(of_query, 1), torch.stack(present, 1)).view(shape)

    def _fields(self, codes: Encoded) -> Iterator[CodeField]:
        """The fields of a batch of methods."""
        lengths = [self.config.length(field) for field in self.code_fields]
        for field, states, mask in zip(
            self.code_fields, codes.states.split(lengths, 1), codes.mask.split(lengths, 1), strict=True
        ):
            yield field, *trimmed(states, mask)

    def _weights(
        self,
        field: str,
        logits: Float[Tensor, "pairs codewords querywords"],
        code_mask: Bool[Tensor, "pairs codewords"],
        query_mask: Bool[Tensor, "pairs querywords"],
    ) -> tuple[Float[Tensor, "pairs codewords"], Float[Tensor, "pairs querywords"]]:
        """The weights of the words of a field and of the query, from X_k U Qᵀ."""
        affinity = torch.tanh(logits)  # 0 at pads, whose states have weight 0
        of_code = self.of_code[field](affinity.transpose(1, 2), query_mask, code_mask)
        return of_code, self.of_query[field](affinity, code_mask, query_mask)

    def _fused(
        self,
        codes: Float[Tensor, "pairs fields dim"],
        queries: Float[Tensor, "pairs fields dim"],
        present: Bool[Tensor, "pairs fields"],
    ) -> Float[Tensor, " pairs"]:
        """The cosine of both sides, each the weighted sum of its vectors for the fields; 0 where one has no words."""
        code = (self.fusion["code"](codes, present) * codes).sum(1)
        query = (self.fusion["query"](queries, present) * queries).sum(1)
        return (normalize(code, dim=-1) * normalize(query, dim=-1)).sum(-1)


def trimmed(
    states: Float[Tensor, "batch positions dim"], mask: Bool[Tensor, "batch positions"]
) -> tuple[Float[Tensor, "batch words dim"], Bool[Tensor, "batch words"]]:
    """Without the positions at the end where no row has a word; at least one stays."""
    words = max(1, int(mask.sum(1).max()))
    return states[:, :words], mask[:, :words]
