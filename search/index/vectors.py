"""The vectors of an index, in one file beside it, made by a bi-encoder; those of unchanged rows are reused.

The file has a line that describes them, the vectors, and keys. Vectors are float16. A key is a hash of the model's
input for a row. The vector of a row does not depend on the other rows of its batch, and equal rows are encoded once. A
file that is damaged, or of another index or model than expected, is refused.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

import numpy as np

from data_prep.errors import UserError
from data_prep.files.json_text import checked_record
from data_prep.store.arrays import Bool, Float16, Float32, Int64, UInt8, read_sealed, read_sealed_head, write_sealed
from data_prep.store.split import Split
from data_prep.store.tokenizing import TokenizedPairs
from experiments.terminal.console import progress
from search.index.index_file import open_index, read_head
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


_SAVE_SECONDS: Final = 60.0


def row_keys(ids: TokenizedPairs, names: Sequence[str]) -> UInt8[np.ndarray, "rows bytes"]:
    """A hash of a model's input for each row, which are the fields ``names``."""
    fields = [ids.fields[field] for field in names]
    lengths = np.stack([field.lengths for field in fields], axis=1)
    found = np.empty((len(ids), KEY), np.uint8)
    for row in range(len(ids)):
        read = b"".join([lengths[row].tobytes(), *(field[row].tobytes() for field in fields)])
        found[row] = np.frombuffer(hashlib.blake2b(read, digest_size=KEY).digest(), np.uint8)
    return found


@dataclass(frozen=True, slots=True)
class Vectorised:
    """The outcome of making or updating vectors."""

    rows: int
    read: int  # distinct rows that were encoded
    written: bool


def refresh_vectors(encoder: RowEncoder, index: Path, tell: Callable[[str, str], None]) -> Vectorised:
    """Make or update the vectors of the index in the file ``index``, in the file beside it.

    Args:
        encoder: the model.
        index: the file.
        tell: called with a path and what is wrong with it.

    Raises:
        UserError: the index cannot be used, or the model gives NaN.
        OSError: the vectors cannot be written; the older ones are left unchanged.
    """
    path, before = vectors_path(index), read_head(index)
    head = VectorHead(before.content, encoder.run, encoder.model, encoder.dim, before.rows)
    old = _old(path, head, tell)
    if old and old.head == head:
        return Vectorised(head.rows, 0, written=False)
    ids = encoder.ids(open_index(index).split)
    keys = row_keys(ids, encoder.fields)
    part = part_path(path)
    filling = _Filling(encoder, keys, part)
    fresh = filling.reuse([each for each in (old, _old(part, head, tell)) if each])
    filling.encode(ids, fresh)
    if read_head(index) != before:
        raise UserError(f"the index {index} was replaced while its vectors were made: run this command again")
    save_vectors(StoredVectors(head, filling.vectors, keys), path)
    part.unlink(missing_ok=True)
    return Vectorised(head.rows, len(fresh), written=True)


@dataclass(slots=True)
class _Filling:
    """The vectors of all rows, of which some are made; every minute these are saved in the file ``part``."""

    encoder: RowEncoder
    keys: UInt8[np.ndarray, "rows bytes"]
    part: Path
    vectors: Float16[np.ndarray, "rows dim"] = field(init=False)
    done: Bool[np.ndarray, " rows"] = field(init=False)
    saved: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.vectors = np.empty((len(self.keys), self.encoder.dim), np.float16)
        self.done = np.zeros(len(self.keys), bool)

    def reuse(self, made: Sequence[StoredVectors]) -> list[list[int]]:
        """Take what there is; the rows that have to be encoded, equal ones together."""
        known = {key.tobytes(): vector for each in made for key, vector in zip(each.keys, each.vectors, strict=True)}
        places: dict[bytes, list[int]] = {}
        for row, key in enumerate(self.keys):
            places.setdefault(key.tobytes(), []).append(row)
        for key in places.keys() & known.keys():
            self.put(places[key], known[key])
        return [rows for key, rows in places.items() if key not in known]

    def put(self, rows: list[int], vector: Float16[np.ndarray, " dim"]) -> None:
        """Rows that have this vector."""
        self.vectors[rows], self.done[rows] = vector, True

    def encode(self, ids: TokenizedPairs, fresh: Sequence[list[int]]) -> None:
        """Encode rows; what was encoded before an interruption is saved."""
        try:
            with progress("vectors", len(fresh), "rows") as update:
                for start in range(0, len(fresh), BATCH):
                    batch = fresh[start : start + BATCH]
                    found = self.encoder.vectors(ids, np.array([rows[0] for rows in batch], np.int64))
                    for rows, vector in zip(batch, found, strict=True):
                        self.put(rows, vector)
                    update(len(batch))
                    if time.monotonic() - self.saved > _SAVE_SECONDS:
                        self.save()
        except KeyboardInterrupt:
            self.save()
            raise

    def save(self) -> None:
        """Save the vectors that are made, as of no index."""
        head = VectorHead("", self.encoder.run, self.encoder.model, self.encoder.dim, int(self.done.sum()))
        save_vectors(StoredVectors(head, self.vectors[self.done], self.keys[self.done]), self.part)
        self.saved = time.monotonic()


def _old(path: Path, head: VectorHead, tell: Callable[[str, str], None]) -> StoredVectors | None:
    """The existing vectors, if they are of the same model."""
    if not path.exists():
        return None
    try:
        old = open_vectors(path)
        return old if (old.head.model, old.head.dim) == (head.model, head.dim) else None
    except UserError as error:
        tell(str(path), f"rebuilt: {error}")
        return None
