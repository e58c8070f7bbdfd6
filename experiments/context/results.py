"""Results of runs' tests with contexts: saved, beside those of the same models without, and their differences.

A result has its means by repository, so that intervals over repositories can be computed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Float, Int64
from scipy.stats import t as student

from data_prep.errors import UserError
from data_prep.files.json_text import from_json, to_json
from evaluation.result_store import ResultStore
from evaluation.significance import RunDifference, Runs, compare_runs

ALL: Final = "all"
"""All languages: pools of all mixed, or training on all together."""
DEPTHS: Final = (1, 2, 3, 5, 10, 20, 50, 100)
"""Depths k of recall@k."""
OVERLAPS: Final = (0.0, 0.1, 0.2, 0.3, 0.5)
"""Lower ends of the classes of a pair by the share of its function's words that are in its context."""
WITHOUT: Final = "_no_context"
"""End of the name of a model's form without context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What a system reached; means over queries."""

    mrr: Sequence[float]  # of each repository
    recall: Sequence[float]  # at DEPTHS, of all queries
    by_overlap: Sequence[float]  # MRR of each class of OVERLAPS, 0 for one without pairs
    as_published: float  # MRR where the last pool is not padded, which makes it easier


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResult:
    """A run on the pairs of one language, or of all mixed, in pools of one size."""

    model: str
    dataset: str
    language: str  # of the tested pairs; all: pools of all languages mixed
    trained_on: str  # --data.language of the run
    data_split: str  # repo, random, or the source tree that is left out
    split: str
    train_seed: int
    train_pairs: int
    command: str
    pool: int  # functions that a query is ranked over
    padded: int  # functions of the last pool that are not asked for again
    pool_seed: int
    fusion_weight: float  # of the model beside BM25, chosen on validation
    tuned_fusion_weight: float  # the same beside the tuned BM25
    wanted_pool: int  # the size that was asked for, of which there may not be so many
    repositories: Mapping[str, int]  # -> queries
    overlaps: Sequence[int]  # queries of each class of OVERLAPS
    systems: Mapping[str, Reached]

    @property
    def queries(self) -> int:
        """Number of queries."""
        return sum(self.repositories.values())

    def mrr(self, system: str) -> float:
        """Mean over queries."""
        return float(np.average(self.systems[system].mrr, weights=list(self.repositories.values())))

    def per_query(self, system: str) -> Float[np.ndarray, " queries"]:
        """A value for each query, its repository's mean: the sums over repositories are those of the queries."""
        return np.repeat(np.asarray(self.systems[system].mrr, np.float64), [*self.repositories.values()])

    @property
    def clusters(self) -> Int64[np.ndarray, " queries"]:
        """The repository of each query of :meth:`per_query`."""
        return np.repeat(np.arange(len(self.repositories)), [*self.repositories.values()])

    @property
    def of_all(self) -> bool:
        """Whether the run was trained on all languages together."""
        return self.trained_on == ALL

    @property
    def file_name(self) -> str:
        """A name for its file."""
        trained = [ALL] * (self.of_all and self.language != ALL)
        parts = [self.dataset, self.language, *trained, self.data_split, self.model, f"seed{self.train_seed}"]
        parts += [f"of{self.wanted_pool}", *([self.split] if self.split != "test" else [])]
        return "-".join(re.sub(r"[^\w.]", "+", part) for part in parts) + ".json"


def reached(
    ranks: Int64[np.ndarray, " queries"],
    repositories: Int64[np.ndarray, " queries"],
    classes: Int64[np.ndarray, " queries"],
    unpadded: Int64[np.ndarray, " queries"],
) -> Reached:
    """The means of a system's ranks.

    Args:
        ranks: 1 is best.
        repositories: a number from 0 of each query's repository; each number occurs.
        classes: of OVERLAPS.
        unpadded: the ranks where the last pool is not padded.
    """
    reciprocal = 1 / ranks
    of_classes = np.bincount(classes, reciprocal, len(OVERLAPS)) / np.maximum(
        np.bincount(classes, minlength=len(OVERLAPS)), 1
    )
    return Reached(
        mrr=_rounded(np.bincount(repositories, reciprocal) / np.bincount(repositories)),
        recall=_rounded(np.array([np.mean(ranks <= k) for k in DEPTHS])),
        by_overlap=_rounded(of_classes),
        as_published=_rounded(np.mean(1 / unpadded, keepdims=True))[0],
    )


def _rounded(values: Float[np.ndarray, " values"]) -> list[float]:
    return [round(float(value), 7) for value in values]


def save_result(result: ContextResult, folder: Path) -> Path:
    """Write ``result`` into ``folder``; returns the file.

    Raises:
        OSError: it cannot be written.
    """
    return ResultStore(folder).save(result.file_name.removesuffix(".json"), to_json(result))


def load_results(folder: Path) -> list[ContextResult]:
    """All results in ``folder``.

    Raises:
        UserError: one is damaged.
    """
    return [from_json(ContextResult, run.content, run.where) for run in ResultStore(folder).load().values()]


Seeds = Sequence[ContextResult]
"""Results of one model on the same pairs, one for each seed."""
Key = tuple[str, str, str, bool, int, int]
"""Data set, --data.split, model with context, whether it learned from all languages, training pairs, pool."""
Pairs = Mapping[str, tuple[Seeds, Seeds]]
"""Language -> results with context, results without."""


def paired(results: Sequence[ContextResult], split: str = "test") -> Mapping[Key, Pairs]:
    """The results of each model with context beside those of the same model without, on the same pairs of ``split``."""
    groups: dict[tuple[Key, str], list[ContextResult]] = {}
    for each in sorted(results, key=lambda each: each.train_seed):
        if each.split == split:
            key = (each.dataset, each.data_split, each.model, each.of_all, each.train_pairs, each.wanted_pool)
            groups.setdefault((key, each.language), []).append(each)
    found: dict[Key, dict[str, tuple[Seeds, Seeds]]] = {}
    for (key, language), seeds in groups.items():
        without = groups.get(((key[0], key[1], key[2] + WITHOUT, *key[3:]), language))
        if without:
            found.setdefault(key, {})[language] = seeds, without
    return found


def mean_mrr(seeds: Seeds, system: str, *, as_published: bool = False) -> float | None:
    """The mean over the seeds that were tested with a system; None: none was."""
    own = [each for each in seeds if system in each.systems]
    values = [each.systems[system].as_published if as_published else each.mrr(system) for each in own]
    return float(np.mean(values)) if values else None


def difference(firsts: Sequence[Seeds], of: str, seconds: Sequence[Seeds], against: str) -> RunDifference:
    """System ``of`` of a model minus ``against`` of another, or of the same one, over the same pairs.

    The interval is over repositories and, of a trained system, over seeds; it is NaN with one seed. Of several
    languages it is the mean: each counts the same, and languages are not sampled. With Q queries in all, n of a
    language and L languages, its values x become Q / (L n) (x - m) + M, where m is their mean and M the mean of the m:
    the mean over all queries is then the mean of means, and each repository's sum is its deviation within its language.

    Args:
        firsts: a model's results, one for each language.
        of: its system.
        seconds: the other model's.
        against: its system.

    Raises:
        UserError: the pairs are not the same, or of fewer than two repositories.
    """
    clusters, start = [], 0
    for first, second in zip(firsts, seconds, strict=True):
        if len({tuple(each.repositories.items()) for each in (*first, *second)}) > 1:
            raise UserError("expected results on the same pairs")
        clusters.append(first[0].clusters + start)
        start += len(first[0].repositories)
    return compare_runs(_runs(firsts, of), _runs(seconds, against), np.concatenate(clusters))


def _runs(languages: Sequence[Seeds], system: str) -> Runs:
    """The values of all languages, weighted; a system that is not trained is the same with each seed."""
    trained = not system.startswith("BM25")
    values = [np.stack([each.per_query(system) for each in (seeds if trained else seeds[:1])]) for seeds in languages]
    queries, means = sum(each.shape[1] for each in values), [float(each.mean()) for each in values]
    seeds = min(map(len, values))
    parts: list[Float[np.ndarray, "seeds queries"]] = [
        queries / (len(values) * each.shape[1]) * (each[:seeds] - mean) + np.mean(means)
        for each, mean in zip(values, means, strict=True)
    ]
    return Runs(np.concatenate(parts, axis=1), trained)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean and 95 % t interval of a sample, such as one value for each source tree; NaN ends of a single value."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, float("nan"), float("nan")
    half = float(student.ppf(0.975, len(values) - 1)) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return mean, mean - half, mean + half
