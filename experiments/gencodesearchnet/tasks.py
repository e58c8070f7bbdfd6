"""The two tasks: rank a text's own code among others, and decide whether a code matches a text.

A cross-encoder is trained on matching pairs, each with a code that does not match: :class:`TrainingRows`.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from jaxtyping import Float32, Int, Int64
from tqdm import tqdm

from data_prep.gencodesearchnet.records import Example, as_split
from data_prep.gencodesearchnet.sets import (
    Block,
    Negatives,
    matching_negatives,
    ranking_blocks,
    released_typography,
)
from data_prep.gencodesearchnet.subsets import Subset
from data_prep.store.split import Split, TokenizedPairs
from evaluation.benchmark import MatchingResult, RankingResult, best_threshold, matching
from evaluation.metrics import count_better_and_tied, mrr_of_first
from modeling.pool_ranker import PoolRanker
from modeling.ranker import Ranker, Scores
from modeling.transformers.cross_encoder import both_logits_ranks, gold_logit_scores
from modeling.transformers.subword_pairs import joined_lengths

_ROWS = 64
"""Queries per block, after which the progress is updated."""

Found = Float32[np.ndarray, "block candidates"]
Score = Callable[[Int64[np.ndarray, " block"], Block], Found]
"""Scores of the candidates of each query, such as a :class:`modeling.ranker.Scores`."""
Logits = Callable[[Int64[np.ndarray, " block"], Block], Float32[np.ndarray, "block candidates 2"]]
"""Logits of a cross-encoder, "no match" and "match"."""
Over = Callable[[Split, Split], Score]
"""Scores over a test set, such as :meth:`modeling.ranker.Ranker.over`."""
Counted = tuple[Int[np.ndarray, " block"], Int[np.ndarray, " block"]]
Count = Callable[[Block], Counted]
"""How many candidates of each query score better than its gold, and how many are tied with it."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The score from which on a pair counts as a match."""

    value: float
    source: str


def blocks_of(subset: Subset, distractors: int, seed: int, limit: int, *, released: bool) -> Iterator[Block]:
    """The candidates of the first ``limit`` pairs (0: all), by the canonical draws or by the ``released`` ones."""
    left = limit or len(subset.texts)
    for block in ranking_blocks(len(subset.texts), distractors, seed, rows=_ROWS, released=released):
        if left > 0:
            yield block[:left]
        left -= len(block)


def rank_pool(ranker: Ranker, subset: Subset, pairs: Split) -> RankingResult:
    """Rank the gold of each query among all codes of the subset's pool."""
    started, golds = time.perf_counter(), np.array(subset.golds, np.int64)
    scores = ranker.over(pairs, as_split(subset.name, [Example("", code) for code in subset.pool]))
    counted: list[Counted] = []
    done = 0
    for block in scores.blocks():
        counted.append(count_better_and_tied(block, golds[done : done + len(block)]))
        done += len(block)
    better, tied = (np.concatenate(each) for each in zip(*counted, strict=True))
    return RankingResult.of(better, tied, len(subset.pool), time.perf_counter() - started)


def rank(blocks: Iterable[Block], count: Count, queries: int, name: str) -> RankingResult:
    """Rank the gold of each query, which is its first candidate."""
    started, candidates = time.perf_counter(), 0
    counted: list[Counted] = []
    with tqdm(total=queries, desc=f"ranking {name}", unit=" queries", disable=None) as bar:
        for block in blocks:
            counted.append(count(block))
            candidates = block.shape[1]
            bar.update(len(block))
    better, tied = (np.concatenate(each) for each in zip(*counted, strict=True))
    return RankingResult.of(better, tied, candidates, time.perf_counter() - started)


def count_by(score: Score, each: Callable[[Block, Found], None] = lambda *_: None) -> Count:
    """Count by scores, which are also passed to ``each``."""

    def count(block: Block) -> Counted:
        scores = score(block[:, 0], block)
        each(block, scores)
        return count_better_and_tied(scores, np.zeros(len(block), dtype=np.int64))

    return count


def count_by_both_logits(logits: Logits) -> Count:
    """Count as the task package's example does with a cross-encoder (D-7), without ties."""

    def count(block: Block) -> Counted:
        ranks = both_logits_ranks(logits(block[:, 0], block))
        return ranks - 1, np.zeros(len(block), dtype=np.int64)

    return count


def gold_logit(logits: Logits) -> Score:
    """Scores as in the released ranking script (D-5)."""
    return lambda queries, candidates: gold_logit_scores(logits(queries, candidates))


def choose_threshold(ranker: Ranker, pairs: Sequence[Example], source: str, seed: int) -> Threshold:
    """The threshold fixed by training, if any; else the best one on ``pairs``, each with a negative."""
    if ranker.natural_threshold is not None:
        return Threshold(ranker.natural_threshold, "training")
    split = as_split("validation", pairs)
    scores = pair_scores(ranker.over(split, split), matching_negatives(pairs, seed), source)
    true = np.tile([True, False], len(pairs))
    return Threshold(best_threshold(scores.ravel(), true), source)


def match(
    over: Over,
    subset: Subset,
    threshold: Threshold,
    seed: int,
    *,
    typography: bool,
    positives_only: bool,
    pairs: Split | None = None,
) -> MatchingResult:
    """Classify the pairs of a subset and as many negatives.

    Args:
        over: scores them.
        subset: matching pairs.
        threshold: score from which on a pair counts as a match.
        seed: seed of the negatives.
        typography: format negatives as the released scripts for CodeSearchNet do.
        positives_only: leave out the negatives, as the released evaluation of one model does.
        pairs: the subset as a split; None: it is created.
    """
    negatives = matching_negatives(subset.examples, seed)
    corpus = pairs = pairs or as_split(subset.name, subset.examples)
    if typography:
        rewritten = (Example("", released_typography(subset.codes[row])) for row in negatives.tolist())
        corpus = as_split(subset.name, chain(subset.examples, rewritten))
        negatives = np.arange(len(pairs), len(corpus), dtype=np.int64)
    scores = pair_scores(over(pairs, corpus), negatives, subset.name)
    true = np.tile([True, False], (len(scores), 1))
    if positives_only:
        scores, true = scores[:, :1], true[:, :1]
    unanswered = np.isnan(scores)
    said = np.where(unanswered, ~true, scores >= threshold.value)
    measures = matching(said.ravel(), true.ravel())
    return MatchingResult.of(
        said == true,
        measures,
        threshold=threshold.value,
        threshold_from=threshold.source,
        unanswered=int(unanswered.sum()),
    )


def pair_scores(score: Score, negatives: Negatives, name: str) -> Float32[np.ndarray, "texts 2"]:
    """The scores of each text with its own code and with its negative."""
    own: Int64[np.ndarray, " texts"] = np.arange(len(negatives), dtype=np.int64)
    candidates = np.stack([own, negatives], axis=1)
    found = []
    with tqdm(total=len(own), desc=f"matching {name}", unit=" pairs", disable=None) as bar:
        for start in range(0, len(own), _ROWS):
            part = candidates[start : start + _ROWS]
            found.append(score(part[:, 0], part))
            bar.update(len(part))
    return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """Rows of a text, a code and whether they match (1) or not (0); texts and codes are given by position."""

    texts: Int64[np.ndarray, " rows"]
    codes: Int64[np.ndarray, " rows"]
    labels: Int64[np.ndarray, " rows"]
    lengths: Int64[np.ndarray, " rows"]  # tokens of the two together

    @classmethod
    def of(cls, pairs: Sequence[Example], tokens: TokenizedPairs, room: int, seed: int) -> "TrainingRows":
        """Each pair, followed by its text with a different code of another pair.

        Args:
            pairs: matching pairs.
            tokens: their tokens.
            room: maximum tokens of a text and a code together.
            seed: seed of the negatives.

        Raises:
            ValueError: all pairs have the same code.
        """
        own = np.arange(len(pairs))
        codes = np.stack((own, matching_negatives(pairs, seed, exclude_equal_code=True)), axis=1).ravel()
        texts = np.repeat(own, 2)
        both = tokens.query_lengths[texts], tokens.code_lengths[codes]
        lengths = joined_lengths(torch.from_numpy(both[0]), torch.from_numpy(both[1]), room).numpy()
        return cls(texts, codes, np.tile([1, 0], len(pairs)), lengths)

    def batches(self, size: int, seed: int, epoch: int, window: int) -> list[Int64[np.ndarray, " batch"]]:
        """The rows of each batch of an epoch: shuffled, and sorted by length within windows of ``window`` batches."""
        draws = np.random.default_rng((seed, epoch))
        order = draws.permutation(len(self.texts))
        if not window:
            return _cut(order, size)
        sorted_parts = [part[np.argsort(self.lengths[part], kind="stable")] for part in _cut(order, size * window)]
        found = list(chain.from_iterable(_cut(part, size) for part in sorted_parts))
        return [found[number] for number in draws.permutation(len(found))]


@dataclass(frozen=True, slots=True)
class Validation:
    """Validation of a model: the accuracy over pairs and as many negatives, and the MRR."""

    scores: Scores
    negatives: Int64[np.ndarray, " pairs"]
    blocks: Int64[np.ndarray, "queries candidates"]  # the pair's own code first

    @classmethod
    def of(
        cls, model: PoolRanker, pairs: Sequence[Example], seed: int, *, most: int, queries: int, distractors: int
    ) -> "Validation":
        """Sample negatives and distractors once.

        Args:
            model: scores the pairs, with its weights at the time of measuring.
            pairs: validation pairs.
            seed: seed of negatives and distractors.
            most: maximum number of pairs for the accuracy, the first ones.
            queries: maximum number of queries for the MRR, the first ones.
            distractors: codes beside the right one.

        Raises:
            ValueError: all pairs have the same code.
        """
        split = as_split("validation", pairs)
        scores = model.over(split, split)
        negatives = matching_negatives(pairs, seed, exclude_equal_code=True)[:most]
        blocks = ranking_blocks(len(pairs), min(distractors, len(pairs) - 1), seed, rows=min(queries, len(pairs)))
        return cls(scores, negatives, next(blocks))

    def measure(self) -> dict[str, float]:
        """Accuracy and MRR of the model as it is now."""
        own = np.arange(len(self.negatives))
        matching = self.scores(own, np.stack((own, self.negatives), axis=1)) >= 0.5  # [pairs, 2]
        ranked = self.scores(np.arange(len(self.blocks)), self.blocks)
        return {"accuracy": float((matching == [True, False]).mean()), "mrr": mrr_of_first(ranked)}


def fingerprint(pairs: Sequence[Example]) -> str:
    """The sha256 of the pairs, in order."""
    total = hashlib.sha256()
    for pair in pairs:
        for half in (pair.text.encode(), pair.code.encode()):
            total.update(len(half).to_bytes(8, "big") + half)
    return total.hexdigest()


def _cut(rows: Int64[np.ndarray, " rows"], size: int) -> list[Int64[np.ndarray, " part"]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
