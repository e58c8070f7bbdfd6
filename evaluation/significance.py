"""Whether one ranker is better than another, on values per query: reciprocal ranks for MRR.

:func:`compare` and :func:`bootstrap_interval` take one value per query of each ranker, in the same order of queries.
:func:`compare_runs` is over training seeds and over queries, both of which are samples. Two trainings of one model
differ, and so do two sets of queries; a verdict has to survive both. With reciprocal ranks ``x[s, q]`` of seed s and
query q, the difference of two models' means is ``D = mean x - mean y``, and its variance has three parts (a two-way
random-effects layout, queries crossed with seeds, seeds of the two models independent):

    queries  C / (C - 1) * sum over clusters c of (sum over q in c of (d[q] - D))^2 / Q^2,  d[q] = mean over s of x - y
    seeds    var over s of (mean over q of x) / S, for each model that is trained

where queries of one file are a cluster, since they tend to succeed and fail together (Cameron and Miller, "A
Practitioner's Guide to Cluster-Robust Inference", 2015, section II). The interval and the test are Student's t with
Satterthwaite's degrees of freedom (Biometrics Bulletin 1946), the correction for few seeds: with three seeds and no
other source of variance it has two degrees of freedom. A bootstrap over three seeds instead has intervals that are too
short: three values drawn from three are all the same in one draw of nine.

Far below 5 %, as at the first step of Holm's correction, three seeds make it too lenient where trainings differ much
and queries little: at .2 %, with seeds of standard deviation .01, by 1.5 where the queries' standard error is .008, and
by 7 where it is .003 (drawn 400,000 times, one model with seeds, one without).

A model that is not trained, such as BM25, has no seeds and no such part. A trained one with a single seed gets no
verdict: nothing is known of its variance.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.store.arrays import Float, Int

_BLOCK: Final = 1 << 21
"""Draws in memory at a time."""

PairedValues = Float[np.ndarray, " queries"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two means, first minus second, over the same queries."""

    mean: float
    low: float  # ends of the bootstrap interval
    high: float
    p_value: float  # of the two-sided sign-flip test; the null hypothesis is no difference
    resamples: int


def compare(first: PairedValues, second: PairedValues, *, resamples: int = 10_000, seed: int = 0) -> Difference:
    """The mean difference of paired values, its 95 % interval and p-value."""
    if first.shape != second.shape or not len(first):
        raise UserError(f"a paired test needs values of the same queries, but got {len(first)} and {len(second)}")
    differences = np.asarray(first - second, dtype=np.float64)
    interval = bootstrap_interval(differences, resamples=resamples, seed=seed)
    return Difference(float(differences.mean()), *interval, _p_value(differences, resamples, seed), resamples)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for multiple comparisons, in the order given (Holm, Scand. J. Statist. 1979).

    The k-th smallest of n is multiplied by n - k + 1; adjusted values are monotone and at most 1.
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    raised = np.minimum(np.maximum.accumulate(np.asarray(p_values)[order] * factors), 1.0)
    adjusted = np.empty(len(p_values))
    adjusted[order] = raised
    return adjusted.tolist()


def bootstrap_interval(values: PairedValues, *, resamples: int = 10_000, seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the mean of one or more values, or of differences of paired ones."""
    values, size, rng = np.asarray(values, np.float64), len(values), np.random.default_rng(seed)
    draws = (rng.integers(size, size=(block, size), dtype=np.int32) for block in _block_sizes(resamples, size))
    means = np.concatenate([values[block].mean(axis=1) for block in draws])
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return low, high


def _p_value(differences: PairedValues, resamples: int, seed: int) -> float:
    """Two-sided p-value of the paired permutation test: each query's two values are swapped at random.

    p = (1 + swaps with a mean difference at least as far from 0) / (1 + resamples), hence never 0.
    """
    size, rng, reached = len(differences), np.random.default_rng(seed), 0
    total = differences.sum()
    for block in _block_sizes(resamples, size):
        signs = rng.integers(2, size=(block, size), dtype=np.int8).astype(np.float64)
        sums = 2 * (signs @ differences) - total  # twice the sum of those with a positive sign, minus the total
        reached += int(np.count_nonzero(np.abs(sums) >= abs(total) * (1 - 1e-12)))  # for rounding
    return float((1 + reached) / (1 + resamples))


def _block_sizes(resamples: int, size: int) -> Iterator[int]:
    step = max(1, _BLOCK // size)
    for start in range(0, resamples, step):
        yield min(step, resamples - start)


Values = Float[np.ndarray, "seeds queries"]


@dataclass(frozen=True, slots=True)
class RunDifference:
    """The difference of two models' means, first minus second."""

    mean: float
    low: float  # ends of the 95 % interval; NaN where a trained model has one seed
    high: float
    p_value: float  # two-sided, of there being none; NaN where a trained model has one seed
    standard_error: float
    degrees_of_freedom: float

    @property
    def has_verdict(self) -> bool:
        """Whether the variance over seeds is known."""
        return not math.isnan(self.p_value)


@dataclass(frozen=True, eq=False, slots=True)
class Runs:
    """What a model reached on each query, with each of its seeds."""

    values: Values
    trained: bool = True  # whether another seed gives other values


def compare_runs(
    first: Runs, second: Runs, clusters: Sequence[int] | Int[np.ndarray, " queries"] | None = None
) -> RunDifference:
    """The difference of two models over the same queries.

    Args:
        first: a model's values.
        second: another's.
        clusters: a number for each query, the same for those that belong together; None: each stands for itself.

    Raises:
        UserError: the queries are not the same, or there are fewer than two clusters.
    """
    from scipy.stats import t as student  # slow to import

    queries = first.values.shape[1]
    groups = np.arange(queries) if clusters is None else np.asarray(clusters)
    if second.values.shape[1] != queries or len(groups) != queries:
        raise UserError(
            f"expected values and clusters of the same queries, got {queries}, {second.values.shape[1]} and "
            f"{len(groups)}"
        )
    differences = first.values.mean(axis=0) - second.values.mean(axis=0)  # [queries]
    parts = [_of_queries(differences, groups), *(_of_seeds(each) for each in (first, second) if each.trained)]
    mean, variance = float(differences.mean()), sum(part for part, _ in parts)
    if math.isnan(variance):
        return RunDifference(mean, math.nan, math.nan, math.nan, math.nan, math.nan)
    freedom = variance**2 / sum(part**2 / free for part, free in parts) if variance else math.inf
    error = math.sqrt(variance)
    half = float(student.ppf(0.975, freedom)) * error
    p_value = 2 * float(student.sf(abs(mean) / error, freedom)) if error else float(mean == 0)
    return RunDifference(mean, mean - half, mean + half, p_value, error, freedom)


def _of_queries(differences: Float[np.ndarray, " queries"], groups: Int[np.ndarray, " queries"]) -> tuple[float, int]:
    """The part of the queries, and its degrees of freedom."""
    numbers = np.unique(groups, return_inverse=True)[1]
    sums = np.bincount(numbers, weights=differences - differences.mean())
    if len(sums) < 2:
        raise UserError(f"expected queries of two clusters or more, got {len(sums)}")
    return float(len(sums) / (len(sums) - 1) * (sums**2).sum() / len(differences) ** 2), len(sums) - 1


def _of_seeds(runs: Runs) -> tuple[float, int]:
    """The part of a model's seeds, and its degrees of freedom; NaN of a single one."""
    seeds = len(runs.values)
    if seeds < 2:
        return math.nan, 0
    return float(runs.values.mean(axis=1).var(ddof=1) / seeds), seeds - 1


def wilson(count: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, JASA 1927); 0 to 1 of nothing."""
    from scipy.stats import binomtest  # slow to import

    ends = binomtest(count, total).proportion_ci(method="wilson") if total else None
    return (float(ends.low), float(ends.high)) if ends else (0.0, 1.0)
