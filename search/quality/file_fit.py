"""The weights of the ranking of whole files alone, without methods, models or vectors.

Files are ranked by :class:`search.engine.file_ranking.FileRanking`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from search.engine.file_ranking import DEFAULT, FileWeights, file_ranking
from search.engine.question import asks_for_tests, words_of
from search.index.code_index import Index
from search.quality.query_file import QueryFile
from search.quality.typed_queries import DEPTH, ndcg_by_file, seen
from search.quality.weight_fit import FitPlan

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
PLAN: Final = FitPlan(
    what="whole files alone",
    default=DEFAULT,
    start=FileWeights(
        k1=5.0, stem=1.0, folders=0.2, defines=1.0, test_share=0.3, gathering_share=0.8, stem_times=10, folder_times=5
    ),
    grid={
        "k1": (2.5, 5.0, 10.0, 20.0),
        "stem": (0.5, 1.0, 1.5, 2.0, 3.0),
        "folders": (0.0, 0.2, 0.4),
        "defines": (0.5, 1.0, 2.0),
        "test_share": (0.1, 0.3, 0.6),
        "gathering_share": (0.6, 0.8, 1.0),
        "stem_times": (0, 10, 20, 40),
        "folder_times": (0, 5, 10),
    },
    without=WITHOUT,
)


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
