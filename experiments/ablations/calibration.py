"""How often does the test of two models see a difference where there is none?

Twelve trainings of one model differ in their seeds alone. Each two disjoint groups of three of them are compared as two
models are in the tables (:mod:`evaluation.run_comparison`), and also as earlier, by queries alone: the seeds averaged,
each query for itself, as if training had no variance. A test at 5 % should find about 5 % of these pairs different.

``bash run.sh ablate calibration`` trains the seeds that have no result, on 12,000 training pairs of the JDK ranked on
its validation split, and saves the shares.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Float

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from evaluation.json_records import load_if_saved
from evaluation.provenance import code_version
from evaluation.results import Result
from evaluation.run_comparison import Runs, compare_runs
from experiments.recipes.config import REPOSITORY
from experiments.tables.cells import Cell, saved_results
from experiments.tables.comparison_tables import Clusters, markdown_table
from experiments.tables.query_kinds import clusters

FILE: Final = "calibration.json"
SEEDS: Final = 12
GROUP: Final = 3
LEVEL: Final = 0.05
_COMMON: Final = {"data.train_limit": "12000", "evaluate.split": "valid"}
_MODELS: Final = ("unif", "galm")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalibration:
    """The shares of comparisons of a model with itself that a test at 5 % calls different."""

    seeds: int
    comparisons: int
    seeds_and_queries: float  # by the test of the tables
    queries_alone: float  # by the same test without the seeds' variance and without clusters
    mrr: float  # mean over the seeds
    deviation: float  # of the MRR, over the seeds


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What was found."""

    code_version: str
    queries: int
    level: float
    models: Mapping[str, ModelCalibration]


def calibration_cells() -> tuple[Cell, ...]:
    """Twelve seeds of each model."""
    return tuple(
        Cell("jdk", model, seed, f"{model}, calibration", _COMMON) for model in _MODELS for seed in range(SEEDS)
    )


def calibrated(values: Float[np.ndarray, "seeds queries"], clusters: Sequence[int] | None) -> ModelCalibration:
    """Compare all disjoint groups of seeds; ``values``: reciprocal ranks."""
    seen, by_queries, comparisons = 0, 0, 0
    seeds = range(len(values))
    for first in combinations(seeds, GROUP):
        for second in combinations([seed for seed in seeds if seed > first[0] and seed not in first], GROUP):
            one, other = values[[*first]], values[[*second]]
            seen += compare_runs(Runs(one), Runs(other), clusters).p_value < LEVEL
            mean, mean_of_other = (Runs(each.mean(axis=0, keepdims=True), trained=False) for each in (one, other))
            by_queries += compare_runs(mean, mean_of_other).p_value < LEVEL
            comparisons += 1
    of_seeds = values.mean(axis=1)
    return ModelCalibration(
        seeds=len(values),
        comparisons=comparisons,
        seeds_and_queries=seen / comparisons,
        queries_alone=by_queries / comparisons,
        mrr=float(of_seeds.mean()),
        deviation=float(of_seeds.std(ddof=1)),
    )


def calibrate(results: Sequence[Result], files: Clusters) -> Calibration:
    """The calibration of each model that has enough seeds; the results are of one pool.

    Raises:
        UserError: no model has two groups of seeds.
    """
    found = {}
    for model in _MODELS:
        own = [result for result in results if result.model == model]
        if len(own) >= 2 * GROUP:
            values = np.stack([1 / np.asarray(result.ranks) for result in own])
            found[model] = calibrated(values, files.get(own[0].data.fingerprint))
    if not found:
        raise UserError(f"a calibration needs {2 * GROUP} seeds of a model")
    return Calibration(code_version=code_version(REPOSITORY), queries=results[0].queries, level=LEVEL, models=found)


def save_calibration(results: Path, typed: Mapping[str, str]) -> None:
    """Calibrate the test by the saved results below ``results``, and write what was found beside them.

    Raises:
        UserError: no model has two groups of seeds.
    """
    saved = saved_results(calibration_cells(), results / FILE.removesuffix(".json"), typed)
    found = calibrate([result for _, result in saved], clusters(results))
    write_atomically(results / FILE, json.dumps(asdict(found), indent=1) + "\n")


def calibration_section(results: Path) -> str:
    """What was saved in ``results`` as a section of the page of ablations; "" where nothing was.

    Raises:
        UserError: the file is damaged.
    """
    found = load_if_saved(Calibration, results / FILE, "the calibration of the test")
    if found is None:
        return ""
    rows = [
        (
            model,
            str(each.seeds),
            f"{each.mrr:.3f} ± {each.deviation:.3f}",
            f"{each.comparisons:,}",
            f"{100 * each.seeds_and_queries:.1f} %",
            f"{100 * each.queries_alone:.1f} %",
        )
        for model, each in found.models.items()
    ]
    header = ("model", "seeds", "MRR", "comparisons", "seeds and queries", "queries alone")
    return (
        f"## Calibration of the test\n\nAll disjoint groups of {GROUP} seeds of one model against {GROUP} others, on "
        f"{found.queries:,} validation queries after training on 12,000 pairs: how often a test at {100 * LEVEL:.0f} % "
        "sees a difference, of which there is none. The tables use the test over seeds and queries, those of a file "
        "together. Below its level it overlooks differences rather than inventing them; above it, differences between "
        "trainings pass for differences between models.\n\n"
        f"{markdown_table(header, rows)}"
    )
