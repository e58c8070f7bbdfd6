"""GenCodeSearchNet results: one record per model, with the results on each subset and their means by type."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from jaxtyping import Bool, Float, Int

from evaluation.generalisation import ByType, by_type
from evaluation.matching import Matching
from evaluation.metrics import chance_ranks, exact, mrr, mrr_over_ties
from evaluation.provenance import Machine
from evaluation.significance import bootstrap_interval

COSQA: Final = ("cosqa_fixed", "cosqa_released")
"""CoSQA as intended and as released; the first that was tested counts as CoSQA in the means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingResult:
    """The ranking task on a subset; ties count against the ranker, except in ``mrr_over_ties``."""

    queries: int
    candidates: int  # per query, including its own code
    mrr: float
    mrr_low: float  # ends of the 95 % bootstrap interval over queries
    mrr_high: float
    mrr_over_ties: float
    chance_mrr: float
    top1: float
    top5: float
    top10: float
    ranks: Sequence[int]
    seconds: float

    @classmethod
    def of(
        cls, better: Int[np.ndarray, " queries"], tied: Int[np.ndarray, " queries"], candidates: int, seconds: float
    ) -> "RankingResult":
        """Measures from the numbers of candidates that score higher than each query's gold, and of those that tie."""
        ranks = 1 + better + tied
        measures = exact(ranks)
        low, high = bootstrap_interval(1 / ranks, np.zeros(len(ranks)))
        return cls(
            queries=len(ranks),
            candidates=candidates,
            mrr=measures["mrr"],
            mrr_low=low,
            mrr_high=high,
            mrr_over_ties=mrr_over_ties(better, tied),
            chance_mrr=mrr(chance_ranks(candidates)),
            top1=measures["top1"],
            top5=measures["top5"],
            top10=measures["top10"],
            ranks=ranks.tolist(),
            seconds=seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingResult:
    """The matching task on a subset."""

    pairs: int  # half of them match, unless non-matching pairs were left out
    accuracy: float
    accuracy_low: float  # ends of the 95 % bootstrap interval over texts
    accuracy_high: float
    precision: float
    recall: float
    f1: float
    threshold: float
    threshold_from: str  # source of the threshold
    unanswered: int  # pairs without an answer of the model; they count as wrong

    @classmethod
    def of(
        cls,
        right: Bool[np.ndarray, "texts pairs"],
        found: Matching,
        *,
        threshold: float,
        threshold_from: str,
        unanswered: int,
    ) -> "MatchingResult":
        """Measures of decisions; ``right`` marks the correct ones, for each text and its pairs."""
        shares: Float[np.ndarray, " texts"] = right.mean(axis=1)
        low, high = bootstrap_interval(shares, np.zeros(len(shares)))
        return cls(
            pairs=right.size,
            accuracy=float(right.mean()),
            accuracy_low=low,
            accuracy_high=high,
            precision=found.precision,
            recall=found.recall,
            f1=found.f1,
            threshold=threshold,
            threshold_from=threshold_from,
            unanswered=unanswered,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetResult:
    """The results of a model on a subset."""

    name: str
    language: str
    origin: str  # files, and how many of the published pairs
    pairs: int
    stand_in: str  # how it differs from the published set; "" if it does not
    dropped: Mapping[str, int]  # reason -> rows
    ranking: RankingResult | None = None
    matching: MatchingResult | None = None
    notes: Sequence[str] = ()  # why a task was skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkResult:
    """The results of a model on the benchmark."""

    model: str
    protocol: str
    seed: int
    command: str
    code_version: str
    date: str  # ISO 8601, UTC
    machine: Machine
    subsets: Sequence[SubsetResult]
    missing: Sequence[str]  # subsets that were not available
    mrr_by_type: ByType | None = field(default=None)
    accuracy_by_type: ByType | None = field(default=None)


def means(subsets: Sequence[SubsetResult], *, released: bool) -> tuple[ByType, ByType]:
    """The means by type of MRR and of accuracy, with CoSQA as ``released`` or as intended."""
    name = COSQA[1] if released else COSQA[0]
    ranked = {each.name: each.ranking.mrr for each in subsets if each.ranking}
    matched = {each.name: each.matching.accuracy for each in subsets if each.matching}
    for values in (ranked, matched):
        if name in values:
            values["cosqa"] = values[name]
    return by_type(ranked), by_type(matched)
