"""Vectors of the rows of an index, and of queries, by a trained bi-encoder; vectors of unchanged rows are reused.

The vector of a row does not depend on the other rows of its batch. Equal rows are encoded once.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from tqdm import tqdm

from data_prep.array_types import Float16, Float32, Int64, UInt8
from data_prep.errors import UserError
from data_prep.store.prepared_data import Split
from data_prep.store.tokenizing import TokenizedPairs
from search.index.index_file import open_index, read_head
from search.index.packed_encoder import PackedEncoder, is_packed_unif
from search.index.packed_light import PackedLight, is_packed_light
from search.index.vector_file import (
    BATCH,
    KEY,
    StoredVectors,
    VectorHead,
    open_vectors,
    save_vectors,
    vectors_path,
)
from search.models.folder import CONFIG, DEFAULT_BI_ENCODER, model_hash


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

    def query(self, words: Sequence[str], context: Sequence[str] = ()) -> Float32[np.ndarray, "1 dim"]:
        """The vector of a query, with norm 1; ``context``: the words above the cursor, if the model reads them."""

    def ids(self, rows: Split) -> TokenizedPairs:
        """The rows as ids of the model."""

    def vectors(self, ids: TokenizedPairs, rows: Int64[np.ndarray, " batch"]) -> Float16[np.ndarray, "batch dim"]:
        """The vectors of at most BATCH ``rows``, with norm 1; 0 for rows without words.

        Raises:
            UserError: the model gives NaN.
        """


def row_encoder(run: Path | None = None) -> RowEncoder:
    """The model of a finished run, or a packed one; None: the shipped one. Packed unif and scotch_light need no torch.

    Raises:
        UserError: there is no model, or it is not a bi-encoder.
    """
    folder = run or DEFAULT_BI_ENCODER
    check_bi_encoder(folder)
    if is_packed_unif(folder):
        return PackedEncoder(folder)
    if is_packed_light(folder):
        return PackedLight(run)
    from search.index.torch_encoder import TorchEncoder

    return TorchEncoder(run)


def check_bi_encoder(folder: Path) -> None:
    """Check that a model is a bi-encoder over words, before it is loaded.

    Raises:
        UserError: there is no model in ``folder``, or it is not such a bi-encoder.
    """
    model_hash(folder)
    if is_packed_unif(folder) or is_packed_light(folder):
        return
    from experiments.recipes.config import Configuration
    from experiments.recipes.models import class_of
    from modeling.bi_encoder import BiEncoder

    name = Configuration.load(folder / CONFIG).model_name
    kind = class_of(name)
    if issubclass(kind, BiEncoder) and kind.reads != "words":
        raise UserError(
            f"the run in {folder} is of {name}, which reads subwords, but an index holds words: --vectors takes a run "
            "of a bi-encoder over words, such as unif or deepcs"
        )
    if not issubclass(kind, BiEncoder):
        raise UserError(
            f"the run in {folder} is of {name}, which makes no vector of a method: --vectors takes a run of a "
            "bi-encoder, such as unif or deepcs"
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
    with tqdm(desc="vectors", total=len(fresh), unit=" rows", disable=None) as bar:
        for start in range(0, len(fresh), BATCH):
            batch = fresh[start : start + BATCH]
            found = encoder.vectors(ids, np.array([rows[0] for rows in batch], np.int64))
            for rows, vector in zip(batch, found, strict=True):
                vectors[rows] = vector
            bar.update(len(batch))
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
