"""Rankers whose scores a test chooses."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from data_prep.store.prepared_data import Split


@dataclass
class Chosen:
    """Gives the rows of a matrix, some at a time."""

    matrix: np.ndarray  # [queries codes]
    rows_per_block: int = 3

    def index(self, corpus: Split) -> None:
        assert len(corpus) == self.matrix.shape[1]

    def scores(self, queries: Split) -> Iterator[np.ndarray]:
        for start in range(0, len(queries), self.rows_per_block):
            yield self.matrix[start : start + self.rows_per_block]
