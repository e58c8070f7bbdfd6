"""The optimiser of a run and its learning rate: fused Adam, and for large tables an Adam over the rows that are read.

Adam (Kingma and Ba, 2015, algorithm 1) moves every row at every step, also those whose gradient is 0: their mean of
gradients decays and still moves them. In a large table such a row waits until a batch reads it, and is then moved by
all steps that it missed at once. With s the number of a step, t the last one that the row has seen, m and v its means
of gradients and of squared gradients after it, and r = beta1 / sqrt(beta2), step s alone moves it by

    rate_s sqrt(1 - beta2^s) / (1 - beta1^s)  r^(s - t)  m / (sqrt(v) + epsilon sqrt((1 - beta2^s) / beta2^(s - t)))

Without the term with epsilon, the factor before m / sqrt(v) depends on t and s alone, so one sum for each t serves
all rows. Of epsilon's factors the mean is taken, weighted as the steps are in that sum, which is exact to first order.
Terms from :data:`WINDOW` steps on are below float32's precision.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from modeling import distributed as processes
from training.config import TrainConfig

WINDOW: Final = 512
"""Number of steps after which a row's mean of gradients no longer moves it: (.9 / sqrt(.999))^512 is 5e-24."""
EPSILON: Final = 1e-8
_PARTS: Final = ("exp_avg", "exp_avg_sq", "seen")


@dataclass(slots=True)
class _Table:
    module: nn.Embedding
    mean: Float[Tensor, "rows dim"]
    square: Float[Tensor, "rows dim"]
    seen: Int[Tensor, " rows"]  # the last step that each row has seen
    hook: RemovableHandle | None = field(default=None)

    @property
    def parts(self) -> dict[str, Tensor]:
        return dict(zip(_PARTS, (self.mean, self.square, self.seen), strict=True))


class RowAdam:
    """Adam over the rows of embedding tables; while it is open, their gradients are sparse.

    Rows are up to date when a batch reads them in training, and all are after :meth:`flush`.
    """

    def __init__(self, tables: Sequence[nn.Embedding], beta1: float, beta2: float) -> None:
        """Take over ``tables`` until :meth:`close`."""
        self._beta1, self._beta2 = beta1, beta2
        self._ratio = beta1 / beta2**0.5
        self.steps = 0
        self._tables = [self._opened(table) for table in tables]
        self._sums = torch.zeros(0, 2, dtype=torch.float64)  # by t: of all steps after t; and with epsilon's factors

    def _opened(self, module: nn.Embedding) -> _Table:
        weight = module.weight
        seen = torch.zeros(len(weight), dtype=torch.int64, device=weight.device)
        table = _Table(module, torch.zeros_like(weight), torch.zeros_like(weight), seen)
        table.module.sparse = True
        table.hook = module.register_forward_pre_hook(self._before_reading(table))
        return table

    def _before_reading(self, table: _Table) -> Callable[[nn.Module, tuple[Any, ...]], None]:
        def catch_up(module: nn.Module, inputs: tuple[Any, ...]) -> None:
            if module.training:
                self._catch_up(table, torch.unique(inputs[0]))

        return catch_up

    @torch.no_grad()
    def _catch_up(self, table: _Table, rows: Int[Tensor, " rows"]) -> None:
        """Move rows by all steps that they have missed."""
        seen = table.seen[rows]
        rows = rows[(seen > 0) & (seen < self.steps)]  # the means of rows that no batch has read are 0
        if not len(rows):
            return
        seen = table.seen[rows]
        mean, square, weight = (each.index_select(0, rows) for each in (table.mean, table.square, table.module.weight))
        missed = (self.steps - seen).double()
        reach, with_epsilon = self._sums.to(seen.device)[seen].unbind(1)
        small = EPSILON * with_epsilon / reach.clamp(min=torch.finfo(reach.dtype).tiny)
        moved = reach.to(mean)[:, None] * mean / (square.sqrt() + small.to(mean)[:, None])
        table.module.weight[rows] = weight.sub_(moved)
        table.mean[rows] = mean.mul_((self._beta1**missed).to(mean)[:, None])
        table.square[rows] = square.mul_((self._beta2**missed).to(mean)[:, None])
        table.seen[rows] = self.steps

    def gradients(self) -> list[Tensor]:
        """The gradients of the rows that were read, in place; sums over all places where a row was read."""
        found = []
        for table in self._tables:
            weight = table.module.weight
            if weight.grad is not None:
                weight.grad = weight.grad.coalesce()
                found.append(weight.grad.values())
        return found

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """One step of Adam, of the rows that have gradients; :meth:`gradients` has been called."""
        self.steps += 1
        first, second = 1 - self._beta1**self.steps, 1 - self._beta2**self.steps
        for table in self._tables:
            weight = table.module.weight
            if weight.grad is None:
                continue
            rows, gradient = weight.grad.indices()[0], weight.grad.values()
            mean, square, own = (each.index_select(0, rows) for each in (table.mean, table.square, weight))
            mean.lerp_(gradient, 1 - self._beta1)
            square.mul_(self._beta2).addcmul_(gradient, gradient, value=1 - self._beta2)
            weight[rows] = own.sub_(rate / first * mean / ((square / second).sqrt_() + EPSILON))
            table.mean[rows], table.square[rows], table.seen[rows] = mean, square, self.steps
        self._sums = torch.cat([self._sums, self._sums.new_zeros(1, 2)])
        missed = torch.arange(min(WINDOW, self.steps), 0, -1, dtype=torch.float64)
        moved = rate * second**0.5 / first * self._ratio**missed
        self._sums[-len(missed) :] += torch.stack([moved, moved * (second / self._beta2**missed) ** 0.5], dim=1)

    def flush(self) -> None:
        """Bring all rows up to date."""
        for table in self._tables:
            self._catch_up(table, torch.arange(len(table.seen), device=table.seen.device))

    def close(self) -> None:
        """Leave the tables as they were found, with all rows up to date."""
        self.flush()
        for table in self._tables:
            table.module.sparse = False
            if table.hook:
                table.hook.remove()

    def state(self) -> dict[str, Any]:
        """Everything that :meth:`restore` needs."""
        return {"steps": self.steps, "sums": self._sums, "tables": [table.parts for table in self._tables]}

    def restore(self, content: Mapping[str, Any]) -> None:
        """Restore what :meth:`state` returned, of the same tables."""
        for table, stored in zip(self._tables, content["tables"], strict=True):
            for name, own in table.parts.items():
                own.copy_(stored[name])
        self.steps, self._sums = content["steps"], content["sums"].clone()


LARGE: Final = 1_000_000
"""Number of values from which a table is updated by rows; in smaller ones all rows are updated faster."""


class Optimiser:
    """Adam over the learnt weights of a model."""

    def __init__(self, model: nn.Module, config: TrainConfig) -> None:
        """``config``: betas, weight decay, and whether large tables are updated by rows."""
        tables = _large_tables(model) if _by_rows(config) else []
        of_tables = {id(table.weight) for table in tables}
        new = {id(weight) for weight in getattr(model, "new_weights", tuple)()} if config.new_weights_rate != 1 else {}
        learnt = [weight for weight in model.parameters() if weight.requires_grad and id(weight) not in of_tables]
        groups = [{"params": [weight for weight in learnt if id(weight) not in new], "factor": 1.0}]
        if new:
            rest = [weight for weight in learnt if id(weight) in new]
            groups.append({"params": rest, "factor": config.new_weights_rate})
        self._adam = torch.optim.AdamW(  # Adam if the weight decay is 0; fused: four times as fast on a CPU
            groups, betas=(config.beta1, config.beta2), weight_decay=config.weight_decay, fused=True
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
            group["lr"] = rate * group.get("factor", 1.0)
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
