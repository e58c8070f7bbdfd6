"""The rows of an index whose vectors are nearest to a query's, and the bi-encoder that makes both: any trained one."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.store.arrays import Float32, Int64
from data_prep.store.split import Split
from search.index.index_file import read_head
from search.index.vector_encoding import refresh_vectors
from search.index.vectors import (
    PackedLight,
    RowEncoder,
    StoredVectors,
    is_packed_light,
    open_vectors,
    vectors_of,
    vectors_path,
)
from search.models.folder import CONFIG, DEFAULT_BI_ENCODER, checked_parts, is_sentence_model, model_hash
from search.retrieval.approximate import are_kept, clusters_path
from search.retrieval.exact import VectorIndex, vector_index

COUNT: Final = 100
"""Maximum number of rows that vectors add to the shortlist of a query."""


def row_encoder(run: Path | None = None) -> RowEncoder:
    """The model of a finished run, or a packed one; None: the shipped one. A packed scotch_light needs no torch.

    Raises:
        UserError: there is no model, or it is not a bi-encoder.
    """
    folder = run or DEFAULT_BI_ENCODER
    check_bi_encoder(folder)
    if is_packed_light(folder):
        return PackedLight(run)
    if reads_text(folder):
        from search.models.torch_models import TextEncoder

        return TextEncoder(folder)
    from search.models.torch_models import TorchEncoder

    return TorchEncoder(run)


def loaded_encoder(run: str) -> RowEncoder:
    """The same for the folder ``run``, "" for the shipped one: loaded once, or again if another model is in the folder.

    Raises:
        UserError: as :func:`row_encoder`.
        OSError: a file cannot be read.
    """
    return _loaded(run, model_hash(Path(run) if run else DEFAULT_BI_ENCODER))


@lru_cache(maxsize=4)
def _loaded(run: str, model: str) -> RowEncoder:  # noqa: ARG001 - another model in the same folder is loaded anew
    return row_encoder(Path(run) if run else None)


def reads_text(folder: Path) -> bool:
    """Whether the model in ``folder`` reads source text: one of sentence-transformers, or a run over subwords."""
    if is_sentence_model(folder):
        return True
    from experiments.recipes.config import Configuration
    from experiments.recipes.models import class_of

    return str(class_of(Configuration.load(folder / CONFIG).model_name).reads) == "subwords"


def check_bi_encoder(folder: Path) -> None:
    """Check that a model is a bi-encoder, before it is loaded.

    Raises:
        UserError: there is no model in ``folder``, or it is not such a bi-encoder.
    """
    if is_sentence_model(folder):
        return
    checked_parts(folder)
    if is_packed_light(folder):
        return
    from experiments.recipes.config import Configuration
    from experiments.recipes.models import class_of
    from modeling.base import BiEncoder

    name = Configuration.load(folder / CONFIG).model_name
    if not issubclass(class_of(name), BiEncoder):
        raise UserError(
            f"the run in {folder} is of {name}, which makes no vector of a method: --vectors takes a run of a "
            "bi-encoder, such as unif, deepcs or minilm, or a folder of sentence-transformers"
        )


def up_to_date(index: Path, run: str) -> bool:
    """Whether there are intact vectors beside the file ``index``, of its present content and by ``run`` as it is now.

    FAISS's clusters, which large indexes have, are part of them.

    Raises:
        UserError: there is no model in ``run``, or no index.
        OSError: a file cannot be read at this moment.
    """
    now, model = read_head(index), model_hash(Path(run) if run else DEFAULT_BI_ENCODER)
    try:
        head = open_vectors(path := vectors_path(index)).head
    except UserError:
        return False
    same = (head.index, head.run, head.model, head.rows) == (now.content, run, model, now.rows)
    return same and are_kept(head.rows, head.dim, head.name, clusters_path(path))


def update_vectors(run: str, index: Path, tell: Callable[[str, str], None]) -> str:
    """Make or update the vectors beside the file ``index``; returns what was done, "" for nothing.

    Args:
        run: folder of the bi-encoder; "": the shipped one.
        index: the file.
        tell: called with a path and what is wrong with it.

    Raises:
        ValueError: the model or the index cannot be used.
        OSError: the vectors cannot be written; the older ones are left unchanged.
    """
    if up_to_date(index, run):
        return ""
    done = refresh_vectors(loaded_encoder(run), index, tell)
    stored = open_vectors(path := vectors_path(index))
    vector_index(stored.vectors, stored.head.name, path, "").close()  # makes the clusters of many rows, which it saves
    return f"read {done.read:,} of {done.rows:,} rows"


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
