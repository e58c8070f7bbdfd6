"""Making and updating the vectors of an index by a trained bi-encoder; those of unchanged rows are reused.

The vector of a row does not depend on the other rows of its batch. Equal rows are encoded once.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.store.arrays import Bool, Float16, Ragged, UInt8, write_sealed
from data_prep.store.split import TokenizedPairs
from experiments.terminal.console import progress
from search.index.index_file import open_index, read_head
from search.index.vectors import (
    BATCH,
    FORMAT,
    KEY,
    RowEncoder,
    StoredVectors,
    VectorHead,
    loaded_encoder,
    open_vectors,
    read_vector_head,
    vectors_path,
)
from search.models.folder import DEFAULT_BI_ENCODER, model_hash
from search.retrieval.approximate import are_kept, clusters_path
from search.retrieval.exact import vector_index

_SAVE_SECONDS: Final = 60.0


def row_keys(ids: TokenizedPairs, names: Sequence[str]) -> UInt8[np.ndarray, "rows bytes"]:
    """A hash of a model's input for each row, which are the fields ``names``."""
    fields = [ids.fields[field] for field in names]
    lengths = np.stack([field.lengths for field in fields], axis=1)
    rows = zip(map(np.ndarray.tobytes, lengths), *map(_as_bytes, fields), strict=True)
    keys = b"".join(hashlib.blake2b(b"".join(read), digest_size=KEY).digest() for read in rows)
    return np.frombuffer(keys, np.uint8).reshape(len(ids), KEY)


def _as_bytes(lists: Ragged) -> Iterator[bytes]:
    """The bytes of each list."""
    whole, bounds = lists.values.tobytes(), (lists.offsets * lists.values.itemsize).tolist()
    return (whole[start:end] for start, end in pairwise(bounds))


def _each(keys: UInt8[np.ndarray, "rows bytes"]) -> list[bytes]:
    found: list[bytes] = np.ascontiguousarray(keys).view(f"V{KEY}").ravel().tolist()
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
        places: dict[bytes, list[int]] = {}
        for row, key in enumerate(_each(self.keys)):
            places.setdefault(key, []).append(row)
        for each in made:
            numbers = {key: number for number, key in enumerate(_each(each.keys)) if key in places}
            pairs = np.array([(row, number) for key, number in numbers.items() for row in places[key]], np.int64)
            rows, same = pairs.reshape(-1, 2).T
            self.vectors[rows], self.done[rows] = each.vectors[same], True
        return [rows for rows in places.values() if not self.done[rows[0]]]

    def encode(self, ids: TokenizedPairs, fresh: Sequence[list[int]]) -> None:
        """Encode rows; what was encoded before an interruption is saved."""
        try:
            with progress("vectors", len(fresh), "rows") as update:
                for start in range(0, len(fresh), BATCH):
                    batch = fresh[start : start + BATCH]
                    found = self.encoder.vectors(ids, np.array([rows[0] for rows in batch], np.int64))
                    places = np.array([*chain.from_iterable(batch)])
                    self.vectors[places] = found.repeat([*map(len, batch)], axis=0)
                    self.done[places] = True
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


def part_path(vectors: Path) -> Path:
    """The file of those that were made before an interruption."""
    return vectors.with_name(f"{vectors.name}.part")


def save_vectors(stored: StoredVectors, path: Path) -> None:
    """Write vectors atomically, replacing older ones.

    Raises:
        OSError: they cannot be written; the older ones are left unchanged.
    """
    write_sealed(path, FORMAT, asdict(stored.head), [stored.vectors, stored.keys])


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
