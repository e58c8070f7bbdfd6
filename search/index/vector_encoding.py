"""Making and updating the vectors of an index by a trained bi-encoder; those of unchanged rows are reused.

The vector of a row does not depend on the other rows of its batch. Equal rows are encoded once.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from data_prep.array_types import Float16, UInt8
from data_prep.errors import UserError
from data_prep.store.tokenizing import TokenizedPairs
from experiments.terminal.console import progress
from search.index.encoders import RowEncoder
from search.index.index_file import open_index, read_head
from search.index.vector_file import (
    BATCH,
    KEY,
    StoredVectors,
    VectorHead,
    open_vectors,
    save_vectors,
    vectors_path,
)


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
    known = {key.tobytes(): row for row, key in enumerate(old.keys)} if old else {}
    vectors, read = _filled(encoder, ids, keys, known, old)
    if read_head(index) != before:
        raise UserError(f"the index {index} was replaced while its vectors were made: run this command again")
    save_vectors(StoredVectors(head, vectors, keys), path)
    return Vectorised(head.rows, read, written=True)


def _filled(
    encoder: RowEncoder,
    ids: TokenizedPairs,
    keys: UInt8[np.ndarray, "rows bytes"],
    known: Mapping[bytes, int],
    old: StoredVectors | None,
) -> tuple[Float16[np.ndarray, "rows dim"], int]:
    """The vectors of all rows, and how many rows were encoded."""
    places: dict[bytes, list[int]] = {}
    for row, key in enumerate(keys):
        places.setdefault(key.tobytes(), []).append(row)
    vectors = np.empty((len(ids), encoder.dim), np.float16)
    fresh = []
    for key, rows in places.items():
        if old and key in known:
            vectors[rows] = old.vectors[known[key]]
        else:
            fresh.append(rows)
    with progress("vectors", len(fresh), "rows") as update:
        for start in range(0, len(fresh), BATCH):
            batch = fresh[start : start + BATCH]
            found = encoder.vectors(ids, np.array([rows[0] for rows in batch], np.int64))
            for rows, vector in zip(batch, found, strict=True):
                vectors[rows] = vector
            update(len(batch))
    return vectors, len(fresh)


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
