"""A run in progress: what it trains, its random generators, its progress, and a checkpoint of all of it.

The trainer depends on :class:`TrainingTask` alone, and on no model.
"""

import math
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from data_prep.errors import UserError
from training.checkpoint import check_finite, check_weights, load_checkpoint, put_weights, save_checkpoint, weights_copy
from training.config import TrainConfig
from training.optimiser import Optimiser

Rows = Int[np.ndarray, " rows"]
"""Indices of the examples of a batch."""


@runtime_checkable
class TrainingTask(Protocol):
    """A model, its training examples, the loss of a batch, and validation."""

    @property
    def model(self) -> nn.Module:
        """The model to train, on its device."""
        ...

    @property
    def fingerprint(self) -> int | str:
        """A checksum of the examples: a run is only resumed on the same ones."""
        ...

    def __len__(self) -> int:
        """Examples per epoch."""
        ...

    @property
    def batch_count(self) -> int:
        """Batches per epoch; the same in every epoch."""
        ...

    def batches(self, epoch: int) -> Sequence[Rows]:
        """The batches of an epoch (0-based), in the order of training; deterministic for each epoch."""
        ...

    def loss(self, rows: Rows, epochs: float, step: int) -> Float[Tensor, ""]:
        """The loss of a whole batch, on every process.

        Args:
            rows: one of :meth:`batches`.
            epochs: number of epochs so far, with fractions.
            step: number of batches so far.
        """
        ...

    def remark(self, epoch: int) -> str:
        """Why the loss of a completed epoch (1-based) may be above that of the one before; "" if nothing is known."""
        ...

    def validate(self) -> Mapping[str, float]:
        """Measures of the current model, in evaluation mode and without gradients.

        The best epoch is selected by ``selection`` if there is such a measure, otherwise by ``mrr``.

        Those named ``part/name`` describe the inside of the model: they are logged, not printed.
        """
        ...


EpochRecord = dict[str, int | float]
"""Of a complete epoch: epoch (1-based), loss, learning_rate (of the last step), seconds (in steps since the run's
start), and the measures of its validation."""


def seed_everything(seed: int, threads: int = 0) -> None:
    """Seed Python, numpy and torch on all devices, and restrict torch to deterministic algorithms.

    Sums may differ in their last digit between numbers of threads, so that number must be the same too.

    Args:
        seed: 0 or more.
        threads: number of torch threads; 0: torch's default.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # for deterministic matrix products on CUDA
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - for libraries that draw from it
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]  # not needed, and slow
    if threads:
        torch.set_num_threads(threads)


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


class RunState:
    """Model, optimiser, random generators and progress of a run, and the best weights so far."""

    def __init__(self, task: TrainingTask, config: TrainConfig, plan: Mapping[str, Any] | None = None) -> None:
        """``plan``: other settings that determine the run's results, also stored in checkpoints."""
        self.model, self.config, self.progress = task.model, config, Progress()
        self.best = weights_copy(self.model)
        self.optimiser = Optimiser(self.model, config)
        self._pairs, self._plan = task.fingerprint, plan

    def begin(self, weights: Mapping[str, Tensor], source: str, progress: Progress | None = None) -> None:
        """Begin with the weights of another run, named by ``source``, and with its progress.

        Raises:
            UserError: they do not fit the model, or are not finite.
        """
        put_weights(self.model, weights, source)
        self.best, self.progress = weights_copy(self.model), progress or self.progress

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
            "random": [torch.get_rng_state(), *torch.cuda.get_rng_state_all()],
        } | ({} if self._plan is None else {"plan": dict(self._plan)})
        save_checkpoint(state, path)

    def restore(self, path: Path) -> None:
        """Restore everything that :meth:`save` wrote to the checkpoint; CUDA devices that no longer exist are ignored.

        Raises:
            UserError: the checkpoint is damaged, or of a run with other settings, pairs or model.
            OSError: it cannot be read.
        """
        state = load_checkpoint(path)
        try:
            self._restore(state, str(path))
        except UserError:
            raise
        except (AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            what = " ".join(str(error).split())[:200]
            raise UserError(f"the checkpoint {path} is not of this program ({what}): start the run anew") from error

    def _restore(self, state: Mapping[str, Any], source: str) -> None:
        if differences := self.config.differences(state["config"]):
            raise UserError(f"a resumed run keeps its settings, but got {', '.join(differences)}: leave them out")
        if state["pairs"] != self._pairs:
            raise UserError(f"{source} is of a run on other training pairs: resume it with the data it began with")
        put_weights(self.model, state["model"], source)
        check_weights(state["best"], self.model.state_dict(), source)
        check_finite(state["best"], source)
        self.optimiser.restore(state["optimiser"])
        torch.set_rng_state(state["random"][0])
        torch.cuda.set_rng_state_all(state["random"][1:][: torch.cuda.device_count()])
        self.best, self.progress = state["best"], Progress(**state["progress"])
