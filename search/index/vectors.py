"""The vectors of an index on disk, in one file beside it, and the rows whose vectors are nearest to a query's.

The file has a line that describes them, the vectors, and keys. Vectors are float16. A key is a hash of the model's
input for a row, by which the vectors of unchanged rows are reused when the index is updated. A file that is damaged, or
of another index or model than expected, is refused. The bi-encoder that makes them is any trained one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

import numpy as np

from data_prep.errors import UserError, reason_and_file
from data_prep.files.json_text import checked_record
from data_prep.store.arrays import Float16, Float32, Int64, UInt8, read_sealed, read_sealed_head
from data_prep.store.split import Split, TokenizedPairs
from search.models.folder import DEFAULT_BI_ENCODER, check_bi_encoder, is_packed_light, model_hash, reads_text
from search.models.packed import PackedLight
from search.retrieval.exact import VectorIndex, vector_index

FORMAT: Final = "galm vectors 1"
"""Incremented when the layout changes, or how a row is encoded."""
BATCH: Final = 128
"""Rows that are encoded at once, always, since the size of a batch may change the last bits of a vector."""
KEY: Final = 16
"""Bytes of a key."""
_FLOAT: Final = 2
"""Bytes per number."""
COUNT: Final = 100
"""Maximum number of rows that vectors add to the shortlist of a query."""


class DamagedVectorsError(UserError):
    """Vectors that are damaged, or of another version; the message says why, and what to do."""


@runtime_checkable
class RowEncoder(Protocol):
    """A bi-encoder for rows and queries."""

    run: str
    """Its folder; "": the shipped one."""
    model: str
    """A hash of the model."""
    dim: int
    fields: tuple[str, ...]
    """The fields of a row that it reads."""

    def knows(self, word: str) -> bool:
        """Whether its vocabulary has a word of a query."""

    def query(self, words: Sequence[str], context: Sequence[str] = ()) -> Float32[np.ndarray, "1 dim"]:
        """The vector of a query, with norm 1; ``context``: the words above the cursor, if the model reads them."""

    def ids(self, rows: Split) -> TokenizedPairs:
        """The rows as ids of the model."""

    def vectors(self, ids: TokenizedPairs, rows: Int64[np.ndarray, " batch"]) -> Float16[np.ndarray, "batch dim"]:
        """The vectors of at most BATCH ``rows``, with norm 1; 0 for rows without words.

        Raises:
            UserError: the model gives NaN.
        """


@dataclass(frozen=True, slots=True)
class VectorHead:
    """Which index and model the vectors belong to."""

    index: str  # sha256 of the content of the index
    run: str  # folder of the model; "": the shipped one
    model: str  # a hash of the model
    dim: int
    rows: int

    @property
    def name(self) -> str:
        """Identifies these vectors."""
        return f"{self.index} {self.model}"


@dataclass(frozen=True, eq=False, slots=True)
class StoredVectors:
    """One vector and one key per row; memory-mapped if read from a file."""

    head: VectorHead
    vectors: Float16[np.ndarray, "rows dim"]
    keys: UInt8[np.ndarray, "rows bytes"]


def vectors_path(index: Path) -> Path:
    """The file of the vectors of an index."""
    return index.with_name(f"{index.name}.vectors")


def open_vectors(path: Path) -> StoredVectors:
    """Open what :func:`search.index.vector_encoding.save_vectors` wrote.

    Raises:
        UserError: there is no such file, it is damaged, or of another version.
        OSError: it cannot be read at this moment, which says nothing about it.
    """
    try:
        about, content = read_sealed(path, FORMAT)
        head = checked_record(VectorHead, about)
        split = head.rows * head.dim * _FLOAT
        if head.rows < 0 or split + head.rows * KEY != len(content):
            raise UserError(f"{path} does not contain {head.rows:,} vectors of {head.dim:,} numbers")
        vectors = content[:split].view(np.float16).reshape(head.rows, head.dim)
        return StoredVectors(head, vectors, content[split:].reshape(head.rows, KEY))
    except UserError as error:
        raise _unusable(path, str(error)) from error


def read_vector_head(path: Path) -> VectorHead:
    """The head of the vectors in ``path``, which are not read.

    Raises:
        UserError: there is no such file, it is truncated, or of another version.
    """
    try:
        return checked_record(VectorHead, read_sealed_head(path, FORMAT))
    except UserError as error:
        raise _unusable(path, str(error)) from error


def vectors_of(index: Path, content: str, rows: int) -> StoredVectors:
    """The vectors beside the file ``index``, which has ``content`` as its checksum and ``rows`` rows.

    Raises:
        UserError: they are of another index, there are none, or they cannot be used.
    """
    stored = open_vectors(path := vectors_path(index))
    if stored.head.index != content:
        raise UserError(
            f"the vectors in {path} are of another state of the index: update them by `bash run.sh index DIR`"
        )
    if stored.head.rows != rows:
        raise _unusable(path, f"they are of {stored.head.rows:,} rows instead of {rows:,}")
    return stored


def _unusable(path: Path, why: str) -> "DamagedVectorsError":
    return DamagedVectorsError(
        f"the vectors cannot be used: {why}; remove {path}, and make them again by `bash run.sh index DIR`"
    )


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

    def nearest(self, query: Sequence[str]) -> Int64[np.ndarray, " found"]:
        """At most ``count`` rows, best first; only those with a score above 0."""
        return self.nearest_to(self._asked(query, ()))

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
        raise UserError(
            f"the model that made the vectors in {path} cannot be loaded: {reason_and_file(error)}"
        ) from error
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
