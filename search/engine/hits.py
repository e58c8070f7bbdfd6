"""Rows that answer a query, and those that were compared for it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from data_prep.array_types import Float, Float32, Int64

Stage = Literal["name", "model", "words", "copy", "code"]
"""What determined a hit's rank: its name was asked for; the model scored it; BM25 alone, if there is no model. Where
code is the question (search/snippets): it is a copy; it is like it."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A row that answers a query."""

    rank: int  # 1-based
    row: int
    score: float  # higher is better, within this query only
    lexical: float  # by BM25
    neural: float | None  # by the model; None if it has not scored the row
    near: float | None  # the cosine of its vector and the query's; None if there are no vectors
    of_file: float  # the score of its whole file
    stage: Stage


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """The candidates of a query, as ascending rows."""

    rows: Int64[np.ndarray, " found"]
    scores: Float[np.ndarray, " found"]
    lexical: Float32[np.ndarray, " found"]
    neural: Float32[np.ndarray, " found"] | None
    near: Float32[np.ndarray, " found"] | None
    of_file: Float[np.ndarray, " found"]

    @property
    def order(self) -> Int64[np.ndarray, " found"]:
        """Positions of the rows, best first."""
        return np.lexsort((self.rows, -self.scores))


def best_beside(scores: Float[np.ndarray, " found"], files: Int64[np.ndarray, " found"]) -> Float[np.ndarray, " found"]:
    """The best score of another row of the same file, for each row; 0 if none is above 0."""
    order = np.lexsort((-scores, files))
    ordered, of_file = scores[order], files[order]
    starts = np.r_[True, of_file[1:] != of_file[:-1]] if len(order) else np.empty(0, np.bool_)
    first = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
    best = ordered[first]
    alone = np.append(starts[1:], True) & starts
    second = np.where(alone, 0.0, ordered[np.minimum(first + 1, max(len(order) - 1, 0))])
    found = np.empty(len(order))
    found[order] = np.maximum(np.where(starts, second, best), 0.0)
    return found
