"""The folder of a run, ``runs/<dataset>-<model>-<time>/``: what is in it, and how it is made."""

import time
from dataclasses import dataclass
from pathlib import Path

from data_prep.named_paths import check_folder_place
from experiments.config import REPOSITORY, Configuration


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
    def log(self) -> Path:
        """What was printed, with times."""
        return self.path / "log.txt"


def check_out(plan: Configuration) -> None:
    """Refuse to write a run where something is.

    Raises:
        ValueError: ``--out`` names something that is not an empty or absent folder, where none can be made, or that is
            no Unicode text.
    """
    path = Path(plan.out)
    if plan.out and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ValueError(f"--out={path} is not an empty folder: name a new one, or go on with a run by --train.resume")
    try:
        plan.out.encode()  # as TensorBoard does
    except UnicodeEncodeError as error:
        raise ValueError(f"--out={path} has a name that is no UTF-8: name another folder") from error
    if plan.out:
        check_folder_place(path, "--out")


def new_run_folder(plan: Configuration) -> RunFolder:
    """Make the folder of a run that ``--out`` names, or one that tells data set, model and time."""
    if plan.out:
        path = Path(plan.out)
        path.mkdir(parents=True, exist_ok=True)
        return RunFolder(path)
    name = f"{plan.dataset}-{plan.model_name}-{time.strftime('%Y%m%d-%H%M%S')}"
    for suffix in ("", *(f"-{number}" for number in range(2, 100))):
        path = REPOSITORY / "runs" / (name + suffix)
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        return RunFolder(path)
    raise ValueError(f"{path} exists: name another folder with --out")
