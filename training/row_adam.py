"""Adam for large tables of vectors, of which a step reads few rows.

Adam (Kingma and Ba, 2015, algorithm 1) moves every row at every step, also those whose gradient is 0: their mean of
gradients decays and still moves them. Here such a row waits until a batch reads it, and is then moved by all steps that
it missed at once. With s the number of a step, t the last one that the row has seen, m and v its means of gradients and
of squared gradients after it, and r = beta1 / sqrt(beta2), step s alone moves it by

    rate_s sqrt(1 - beta2^s) / (1 - beta1^s)  r^(s - t)  m / (sqrt(v) + epsilon sqrt((1 - beta2^s) / beta2^(s - t)))

Without the term with epsilon, the factor before m / sqrt(v) depends on t and s alone, so one sum for each t serves
all rows. Of epsilon's factors the mean is taken, weighted as the steps are in that sum, which is exact to first order.
Terms from :data:`WINDOW` steps on are below float32's precision.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

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
