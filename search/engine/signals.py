"""What the engine fuses: the scores of a trained model, of vectors, and of whole files, by whoever computes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from data_prep.array_types import Float, Float32, Int64


@dataclass(frozen=True, slots=True)
class Alignment:
    """The attention of the words of a query to those of a method (GALM, eq. 7)."""

    query: Sequence[str]
    code: Sequence[str]
    fields: Sequence[str]  # of each code word
    weights: Float32[np.ndarray, "querywords codewords"]  # rows sum to 1
    agreement: Float32[np.ndarray, " querywords"]  # cosine of each query word and what it attended to


@runtime_checkable
class Reranker(Protocol):
    """A trained model over the rows of an index: :class:`search.engine.reranker.ModelReranker`, which needs torch."""

    def scores(self, query: Sequence[str], rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        """The score of each of ``rows`` for the words of a query."""

    def alignment(self, query: Sequence[str], row: int) -> Alignment | None:
        """What each word of a query attended to in a row; None if the model does not align words."""


@runtime_checkable
class Retriever(Protocol):
    """Vectors of the rows of an index: :class:`search.index.dense_retriever.DenseRetriever`, which needs torch."""

    def nearest(self, query: Sequence[str], context: Sequence[str] = ()) -> Int64[np.ndarray, " found"]:
        """The distinct rows whose vectors are nearest to that of a query under a context."""

    def scores(
        self, query: Sequence[str], rows: Int64[np.ndarray, " found"], context: Sequence[str] = ()
    ) -> Float32[np.ndarray, " found"]:
        """The similarity of each of ``rows`` to a query under a context."""


@runtime_checkable
class FileScorer(Protocol):
    """Scores of the files of an index: :class:`search.engine.file_ranking.FileRanking`."""

    def scores(
        self, words: Sequence[str], query: str, *, for_tests: bool, comments: bool = True
    ) -> Float[np.ndarray, " files"]:
        """The score of each file, 0 or more."""
