"""The result of a run's test with contexts: by repository, so that intervals over repositories can be computed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Float, Int64

from evaluation.json_records import from_json, to_json
from evaluation.result_store import ResultStore

ALL: Final = "all"
"""All languages: pools of all mixed, or training on all together."""
DEPTHS: Final = (1, 2, 3, 5, 10, 20, 50, 100)
"""Depths k of recall@k."""
OVERLAPS: Final = (0.0, 0.1, 0.2, 0.3, 0.5)
"""Lower ends of the classes of a pair by the share of its function's words that are in its context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What a system reached; means over queries."""

    mrr: Sequence[float]  # of each repository
    recall: Sequence[float]  # at DEPTHS, of all queries
    by_overlap: Sequence[float]  # MRR of each class of OVERLAPS, 0 for one without pairs
    as_published: float | None = None  # MRR where the last pool is not padded, which makes it easier; None: not known


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
    tuned_fusion_weight: float | None = None  # the same beside the tuned BM25; None: not measured
    wanted_pool: int = 0  # the size that was asked for, of which there may not be so many; 0: the same
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
    def pools_of(self) -> int:
        """The size of pools that was asked for."""
        return self.wanted_pool or self.pool

    @property
    def file_name(self) -> str:
        """A name for its file."""
        trained = [ALL] * (self.of_all and self.language != ALL)
        parts = [self.dataset, self.language, *trained, self.data_split, self.model, f"seed{self.train_seed}"]
        parts += [f"of{self.pools_of}", *([self.split] if self.split != "test" else [])]
        return "-".join(re.sub(r"[^\w.]", "+", part) for part in parts) + ".json"


def reached(
    ranks: Int64[np.ndarray, " queries"],
    repositories: Int64[np.ndarray, " queries"],
    classes: Int64[np.ndarray, " queries"],
    unpadded: Int64[np.ndarray, " queries"] | None = None,
) -> Reached:
    """The means of a system's ranks.

    Args:
        ranks: 1 is best.
        repositories: a number from 0 of each query's repository; each number occurs.
        classes: of OVERLAPS.
        unpadded: the ranks where the last pool is not padded; None: not known.
    """
    reciprocal = 1 / ranks
    of_classes = np.bincount(classes, reciprocal, len(OVERLAPS)) / np.maximum(
        np.bincount(classes, minlength=len(OVERLAPS)), 1
    )
    return Reached(
        mrr=_rounded(np.bincount(repositories, reciprocal) / np.bincount(repositories)),
        recall=_rounded(np.array([np.mean(ranks <= k) for k in DEPTHS])),
        by_overlap=_rounded(of_classes),
        as_published=None if unpadded is None else _rounded(np.mean(1 / unpadded, keepdims=True))[0],
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
