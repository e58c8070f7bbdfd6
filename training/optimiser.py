"""The optimiser of a run and its learning rate: fused Adam, and for large tables an Adam over rows that are read."""

import math
from collections.abc import Mapping
from typing import Any, Final

import torch
from torch import nn

from modeling import distributed as processes
from training.config import TrainConfig
from training.row_adam import RowAdam

LARGE: Final = 1_000_000
"""Number of values from which a table is updated by rows; in smaller ones all rows are updated faster."""


class Optimiser:
    """Adam over the learnt weights of a model."""

    def __init__(self, model: nn.Module, config: TrainConfig) -> None:
        """``config``: betas, weight decay, and whether large tables are updated by rows."""
        tables = _large_tables(model) if _by_rows(config) else []
        of_tables = {id(table.weight) for table in tables}
        learnt = [weight for weight in model.parameters() if weight.requires_grad and id(weight) not in of_tables]
        self._adam = torch.optim.AdamW(  # Adam if the weight decay is 0; fused: four times as fast on a CPU
            [{"params": learnt}], betas=(config.beta1, config.beta2), weight_decay=config.weight_decay, fused=True
        )
        self._rows, self._model = RowAdam(tables, config.beta1, config.beta2), model

    @property
    def rate(self) -> float:
        """The learning rate of the last step."""
        rate: float = self._adam.param_groups[0]["lr"]
        return rate

    def zero_grad(self) -> None:
        """Forget all gradients."""
        self._model.zero_grad()

    def clip(self, most: float) -> float:
        """Scale all gradients down to a norm of ``most``, 0: as they are; return their norm before."""
        weights = [weight for group in self._adam.param_groups for weight in group["params"]]
        gradients = [weight.grad for weight in weights if weight.grad is not None] + self._rows.gradients()
        if not gradients:
            return 0.0
        norm = torch.nn.utils.get_total_norm(gradients)
        if most and norm > most:
            torch._foreach_mul_(gradients, most / (norm + 1e-6))
        return float(norm)

    def step(self, rate: float) -> None:
        """One step with the gradients of :meth:`clip`; ``rate``: the learning rate."""
        for group in self._adam.param_groups:
            group["lr"] = rate
        self._adam.step()
        self._rows.step(rate)

    def flush(self) -> None:
        """Bring all weights up to date: before they are read other than by a batch of training."""
        self._rows.flush()

    def close(self) -> None:
        """Leave the model as it was found, with the trained weights."""
        self._rows.close()

    def state(self) -> dict[str, Any]:
        """Everything that :meth:`restore` needs."""
        return {"adam": self._adam.state_dict(), "rows": self._rows.state()}

    def restore(self, content: Mapping[str, Any]) -> None:
        """Restore what :meth:`state` returned, of the same model and settings."""
        self._adam.load_state_dict(content["adam"])
        self._rows.restore(content["rows"])


def _by_rows(config: TrainConfig) -> bool:
    """Whether rows that no batch reads can wait: they cannot where weights decay, or gradients are exchanged."""
    return config.lazy_embedding_updates and not config.weight_decay and processes.count() == 1


def _large_tables(model: nn.Module) -> list[nn.Embedding]:
    tables = {id(each.weight): each for each in model.modules() if isinstance(each, nn.Embedding)}
    uses = [id(weight) for _, weight in model.named_parameters(remove_duplicate=False)]
    return [
        table
        for key, table in tables.items()
        if table.weight.requires_grad and table.weight.numel() >= LARGE and uses.count(key) == 1
    ]


def learning_rate(config: TrainConfig, step: int, steps: int) -> float:
    """The learning rate at ``step`` (0-based) of the ``steps`` steps of a run.

    ``step`` is GALM's: ``learning_rate`` for the first half of the epochs, then ``final_learning_rate``. ``linear`` and
    ``cosine`` decay from the former to the latter over the steps after the warm-up.
    """
    warmup = config.warmup_steps or int(config.warmup_share * steps)
    if step < warmup:
        return config.learning_rate * (step + 1) / (warmup + 1)
    high, low = config.learning_rate, config.final_learning_rate
    passed = (step - warmup) / max(1, steps - warmup)  # 0 to 1
    match config.schedule:
        case "constant":
            return high
        case "step":
            return high if 2 * step < steps else low
        case "linear":
            return low + (high - low) * (1 - passed)
        case "cosine":
            return low + (high - low) * (1 + math.cos(math.pi * passed)) / 2
