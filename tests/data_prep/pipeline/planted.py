"""Copies of pairs, degraded as those of the published CodeSearchNet test, to measure how many a filter finds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from bm25s.stopwords import STOPWORDS_EN_PLUS
from jaxtyping import Int

from data_prep.pipeline.overlap import overlap, tree_of, tree_overlap
from data_prep.records import UNKNOWN, Method, Pair
from data_prep.store.split import Split

UNKNOWN_SHARES: Final[Mapping[str, float]] = {"query": 0.042, "name": 0.014, "tokens": 0.030, "api": 0.337}
"""Field -> share of its words that are unknown in the 10,000 pairs of csn_tabcs."""
_COMMON: Final = frozenset(STOPWORDS_EN_PLUS)


@dataclass(frozen=True, slots=True)
class Recall:
    """How many planted copies are found."""

    planted: int
    found_exactly: int  # by data_prep.pipeline.overlap
    found: int  # by that or as copies of data_prep.pipeline.overlap
    left_out: int  # by that or with their whole source tree
    trees: int  # with enough planted copies to be left out
    trees_left_out: int
    others_left_out: int  # pairs of other trees than those of the planted copies


def degraded(split: Split, rows: Int[np.ndarray, " rows"], seed: int) -> Split:
    """The pairs ``rows``: sets of words in random order, without stop words in queries, some words unknown."""
    random = np.random.default_rng(seed)
    pairs = []
    for row in rows.tolist():
        words = {field: _degraded(split.word_list(field, row), field, random) for field in UNKNOWN_SHARES}
        query = words.pop("query")
        method = Method("planted", "planted", row, row, "", "", "method", "", "", words)
        pairs.append(Pair(method, " ".join(query), query))
    return Split.of("test", pairs)


def _degraded(words: Sequence[str], field: str, random: np.random.Generator) -> tuple[str, ...]:
    distinct = [word for word in dict.fromkeys(words) if field != "query" or word not in _COMMON]
    random.shuffle(distinct)
    share = UNKNOWN_SHARES[field]
    return tuple(UNKNOWN if random.random() < share else word for word in distinct)


def recall(split: Split, *, trees: int, of_each: int, seed: int) -> Recall:
    """Plant degraded copies of ``of_each`` random pairs of each of ``trees`` random source trees as a test, and look.

    Args:
        split: training pairs of source trees.
        trees: at most this many; those with fewer pairs than ``of_each`` are not drawn.
        of_each: pairs of each.
        seed: of the draw and the degradation.
    """
    random = np.random.default_rng(seed)
    names = np.array([tree_of(split.text(row).origin) for row in range(len(split))])
    distinct, counts = np.unique(names, return_counts=True)
    drawn = random.permutation(distinct[counts >= of_each])[:trees]
    rows = np.concatenate([random.choice(np.flatnonzero(names == name), of_each, replace=False) for name in drawn])
    test = degraded(split, rows, seed)
    exact = overlap(split, [test]).rows
    found = tree_overlap(split, [test])
    out = np.union1d(exact, found.rows)
    return Recall(
        planted=len(rows),
        found_exactly=len(np.intersect1d(rows, exact)),
        found=len(np.intersect1d(rows, np.union1d(exact, found.copies))),
        left_out=len(np.intersect1d(rows, out)),
        trees=len(drawn),
        trees_left_out=len(set(drawn.tolist()) & found.trees.keys()),
        others_left_out=int((~np.isin(names[out], drawn)).sum()),
    )
