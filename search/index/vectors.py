"""The vectors of an index on disk, in one file beside it, and the packed light pair that makes them without torch.

The file has a line that describes them, the vectors, and keys. Vectors are float16. A key is a hash of the model's
input for a row, by which the vectors of unchanged rows are reused when the index is updated. A file that is damaged, or
of another index or model than expected, is refused.

:mod:`baselines.scotch_light` has the equations of the pair; the sums are the same within rounding.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

import numpy as np

from data_prep.errors import UserError
from data_prep.files.json_text import checked_record
from data_prep.records import CONTEXT_FIELD
from data_prep.store.arrays import (
    Float16,
    Float32,
    Int32,
    Int64,
    Ragged,
    UInt8,
    read_sealed,
    read_sealed_head,
    write_sealed,
)
from data_prep.store.split import Split
from data_prep.store.tokenizing import TokenizedPairs
from experiments.terminal.options import is_packed, stored_configuration
from search.models.folder import CONFIG, DEFAULT_BI_ENCODER, model_hash, read_packed, unusable
from search.retrieval.approximate import clusters_path

FORMAT: Final = "galm vectors 1"
"""Incremented when the layout changes, or how a row is encoded."""
BATCH: Final = 128
"""Rows that are encoded at once, always, since the size of a batch may change the last bits of a vector."""
KEY: Final = 16
"""Bytes of a key."""
_FLOAT: Final = 2
"""Bytes per number."""


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


def part_path(vectors: Path) -> Path:
    """The file of those that were made before an interruption."""
    return vectors.with_name(f"{vectors.name}.part")


def save_vectors(stored: StoredVectors, path: Path) -> None:
    """Write vectors atomically, replacing older ones.

    Raises:
        OSError: they cannot be written; the older ones are left unchanged.
    """
    write_sealed(path, FORMAT, asdict(stored.head), [stored.vectors, stored.keys])


def open_vectors(path: Path) -> StoredVectors:
    """Open what :func:`save_vectors` wrote.

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


def maker_of(index: Path) -> str | None:
    """The run that made the vectors beside the file ``index``; None if there are none, or they cannot be used.

    Raises:
        OSError: they cannot be read at this moment.
    """
    path = vectors_path(index)
    try:
        run = read_vector_head(path).run
        if run and not Path(run).is_dir():
            open_vectors(path)  # else the run's name may be damaged
    except UserError:
        return None
    return run


def remove_vectors(index: Path) -> None:
    """Remove the vectors beside the file ``index``, if there are any, and their clusters."""
    path = vectors_path(index)
    for each in (path, part_path(path), clusters_path(path)):
        each.unlink(missing_ok=True)


def _unusable(path: Path, why: str) -> UserError:
    return UserError(
        f"the vectors cannot be used: {why}; remove {path}, and make them again by `bash run.sh index DIR`"
    )


_LIGHT: Final = ("scotch_light", "scotch_light_no_context")
_CODE_FIELDS: Final = ("name", "tokens", "api")
_SHARED: Final = "shared"


def is_packed_light(folder: Path) -> bool:
    """Whether the model in ``folder`` is a packed light pair, possibly a damaged one."""
    if not is_packed(folder):
        return False
    try:
        return bool(stored_configuration(folder / CONFIG)["model_name"] in _LIGHT)
    except UserError:
        return False


class PackedLight:
    """The pair as a :class:`search.index.vectors.RowEncoder` by numpy."""

    fields: tuple[str, ...] = _CODE_FIELDS

    def __init__(self, run: Path | None = None) -> None:
        """Load a packed light pair; None: the shipped one.

        Raises:
            ValueError: a file is missing or damaged, or is not of such a model.
        """
        folder = run or DEFAULT_BI_ENCODER
        packed = read_packed(folder)
        known, dim = packed.tokenizer.vocabularies.code, packed.model.get("dim", 0)
        self._context_words = packed.model.get("context_words", 0)
        fields = ["query", *_CODE_FIELDS, *[CONTEXT_FIELD] * (self._context_words > 0)]
        tables = {_SHARED: (len(known), dim), **dict.fromkeys(fields, (len(known), 1))}
        gains: dict[str, tuple[int, ...]] = {"gains": (len(_CODE_FIELDS),)}
        gains |= {"context_gain": ()} if self._context_words else {}
        try:
            packed.check_shapes({**gains, **{_name(name): shape for name, shape in tables.items()}})
            stored = {name: packed.table(_name(name), shape) for name, shape in tables.items()}
        except UserError as error:
            raise unusable(folder, str(error)) from error
        self._states = stored.pop(_SHARED)
        self._weights = {name: table.rows(np.arange(len(known)))[:, 0] for name, table in stored.items()}
        self._gains, self._context_gain = packed.weights["gains"], packed.weights.get("context_gain", np.float32(0))
        self._tokenizer = packed.tokenizer
        self.run, self.model, self.dim = str(run or ""), model_hash(folder), dim

    def knows(self, word: str) -> bool:
        """Whether its vocabulary has a word of a query."""
        return self._tokenizer.knows(word)

    def query(self, words: Sequence[str], context: Sequence[str] = ()) -> Float32[np.ndarray, "1 dim"]:
        """The vector of a query under the words above a cursor, nearest last, with norm 1."""
        found = self._sums("query", _one_list(self._tokenizer.query_ids(words)))
        if context and self._context_words:
            near = self._tokenizer.prose_ids(context[-self._context_words :])
            found = found + self._context_gain * self._sums(CONTEXT_FIELD, _one_list(near))
        return _normalised(found)

    def ids(self, rows: Split) -> TokenizedPairs:
        """The rows as ids of the model."""
        return self._tokenizer.encode(rows)

    def vectors(self, ids: TokenizedPairs, rows: Int64[np.ndarray, " batch"]) -> Float16[np.ndarray, "batch dim"]:
        """The vectors of ``rows``, with norm 1; 0 for rows without words.

        The order of each sum does not depend on the other rows.
        """
        found = np.zeros((len(rows), self.dim), np.float32)
        for gain, field in zip(self._gains, _CODE_FIELDS, strict=True):
            found += gain * self._sums(field, ids.fields[field].take(rows))
        return _normalised(found).astype(np.float16)

    def _sums(self, field: str, lists: Ragged) -> Float32[np.ndarray, "rows dim"]:
        """The weighted sum of the word vectors of each list, of length 1; 0 for an empty one."""
        found = np.zeros((len(lists), self.dim), np.float32)
        if len(lists.values):
            full = np.flatnonzero(lists.lengths)
            states = self._states.rows(lists.values.astype(np.int64)) * self._weights[field][lists.values][:, None]
            found[full] = np.add.reduceat(states, lists.offsets[:-1][full], axis=0)
        return _normalised(found)


def _one_list(ids: Int32[np.ndarray, " words"]) -> Ragged:
    return Ragged(ids, np.array([0, len(ids)]))


def _name(table: str) -> str:
    return f"words.tables.{table}.weight"


def _normalised(vectors: Float32[np.ndarray, "rows dim"]) -> Float32[np.ndarray, "rows dim"]:
    """The vectors scaled to length 1; 0 stays 0, as in torch's normalize."""
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)
