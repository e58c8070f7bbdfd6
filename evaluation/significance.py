"""Whether one ranker's lead over another is more than the choice of queries: paired, on per-query values.

Both functions take one value a query of each ranker, in the same order of queries: reciprocal ranks for MRR.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float

_BLOCK: Final = 1 << 21
"""Draws held at a time."""

Values = Float[np.ndarray, " queries"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two means, first minus second, over the same queries."""

    mean: float
    low: float  # ends of the bootstrap interval
    high: float
    p_value: float  # of the two-sided sign-flip test that there is none
    resamples: int


def compare(first: Values, second: Values, *, resamples: int = 10_000, seed: int = 0) -> Difference:
    """The mean difference of paired values, its 95 % interval and p-value."""
    low, high = bootstrap_interval(first, second, resamples=resamples, seed=seed)
    p_value = sign_flip_test(first, second, resamples=resamples, seed=seed)
    return Difference(float(np.mean(first - second)), low, high, p_value, resamples)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for how many there are, in the order given (Holm, Scand. J. Statist. 1979).

    The k-th smallest of n is multiplied by n - k + 1, and none is below a smaller one's; at most 1.
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
    """Percentile bootstrap interval of the mean difference: queries drawn with replacement, the same for both.

    Raises:
        ValueError: when there are no queries or not as many values on both sides.
    """
    differences = _differences(first, second)
    size, rng = len(differences), np.random.default_rng(seed)
    draws = (rng.integers(size, size=(block, size), dtype=np.int32) for block in _block_sizes(resamples, size))
    means = np.concatenate([differences[block].mean(axis=1) for block in draws])
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def sign_flip_test(first: Values, second: Values, *, resamples: int = 10_000, seed: int = 0) -> float:
    """Two-sided p-value of the paired permutation test: each query's two values are swapped at random.

    p = (1 + swaps with a mean difference at least as far from 0) / (1 + resamples), hence never 0.

    Raises:
        ValueError: when there are no queries or not as many values on both sides.
    """
    differences = _differences(first, second)
    size, rng = len(differences), np.random.default_rng(seed)
    signs = (rng.integers(2, size=(block, size), dtype=np.int8) for block in _block_sizes(resamples, size))
    # a sum with random signs is twice the sum of those kept, minus the whole
    sums = np.concatenate([2 * (block @ differences) - differences.sum() for block in signs])
    reached = abs(differences.sum()) * (1 - 1e-12)  # the same sum in another order may round lower
    return float((1 + np.count_nonzero(np.abs(sums) >= reached)) / (1 + resamples))


def _differences(first: Values, second: Values) -> Values:
    if first.shape != second.shape or not len(first):
        raise ValueError(f"a paired test needs values of the same queries, but got {len(first)} and {len(second)}")
    return np.asarray(first - second, dtype=np.float64)


def _block_sizes(resamples: int, size: int) -> Iterator[int]:
    step = max(1, _BLOCK // size)
    for start in range(0, resamples, step):
        yield min(step, resamples - start)
