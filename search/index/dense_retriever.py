"""Dense retrieval over the vectors beside an index: the rows nearest to a query, and the similarity of any row."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.array_types import Float32, Int64
from data_prep.errors import UserError
from data_prep.store.prepared_data import Split
from search.index.encoders import RowEncoder, loaded_encoder
from search.index.vector_file import StoredVectors, vectors_of, vectors_path
from search.retrieval.exact import VectorIndex, vector_index

COUNT: Final = 100
"""Maximum number of rows that vectors add to the shortlist of a query."""


class DenseRetriever:
    """A :class:`search.engine.signals.Retriever`: a bi-encoder, and its vectors of the rows."""

    def __init__(self, encoder: RowEncoder, vectors: VectorIndex, count: int = COUNT) -> None:
        """``vectors``: by ``encoder``; ``count``: rows per query."""
        self._encoder, self._vectors, self._count = encoder, vectors, count
        self._vector = lru_cache(maxsize=16)(encoder.query)

    @property
    def model(self) -> str:
        """A hash of the bi-encoder: vectors of equal ones can be compared."""
        return self._encoder.model

    @property
    def reads_text(self) -> bool:
        """Whether the bi-encoder reads the source text of a row."""
        return "code" in self._encoder.fields

    def nearest(self, query: Sequence[str], context: Sequence[str] = ()) -> Int64[np.ndarray, " found"]:
        """At most ``count`` rows, best first; only those with a score above 0."""
        return self.nearest_to(self._asked(query, context))

    def scores(
        self, query: Sequence[str], rows: Int64[np.ndarray, " found"], context: Sequence[str] = ()
    ) -> Float32[np.ndarray, " found"]:
        """The cosine of the query's vector, under its context, and that of each of ``rows``."""
        return self.similarity(self._asked(query, context), rows)

    def knows(self, word: str) -> bool:
        """Whether the bi-encoder has a word of a query in its vocabulary."""
        return self._encoder.knows(word)

    def _asked(self, query: Sequence[str], context: Sequence[str]) -> Float32[np.ndarray, "1 dim"]:
        """The vector of a query under its context; 0 without words."""
        if not query and not context:
            return np.zeros((1, self._encoder.dim), np.float32)
        return self._vector(tuple(query), tuple(context))

    def code_vector(self, code: Split) -> Float32[np.ndarray, "1 dim"]:
        """The vector of a row of code that is not in the index, as one in it would have it."""
        return self._encoder.vectors(self._encoder.ids(code), np.zeros(1, np.int64)).astype(np.float32)

    def nearest_to(self, vector: Float32[np.ndarray, "1 dim"]) -> Int64[np.ndarray, " found"]:
        """As :meth:`nearest`, for a vector."""
        scores, rows = self._vectors.search(vector, self._count)
        return rows[0][scores[0] > 0]

    def similarity(
        self, vector: Float32[np.ndarray, "1 dim"], rows: Int64[np.ndarray, " found"]
    ) -> Float32[np.ndarray, " found"]:
        """As :meth:`scores`, for a vector."""
        return self._vectors.scores(vector[0], rows)

    def close(self) -> None:
        """Release open files and connections."""
        self._vectors.close()


def near_rows(index: Path, content: str, rows: int, how: str) -> DenseRetriever:
    """A retriever over the vectors beside the file ``index``.

    Args:
        index: the file.
        content: the sha256 of its content, as in its head.
        rows: its number of rows.
        how: ``exact``, ``faiss``, or the file or URI of a Milvus; "": exact, or FAISS for large indexes if installed.

    Raises:
        UserError: there are no vectors, they are of another index or model or cannot be used, or ``how`` is something
            else.
    """
    path, stored = vectors_path(index), vectors_of(index, content, rows)
    encoder = _encoder(path, stored)
    return DenseRetriever(encoder, vector_index(stored.vectors, stored.head.name, path, how))


def _encoder(path: Path, stored: StoredVectors) -> RowEncoder:
    """The model that made the vectors."""
    run = stored.head.run
    try:
        encoder = loaded_encoder(run)
    except (UserError, OSError) as error:
        raise UserError(f"the model that made the vectors in {path} cannot be loaded: {error}") from error
    except ModuleNotFoundError as error:
        raise UserError(
            f"the model that made the vectors in {path} needs {error.name}: `bash run.sh install train` adds it"
        ) from error
    if (encoder.model, encoder.dim) != (stored.head.model, stored.head.dim):
        raise UserError(
            f"{run or 'the shipped model'} is no longer the model that made the vectors in {path}: make them again by "
            "`bash run.sh index DIR`"
        )
    return encoder
