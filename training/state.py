"""The complete state of a run in progress: saving it to a checkpoint and restoring it."""

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.json_text import checked_record
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
from training.seeding import random_state, restore_random_state
from training.stored_state import part_of, settings_of, tensors_of
from training.task import TrainingTask

_OF_EPOCH: Final = ("epoch", "loss", "learning_rate", "seconds")
"""Numbers that a run records for each epoch."""
EpochRecord = dict[str, int | float]
"""Of a complete epoch: epoch (1-based), loss, learning_rate (of the last step), seconds (in steps since the run's
start), and the measures of its validation."""
_LARGEST: Final = 1e15
"""Upper bound of all numbers of a run."""


@dataclass
class Progress:
    """The progress of a run."""

    epoch: int = 0  # completed epochs
    batch: int = 0  # batches done in the current epoch
    step: int = 0  # optimiser steps in total
    pairs: int = 0  # examples trained on in total
    loss_sum: float = 0.0  # over the examples of the current epoch
    loss_pairs: int = 0
    seconds: float = 0.0  # in steps, without validation and checkpoints
    best_mrr: float = -math.inf
    best_epoch: int = 0  # 1-based; 0: none yet
    history: list[EpochRecord] = field(default_factory=list)  # one per completed epoch

    @property
    def loss(self) -> float:
        """Mean loss per example of the current epoch."""
        return self.loss_sum / max(1, self.loss_pairs)

    @classmethod
    def checked(cls, content: object, of_epoch: Collection[str]) -> "Progress":
        """Validate the progress stored in a checkpoint, each epoch of which has the keys ``of_epoch``.

        Raises:
            UserError: it is inconsistent, or not a progress record.
        """
        if not isinstance(content, dict) or not isinstance(history := content.get("history"), list):
            raise UserError("expected the progress of the run")
        found = checked_record(cls, {name: value for name, value in content.items() if name != "history"})
        numbers = {name: getattr(found, name) for name in content if name not in ("history", "best_mrr")}
        for name, number in numbers.items():
            if not 0 <= number < _LARGEST:
                raise UserError(f"{name} cannot be {number!r:.40}")
        if len(history) != found.epoch or found.best_epoch > found.epoch or math.isnan(found.best_mrr):
            raise UserError(f"{found.epoch} epochs do not have these numbers")
        found.history = [_checked_epoch(each, of_epoch) for each in history]
        return found


def _checked_epoch(content: object, needed: Collection[str]) -> EpochRecord:
    if not isinstance(content, dict) or not all(_is_number(value) for value in content.values()):
        raise UserError(f"an epoch cannot be {content!r:.60}")
    if not {*needed} <= content.keys() or not all(isinstance(name, str) for name in content):
        raise UserError(f"an epoch has {', '.join(needed)}, not {content!r:.60}")
    return content


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < _LARGEST


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
