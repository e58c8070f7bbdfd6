"""All that a run consists of while it is under way: what a checkpoint holds, and how it is put back."""

import math
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from data_prep.batching import PairIds
from matching.contract import Matcher
from training.checkpoint import load_checkpoint, put_weights, save_checkpoint, weights_copy
from training.config import TrainConfig
from training.seeding import random_state, restore_random_state

EpochRecord = dict[str, int | float]
"""Of a whole epoch: epoch (1-based), loss, learning_rate (the last step's), seconds (in steps since the run's start),
and the measures of its validation."""


@dataclass
class Progress:
    """How far a run has come."""

    epoch: int = 0  # whole epochs done
    batch: int = 0  # batches done of the epoch under way
    step: int = 0  # batches done in all
    pairs: int = 0  # pairs trained on in all
    loss_sum: float = 0.0  # over the pairs of the epoch under way
    loss_pairs: int = 0
    seconds: float = 0.0  # in steps, without validation and checkpoints
    best_mrr: float = -math.inf
    best_epoch: int = 0  # 1-based; 0: none yet
    history: list[EpochRecord] = field(default_factory=list)  # one a whole epoch

    @property
    def loss(self) -> float:
        """Mean loss of the epoch under way, over its pairs."""
        return self.loss_sum / max(1, self.loss_pairs)


class RunState:
    """Model, optimiser, random generators and progress of a run, and the best weights so far."""

    def __init__(self, matcher: Matcher, config: TrainConfig, pairs: PairIds) -> None:
        self.matcher, self.config, self.progress = matcher, config, Progress()
        self.best = weights_copy(matcher)
        self.optimiser = torch.optim.AdamW(  # with a weight decay of 0 it is Adam; fused: four times as quick on a CPU
            matcher.parameters(), betas=(config.beta1, config.beta2), weight_decay=config.weight_decay, fused=True
        )
        self._pairs = _fingerprint(pairs)

    def validated(self, mrr: float) -> bool:
        """Note the validation MRR of the epoch just done, and say whether it is the best so far."""
        done = self.progress
        if mrr > done.best_mrr:
            done.best_mrr, done.best_epoch, self.best = mrr, done.epoch, weights_copy(self.matcher)
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
            "model": self.matcher.state_dict(),
            "best": self.best,
            "optimiser": self.optimiser.state_dict(),
            "random": random_state(),
        }
        save_checkpoint(state, path)

    def restore(self, path: Path) -> None:
        """Put everything back as it was when :meth:`save` wrote the checkpoint.

        Raises:
            ValueError: the checkpoint is damaged, or of a run with other settings, pairs or model.
            OSError: it cannot be read.
        """
        state = load_checkpoint(path)
        differences = self.config.differences(state["config"])
        if differences:
            raise ValueError(f"a resumed run keeps its settings, but got {', '.join(differences)}: leave them out")
        if state["pairs"] != self._pairs:
            raise ValueError(f"{path} is of a run on other training pairs: resume it with the data it began with")
        weights: Mapping[str, Tensor] = state["model"]
        put_weights(self.matcher, weights, str(path))
        self.optimiser.load_state_dict(state["optimiser"])
        self.best, self.progress = state["best"], Progress(**state["progress"])
        restore_random_state(state["random"])


def _fingerprint(pairs: PairIds) -> int:
    """A checksum of the training split as the model reads it."""
    total = 0
    for name in sorted(pairs.fields):
        for part in (pairs.fields[name].values, pairs.fields[name].offsets):
            total = zlib.crc32(np.ascontiguousarray(part).tobytes(), total)
    return total
