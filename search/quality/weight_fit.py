"""Weights measured on typed questions about several projects: without each, and fitted with each project left out.

A fit is a coordinate search: from the plan's start, one weight after the other takes the value that raises the mean of
the projects' smooth NDCG@10 by file, until a round changes none (at most ``ROUNDS``). It is smooth since a rank is the
expected number of files that stand before, if scores were known up to a spread
(:func:`search.quality.typed_queries.smooth_ndcg`): which file is first by a hair is chance. What a project gets by the
weights that were fitted on the others, by plain NDCG@10, tells what an unknown one can expect; its own questions have
no part in them.

Two plans: the weights of whole files alone, without methods, models or vectors; and those of the whole search where
files are asked for. The starts were chosen by no typed question.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Generic, TypeVar

import numpy as np
from jaxtyping import Float, Float32, Int64
from tqdm import tqdm

from search.engine.engine import Engine
from search.engine.file_ranking import DEFAULT, FileWeights, file_ranking
from search.engine.question import RankingSettings, asks_for_tests, words_of
from search.engine.signals import Alignment, FileScorer, Reranker, Retriever
from search.index.code_index import Index
from search.quality.query_file import QueryFile
from search.quality.typed_queries import DEPTH, ndcg_by_file, seen, smooth_ndcg

Weights = TypeVar("Weights", bound=FileWeights)
ROUNDS: Final = 3
FIRST: Final = 30
"""Files of an answer that are looked at, since the scores of those behind the first ten count a little too."""
LEAST: Final = 0.0005
"""What another value of a weight raises the mean by, at least: less is chance."""
_DEFAULT: Final = RankingSettings()


@dataclass(frozen=True, slots=True)
class Tried:
    """What is tried of a weight."""

    start: Any
    values: Sequence[Any]
    without: Any  # the value with which its part of the ranking has no effect


@dataclass(frozen=True, slots=True)
class SearchWeights(FileWeights):
    """The weights of whole files, and the settings of :class:`RankingSettings` that order files."""

    weight: float = _DEFAULT.weight
    files: float = _DEFAULT.files
    vector_weight: float | None = _DEFAULT.vector_weight
    file: float = _DEFAULT.file
    whole: float = _DEFAULT.whole
    test: float = _DEFAULT.test
    constant: float = _DEFAULT.constant
    old: float = _DEFAULT.old
    depth: float = _DEFAULT.depth
    phrases_of_file: float = _DEFAULT.phrases_of_file

    @property
    def of_files(self) -> FileWeights:
        """Those of whole files alone."""
        return FileWeights(**{each.name: getattr(self, each.name) for each in fields(FileWeights)})

    @property
    def ranking(self) -> RankingSettings:
        """The settings of the ranking, the others by default."""
        own = {each.name for each in fields(FileWeights)}
        return replace(_DEFAULT, **{name: value for name, value in asdict(self).items() if name not in own})


@dataclass(frozen=True, slots=True)
class FitPlan(Generic[Weights]):
    """What is fitted."""

    what: str  # is measured
    default: Weights
    tried: Mapping[str, Tried]  # by the name of the weight, in the order in which they are fitted

    @property
    def start(self) -> Weights:
        """The weights from which a fit starts."""
        return replace(self.default, **{name: each.start for name, each in self.tried.items()})


_OF_FILES: Final[Mapping[str, Tried]] = {
    "k1": Tried(5.0, (2.5, 5.0, 10.0, 20.0), without=1.5),  # what BM25 has by default
    "stem": Tried(1.0, (0.5, 1.0, 1.5, 2.0, 3.0), without=0.0),
    "folders": Tried(0.2, (0.0, 0.2, 0.4), without=0.0),
    "lead": Tried(0.0, (0.0, 0.2, 0.4, 0.6), without=0.0),
    "has": Tried(0.0, (0.0, 0.3, 0.5), without=0.0),
    "head": Tried(0.0, (0.0, 0.2, 0.4, 0.8), without=0.0),
    "subject": Tried(0.0, (0.0, 0.5, 1.0, 2.0), without=0.0),
    "callers": Tried(0.0, (0.0, 0.15, 0.3), without=0.0),
    "defines": Tried(1.0, (0.5, 1.0, 2.0), without=0.0),
    "around": Tried(0.0, (0.0, 0.05, 0.1), without=0.0),
    "most_terms": Tried(8, (5, 6, 8), without=1000),
    "test_share": Tried(0.3, (0.1, 0.3, 0.6), without=1.0),
    "gathering_share": Tried(0.8, (0.6, 0.8, 0.9, 1.0), without=1.0),
    "header_share": Tried(1.0, (0.5, 0.7, 1.0), without=1.0),
    "stem_times": Tried(10, (0, 10, 20, 40), without=0),
    "folder_times": Tried(5, (0, 5, 10), without=0),
    "spelling": Tried(0.5, (0.3, 0.5, 0.7, 0.9), without=0.0),
}
_OF_SEARCH: Final[Mapping[str, Tried]] = {
    "files": Tried(1.0, (0.5, 1.0, 1.5, 2.0, 2.5, 3.0), without=0.0),
    "weight": Tried(0.5, (0.3, 0.5, 0.7, 0.72, 0.8, 0.9), without=0.0),
    "vector_weight": Tried(0.3, (0.0, 0.1, 0.2, 0.3), without=0.0),
    "phrases_of_file": Tried(1.0, (1.0, 2.0, 3.0), without=0.0),
    "old": Tried(3.0, (1.0, 3.0, 5.0), without=0.0),
    "depth": Tried(0.0, (0.0, 0.2, 0.3, 0.4), without=0.0),
    "file": Tried(0.2, (0.0, 0.05, 0.1, 0.2, 0.3, 0.4), without=0.0),
    "whole": Tried(0.0, (0.0, 0.5, 1.0), without=0.0),
    "test": Tried(1.0, (0.0, 1.0, 2.0), without=0.0),
    "constant": Tried(1.0, (0.0, 1.0, 1.5), without=0.0),
    **_OF_FILES,
}
FILES: Final = FitPlan("whole files alone", DEFAULT, _OF_FILES)
SEARCH: Final = FitPlan("the whole search", SearchWeights(**asdict(DEFAULT)), _OF_SEARCH)


class Project(ABC, Generic[Weights]):
    """The questions about a project, and its index; each weights are measured once."""

    def __init__(self, asked: QueryFile, index: Index) -> None:
        self.asked, self.index = asked, index
        self._known: dict[Weights, float] = {}
        self._smooth: dict[Weights, float] = {}
        self._files: dict[FileWeights, FileScorer] = {}

    def file_scores(self, weights: FileWeights) -> FileScorer:
        """The scores of whole files by some weights."""
        if weights not in self._files:
            self._files[weights] = _FilesOnce(file_ranking(self.index, weights))
        return self._files[weights]

    @abstractmethod
    def first_files(self, query: str, weights: Weights) -> Mapping[str, float]:
        """The paths of the first files for a question and their scores, best first."""

    def ndcg(self, weights: Weights) -> float:
        """The mean of NDCG@10 by file over the questions."""
        self._measure(weights)
        return self._known[weights]

    def smooth_ndcg(self, weights: Weights) -> float:
        """The mean of smooth NDCG@10 over the questions."""
        self._measure(weights)
        return self._smooth[weights]

    def _measure(self, weights: Weights) -> None:
        if weights in self._known:
            return
        plain, smooth = [], []
        for query in self.asked.queries:
            first = self.first_files(query.text, weights)
            found = [seen(self.asked.root, path) for path in first]
            plain.append(ndcg_by_file(found[:DEPTH], query.paths))
            smooth.append(smooth_ndcg(found, [*first.values()], query.paths))
        self._known[weights], self._smooth[weights] = float(np.mean(plain)), float(np.mean(smooth))


class FileProject(Project[FileWeights]):
    """A project whose whole files alone are ranked, by :class:`search.engine.file_ranking.FileRanking`."""

    def first_files(self, query: str, weights: FileWeights) -> Mapping[str, float]:
        """Those with a score above 0."""
        words = words_of(query)
        scores = self.file_scores(weights).scores(words, query, for_tests=asks_for_tests(words))
        best = np.argsort(-scores, kind="stable")[:FIRST].tolist()
        return {self.index.files[place].path: float(scores[place]) for place in best if scores[place] > 0}


class SearchProject(Project[SearchWeights]):
    """A project that is searched; what does not depend on the weights is computed once per question and row."""

    def __init__(
        self, asked: QueryFile, index: Index, reranker: Reranker | None, retriever: Retriever | None = None
    ) -> None:
        """``reranker``: over the rows of ``index``; None: BM25 alone; ``retriever``: its vectors."""
        super().__init__(asked, index)
        model, vectors = (_ScoredOnce(each, len(index)) if each else None for each in (reranker, retriever))
        self._engine = Engine(index, model, _DEFAULT, vectors)

    def first_files(self, query: str, weights: SearchWeights) -> Mapping[str, float]:
        """Those of the search by file."""
        engine = self._engine.changed(weights.ranking, self.file_scores(weights.of_files))
        hits = engine.search(query, top=FIRST, by_file=True)
        return {self.index.file(row).path: hit.score for hit in hits for row in hit.rows}


class _ScoredOnce:
    """A reranker or a retriever that scores each row and looks up the nearest rows once per question."""

    def __init__(self, scorer: Reranker | Retriever, size: int) -> None:
        """``size``: of the index."""
        self._scorer, self._size = scorer, size
        self.reads_text = isinstance(scorer, Retriever) and scorer.reads_text
        self._known: dict[tuple[str, ...], Float32[np.ndarray, " rows"]] = {}
        self._nearest: dict[tuple[str, ...], Int64[np.ndarray, " found"]] = {}

    def scores(
        self, query: Sequence[str], rows: Int64[np.ndarray, " found"], context: Sequence[str] = ()
    ) -> Float32[np.ndarray, " found"]:
        """The score of each of ``rows``; questions of a file have no context."""
        assert not context
        known = self._known.setdefault(tuple(query), np.full(self._size, np.nan, np.float32))
        new = rows[np.isnan(known[rows])]
        if len(new):
            known[new] = self._scorer.scores(query, new)
        return known[rows]

    def nearest(self, query: Sequence[str]) -> Int64[np.ndarray, " found"]:
        """The rows whose vectors are nearest to that of a question; only of a retriever."""
        assert isinstance(self._scorer, Retriever)
        if tuple(query) not in self._nearest:
            self._nearest[tuple(query)] = self._scorer.nearest(query)
        return self._nearest[tuple(query)]

    def alignment(self, query: Sequence[str], row: int) -> Alignment | None:
        """None: nobody looks at it here."""


class _FilesOnce:
    """The scores of whole files by some weights, once per question."""

    def __init__(self, ranking: FileScorer) -> None:
        self._ranking = ranking
        self._known: dict[str, Float[np.ndarray, " files"]] = {}

    def scores(
        self, words: Sequence[str], query: str, *, for_tests: bool, comments: bool = True
    ) -> Float[np.ndarray, " files"]:
        """As :meth:`search.engine.file_ranking.FileRanking.scores`."""
        if query not in self._known:
            self._known[query] = self._ranking.scores(words, query, for_tests=for_tests, comments=comments)
        return self._known[query]


def fitted(projects: Iterable[Project[Weights]], plan: FitPlan[Weights]) -> Weights:
    """The weights that are best for the mean of ``projects``."""
    own, weights = [*projects], plan.start

    def mean(weights: Weights) -> float:
        return float(np.mean([each.smooth_ndcg(weights) for each in own]))

    best = mean(weights)
    for _ in range(ROUNDS):
        before = weights
        for name, tried in plan.tried.items():
            for value in tried.values:
                other = replace(weights, **{name: value})
                if (found := mean(other)) > best + LEAST:
                    best, weights = found, other
        if weights == before:
            break
    return weights


def measure_weights(projects: Mapping[str, Project[Weights]], plan: FitPlan[Weights]) -> dict[str, Any]:
    """The default weights, those without each part, and those fitted with each project left out, as a JSON object."""
    settings = {"default": dict.fromkeys(projects, plan.default)}
    for name, tried in plan.tried.items():
        label = f"{name} {tried.without}" if tried.without else f"without {name}"
        settings[label] = dict.fromkeys(projects, replace(plan.default, **{name: tried.without}))
    left = tqdm(projects, desc="fitted without", unit=" projects", disable=None)
    settings["fitted on the others"] = {
        name: fitted((each for other, each in projects.items() if other != name), plan) for name in left
    }
    measured = []
    for label, weights in settings.items():
        values = {name: projects[name].ndcg(own) for name, own in weights.items()}
        record = {name: asdict(own) for name, own in weights.items()}
        measured.append({"name": label, "mean": float(np.mean([*values.values()])), "ndcg": values, "weights": record})
    sizes = {
        name: {"queries": len(each.asked.queries), "files": len(each.index.files), "rows": len(each.index)}
        for name, each in projects.items()
    }
    return {"measure": f"NDCG@10 by file, {plan.what}", "projects": sizes, "settings": measured}
