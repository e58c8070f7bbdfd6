"""The weights of the ranking of whole files, without each gain, and fitted with each project left out in turn.

Files are ranked by :class:`search.engine.file_ranking.FileRanking` alone, without methods, models or vectors. A fit is
a coordinate search: from ``START``, one weight after the other takes the value of ``GRID`` that raises the mean of the
projects' NDCG@10 by file, until a round changes none (at most ``ROUNDS``). What a project gets by the weights that were
fitted on the others tells what an unknown one can expect; its own questions have no part in them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
from tqdm import tqdm

from data_prep.files.printable import one_line
from search.engine.engine import asks_for_tests, file_ranking, words_of
from search.engine.file_ranking import DEFAULT, FileWeights
from search.index.code_index import Index
from search.quality.query_file import QueryFile
from search.quality.typed_queries import DEPTH, ndcg_by_file, seen

START: Final = FileWeights(
    k1=5.0, stem=1.0, folders=0.2, defines=1.0, test_share=0.3, gathering_share=0.8, stem_times=10, folder_times=5
)
GRID: Final[Mapping[str, Sequence[Any]]] = {
    "k1": (2.5, 5.0, 10.0, 20.0),
    "stem": (0.5, 1.0, 1.5, 2.0, 3.0),
    "folders": (0.0, 0.2, 0.4),
    "defines": (0.5, 1.0, 2.0),
    "test_share": (0.1, 0.3, 0.6),
    "gathering_share": (0.6, 0.8, 1.0),
    "stem_times": (0, 10, 20, 40),
    "folder_times": (0, 5, 10),
}
ROUNDS: Final = 3
WITHOUT: Final[Mapping[str, Any]] = {
    "k1": 1.5,  # what BM25 has by default
    "stem": 0.0,
    "folders": 0.0,
    "defines": 0.0,
    "test_share": 1.0,
    "gathering_share": 1.0,
    "stem_times": 0,
    "folder_times": 0,
}
"""Values with which a part of the ranking has no effect."""


@dataclass(frozen=True, slots=True)
class FileProject:
    """The questions about a project, and its index."""

    asked: QueryFile
    index: Index

    def ndcg(self, weights: FileWeights) -> float:
        """The mean of NDCG@10 by file over the questions."""
        ranking, paths = file_ranking(self.index, weights), [file.path for file in self.index.files]
        values = []
        for query in self.asked.queries:
            words = words_of(query.text)
            scores = ranking.scores(words, query.text, for_tests=asks_for_tests(words))
            best = [place for place in np.argsort(-scores, kind="stable")[:DEPTH].tolist() if scores[place] > 0]
            values.append(ndcg_by_file([seen(self.asked.root, paths[place]) for place in best], query.paths))
        return float(np.mean(values))


@dataclass(frozen=True, slots=True)
class MeasuredWeights:
    """Weights, and NDCG@10 by file with them."""

    name: str
    weights: Mapping[str, FileWeights]  # of each project
    values: Mapping[str, float]  # of each project

    @property
    def mean(self) -> float:
        """The mean over the projects."""
        return float(np.mean([*self.values.values()]))


class FileFit:
    """The ranking of files of several projects, by any weights; each is measured once."""

    def __init__(self, projects: Mapping[str, FileProject]) -> None:
        self._projects = projects
        self._known: dict[tuple[str, FileWeights], float] = {}

    def fitted(self, names: Iterable[str]) -> FileWeights:
        """The weights that are best for the projects ``names``; no other is looked at."""
        names, weights = [*names], START
        best = self._mean(names, weights)
        for _ in range(ROUNDS):
            before = weights
            for field, values in GRID.items():
                for value in values:
                    other = replace(weights, **{field: value})
                    if (found := self._mean(names, other)) > best + 1e-9:
                        best, weights = found, other
            if weights == before:
                break
        return weights

    def measured(self) -> list[MeasuredWeights]:
        """The default weights, those without each part, and those fitted with each project left out."""
        found = [self._same("default", DEFAULT)]
        for field, value in WITHOUT.items():
            name = f"{field} {value}" if value else f"without {field}"
            found.append(self._same(name, replace(DEFAULT, **{field: value})))
        left = tqdm(self._projects, desc="fitted without", unit=" projects", disable=None)
        weights = {name: self.fitted(other for other in self._projects if other != name) for name in left}
        return [*found, self._of("fitted on the others", weights)]

    def _same(self, name: str, weights: FileWeights) -> MeasuredWeights:
        return self._of(name, dict.fromkeys(self._projects, weights))

    def _of(self, name: str, weights: Mapping[str, FileWeights]) -> MeasuredWeights:
        return MeasuredWeights(name, weights, {each: self._ndcg(each, own) for each, own in weights.items()})

    def _mean(self, names: Sequence[str], weights: FileWeights) -> float:
        return float(np.mean([self._ndcg(name, weights) for name in names]))

    def _ndcg(self, name: str, weights: FileWeights) -> float:
        if (name, weights) not in self._known:
            self._known[name, weights] = self._projects[name].ndcg(weights)
        return self._known[name, weights]


def fit_record(projects: Mapping[str, FileProject], measured: Sequence[MeasuredWeights]) -> dict[str, Any]:
    """The results as one JSON object."""
    sizes = {name: {"queries": len(p.asked.queries), "files": len(p.index.files)} for name, p in projects.items()}
    settings = [
        {
            "name": each.name,
            "mean": each.mean,
            "ndcg": dict(each.values),
            "weights": {name: asdict(weights) for name, weights in each.weights.items()},
        }
        for each in measured
    ]
    return {"measure": "NDCG@10 by file", "projects": sizes, "settings": settings}


def fit_lines(projects: Mapping[str, FileProject], measured: Sequence[MeasuredWeights]) -> list[str]:
    """The results as text: a line per setting, a column per project."""
    asked = sum(len(each.asked.queries) for each in projects.values())
    shown, first = [one_line(name) for name in projects], max(len(each.name) for each in measured)
    wide = [max(8, len(name) + 2) for name in shown]

    def line(name: str, cells: Iterable[str], mean: str) -> str:
        return f"{name:<{first}}{''.join(f'{cell:>{w}}' for cell, w in zip(cells, wide, strict=True))}{mean:>9}"

    own = measured[-1].weights.items()
    return [
        f"{asked:,} queries about {len(projects)} projects; NDCG@10 by file, whole files alone, and the projects' mean",
        line("", shown, "mean"),
        line("queries", (f"{len(each.asked.queries):,}" for each in projects.values()), ""),
        line("files", (f"{len(each.index.files):,}" for each in projects.values()), ""),
        *(line(each.name, (f"{value:.3f}" for value in each.values.values()), f"{each.mean:.4f}") for each in measured),
        "the weights that were fitted on the others:",
        *(f"  {one_line(n)}: {', '.join(f'{field} {v:g}' for field, v in asdict(w).items())}" for n, w in own),
    ]
