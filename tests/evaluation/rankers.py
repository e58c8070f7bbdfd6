"""Rankers whose scores a test chooses."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from data_prep.store.split import Split
from modeling.ranker import Ranker, Scores


class ChosenScores(Scores):
    """The rows of a matrix, some at a time."""

    def __init__(self, matrix: np.ndarray, rows_per_block: int) -> None:
        super().__init__(*matrix.shape)
        self.matrix, self.rows_per_block = matrix, rows_per_block

    def __call__(self, queries: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        return self.matrix[queries[:, None], candidates]

    def blocks(self) -> Iterator[np.ndarray]:
        for start in range(0, len(self.matrix), self.rows_per_block):
            yield self.matrix[start : start + self.rows_per_block]


@dataclass
class Chosen(Ranker):
    """Gives the rows of a matrix, some at a time."""

    matrix: np.ndarray  # [queries codes]
    rows_per_block: int = 3

    def over(self, queries: Split, corpus: Split) -> Scores:
        assert len(corpus) == self.matrix.shape[1]
        return ChosenScores(self.matrix[: len(queries)], self.rows_per_block)
