"""The weights of the whole search where files are asked for: of whole files, BM25, the model and the vectors.

The search is the one of :class:`search.engine.engine.Engine`, over functions, types and files. What does not depend on
the weights is computed once per question and row: the model's scores, the cosines, and the nearest rows. A fit starts
from weights that no typed question chose: those of whole files as in :mod:`search.quality.file_fit`, the settings that
code with comments chose, and between model and BM25, and rows and files, from equal shares.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Final

import numpy as np
from jaxtyping import Float, Float32, Int64

from search.engine.engine import Engine
from search.engine.file_ranking import DEFAULT, FileWeights, file_ranking
from search.engine.settings import RankingSettings
from search.engine.signals import Alignment, FileScorer, Reranker, Retriever
from search.index.code_index import Index
from search.quality import file_fit
from search.quality.query_file import QueryFile
from search.quality.typed_queries import DEPTH, ndcg_by_file, seen
from search.quality.weight_fit import FitPlan

_DEFAULT: Final = RankingSettings()


@dataclass(frozen=True, slots=True)
class SearchWeights(FileWeights):
    """The weights of whole files, and the settings of :class:`RankingSettings` that order files."""

    weight: float = _DEFAULT.weight
    by_file: float = _DEFAULT.by_file
    vector_weight_by_file: float = _DEFAULT.vector_weight_by_file
    file: float = _DEFAULT.file
    test: float = _DEFAULT.test
    constant: float = _DEFAULT.constant

    @property
    def of_files(self) -> FileWeights:
        """Those of whole files alone."""
        return FileWeights(**{each.name: getattr(self, each.name) for each in fields(FileWeights)})

    @property
    def ranking(self) -> RankingSettings:
        """The settings of the ranking, the others by default."""
        own = {each.name for each in fields(FileWeights)}
        return replace(_DEFAULT, **{name: value for name, value in asdict(self).items() if name not in own})


PLAN: Final = FitPlan(
    what="the whole search",
    default=SearchWeights(**asdict(DEFAULT)),
    start=SearchWeights(
        **asdict(file_fit.PLAN.start),
        weight=0.5,
        by_file=1.0,
        vector_weight_by_file=0.3,
        file=0.2,
        test=1.0,
        constant=1.0,
    ),
    grid={
        "by_file": (0.5, 1.0, 2.0, 3.0, 5.0, 8.0),
        "weight": (0.3, 0.5, 0.7, 0.9),
        "vector_weight_by_file": (0.0, 0.3, 0.6),
        "file": (0.0, 0.2, 0.4),
        "test": (0.0, 1.0, 2.0),
        "constant": (0.0, 1.0),
        **file_fit.PLAN.grid,
    },
    without={
        "weight": 0.0,
        "by_file": 0.0,
        "vector_weight_by_file": 0.3,
        "file": 0.0,
        "test": 0.0,
        "constant": 0.0,
        **file_fit.WITHOUT,
    },
)


class SearchProject:
    """The questions about a project, its index, and the scores that have been computed."""

    def __init__(
        self, asked: QueryFile, index: Index, reranker: Reranker | None, retriever: Retriever | None = None
    ) -> None:
        """``reranker``: over the rows of ``index``; None: BM25 alone; ``retriever``: its vectors."""
        self.asked, self.index = asked, index
        model = _ScoredOnce(reranker, len(index)) if reranker else None
        vectors = _LookedUpOnce(retriever, len(index)) if retriever else None
        self._engine = Engine(index, model, _DEFAULT, vectors)
        self._files: dict[FileWeights, FileScorer] = {}

    def ndcg(self, weights: SearchWeights) -> float:
        """The mean of NDCG@10 by file over the questions."""
        if weights.of_files not in self._files:
            self._files[weights.of_files] = _FilesOnce(file_ranking(self.index, weights.of_files))
        engine, values = self._engine.changed(weights.ranking, self._files[weights.of_files]), []
        for query in self.asked.queries:
            hits = engine.search(query.text, top=DEPTH, by_file=True)
            found = [seen(self.asked.root, self.index.file(hit.row).path) for hit in hits]
            values.append(ndcg_by_file(found, query.paths))
        return float(np.mean(values))


class _ScoredOnce:
    """A :class:`search.engine.signals.Reranker`, or the scores of a retriever: each row is scored once per query."""

    def __init__(self, scorer: Reranker | Retriever, size: int) -> None:
        """``size``: of the index."""
        self._scorer, self._size = scorer, size
        self._known: dict[tuple[str, ...], Float32[np.ndarray, " rows"]] = {}

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

    def alignment(self, query: Sequence[str], row: int) -> Alignment | None:
        """That of the model, which is not cached."""
        return self._scorer.alignment(query, row) if isinstance(self._scorer, Reranker) else None


class _LookedUpOnce(_ScoredOnce):
    """A :class:`search.engine.signals.Retriever` that looks each query up once."""

    def __init__(self, retriever: Retriever, size: int) -> None:
        super().__init__(retriever, size)
        self._retriever = retriever
        self._nearest: dict[tuple[str, ...], Int64[np.ndarray, " found"]] = {}

    def nearest(self, query: Sequence[str], context: Sequence[str] = ()) -> Int64[np.ndarray, " found"]:
        """The rows whose vectors are nearest to that of a query."""
        if tuple(query) not in self._nearest:
            self._nearest[tuple(query)] = self._retriever.nearest(query, context)
        return self._nearest[tuple(query)]


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
