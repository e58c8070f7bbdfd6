"""Timing: several forms in turn, medians with their spread, and how fast a time grows."""

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
    """The median of what was measured several times, the least and the most."""

    median: float
    least: float
    most: float
    repeats: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """The spread of ``values``, of which there is one at least."""
        return cls(median=statistics.median(values), least=min(values), most=max(values), repeats=len(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """A power law through measured times, seconds = factor * size ^ exponent, by least squares of the logarithms."""

    exponent: float
    factor: float

    @classmethod
    def of(cls, sizes: Sequence[float], seconds: Sequence[float]) -> "Growth":
        """The law through two or more different sizes."""
        exponent, intercept = np.polyfit(np.log(sizes), np.log(seconds), 1)
        return cls(exponent=float(exponent), factor=float(np.exp(intercept)))

    def seconds(self, size: float) -> float:
        """The time that the law gives for ``size``."""
        return self.factor * size**self.exponent


def in_turn(forms: Mapping[str, Callable[[], Value]], repeats: int) -> dict[str, list[Value]]:
    """What each form returns, in rounds over all forms, so that a machine that drifts slows all alike.

    A first round more is not kept: it compiles, and fills caches.
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
