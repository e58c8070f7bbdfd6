"""The folder of a run, ``runs/<dataset>-<model>-<time>/``: its files and its creation."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.folder_lock import sole_writer
from data_prep.files.json_text import sorted_json
from data_prep.files.named_paths import check_folder_place
from data_prep.files.reading import file_sha256
from experiments.recipes.config import FREE, REPOSITORY, Configuration
from experiments.recipes.stored_options import stored_options

_FREE: Final = ("out", *FREE)
"""Prefixes of the settings that the weights do not depend on."""

LOG: Final = "log.txt"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Paths of a run's files."""

    path: Path

    @classmethod
    def of_resumed(cls, plan: Configuration) -> "RunFolder | None":
        """The folder that ``--train.resume`` names; None if it is not set."""
        return cls(Path(plan.train.resume)) if plan.train.resume else None

    @property
    def config(self) -> Path:
        """The complete configuration."""
        return self.path / "config.json"

    @property
    def metrics(self) -> Path:
        """The results; written last, so a run that has this file is finished."""
        return self.path / "metrics.json"

    @property
    def weights(self) -> Path:
        """The weights of the best epoch."""
        return self.path / "weights.safetensors"

    @property
    def vocabulary(self) -> Path:
        """The vocabulary or tokenizer."""
        return self.path / "vocabulary.json"

    @property
    def events(self) -> Path:
        """The TensorBoard events."""
        return self.path / "events"

    @property
    def made_with(self) -> dict[str, str]:
        """Checksums, by name, of the files that the weights depend on; of the configuration without changeable options.

        Raises:
            UserError: the configuration is damaged.
            OSError: a file is missing.
        """
        settings = {name: value for name, value in stored_options(self.config).items() if not name.startswith(_FREE)}
        config = hashlib.sha256(sorted_json(settings)).hexdigest()
        return {self.vocabulary.name: file_sha256(self.vocabulary), self.config.name: config}

    @property
    def log(self) -> Path:
        """The printed lines, with timestamps."""
        return self.path / LOG


@contextmanager
def named_folder(plan: Configuration) -> Iterator[None]:
    """Lock the folder that ``--out`` or ``--train.resume`` names, if any, against other runs.

    Raises:
        UserError: another run is writing to it, or ``--out`` is not an empty or absent folder, cannot be created, or
            has a name that is not UTF-8; or none is named, and none can be created in ``runs``.
    """
    if not (plan.train.resume or plan.out):
        check_folder_place(REPOSITORY / "runs", "--out")
        yield
        return
    path = Path(plan.train.resume or plan.out)
    if not plan.train.resume:
        _check_out(path)
    with sole_writer(path):
        if not plan.train.resume and any(each.name != LOG for each in path.iterdir()):  # a log alone: no run yet
            raise _not_empty(path)
        yield


def _check_out(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise _not_empty(path)
    try:
        str(path).encode()  # like TensorBoard
    except UnicodeEncodeError as error:
        raise UserError(f"--out={path} has a name that is not UTF-8: name another folder") from error
    check_folder_place(path, "--out")


def _not_empty(path: Path) -> UserError:
    return UserError(f"--out={path} is not an empty folder: name a new one, or resume a run with --train.resume")


@contextmanager
def new_run_folder(plan: Configuration) -> Iterator[RunFolder]:
    """The run folder that ``--out`` names, or a new one named by data set, model and time, locked against other runs.

    Raises:
        UserError: there are too many folders of that time.
    """
    if plan.out:
        yield RunFolder(Path(plan.out))
        return
    name = f"{plan.dataset}-{plan.model_name}-{time.strftime('%Y%m%d-%H%M%S')}"
    for suffix in ("", *(f"-{number}" for number in range(2, 100))):
        path = REPOSITORY / "runs" / (name + suffix)
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        with sole_writer(path):
            yield RunFolder(path)
        return
    raise UserError(f"{path} exists: name another folder with --out")
