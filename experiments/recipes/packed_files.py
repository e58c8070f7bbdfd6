"""The files of a packed model, as :mod:`search.models.packed_model` writes it, which is no run. Light to import."""

from pathlib import Path
from typing import Final

from data_prep.errors import UserError

PACKED: Final = ("words.json", "model.safetensors")
"""Files of a packed model beside its configuration."""


def is_packed(folder: Path) -> bool:
    """Whether a folder has a packed model, possibly a damaged one, rather than a run."""
    return any((folder / name).exists() for name in PACKED)


def check_is_run(folder: Path) -> None:
    """Check that a folder does not have a packed model, where a run is needed.

    Raises:
        UserError: it has one.
    """
    if is_packed(folder):
        raise UserError(
            f"{folder} has a packed model, which can only search: name the folder of the run that it was packed from"
        )
