"""The processes of one run and what they exchange; with a single process, every exchange is the identity.

The processes are peers over gloo: each handles its share of the queries, and all of them gather the results.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from modeling.base import Encoded, widened

Side = TypeVar("Side", bound=Encoded)
Item = TypeVar("Item")


def count() -> int:
    """Number of processes."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """Rank of this process, from 0."""
    return dist.get_rank() if dist.is_initialized() else 0


def is_first() -> bool:
    """Whether this is the process that prints and writes files."""
    return rank() == 0


def share(size: int) -> slice:
    """This process's slice of ``size`` items; the slices of all processes, in order, cover all items."""
    return slice(size * rank() // count(), size * (rank() + 1) // count())


def gathered(item: Item) -> list[Item]:
    """The item of every process, in order."""
    if count() == 1:
        return [item]
    items: list[Any] = [None] * count()
    dist.all_gather_object(items, item)
    return items


def broadcast(item: Item) -> Item:
    """The first process's item, on all processes; the other items are discarded."""
    if count() == 1:
        return item
    items = [item]
    dist.broadcast_object_list(items, src=0)
    return items[0]


def same_weights(model: nn.Module) -> None:
    """Copy the first process's weights to every process."""
    if count() > 1:
        for weight in model.state_dict().values():
            dist.broadcast(weight, src=0)


def sum_gradients(model: nn.Module) -> None:
    """Replace the gradients by their sum over all processes."""
    if count() > 1:
        for weight in model.parameters():
            if weight.grad is None:
                weight.grad = torch.zeros_like(weight)
            dist.all_reduce(weight.grad)


def all_rows(own: Float[Tensor, "rows columns"]) -> Float[Tensor, "allrows columns"]:
    """The rows of all processes. Every process computes the same from them, so gradients go to its own rows only."""
    if count() == 1:
        return own
    return _gather(own, gathered(len(own)), summed=False)


def all_encoded(own: Side) -> Side:
    """The encodings of all processes as one batch; the gradients of all processes return to the one that encoded."""
    if count() == 1:
        return own
    whole = {each.name: _joined(getattr(own, each.name)) for each in fields(own)}
    return replace(own, **whole)


def _joined(own: Tensor) -> Tensor:
    """This process's rows and the others', all padded to the widest."""
    shapes = gathered(tuple(own.shape))
    sizes = [max(axis) for axis in zip(*(shape[1:] for shape in shapes), strict=True)]
    return _gather(widened(own, sizes), [shape[0] for shape in shapes], summed=True)


def _gather(own: Tensor, rows: Sequence[int], *, summed: bool) -> Tensor:
    found: Tensor = _Gather.apply(own, rows, summed)  # type: ignore[no-untyped-call]
    return found


class _Gather(torch.autograd.Function):
    """Rows of all processes; the gradient is that of this process's rows, local or summed over all processes."""

    @staticmethod
    def forward(ctx: Any, own: Tensor, rows: Sequence[int], summed: bool) -> Tensor:
        ctx.start, ctx.rows, ctx.summed = sum(rows[: rank()]), len(own), summed
        most, kind = max(rows), own.dtype
        sent = own.contiguous().to(torch.uint8) if kind == torch.bool else own.contiguous()
        sent = torch.cat([sent, sent.new_zeros(most - len(sent), *sent.shape[1:])])
        parts = [torch.empty_like(sent) for _ in rows]
        dist.all_gather(parts, sent)
        return torch.cat([part[:size] for part, size in zip(parts, rows, strict=True)]).to(kind)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        if ctx.summed:
            gradient = gradient.contiguous().clone()
            dist.all_reduce(gradient)
        return gradient[ctx.start : ctx.start + ctx.rows], None, None
