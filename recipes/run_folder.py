"""The folder of a run, ``runs/<dataset>-<model>-<time>/``: what is in it, and how it is made."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data_prep.files.folder_lock import sole_writer
from data_prep.files.json_text import sorted_json
from data_prep.files.named_paths import check_folder_place
from data_prep.store.manifest import file_sha256
from recipes.config import CHANGEABLE, REPOSITORY, Configuration
from recipes.stored_options import stored_options

_FREE: Final = ("out", *CHANGEABLE)
"""How the settings begin that a finished run may have other ones of."""

LOG: Final = "log.txt"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Paths of everything that a run leaves."""

    path: Path

    @classmethod
    def of_resumed(cls, plan: Configuration) -> "RunFolder | None":
        """The folder that ``--train.resume`` names, None where it names none."""
        return cls(Path(plan.train.resume)) if plan.train.resume else None

    @property
    def config(self) -> Path:
        """The whole configuration."""
        return self.path / "config.json"

    @property
    def metrics(self) -> Path:
        """The results; written last, so that a run that has it is finished."""
        return self.path / "metrics.json"

    @property
    def weights(self) -> Path:
        """The weights of the best epoch."""
        return self.path / "weights.safetensors"

    @property
    def vocabulary(self) -> Path:
        """The words that the model knows."""
        return self.path / "vocabulary.json"

    @property
    def events(self) -> Path:
        """What TensorBoard shows."""
        return self.path / "events"

    @property
    def made_with(self) -> dict[str, str]:
        """Checksums, by name, of the files that the weights need; of the configuration without what may change.

        Raises:
            ValueError: the configuration is damaged.
            OSError: a file is missing.
        """
        settings = {name: value for name, value in stored_options(self.config).items() if not name.startswith(_FREE)}
        config = hashlib.sha256(sorted_json(settings)).hexdigest()
        return {self.vocabulary.name: file_sha256(self.vocabulary), self.config.name: config}

    @property
    def log(self) -> Path:
        """What was printed, with times."""
        return self.path / LOG


@contextmanager
def named_folder(plan: Configuration) -> Iterator[None]:
    """Keep other runs out of the folder that ``--out`` or ``--train.resume`` names, if one is named.

    Raises:
        ValueError: another run is writing it, or ``--out`` names something that is not an empty or absent folder, where
            none can be made, or that is no Unicode text.
    """
    if not (plan.train.resume or plan.out):
        yield
        return
    path = Path(plan.train.resume or plan.out)
    if not plan.train.resume:
        _check_out(path)
    with sole_writer(path):
        if not plan.train.resume and any(each.name != LOG for each in path.iterdir()):  # with a log alone, none began
            raise _not_empty(path)
        yield


def _check_out(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise _not_empty(path)
    try:
        str(path).encode()  # as TensorBoard does
    except UnicodeEncodeError as error:
        raise ValueError(f"--out={path} has a name that is no UTF-8: name another folder") from error
    check_folder_place(path, "--out")


def _not_empty(path: Path) -> ValueError:
    return ValueError(f"--out={path} is not an empty folder: name a new one, or go on with a run by --train.resume")


@contextmanager
def new_run_folder(plan: Configuration) -> Iterator[RunFolder]:
    """The folder of a run that ``--out`` names, or a new one that tells data set, model and time, kept from other runs.

    Raises:
        ValueError: there are too many of that time.
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
    raise ValueError(f"{path} exists: name another folder with --out")
