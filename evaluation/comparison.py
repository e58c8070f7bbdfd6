"""Rankers compared on the same queries: means over seeds, and which differences are significant."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from evaluation.metrics import Measures, exact, published_convention
from evaluation.results import Result, Tested
from evaluation.significance import RunDifference, Runs, compare_runs, holm


@dataclass(frozen=True, slots=True)
class Entry:
    """One ranker on one pool, with all its seeds."""

    label: str
    results: Sequence[Result]  # one per seed
    tested: Sequence[Tested]  # theirs on this pool

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return len(self.results)

    @property
    def runs(self) -> Runs:
        """1 / rank of every query with every seed."""
        trained = any(result.parameters for result in self.results)
        return Runs(np.stack([1 / np.asarray(tested.ranks) for tested in self.tested]), trained=trained)

    @property
    def reciprocal_ranks(self) -> Float[np.ndarray, " queries"]:
        """1 / rank of every query, averaged over the seeds."""
        averaged: Float[np.ndarray, " queries"] = self.runs.values.mean(axis=0)
        return averaged

    def mean(self, convention: Literal["exact", "published_convention"]) -> Measures:
        """The metrics that are known of all seeds, averaged over these."""
        found: list[Measures] = [getattr(tested, convention) for tested in self.tested]
        known = [name for name in found[0] if all(name in measures for measures in found)]
        return {name: statistics.fmean(measures[name] for measures in found) for name in known}

    @property
    def mrr(self) -> float:
        """The exact MRR, averaged over the seeds."""
        return statistics.fmean(tested.exact["mrr"] for tested in self.tested)

    @property
    def mrr_text(self) -> str:
        """The exact MRR, with its deviation over several seeds, as the text of a cell."""
        return mean_text([tested.exact["mrr"] for tested in self.tested])


def mean_text(values: Sequence[float]) -> str:
    """The mean of a number of each seed, with its standard deviation over several, as the text of a cell."""
    deviation = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.3f}{deviation}"


@dataclass(frozen=True, slots=True)
class Pool:
    """The queries and methods that rankers were tested on; the words of a split tell it, not the names of its data."""

    dataset: str = field(compare=False)
    origin: str = field(compare=False)
    fingerprint: str
    split: str
    size: int  # methods that each query is ranked among
    queries: int
    drawn: int  # seed by which the methods were drawn from the split; -1: all of it
    ceiling_top1: float = field(compare=False)

    @classmethod
    def of(cls, dataset: str, tested: Tested, result: Result) -> "Pool":
        """That of a test, which is one of ``result``."""
        evaluate = result.config.get("evaluate", {})
        drawn = int(evaluate.get("pool_seed", 0)) if evaluate.get("pool", 0) == tested.pool_size else -1
        data = tested.data
        of = (data.fingerprint, tested.split, tested.pool_size, tested.queries, drawn)
        return cls(dataset, data.origin, *of, ceiling_top1=tested.ceiling_top1)

    @property
    def title(self) -> str:
        """The test set, in one line."""
        return f"{self.dataset} ({self.origin}), {self.split} split: {self.asked}"

    @property
    def asked(self) -> str:
        """Its queries and methods, in words."""
        methods = "as many methods" if self.queries == self.size else f"{self.size:,} methods"
        if self.queries > self.size:
            methods = f"the {methods} of their groups"
        return f"{self.queries:,} queries over {methods}"


Verdict = Literal["yes", "no", "one seed"]
"""Whether a difference is significant; "one seed": nothing is known of a model's variance."""
Side = Literal["worse", "level", "not shown", "better", "one seed"]
"""How an entry compares with the reference.

"worse", "better": significantly. "level": not so, and the whole interval lies within ``MARGIN`` of 0. "not shown": none
of these, so that the two may differ or not.
"""
MARGIN: Final = 0.01
"""MRR that counts as no difference: of a hundred queries two whose method moves from the second place to the first."""


@dataclass(frozen=True, slots=True)
class Lead:
    """The difference in MRR between an entry and the reference, with an adjusted p-value."""

    difference: RunDifference  # the entry's MRR minus the reference's
    adjusted_p: float  # by Holm; NaN without a verdict

    @property
    def verdict(self) -> Verdict:
        """Whether the difference is significant at 5 %."""
        if not self.difference.has_verdict:
            return "one seed"
        return "yes" if self.adjusted_p < 0.05 else "no"

    @property
    def side(self) -> Side:
        """How the entry compares with the reference."""
        if self.verdict == "one seed":
            return "one seed"
        if self.verdict == "yes":
            return "better" if self.difference.mean > 0 else "worse"
        return "level" if self.difference.low > -MARGIN and self.difference.high < MARGIN else "not shown"


def by_pool(results: Iterable[tuple[str, Result]]) -> dict[Pool, list[Entry]]:
    """The entries on each pool, best MRR first; each result is given with the label of its entry."""
    groups: dict[Pool, dict[str, list[tuple[Result, Tested]]]] = {}
    for label, result in results:
        for dataset, tested in ((result.dataset, result), *result.also.items()):
            groups.setdefault(Pool.of(dataset, tested, result), {}).setdefault(label, []).append((result, tested))
    tables = {}
    for pool, rankers in groups.items():
        entries = [Entry(label, *map(list, zip(*runs, strict=True))) for label, runs in rankers.items()]
        tables[pool] = sorted(entries, key=lambda entry: -entry.mrr)
    return tables


def restricted(tested: Tested, rows: Bool[np.ndarray, " queries"]) -> Tested:
    """``tested`` on some of its queries alone, without controls.

    Raises:
        UserError: there are none.
    """
    ranks = np.asarray(tested.ranks)[rows]
    return replace(
        tested,
        queries=len(ranks),
        ranks=ranks.tolist(),
        exact=exact(ranks),
        published_convention=published_convention(ranks),
        controls={},
        seen=None,
    )


def counting_copies(entry: Entry, texts: Sequence[int]) -> Entry:
    """``entry`` with each query's rank that of the first method whose own query has the same words.

    Such queries have the same ranking, so that the ranks of their methods say all of it.

    Args:
        entry: tested on all queries of a split over all its methods.
        texts: a number for each query, the same for those of the same words.
    """
    numbers = np.unique(texts, return_inverse=True)[1]
    return replace(entry, tested=[_with_first(tested, numbers) for tested in entry.tested])


def _with_first(tested: Tested, numbers: Int[np.ndarray, " queries"]) -> Tested:
    first = np.full(int(numbers.max()) + 1, tested.pool_size)
    np.minimum.at(first, numbers, np.asarray(tested.ranks))
    ranks = first[numbers]
    return replace(
        tested, ranks=ranks.tolist(), exact=exact(ranks), published_convention=published_convention(ranks), controls={}
    )


def largest_pools(results: Iterable[tuple[str, Result]]) -> dict[str, tuple[Pool, list[Entry]]]:
    """For each data set, by name, the pool with most rankers; there are several if the data were prepared again."""
    ordered = sorted(by_pool(results).items(), key=lambda found: len(found[1]))
    return {pool.dataset.partition(":")[0]: (pool, entries) for pool, entries in ordered}


def leads(entries: Sequence[Entry], reference: str, clusters: Sequence[int] | None = None) -> dict[str, Lead]:
    """Every entry but the reference against it, by reciprocal ranks over seeds and queries.

    Args:
        entries: of one pool.
        reference: label of one of them; without it nothing is compared.
        clusters: a number for each query, the same for those of one file; None: each query stands for itself.
    """
    base = next((entry for entry in entries if entry.label == reference), None)
    others = [entry for entry in entries if entry is not base]
    if base is None or not others:
        return {}
    found = paired_leads([(other, base) for other in others], clusters)
    return {other.label: lead for other, lead in zip(others, found, strict=True)}


def paired_leads(pairs: Sequence[tuple[Entry, Entry]], clusters: Sequence[int] | None = None) -> list[Lead]:
    """The first of each pair against the second, corrected for the number of all these pairs.

    Args:
        pairs: entries of one pool.
        clusters: as in :func:`leads`.
    """
    return judged([compare_runs(first.runs, second.runs, clusters) for first, second in pairs])


def judged(found: Sequence[RunDifference]) -> list[Lead]:
    """Differences of one table with p-values adjusted over those that have a verdict."""
    known = [place for place, difference in enumerate(found) if difference.has_verdict]
    adjusted = dict(zip(known, holm([found[place].p_value for place in known]), strict=True))
    return [Lead(difference, adjusted.get(place, math.nan)) for place, difference in enumerate(found)]


def adjusted(found: Mapping[str, RunDifference]) -> dict[str, Lead]:
    """:func:`judged` of differences that have names."""
    return dict(zip(found, judged([*found.values()]), strict=True))
