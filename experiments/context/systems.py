"""What is compared on the same pairs: the ways a model is asked, BM25, and both fused.

Controls of what a context brings: the context of another query anywhere, that of a function of another file of the
same source tree, and none. A gain that the second keeps is of the package, not of the function.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from jaxtyping import Float

from baselines.bm25.ranker import Bm25, Bm25Config
from data_prep.pipeline.contexts import (
    CONTEXT_FIELD,
    Part,
    asked_with_context,
    contexts_of_neighbours,
    document_counts,
    nearest_words,
    shuffled_contexts,
    without_contexts,
)
from data_prep.store.prepared_data import Split
from evaluation.fusion import best_weight
from evaluation.metrics import count_better_and_tied
from evaluation.score_scales import weighted, z_scores
from experiments.context.pools import Pool, PoolScores, ranker_scores
from experiments.recipes.config import resolve
from modeling.ranker import Ranker

OWN: Final = "model"
OTHERS: Final = "model, contexts of other queries"
NEIGHBOURS: Final = "model, contexts of the same repository"
NONE: Final = "model, contexts left out"
FUSED: Final = "model and BM25 fused"
FUSED_TUNED: Final = "model and tuned BM25 fused"
BM25: Final = "BM25"
BM25_TUNED: Final = "BM25, tuned"
BM25_OWN: Final = "BM25, rarest context words added"
BM25_OTHERS: Final = "BM25, rarest words of other contexts added"
LENGTHS: Final = (5, 10, 20, 50)
"""Nearest words of shortened contexts."""
WEIGHED: Final = 1000
"""Validation pairs that the weight of a fusion is chosen on."""


def asked_ways(split: Split, seed: int) -> Iterator[tuple[str, Split]]:
    """The queries of ``split`` with their contexts and the controls, by name."""
    yield OWN, split
    if CONTEXT_FIELD in split.words:
        yield OTHERS, shuffled_contexts(split, seed)
        yield NEIGHBOURS, contexts_of_neighbours(split, seed)
        yield NONE, without_contexts(split)


def shortened(longest: int) -> str:
    """The name of the model with the nearest ``longest`` words of the contexts."""
    return f"model, nearest {longest} context words"


def part_name(part: Part) -> str:
    """The name of the model with a part of the contexts."""
    return f"model, {part} of the context"


def shortened_ways(split: Split) -> Iterator[tuple[str, Split]]:
    """The queries with fewer words of their contexts, by name."""
    for longest in LENGTHS:
        yield shortened(longest), nearest_words(split, longest)


def bm25_systems(split: Split, *, rarest: int, seed: int) -> Mapping[str, PoolScores]:
    """BM25 on the query, tuned too, and with the rarest words of the right and of another context.

    Args:
        split: the pairs, with contexts if there are any.
        rarest: context words that are added to a query.
        seed: of the exchange of contexts.
    """
    bm25 = Bm25(Bm25Config())
    found = {name: once(ranker_scores(each, split, split)) for name, each in ((BM25, bm25), (BM25_TUNED, tuned_bm25()))}
    if CONTEXT_FIELD not in split.words:
        return found
    counts = document_counts(split)
    for name, queries in ((BM25_OWN, split), (BM25_OTHERS, shuffled_contexts(split, seed))):
        asked = asked_with_context(queries, rarest=rarest, counts=counts)
        found[name] = ranker_scores(bm25, asked, split)
    return found


def tuned_bm25() -> Bm25:
    """BM25 with the settings of ``bm25_tuned``, which were chosen on validation pairs of the JDK."""
    config = resolve("jdk", "bm25_tuned", {}).model
    assert isinstance(config, Bm25Config)
    return Bm25(config)


def once(scores: PoolScores) -> PoolScores:
    """The same scores, computed once for each pool while its scores are remembered: those of the last one."""
    last: dict[int, tuple[Pool, Float[np.ndarray, "asked pool"]]] = {}

    def remembered(part: Pool) -> Float[np.ndarray, "asked pool"]:
        if id(part) not in last:
            last.clear()
            last[id(part)] = part, scores(part)
        return last[id(part)][1]

    return remembered


def fused(first: PoolScores, second: PoolScores, weight: float) -> PoolScores:
    """``weight`` of the first and the rest of the second, each standardised over the pool for each query."""

    def scores(part: Pool) -> Float[np.ndarray, "asked pool"]:
        one, other = (z_scores(np.asarray(each(part), np.float32)) for each in (first, second))
        return weighted(one, other, weight)

    return scores


def fusion_weight(model: Ranker, bm25: Bm25, valid: Split, seed: int) -> float:
    """The model's weight beside BM25 that has the best MRR on validation pairs."""
    rows = np.random.default_rng(seed).permutation(len(valid))[:WEIGHED]

    def gain(scores: Float[np.ndarray, "block codes"], row: int) -> float:
        better, tied = count_better_and_tied(scores, np.arange(row, row + len(scores)))
        return float(np.sum(1 / (1 + better + tied)))

    return best_weight(model, bm25, valid.take(np.sort(rows)), gain)
