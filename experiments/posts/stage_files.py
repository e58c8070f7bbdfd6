"""The folder of a stage of SnippeR's loop: who makes it, its record, and mined negatives."""

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from jaxtyping import Int64

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.folder_lock import sole_holder
from data_prep.files.json_text import parse_json
from data_prep.files.reading import ABSENT, read_whole
from experiments.recipes.snippet_encoder import RECORD

NEGATIVES: Final = "negatives.npy"


@dataclass(frozen=True, slots=True)
class Stage:
    """A finished stage."""

    name: str
    key: str
    folder: Path
    record: Mapping[str, Any]


@contextmanager
def sole_maker(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Lock the folder of a stage, which is created; wait until another process that makes it has ended."""

    def tell() -> None:
        say(f"waiting for another process that makes {folder.name}")

    with sole_holder(folder.with_name(f"{folder.name}.lock"), tell):
        folder.mkdir(parents=True, exist_ok=True)
        yield


def read_record(folder: Path) -> dict[str, Any]:
    """What is known of the training of a stage.

    Raises:
        UserError: it is damaged.
        OSError: it cannot be read.
    """
    try:
        record = parse_json(read_whole(folder / RECORD))
        if not isinstance(record, dict) or not isinstance(record.get("best"), dict):
            raise UserError("it is no record of a stage")
    except UserError as error:
        raise UserError(
            f"{folder / RECORD} is damaged ({error}): remove the folder, the stage is trained again"
        ) from error
    return record


def save_negatives(path: Path, values: Int64[np.ndarray, "pairs mined"]) -> None:
    """Write mined negatives.

    Raises:
        OSError: they cannot be written.
    """
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=False)
    write_atomically(path, buffer.getvalue())


def load_negatives(path: Path, rows: int, count: int) -> Int64[np.ndarray, "pairs mined"]:
    """The ``count`` mined negatives of each of ``rows`` training pairs.

    Raises:
        UserError: they are damaged.
    """
    try:
        values = np.load(path, allow_pickle=False)
        if values.shape != (rows, count) or values.dtype != np.int64 or not ((values >= 0) & (values < rows)).all():
            raise UserError("its rows do not fit the training pairs")
    except (*ABSENT, ValueError, EOFError) as error:
        raise UserError(f"{path} is damaged ({error}): remove it, it is made again") from error
    return np.asarray(values)
