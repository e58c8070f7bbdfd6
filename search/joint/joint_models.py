"""The models over the rows of several indexes: each row is scored by the model over its own index.

The score of a row does not depend on other rows, so that these are the scores of one model over all.
"""

from collections.abc import Sequence

import numpy as np

from data_prep.array_types import Float32, Int64
from data_prep.store.prepared_data import Split
from data_prep.store.ragged_lists import edges
from search.engine.signals import Alignment, Reranker
from search.index.dense_retriever import COUNT, DenseRetriever


class _Rows:
    """Which rows are whose."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.edges = edges(np.array(sizes, np.int64))

    def parted(self, rows: Int64[np.ndarray, " found"]) -> list[tuple[int, Int64[np.ndarray, " some"]]]:
        """Of each part with some of ``rows`` its number, and their places in ``rows``."""
        owners = np.searchsorted(self.edges, rows, side="right") - 1
        return [(int(number), np.flatnonzero(owners == number)) for number in np.unique(owners)]

    def place(self, row: int) -> tuple[int, int]:
        """The part that has a row, and its number there."""
        number = int(np.searchsorted(self.edges, row, side="right")) - 1
        return number, row - int(self.edges[number])


class JointReranker:
    """A :class:`search.engine.signals.Reranker` over the rows of several."""

    def __init__(self, rerankers: Sequence[Reranker], sizes: Sequence[int]) -> None:
        """``sizes``: the number of rows of each."""
        self._rerankers, self._rows = rerankers, _Rows(sizes)

    def scores(self, query: Sequence[str], rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        """The score of each of ``rows`` for the words of a query."""
        found = np.empty(len(rows), np.float32)
        for number, places in self._rows.parted(rows):
            found[places] = self._rerankers[number].scores(query, rows[places] - self._rows.edges[number])
        return found

    def alignment(self, query: Sequence[str], row: int) -> Alignment | None:
        """What each word of a query attended to in a row."""
        number, own = self._rows.place(row)
        return self._rerankers[number].alignment(query, own)


class JointRetriever:
    """A :class:`search.engine.signals.Retriever` over the rows of several, whose vectors are by one bi-encoder."""

    def __init__(self, retrievers: Sequence[DenseRetriever], sizes: Sequence[int], count: int = COUNT) -> None:
        """``sizes``: the number of rows of each; ``count``: rows per query."""
        assert len({each.model for each in retrievers}) == 1
        self._retrievers, self._rows, self._count = retrievers, _Rows(sizes), count

    def nearest(self, query: Sequence[str], context: Sequence[str] = ()) -> Int64[np.ndarray, " found"]:
        """At most ``count`` rows, best first."""
        return self.nearest_to(self._retrievers[0].query_vector(query, context))

    def scores(
        self, query: Sequence[str], rows: Int64[np.ndarray, " found"], context: Sequence[str] = ()
    ) -> Float32[np.ndarray, " found"]:
        """The cosine of the query's vector, under its context, and that of each of ``rows``."""
        return self.similarity(self._retrievers[0].query_vector(query, context), rows)

    def code_vector(self, code: Split) -> Float32[np.ndarray, "1 dim"]:
        """The vector of a row of code that is not in the index."""
        return self._retrievers[0].code_vector(code)

    def nearest_to(self, vector: Float32[np.ndarray, "1 dim"]) -> Int64[np.ndarray, " found"]:
        """As :meth:`nearest`, for a vector: the best of what each retriever finds."""
        found = [each.nearest_to(vector) for each in self._retrievers]
        scores = [each.similarity(vector, rows) for each, rows in zip(self._retrievers, found, strict=True)]
        starts = self._rows.edges[:-1].tolist()
        rows = np.concatenate([own + start for own, start in zip(found, starts, strict=True)])
        return rows[np.argsort(-np.concatenate(scores), kind="stable")[: self._count]]

    def similarity(
        self, vector: Float32[np.ndarray, "1 dim"], rows: Int64[np.ndarray, " found"]
    ) -> Float32[np.ndarray, " found"]:
        """As :meth:`scores`, for a vector."""
        found = np.empty(len(rows), np.float32)
        for number, places in self._rows.parted(rows):
            found[places] = self._retrievers[number].similarity(vector, rows[places] - self._rows.edges[number])
        return found
