"""Layers shared by models: initial word vectors, and attention over the words of one side or between both sides.

Initial vectors are uniform, shared by equal words, or from co-occurrence in training pairs. Pads get no weight.
"""

from collections.abc import Iterable, Sequence
from math import isqrt
from typing import Final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, arange, nn
from torch.nn.functional import normalize

from data_prep.store.split import TokenizedPairs
from data_prep.store.tokenizing import PAD, Vocabularies, Vocabulary
from modeling.base import Encoded


def masked_softmax(
    logits: Float[Tensor, "*batch rows columns"], mask: Bool[Tensor, "*#batch #rows columns"], *, dim: int = -1
) -> Float[Tensor, "*batch rows columns"]:
    """Softmax over the axis ``dim`` where ``mask`` is True; 0 elsewhere, and all 0 in a row that is fully masked."""
    weights = torch.softmax(logits.masked_fill(~mask, float("-inf")), dim=dim)
    return weights.masked_fill(~mask, 0.0)  # a row without a True is NaN before this line


class WordAttention(nn.Module):
    """One weight per word: softmax over the words of a · x_i, with a learned vector a (UNIF, eq. 1 of TabCS)."""

    def __init__(self, dim: int) -> None:
        """The vector a is initialised near 0, so that all words start with about the same weight."""
        super().__init__()
        self.vector = nn.Parameter(torch.empty(dim).uniform_(-0.05, 0.05))

    def forward(
        self, states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"]
    ) -> Float[Tensor, "batch words 1"]:
        """Weights that sum to 1 over the words of each row."""
        return masked_softmax((states @ self.vector)[:, None], mask[:, None]).transpose(1, 2)


class PositionAttention(nn.Module):
    """One weight per position and dimension, as the releases of TabCS and FcarCS compute it.

    Z = softmax over the positions of tanh(Xᵀ W + b) with X in [positions, dim], W in [positions, positions].
    """

    def __init__(self, positions: int) -> None:
        """W and b as in the releases, uniform in ±0.05."""
        super().__init__()
        self.weight = nn.Parameter(torch.empty(positions, positions).uniform_(-0.05, 0.05))
        self.bias = nn.Parameter(torch.empty(positions).uniform_(-0.05, 0.05))

    def forward(
        self, states: Float[Tensor, "batch positions dim"], mask: Bool[Tensor, "batch positions"]
    ) -> Float[Tensor, "batch positions dim"]:
        """Weights that sum to 1 over the positions, for each row and dimension."""
        words = states.masked_fill(~mask[:, :, None], 0.0).transpose(1, 2)
        logits = torch.tanh(words @ self.weight + self.bias)  # [batch, dim, positions]
        return masked_softmax(logits, mask[:, None]).transpose(1, 2)


class CoAttention(nn.Module):
    """Each side pooled with weights that depend on the other (CARLCS eqs. 5 to 9, TabCS eqs. 5 to 9).

    F = tanh(C U Qᵀ); w_C = softmax over code words of the largest F of each row, w_Q = softmax over query words of the
    largest of each column; the score is cos(Cᵀ w_C, Qᵀ w_Q). The largest of tanh is the tanh of the largest.
    """

    def __init__(self, dim: int) -> None:
        """U has Xavier initialisation (Glorot and Bengio, 2010)."""
        super().__init__()
        self.weight = nn.Parameter(torch.empty(dim, dim))
        nn.init.xavier_uniform_(self.weight)

    def projected(self, codes: Float[Tensor, "codes codewords dim"]) -> Float[Tensor, "codes codewords dim"]:
        """C U, which does not depend on the query."""
        return codes @ self.weight

    def pairs(
        self,
        queries: Float[Tensor, "pairs querywords dim"],
        query_mask: Bool[Tensor, "pairs querywords"],
        codes: Float[Tensor, "pairs codewords dim"],
        code_mask: Bool[Tensor, "pairs codewords"],
    ) -> Float[Tensor, " pairs"]:
        """The score of query i with code i; 0 if either side has no words."""
        left, right = _with_pads(self.projected(codes), code_mask), _with_pads(queries, query_mask, right=True)
        affinity = left @ right.transpose(1, 2)  # [pairs, codewords, querywords]
        code_weights = masked_softmax(torch.tanh(affinity.amax(2))[:, None], code_mask[:, None])
        query_weights = masked_softmax(torch.tanh(affinity.amax(1))[:, None], query_mask[:, None])
        of_code, of_query = (code_weights @ codes).squeeze(1), (query_weights @ queries).squeeze(1)  # [pairs, dim]
        return (normalize(of_code, dim=-1) * normalize(of_query, dim=-1)).sum(-1)

    def matrix(
        self,
        queries: Float[Tensor, "queries querywords dim"],
        query_mask: Bool[Tensor, "queries querywords"],
        codes: Float[Tensor, "codes codewords dim"],
        code_mask: Bool[Tensor, "codes codewords"],
        pairs_per_block: int,
    ) -> Float[Tensor, "queries codes"]:
        """:meth:`pairs` for every query with every code, at most ``pairs_per_block`` pairs at a time."""
        rows = max(1, min(_ROWS, isqrt(pairs_per_block)))
        left, code_places = word_blocks(codes, code_mask, rows)
        right, query_places = word_blocks(queries, query_mask, rows)
        words = [_with_pads(block.states, block.mask, right=True).flatten(0, 1).T for block in right]
        scores = []
        for block in left:
            projected = _with_pads(self.projected(block.states), block.mask).flatten(0, 1)
            pairs = zip(right, words, strict=True)
            scores.append(torch.cat([_block_scores(projected @ theirs, of, block) for of, theirs in pairs]))
        return torch.cat(scores, dim=1)[query_places][:, code_places]


def _block_scores(
    affinity: Float[Tensor, "allcodewords allquerywords"], queries: Encoded, codes: Encoded
) -> Float[Tensor, "queries codes"]:
    """The scores of all pairs of two blocks, from one matrix of their words' dot products."""
    product = affinity.view(*codes.mask.shape, *queries.mask.shape)  # [codes, codewords, queries, querywords]
    of_rows = torch.tanh(product.amax(3)).transpose(1, 2)  # [codes, queries, codewords]
    of_columns = torch.tanh(product.amax(1)).transpose(0, 1)  # [queries, codes, querywords]
    of_code = masked_softmax(of_rows, codes.mask[:, None]) @ codes.states  # [codes, queries, dim]
    of_query = masked_softmax(of_columns, queries.mask[:, None]) @ queries.states  # [queries, codes, dim]
    return (normalize(of_code, dim=-1).transpose(0, 1) * normalize(of_query, dim=-1)).sum(-1)


_ROWS: Final = 16
"""Rows of each side in a block of :meth:`CoAttention.matrix`: the products of its words fit in a core's cache."""

_FAR: Final = -1e4
"""Added to the dot products of pads, so that they are never the maximum if there is a word, nor get a gradient."""


def _with_pads(
    states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"], *, right: bool = False
) -> Float[Tensor, "batch words wider"]:
    """Append two columns that make left · right far below 0 at the pads of either; faster than masking the product."""
    pads = torch.where(mask, 0.0, _FAR).to(states.dtype)[:, :, None]
    return torch.cat([states, torch.ones_like(pads), pads] if right else [states, pads, torch.ones_like(pads)], dim=2)


def word_blocks(
    states: Float[Tensor, "batch words dim"], mask: Bool[Tensor, "batch words"], rows: int
) -> tuple[list[Encoded], Int[Tensor, " batch"]]:
    """Blocks of at most ``rows`` rows, shortest first, each as wide as its longest row and at least 1.

    In a block a row's words keep their order and precede its pads, wherever the pads were.

    Returns:
        The blocks, and for each row of the batch its index in the concatenated blocks.
    """
    lengths = mask.sum(1)
    order = lengths.argsort(stable=True)
    starts = arange(len(mask), device=mask.device)[:, None] * mask.shape[1]
    places = mask.sort(dim=1, descending=True, stable=True).indices + starts  # of each row, words before pads
    flat = states.flatten(0, 1)
    blocks = []
    for chosen in order.split(rows):
        width = max(1, int(lengths[chosen[-1]]))
        found = flat.index_select(0, places[chosen, :width].flatten()).view(len(chosen), width, -1)
        blocks.append(Encoded(found, arange(width, device=mask.device) < lengths[chosen, None]))
    return blocks, order.argsort()


SHARED_PART: Final = 0.5
"""Fraction of a vector's energy that identifies the word; the rest encodes the words it co-occurs with."""


@torch.no_grad()
def uniform_vectors(tables: Iterable[nn.Embedding], half_width: float) -> None:
    """U(-half_width, half_width) for every word (the paper states none), 0 for PAD."""
    for table in tables:
        nn.init.uniform_(table.weight, -half_width, half_width)
        table.weight[PAD] = 0.0


@torch.no_grad()
def zero_vectors(tables: Iterable[nn.Embedding]) -> None:
    """0 for every word, for tables of offsets that are added to another table's vectors."""
    for table in tables:
        nn.init.zeros_(table.weight)


@torch.no_grad()
def shared_vectors(query: nn.Embedding, codes: Sequence[nn.Embedding], vocabularies: Vocabularies) -> None:
    """The same initial vector for the same word on both sides; unknown words share it by bucket."""
    places = same_words(vocabularies.query, vocabularies.code)
    for table in codes:
        table.weight.copy_(codes[0].weight)
        table.weight[places[:, 1]] = query.weight[places[:, 0]]


def same_words(query: Vocabulary, code: Vocabulary) -> Int[torch.Tensor, "words 2"]:
    """Query id and code id of every word (and unknown bucket) that both vocabularies have."""
    buckets = min(query.unknown_buckets, code.unknown_buckets)
    pairs = [(number, number) for number in range(1, 1 + buckets)]
    first = 1 + query.unknown_buckets
    known = set(code.words)
    pairs += [(first + place, code.id(word)) for place, word in enumerate(query.words) if word in known]
    return torch.tensor(pairs, dtype=torch.long).view(-1, 2)


@torch.no_grad()
def vectors_from_statistics(
    query: nn.Embedding, codes: Sequence[nn.Embedding], train: TokenizedPairs, fields: Sequence[str]
) -> None:
    """Add to the shared vectors a factorisation of how often query words co-occur with words of the code's ``fields``.

    The positive pointwise mutual information of query word w and code word c over the training pairs, max(0, log
    p(w, c) / (p(w) p(c))), is factorised by a truncated SVD, P = (U √S)(V √S)ᵀ; a random rotation spreads the factors
    over all blocks. Both parts have the mean length of the previous vectors.
    """
    width, length = query.embedding_dim, query.weight.norm(dim=1).mean()
    information = mutual_information(train, fields, query.num_embeddings, codes[0].num_embeddings)
    rank = min(width, *information.shape)
    left, values, right = torch.svd_lowrank(information, q=rank, niter=4)
    rotation = torch.linalg.qr(torch.randn(width, rank))[0].T  # [rank, width], orthonormal rows
    for table, factor in ((query, left), *((table, right) for table in codes)):
        part = (factor * values.sqrt()) @ rotation  # [words, dim]
        part = part / part.norm(dim=1, keepdim=True).clamp(min=1e-8) * length
        table.weight.mul_(SHARED_PART**0.5).add_(part, alpha=(1 - SHARED_PART) ** 0.5)
        table.weight[PAD] = 0.0


def mutual_information(train: TokenizedPairs, fields: Sequence[str], queries: int, codes: int) -> torch.Tensor:
    """Positive pointwise mutual information of query and code words over pairs, sparse [query words, code words]."""
    keys: list[np.ndarray] = []
    for row in range(len(train)):
        left = np.unique(train.fields["query"][row]).astype(np.int64)
        right = np.unique(np.concatenate([train.fields[field][row] for field in fields])).astype(np.int64)
        keys.append((left[:, None] * codes + right).ravel())
    cells, counts = np.unique(np.concatenate(keys), return_counts=True)
    rows, columns = cells // codes, cells % codes
    row_sums, column_sums = np.bincount(rows, counts, queries), np.bincount(columns, counts, codes)
    gain = np.log(counts * counts.sum() / (row_sums[rows] * column_sums[columns]))
    kept = (gain > 0) & (counts > 1)
    places = torch.from_numpy(np.stack([rows[kept], columns[kept]]))
    values = torch.from_numpy(gain[kept].astype(np.float32))
    return torch.sparse_coo_tensor(places, values, (queries, codes), check_invariants=True).coalesce()
