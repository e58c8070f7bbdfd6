"""The complete state of a run in progress: saving it to a checkpoint and restoring it."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from training.checkpoint import (
    check_finite,
    check_weights,
    load_checkpoint,
    put_weights,
    save_checkpoint,
    weights_copy,
)
from training.config import TrainConfig
from training.optimiser import Optimiser
from training.progress import Progress
from training.seeding import random_state, restore_random_state
from training.stored_state import part_of, settings_of, tensors_of
from training.task import TrainingTask

_OF_EPOCH: Final = ("epoch", "loss", "learning_rate", "seconds")
"""Numbers that a run records for each epoch."""


class RunState:
    """Model, optimiser, random generators and progress of a run, and the best weights so far."""

    def __init__(self, task: TrainingTask, config: TrainConfig, plan: Mapping[str, Any] | None = None) -> None:
        """``plan``: other settings that determine the run's results, also stored in checkpoints."""
        self.model, self.config, self.progress = task.model, config, Progress()
        self.best = weights_copy(self.model)
        self.optimiser = Optimiser(self.model, config)
        self._pairs, self._plan = task.fingerprint, plan

    def validated(self, mrr: float) -> bool:
        """Record the validation MRR of the last epoch, and return whether it is the best so far.

        The optimiser has been flushed.
        """
        done = self.progress
        if mrr > done.best_mrr:
            done.best_mrr, done.best_epoch, self.best = mrr, done.epoch, weights_copy(self.model)
        return done.best_epoch == done.epoch

    def save(self, path: Path) -> None:
        """Write the checkpoint.

        Raises:
            OSError: it cannot be written; an older one is intact.
        """
        state = {
            "config": asdict(self.config),
            "pairs": self._pairs,
            "progress": asdict(self.progress),
            "model": self.model.state_dict(),
            "best": self.best,
            "optimiser": self.optimiser.state(),
            "random": random_state(),
        } | ({} if self._plan is None else {"plan": dict(self._plan)})
        save_checkpoint(state, path)

    def restore(self, path: Path) -> None:
        """Restore everything that :meth:`save` wrote to the checkpoint.

        Raises:
            UserError: the checkpoint is damaged, or of a run with other settings, pairs or model.
            OSError: it cannot be read.
        """
        state = load_checkpoint(path)
        with part_of(path):
            differences = self.config.differences(settings_of(state.get("config")))
            progress = Progress.checked(state.get("progress"), _OF_EPOCH)
            weights, best = (tensors_of(state.get(name), f"{name} weights") for name in ("model", "best"))
        if differences:
            raise UserError(f"a resumed run keeps its settings, but got {', '.join(differences)}: leave them out")
        if type(state.get("pairs")) is not type(self._pairs) or state["pairs"] != self._pairs:
            raise UserError(f"{path} is of a run on other training pairs: resume it with the data it began with")
        put_weights(self.model, weights, str(path))
        check_weights(best, self.model.state_dict(), str(path))
        check_finite(best, str(path))
        with part_of(path):
            self.optimiser.restore(state.get("optimiser"))
            restore_random_state(state.get("random"))
        self.best, self.progress = best, progress
