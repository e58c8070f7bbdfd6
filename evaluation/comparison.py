"""Comparison of rankers on the same queries: means over seeds, and which differences are significant."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from evaluation.history import Validation, mean_validation
from evaluation.metrics import Measures
from evaluation.results import Result, Tested
from evaluation.significance import Difference, compare_all, holm


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
    def reciprocal_ranks(self) -> Float[np.ndarray, " queries"]:
        """1 / rank of every query, averaged over the seeds."""
        return np.mean([1 / np.asarray(tested.ranks) for tested in self.tested], axis=0)

    def mean(self, convention: str) -> Measures:
        """The measures of ``exact`` or ``published_convention``, averaged over the seeds."""
        found = [getattr(tested, convention) for tested in self.tested]
        return Measures(*(statistics.fmean(getattr(m, name) for m in found) for name in Measures.__slots__))

    def validations(self) -> list[Validation]:
        """The validations during training, averaged over the seeds; only epochs that all seeds have reached."""
        seeds = [{each.epoch: each for each in result.history} for result in self.results if result.history]
        epochs = sorted(set.intersection(*map(set, seeds))) if seeds else []
        return [mean_validation([seed[epoch] for seed in seeds]) for epoch in epochs]

    @property
    def mrr_deviation(self) -> float | None:
        """Standard deviation of the exact MRR over the seeds; None for a single seed."""
        return statistics.stdev(tested.exact.mrr for tested in self.tested) if self.seeds > 1 else None


@dataclass(frozen=True, slots=True)
class Pool:
    """The queries and methods that rankers were tested on."""

    dataset: str
    origin: str
    fingerprint: str
    split: str
    size: int
    ceiling_top1: float


@dataclass(frozen=True, slots=True)
class Lead:
    """The difference in MRR between an entry and the reference, with an adjusted p-value."""

    difference: Difference  # the entry's MRR minus the reference's
    adjusted_p: float  # Holm, over all comparisons of the pool

    @property
    def holds(self) -> bool:
        """Whether the difference is significant at 5 %."""
        return self.adjusted_p < 0.05


def by_pool(results: Iterable[tuple[str, Result]]) -> dict[Pool, list[Entry]]:
    """The entries on each pool, best MRR first; each result is given with the label of its entry."""
    groups: dict[Pool, dict[str, list[tuple[Result, Tested]]]] = {}
    for label, result in results:
        for dataset, tested in ((result.dataset, result), *result.also.items()):
            pool = Pool(
                dataset,
                tested.data.origin,
                tested.data.fingerprint,
                tested.split,
                tested.pool_size,
                tested.ceiling_top1,
            )
            groups.setdefault(pool, {}).setdefault(label, []).append((result, tested))
    tables = {}
    for pool, rankers in groups.items():
        entries = [Entry(label, *map(list, zip(*runs, strict=True))) for label, runs in rankers.items()]
        tables[pool] = sorted(entries, key=lambda entry: -entry.mean("exact").mrr)
    return tables


def leads(entries: Sequence[Entry], reference: str, *, resamples: int = 10_000) -> dict[str, Lead]:
    """Compare every other entry with the reference by a paired randomisation test on reciprocal ranks."""
    base = next((entry for entry in entries if entry.label == reference), None)
    others = [entry for entry in entries if entry is not base]
    if base is None or not others:
        return {}
    found = compare_all([other.reciprocal_ranks for other in others], base.reciprocal_ranks, resamples=resamples)
    adjusted = holm([difference.p_value for difference in found])
    return {other.label: Lead(*pair) for other, pair in zip(others, zip(found, adjusted, strict=True), strict=True)}
