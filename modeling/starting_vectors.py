"""Initial word vectors: uniform, shared by equal words, or from co-occurrence in training pairs."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import torch
from jaxtyping import Int
from torch import nn

from data_prep.store.tokenizing import TokenizedPairs
from data_prep.store.vocabulary import PAD, Vocabularies, Vocabulary

SHARED_PART: Final = 0.5
"""Fraction of a vector's energy that identifies the word; the rest encodes the words it co-occurs with."""


@torch.no_grad()
def uniform(tables: Iterable[nn.Embedding], half_width: float) -> None:
    """U(-half_width, half_width) for every word (the paper states none), 0 for PAD."""
    for table in tables:
        nn.init.uniform_(table.weight, -half_width, half_width)
        table.weight[PAD] = 0.0


@torch.no_grad()
def zero(tables: Iterable[nn.Embedding]) -> None:
    """0 for every word, for tables of offsets that are added to another table's vectors."""
    for table in tables:
        nn.init.zeros_(table.weight)


@torch.no_grad()
def shared(query: nn.Embedding, codes: Sequence[nn.Embedding], vocabularies: Vocabularies) -> None:
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
def from_statistics(
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
