"""Weights measured on typed questions about several projects: without each, and fitted with each project left out.

A fit is a coordinate search: from a plan's ``start``, one weight after the other takes the value of its ``grid`` that
raises the mean of the projects' NDCG@10 by file, until a round changes none (at most ``ROUNDS``). What a project gets
by the weights that were fitted on the others tells what an unknown one can expect; its own questions have no part in
them. Two plans: :mod:`search.quality.file_fit` and :mod:`search.quality.search_fit`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from tqdm import tqdm

from data_prep.files.printable import one_line
from search.engine.file_ranking import FileWeights
from search.index.code_index import Index
from search.quality.query_file import QueryFile

Weights = TypeVar("Weights", bound=FileWeights)
Asked = TypeVar("Asked", bound=FileWeights, contravariant=True)
ROUNDS: Final = 3


@runtime_checkable
class Project(Protocol[Asked]):
    """The questions about a project, and its index."""

    @property
    def asked(self) -> QueryFile:
        """The questions."""

    @property
    def index(self) -> Index:
        """The index."""

    def ndcg(self, weights: Asked) -> float:
        """The mean of NDCG@10 by file over the questions."""


@dataclass(frozen=True, slots=True)
class FitPlan(Generic[Weights]):
    """What is fitted."""

    what: str  # is measured
    default: Weights
    start: Weights  # of a fit
    grid: Mapping[str, Sequence[Any]]  # weight -> the values that are tried
    without: Mapping[str, Any]  # weight -> the value with which its part of the ranking has no effect


@dataclass(frozen=True, slots=True)
class MeasuredWeights(Generic[Weights]):
    """Weights, and NDCG@10 by file with them."""

    name: str
    weights: Mapping[str, Weights]  # of each project
    values: Mapping[str, float]  # of each project

    @property
    def mean(self) -> float:
        """The mean over the projects."""
        return float(np.mean([*self.values.values()]))


class WeightFit(Generic[Weights]):
    """The ranking of several projects by any weights; each is measured once."""

    def __init__(self, projects: Mapping[str, Project[Weights]], plan: FitPlan[Weights]) -> None:
        self._projects, self._plan = projects, plan
        self._known: dict[tuple[str, Weights], float] = {}

    def fitted(self, names: Iterable[str]) -> Weights:
        """The weights that are best for the projects ``names``; no other is looked at."""
        names, weights = [*names], self._plan.start
        best = self._mean(names, weights)
        for _ in range(ROUNDS):
            before = weights
            for field, values in self._plan.grid.items():
                for value in values:
                    other = replace(weights, **{field: value})
                    if (found := self._mean(names, other)) > best + 1e-9:
                        best, weights = found, other
            if weights == before:
                break
        return weights

    def measured(self) -> list[MeasuredWeights[Weights]]:
        """The default weights, those without each part, and those fitted with each project left out."""
        default = self._plan.default
        found = [self._same("default", default)]
        for field, value in self._plan.without.items():
            name = f"{field} {value}" if value else f"without {field}"
            found.append(self._same(name, replace(default, **{field: value})))
        left = tqdm(self._projects, desc="fitted without", unit=" projects", disable=None)
        weights = {name: self.fitted(other for other in self._projects if other != name) for name in left}
        return [*found, self._of("fitted on the others", weights)]

    def _same(self, name: str, weights: Weights) -> MeasuredWeights[Weights]:
        return self._of(name, dict.fromkeys(self._projects, weights))

    def _of(self, name: str, weights: Mapping[str, Weights]) -> MeasuredWeights[Weights]:
        return MeasuredWeights(name, weights, {each: self._ndcg(each, own) for each, own in weights.items()})

    def _mean(self, names: Sequence[str], weights: Weights) -> float:
        return float(np.mean([self._ndcg(name, weights) for name in names]))

    def _ndcg(self, name: str, weights: Weights) -> float:
        if (name, weights) not in self._known:
            self._known[name, weights] = self._projects[name].ndcg(weights)
        return self._known[name, weights]


def fit_record(
    projects: Mapping[str, Project[Weights]], plan: FitPlan[Weights], measured: Sequence[MeasuredWeights[Weights]]
) -> dict[str, Any]:
    """The results as one JSON object."""
    sizes = {
        name: {"queries": len(each.asked.queries), "files": len(each.index.files), "rows": len(each.index)}
        for name, each in projects.items()
    }
    settings = [
        {
            "name": each.name,
            "mean": each.mean,
            "ndcg": dict(each.values),
            "weights": {name: asdict(weights) for name, weights in each.weights.items()},
        }
        for each in measured
    ]
    return {"measure": f"NDCG@10 by file, {plan.what}", "projects": sizes, "settings": settings}


def fit_lines(
    projects: Mapping[str, Project[Weights]], plan: FitPlan[Weights], measured: Sequence[MeasuredWeights[Weights]]
) -> list[str]:
    """The results as text: a line per setting, a column per project."""
    asked = sum(len(each.asked.queries) for each in projects.values())
    shown, first = [one_line(name) for name in projects], max(len(each.name) for each in measured)
    wide = [max(8, len(name) + 2) for name in shown]

    def line(name: str, cells: Iterable[str], mean: str) -> str:
        return f"{name:<{first}}{''.join(f'{cell:>{w}}' for cell, w in zip(cells, wide, strict=True))}{mean:>9}"

    own = measured[-1].weights.items()
    return [
        f"{asked:,} queries about {len(projects)} projects; NDCG@10 by file, {plan.what}, and the projects' mean",
        line("", shown, "mean"),
        line("queries", (f"{len(each.asked.queries):,}" for each in projects.values()), ""),
        line("files", (f"{len(each.index.files):,}" for each in projects.values()), ""),
        *(line(each.name, (f"{value:.3f}" for value in each.values.values()), f"{each.mean:.4f}") for each in measured),
        "the weights that were fitted on the others:",
        *(f"  {one_line(n)}: {', '.join(f'{field} {v:g}' for field, v in asdict(w).items())}" for n, w in own),
    ]
