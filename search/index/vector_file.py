"""The vectors of an index on disk, in one file beside it: a line that describes them, the vectors, and keys.

Vectors are float16. A key is a hash of the model's input for a row, by which the vectors of unchanged rows are reused
when the index is updated. A file that is damaged, or of another index or model than expected, is refused.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.array_types import Float16, UInt8
from data_prep.errors import UserError
from data_prep.files.json_text import checked_record
from data_prep.files.sealed import read_sealed, read_sealed_head, write_sealed
from search.index.index_file import read_head
from search.models.folder import DEFAULT_BI_ENCODER, model_hash
from search.retrieval.faiss_index import are_kept, clusters_path

FORMAT: Final = "galm vectors 1"
"""Incremented when the layout changes, or how a row is encoded."""
BATCH: Final = 128
"""Rows that are encoded at once, always, since the size of a batch may change the last bits of a vector."""
KEY: Final = 16
"""Bytes of a key."""
_FLOAT: Final = 2
"""Bytes per number."""


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
    from search.index.encoders import loaded_encoder
    from search.index.vector_encoding import refresh_vectors
    from search.retrieval.exact import vector_index

    done = refresh_vectors(loaded_encoder(run), index, tell)
    stored = open_vectors(path := vectors_path(index))
    vector_index(stored.vectors, stored.head.name, path, "").close()  # makes the clusters of many rows, which it saves
    return f"read {done.read:,} of {done.rows:,} rows"


def remove_vectors(index: Path) -> None:
    """Remove the vectors beside the file ``index``, if there are any, and their clusters."""
    path = vectors_path(index)
    for each in (path, part_path(path), clusters_path(path)):
        each.unlink(missing_ok=True)


def _unusable(path: Path, why: str) -> UserError:
    return UserError(
        f"the vectors cannot be used: {why}; remove {path}, and make them again by `bash run.sh index DIR`"
    )
