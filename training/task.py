"""What a training is of: the trainer knows this contract, and neither models nor pairs."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor, nn

Rows = Int[np.ndarray, " rows"]
"""Examples of a batch, by number."""


@runtime_checkable
class TrainingTask(Protocol):
    """A model, the examples that it learns from, the loss of a batch of them, and what validation measures."""

    @property
    def model(self) -> nn.Module:
        """What is trained, on the device where it is."""
        ...

    @property
    def fingerprint(self) -> int | str:
        """A checksum of the examples: a run goes on with the same ones only."""
        ...

    def __len__(self) -> int:
        """Examples an epoch."""
        ...

    @property
    def batch_count(self) -> int:
        """Batches an epoch; as many in every epoch."""
        ...

    def batches(self, epoch: int) -> Sequence[Rows]:
        """The batches of an epoch (0-based), in the order of training; of the same epoch always the same."""
        ...

    def loss(self, rows: Rows, epochs: float, step: int) -> Float[Tensor, ""]:
        """The loss of a batch, whole in every process.

        Args:
            rows: of one of :meth:`batches`.
            epochs: how many have passed, with fractions.
            step: batches that the run has done.
        """
        ...

    def validate(self) -> Mapping[str, float]:
        """Measures of the model as it is, in evaluation mode and without gradients; ``mrr`` chooses the best epoch."""
        ...
