"""The progress of a run, as checkpoints store it."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from data_prep.errors import UserError
from data_prep.files.json_text import checked_record

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
