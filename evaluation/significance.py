"""Paired significance tests and intervals of the difference between two rankers, on per-query values.

All functions take one value per query of each ranker, in the same order of queries: reciprocal ranks for MRR.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from data_prep.array_types import Float
from data_prep.errors import UserError

_BLOCK: Final = 1 << 21
"""Draws in memory at a time."""

Values = Float[np.ndarray, " queries"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two means, first minus second, over the same queries."""

    mean: float
    low: float  # ends of the bootstrap interval
    high: float
    p_value: float  # of the two-sided sign-flip test; the null hypothesis is no difference
    resamples: int


def compare(first: Values, second: Values, *, resamples: int = 10_000, seed: int = 0) -> Difference:
    """The mean difference of paired values, its 95 % interval and p-value."""
    return compare_all([first], second, resamples=resamples, seed=seed)[0]


def compare_all(
    firsts: Sequence[Values], second: Values, *, resamples: int = 10_000, seed: int = 0
) -> list[Difference]:
    """:func:`compare` of each of ``firsts`` with ``second``; they share the random draws, which are slow."""
    differences = [_differences(first, second) for first in firsts]
    intervals = _intervals(differences, 0.95, resamples, seed)
    p_values = _p_values(differences, resamples, seed)
    return [
        Difference(float(np.mean(each)), *ends, p_value, resamples)
        for each, ends, p_value in zip(differences, intervals, p_values, strict=True)
    ]


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


def bootstrap_interval(
    first: Values, second: Values, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean difference: queries are drawn with replacement, the same for both.

    Raises:
        UserError: there are no queries, or different numbers of values on both sides.
    """
    return _intervals([_differences(first, second)], level, resamples, seed)[0]


def _intervals(differences: Sequence[Values], level: float, resamples: int, seed: int) -> list[tuple[float, float]]:
    if not differences:
        return []
    size, rng = len(differences[0]), np.random.default_rng(seed)
    draws = (rng.integers(size, size=(block, size), dtype=np.int32) for block in _block_sizes(resamples, size))
    means = np.concatenate([[each[block].mean(axis=1) for each in differences] for block in draws], axis=1)
    ends = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=1)
    return [(float(low), float(high)) for low, high in ends.T]


def _p_values(differences: Sequence[Values], resamples: int, seed: int) -> list[float]:
    """Two-sided p-values of the paired permutation test: each query's two values are swapped at random.

    p = (1 + swaps with a mean difference at least as far from 0) / (1 + resamples), hence never 0.
    """
    if not differences:
        return []
    size, rng = len(differences[0]), np.random.default_rng(seed)
    totals = [each.sum() for each in differences]
    reached = np.zeros(len(differences), dtype=np.int64)
    for block in _block_sizes(resamples, size):
        signs = rng.integers(2, size=(block, size), dtype=np.int8).astype(np.float64)
        for number, (each, total) in enumerate(zip(differences, totals, strict=True)):
            sums = 2 * (signs @ each) - total  # with random signs: twice the sum of the positive ones, minus the total
            reached[number] += np.count_nonzero(np.abs(sums) >= abs(total) * (1 - 1e-12))  # for rounding
    return [float((1 + count) / (1 + resamples)) for count in reached.tolist()]


def _differences(first: Values, second: Values) -> Values:
    if first.shape != second.shape or not len(first):
        raise UserError(f"a paired test needs values of the same queries, but got {len(first)} and {len(second)}")
    return np.asarray(first - second, dtype=np.float64)


def _block_sizes(resamples: int, size: int) -> Iterator[int]:
    step = max(1, _BLOCK // size)
    for start in range(0, resamples, step):
        yield min(step, resamples - start)
