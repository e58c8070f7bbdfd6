"""GenCodeSearchNet results: one record per model, with the results on each subset and their means by type.

The types of generalisation are means of means (Diera et al. 2023, tables 2 and 3). The text leaves open how these are
taken; the definitions here follow from the printed numbers: six cells of table 3 fit no other definition. Nothing is
rounded here; the paper truncates to four digits. The matching task asks: does this code answer this text? Half of the
pairs match.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

import numpy as np
from jaxtyping import Bool, Float, Int

from data_prep.errors import UserError
from data_prep.installation import Machine
from evaluation.metrics import chance_ranks, exact, mrr, mrr_over_ties
from evaluation.significance import bootstrap_interval

CSN: Final = ("ruby", "go", "php", "java", "javascript")
"""CodeSearchNet's languages except Python."""
EIGHT: Final = ("adv", "cosqa", *CSN, "statcodesearch")
"""The benchmark's test subsets."""


@dataclass(frozen=True, slots=True)
class ByType:
    """Means of one measure; None if a subset is missing."""

    csn: float | None
    """CodeSearchNet: mean of the five languages."""
    robustness: float | None
    """Mean of AdvTest and CoSQA."""
    cross_lingual: float | None
    """Mean of CodeSearchNet's mean and StatCodeSearch."""
    domain: float | None
    """StatCodeSearch."""
    combined: float | None
    """Mean of the three types: in total, StatCodeSearch has weight 1/2, AdvTest and CoSQA 1/6, each language 1/30."""
    eight: float | None
    """Mean of the eight subsets, which the paper does not print."""


def by_type(subsets: Mapping[str, float]) -> ByType:
    """The means over the values of :data:`EIGHT`; other names are ignored."""
    csn = _mean([subsets.get(name) for name in CSN])
    adv, cosqa, statistics = (subsets.get(name) for name in ("adv", "cosqa", "statcodesearch"))
    robustness, cross_lingual = _mean([adv, cosqa]), _mean([csn, statistics])
    return ByType(
        csn=csn,
        robustness=robustness,
        cross_lingual=cross_lingual,
        domain=statistics,
        combined=_mean([robustness, cross_lingual, statistics]),
        eight=_mean([subsets.get(name) for name in EIGHT]),
    )


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


@dataclass(frozen=True, slots=True)
class Matching:
    """Measures of decisions, each from 0 to 1; precision, recall and F1 are of the class "match"."""

    accuracy: float
    precision: float  # 0 if no pair was predicted to match
    recall: float
    f1: float


def matching(said: Bool[np.ndarray, " pairs"], true: Bool[np.ndarray, " pairs"]) -> Matching:
    """The measures of the predictions ``said`` against the labels ``true``.

    Raises:
        UserError: there is no matching pair.
    """
    if not true.any():
        raise UserError("matching needs at least one pair that matches, but there is none")
    hits = int((said & true).sum())
    precision = hits / int(said.sum()) if said.any() else 0.0
    recall = hits / int(true.sum())
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return Matching(float((said == true).mean()), precision, recall, f1)


def best_threshold(scores: Float[np.ndarray, " pairs"], true: Bool[np.ndarray, " pairs"]) -> float:
    """The score threshold for a match with the best accuracy on these pairs; the lowest if several are equal.

    Raises:
        UserError: a score is NaN, or there is no pair.
    """
    if not len(scores) or np.isnan(scores).any():
        raise UserError(f"a threshold needs scores that are numbers, but of {len(scores)} some are not")
    order = np.argsort(scores, kind="stable")
    ordered, matches = scores[order], true[order]
    # right[k]: number of correct decisions if the k lowest are predicted not to match
    right = np.concatenate([[0], np.cumsum(~matches)]) + np.concatenate([np.cumsum(matches[::-1])[::-1], [0]])
    possible = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    best = int(np.argmax(np.where(possible, right, -1)))
    return float(ordered[best]) if best < len(ordered) else float(np.nextafter(ordered[-1], np.inf))


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
        low, high = bootstrap_interval(1 / ranks)
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
    right: Sequence[int] = ()  # of each text: how many of its pairs were decided rightly; (): of an older result

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
        low, high = bootstrap_interval(right.mean(axis=1))
        return cls(
            pairs=right.size,
            **asdict(found),
            accuracy_low=low,
            accuracy_high=high,
            threshold=threshold,
            threshold_from=threshold_from,
            unanswered=unanswered,
            right=right.sum(axis=1).tolist(),
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
    groups: Sequence[int] = ()  # a number for each text, the same for those of one project or code; (): each its own


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
    learned: Sequence[str] = ()  # languages of the pairs that runs of this project learned from, as titles
    trained: bool | None = None  # whether another training seed gives other scores; None: saved before this was
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
