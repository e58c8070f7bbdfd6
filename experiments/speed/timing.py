"""Timing: alternating measurements, medians with their spread, and the growth of time with size."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from tqdm import tqdm

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median, minimum and maximum of repeated measurements."""

    median: float
    least: float
    most: float
    repeats: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """The spread of one or more ``values``."""
        return cls(median=statistics.median(values), least=min(values), most=max(values), repeats=len(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """A power law fitted to measured times, seconds = factor * size ^ exponent, by least squares of the logarithms."""

    exponent: float
    factor: float

    @classmethod
    def of(cls, sizes: Sequence[float], seconds: Sequence[float]) -> "Growth":
        """The law fitted to two or more different sizes."""
        exponent, intercept = np.polyfit(np.log(sizes), np.log(seconds), 1)
        return cls(exponent=float(exponent), factor=float(np.exp(intercept)))

    def seconds(self, size: float) -> float:
        """The time that the law predicts for ``size``."""
        return self.factor * size**self.exponent


def in_turn(forms: Mapping[str, Callable[[], Value]], repeats: int) -> dict[str, list[Value]]:
    """What each form returns, in rounds over all forms, so that changes in the machine's speed affect all alike.

    The results of an additional first round, which compiles and fills caches, are discarded.
    """
    found: dict[str, list[Value]] = {name: [] for name in forms}
    with tqdm(total=(1 + repeats) * len(forms), leave=False, disable=None) as bar:
        for number in range(1 + repeats):
            for name, form in forms.items():
                bar.set_description(name)
                value = form()
                if number:
                    found[name].append(value)
                bar.update()
    return found


def timed(call: Callable[[], Value]) -> tuple[float, Value]:
    """The seconds that ``call`` took, and what it returned."""
    start = time.perf_counter()
    value = call()
    return time.perf_counter() - start, value
