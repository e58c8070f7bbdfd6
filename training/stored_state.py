"""Validation of the optimiser and random generator states of a checkpoint, before they are restored."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from data_prep.errors import UserError

_MEANS: Final = ("exp_avg", "exp_avg_sq")
"""State of each weight in Adam, besides the number of steps."""


@contextmanager
def part_of(path: Path) -> Iterator[None]:
    """Add the checkpoint ``path`` to errors about a part of it."""
    try:
        yield
    except UserError as error:
        raise UserError(f"the checkpoint {path} is damaged ({error}): start the run anew") from error


def settings_of(content: object) -> Mapping[str, object]:
    """The settings of a run: strings, numbers and booleans by name.

    Raises:
        UserError: ``content`` is something else.
    """
    if not isinstance(content, dict) or not all(isinstance(each, str | int | float) for each in content.values()):
        raise UserError("expected the run's settings")
    return content


def tensors_of(content: object, what: str) -> dict[str, Tensor]:
    """Tensors by name.

    Raises:
        UserError: ``content`` is something else; the message states ``what`` was expected.
    """
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise UserError(f"expected {what}")
    if not all(isinstance(value, Tensor) for value in content.values()):
        raise UserError(f"expected {what}")
    return content


def put_optimiser(optimiser: torch.optim.Optimizer, content: object) -> None:
    """Restore an Adam ``state_dict``; of its settings only the learning rate is restored.

    Raises:
        UserError: it belongs to another optimiser, or is something else.
    """
    own = optimiser.state_dict()["param_groups"]
    if not isinstance(content, dict) or not isinstance(content.get("state"), dict):
        raise UserError("expected the state of the optimiser")
    rates = _rates(content.get("param_groups"), own)
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    for number, state in content["state"].items():
        if type(number) is not int or not 0 <= number < len(weights):
            raise UserError(f"the optimiser has {len(weights)} weights, and none is {number!r:.40}")
        _check_weight(state, weights[number])
    groups = [{**group, "lr": rate} for group, rate in zip(own, rates, strict=True)]
    optimiser.load_state_dict({"state": content["state"], "param_groups": groups})


def _rates(groups: object, own: list[dict[str, Any]]) -> list[float]:
    """The learning rate of each group; the groups' weights must be the same."""
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise UserError("expected the groups of the optimiser")
    rates = [group.get("lr") for group in groups]
    if [group.get("params") for group in groups] != [group["params"] for group in own]:
        raise UserError("the optimiser has other weights")
    if not all(type(rate) is float and 0 <= rate < 1 for rate in rates):
        raise UserError(f"expected rates from 0 to 1, got {rates!r:.60}")
    return rates


def _check_weight(state: object, weight: Tensor) -> None:
    stored = tensors_of(state, "the optimiser's state of a weight")
    if {*stored} != {"step", *_MEANS} or stored["step"].shape != ():
        raise UserError(f"the optimiser's state of a weight contains {', '.join(stored)[:60]}")
    for name, value in stored.items():
        if name in _MEANS and (value.shape, value.dtype) != (weight.shape, weight.dtype):
            raise UserError(f"{name} is {list(value.shape)} of a weight that is {list(weight.shape)}")
        if not value.isfinite().all() or (name != _MEANS[0] and (value < 0).any()):
            raise UserError(f"{name} contains values that training cannot produce")
