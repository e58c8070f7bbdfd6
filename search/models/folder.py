"""Folders of models, without loading one. Light to import: no torch."""

import hashlib
import json
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.reading import file_sha256
from experiments.recipes.stored_options import PACKED, is_packed, stored_configuration

DEFAULT_MODEL: Final = Path(__file__).with_name("default")
"""The shipped packed model."""
DEFAULT_BI_ENCODER: Final = DEFAULT_MODEL / "bi_encoder"
"""The shipped packed bi-encoder."""

CONFIG: Final = "config.json"
RUN: Final = ("vocabulary.json", "weights.safetensors")
"""Files of a run that make up its model, beside its configuration."""


def no_model(folder: Path, missing: str) -> UserError:
    """The error that there is no model in ``folder``."""
    return UserError(
        f"expected a model in {folder}, but there is no {missing}: name the folder of a finished run, or a packed one"
    )


def model_hash(folder: Path) -> str:
    """A hash of all that determines the outputs of the model in ``folder``.

    Raises:
        UserError: there is no model, or it is not finished.
    """
    names = PACKED if is_packed(folder) else RUN
    missing = [name for name in (CONFIG, *names) if not (folder / name).is_file()]
    if missing:
        raise no_model(folder, missing[0])
    plan = stored_configuration(folder / CONFIG, as_saved=True)
    if not {"words", "model"} <= plan.keys():
        raise UserError(f"{folder / CONFIG} is not the configuration of a run: it lacks words or model")
    about = [plan["model_name"], plan["words"], plan["model"]]
    return hashlib.sha256(json.dumps([*about, *(file_sha256(folder / name) for name in names)]).encode()).hexdigest()
