"""The interface that the trainer depends on; it needs neither models nor pairs."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor, nn

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

    def validate(self) -> Mapping[str, float]:
        """Measures of the current model, in evaluation mode and without gradients.

        The best epoch is selected by ``selection`` if there is such a measure, otherwise by ``mrr``.

        Those named ``part/name`` describe the inside of the model: they are logged, not printed.
        """
        ...
