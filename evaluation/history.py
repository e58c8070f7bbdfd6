"""Validation results of a model during training, by epoch."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """A model's results on validation pairs after an epoch of training."""

    epoch: int  # 1-based
    pairs: int  # trained on so far
    seconds: float  # of training steps so far
    top1: float
    mrr: float
    inside: Mapping[str, float] = field(default_factory=dict)  # ``part/name`` -> a number about the model's inner parts


def validations(history: Sequence[Mapping[str, int | float]], pairs: int) -> list[Validation]:
    """The validated epochs in the ``history`` of a training run with ``pairs`` pairs per epoch."""
    return [
        Validation(
            epoch=int(record["epoch"]),
            pairs=int(record["epoch"]) * pairs,
            seconds=record["seconds"],
            top1=record["top1"],
            mrr=record["mrr"],
            inside={name: value for name, value in record.items() if "/" in name},
        )
        for record in history
        if {"mrr", "top1"} <= record.keys()
    ]


def mean_validation(runs: Sequence[Validation]) -> Validation:
    """The mean validation of several seeds after the same epoch."""
    return Validation(
        epoch=runs[0].epoch,
        pairs=runs[0].pairs,
        seconds=statistics.fmean(run.seconds for run in runs),
        top1=statistics.fmean(run.top1 for run in runs),
        mrr=statistics.fmean(run.mrr for run in runs),
        inside={
            name: statistics.fmean(run.inside[name] for run in runs)
            for name in runs[0].inside
            if all(name in run.inside for run in runs)
        },
    )
