"""Differences of systems over seeds and repositories, from saved results."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.stats import t as student

from data_prep.errors import UserError
from evaluation.run_comparison import RunDifference, Runs, compare_runs
from experiments.context.results import ContextResult

Seeds = Sequence[ContextResult]
"""Results of one model on the same pairs, one for each seed."""


def difference(first: Seeds, of: str, second: Seeds, against: str) -> RunDifference:
    """System ``of`` of a model minus ``against`` of another, or of the same one, over the same pairs.

    The interval is over repositories and, of a trained system, over seeds; it is NaN with one seed.

    Raises:
        UserError: the pairs are not the same, or of fewer than two repositories.
    """
    if len({tuple(each.repositories.items()) for each in (*first, *second)}) > 1:
        raise UserError("expected results on the same pairs")
    return compare_runs(_paired(first, of), _paired(second, against), first[0].clusters)


def _paired(results: Seeds, system: str) -> Runs:
    trained = not system.startswith("BM25")
    values = np.stack([each.per_query(system) for each in (results if trained else results[:1])])
    return Runs(values, trained)


def macro_difference(firsts: Sequence[Seeds], of: str, seconds: Sequence[Seeds], against: str) -> RunDifference:
    """The mean over languages of :func:`difference`; each language counts the same, languages are not sampled.

    With Q queries in all, n of a language and L languages, its values x become Q / (L n) (x - m) + M, where m is their
    mean and M the mean of the m: the mean over all queries is then the mean of means, and each repository's sum is its
    deviation within its language.

    Raises:
        UserError: the pairs are not the same.
    """
    clusters, start = [], 0
    for each in firsts:
        clusters.append(each[0].clusters + start)
        start += len(each[0].repositories)
    first, second = (
        _weighted([_paired(each, system) for each in found]) for found, system in ((firsts, of), (seconds, against))
    )
    return compare_runs(first, second, np.concatenate(clusters))


def _weighted(languages: Sequence[Runs]) -> Runs:
    queries = sum(each.values.shape[1] for each in languages)
    means = [float(each.values.mean()) for each in languages]
    parts: list[Float[np.ndarray, "seeds queries"]] = [
        queries / (len(languages) * each.values.shape[1]) * (each.values - mean) + np.mean(means)
        for each, mean in zip(languages, means, strict=True)
    ]
    seeds = min(len(each) for each in parts)
    return Runs(np.concatenate([each[:seeds] for each in parts], axis=1), languages[0].trained)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean and 95 % t interval of a sample, such as one value for each source tree; NaN ends of a single value."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, float("nan"), float("nan")
    half = float(student.ppf(0.975, len(values) - 1)) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return mean, mean - half, mean + half
