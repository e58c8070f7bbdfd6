"""The rows of GenCodeSearchNet's tables: runs of one model joined, its seeds together, compared on the same texts."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from data_prep.gencodesearchnet.subsets import POOLS, SUBSETS
from evaluation.benchmark import BenchmarkResult, SubsetResult
from evaluation.comparison import Lead, adjusted
from evaluation.significance import Runs, compare_runs

_ORDER: Final = [entry.name for entry in (*SUBSETS, *POOLS)]


@dataclass(frozen=True, slots=True, order=True)
class Column:
    """The texts that models are compared on: a subset of some size."""

    place: int  # in the order of the benchmark
    name: str
    pairs: int

    @classmethod
    def of(cls, subset: SubsetResult) -> "Column":
        """The column of a result."""
        place = _ORDER.index(subset.name) if subset.name in _ORDER else len(_ORDER)
        return cls(place, subset.name, subset.pairs)


Row = Mapping[Column, SubsetResult]
SEED: Final = re.compile(r"-seed\d+\b")
"""Of the folder or the name of one seed of a model."""


def label_of(result: BenchmarkResult) -> str:
    """The model, and the protocol unless it is the canonical one."""
    return result.model if result.protocol == "canonical" else f"{result.model} ({result.protocol})"


def rows_of(results: Sequence[BenchmarkResult]) -> dict[str, list[BenchmarkResult]]:
    """The results of each row of a table: one for each seed of a model that was trained several times.

    The folder of a single run keeps its seed, so that it can be found; another name does not.
    """
    seeds: dict[str, list[BenchmarkResult]] = {}
    for result in results:
        seeds.setdefault(SEED.sub("", label_of(result)), []).append(result)
    rows = ((label_of(each[0]) if len(each) == 1 and "/" in name else name, each) for name, each in seeds.items())
    return {f"{name}, {len(each)} seeds" if len(each) > 1 else name: each for name, each in rows}


def merged(results: Iterable[BenchmarkResult]) -> list[BenchmarkResult]:
    """One result for each row: runs of one model on other subsets, or on other sizes of one, are joined.

    Means by type are those of the run on most subsets.
    """
    rows: dict[str, list[BenchmarkResult]] = {}
    for result in results:
        rows.setdefault(label_of(result), []).append(result)
    return [_joined(each) for each in rows.values()]


def _joined(runs: Sequence[BenchmarkResult]) -> BenchmarkResult:
    subsets = {Column.of(subset): subset for run in runs for subset in run.subsets}
    whole = max(runs, key=lambda run: len(run.subsets))
    return replace(whole, subsets=[subsets[column] for column in sorted(subsets)])


def columns(results: Sequence[BenchmarkResult]) -> dict[Column, str]:
    """The columns of all results in order, each with its title."""
    found = sorted({Column.of(subset) for result in results for subset in result.subsets})
    names = [column.name for column in found]
    return {each: each.name + f" ({each.pairs:,})" * (names.count(each.name) > 1) for each in found}


def row_of(result: BenchmarkResult) -> Row:
    """The results of a row by their columns."""
    return {Column.of(subset): subset for subset in result.subsets}


def is_trained(result: BenchmarkResult) -> bool:
    """Whether another seed gives another result; older results do not say it, and are judged by their names."""
    return "/" in result.model if result.trained is None else result.trained


def _decided(subset: SubsetResult) -> Sequence[float]:
    """Of each text the share of its pairs that were decided rightly, which older results do not have."""
    found = subset.matching
    return [each * len(found.right) / found.pairs for each in found.right] if found else ()


MEASURES: Final[Mapping[str, Callable[[SubsetResult], Sequence[float]]]] = {
    "MRR": lambda subset: [1 / rank for rank in subset.ranking.ranks] if subset.ranking else (),
    "accuracy": _decided,
}
"""What is compared -> its value of each text of a subset; (): it was not measured."""


def paired(results: Sequence[BenchmarkResult], reference: str, measure: str = "MRR") -> dict[Column, dict[str, Lead]]:
    """For each column the difference of every row from ``reference`` on the same texts, in one of MEASURES.

    The interval is over texts, those of one project or of equal code together, and over the seeds of a row. Of a
    trained row with one seed nothing is known of another training: it gets no p-value, and its interval is of this run.
    """
    rows = rows_of(results)
    alone = {label for label, (first, *more) in rows.items() if is_trained(first) and not more}
    found = {}
    for column in columns(results):
        subsets = {label: on_column(column, each) for label, each in rows.items()}
        groups = next((each.groups for seeds in subsets.values() for each in seeds if each.groups), None)
        runs = {label: _runs(seeds, MEASURES[measure]) for label, seeds in subsets.items() if seeds}
        base = runs.pop(reference, None)
        if base and base.values.size:
            same = {label: each for label, each in runs.items() if each.values.shape[1] == base.values.shape[1]}
            leads = {label: compare_runs(each, base, groups) for label, each in same.items()}
            found[column] = adjusted(
                {label: replace(each, p_value=math.nan) if label in alone else each for label, each in leads.items()}
            )
    return {column: each for column, each in found.items() if each}


def on_column(column: Column, seeds: Sequence[BenchmarkResult]) -> list[SubsetResult]:
    """What the seeds of a row reached on a column; nothing if one of them was not tested on it."""
    found = [subset for each in seeds for subset in filter(None, [row_of(each).get(column)])]
    return found if len(found) == len(seeds) else []


def _runs(seeds: Sequence[SubsetResult], measure: Callable[[SubsetResult], Sequence[float]]) -> Runs:
    return Runs(np.array([measure(each) for each in seeds]), trained=len(seeds) > 1)
