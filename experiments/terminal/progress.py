"""A progress bar for work that takes a moment or more; tqdm's import takes longer than reading a small tree."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tqdm import tqdm

PATIENCE: Final = 0.5
"""Seconds after which the bar appears."""


@contextmanager
def progress(what: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how much of ``total`` is done; yields what is called with how many more there are."""
    done, started = 0, time.monotonic()
    bar: tqdm[Any] | None = None

    def update(more: int) -> None:
        nonlocal bar, done
        done += more
        if bar is not None:
            bar.update(more)
        elif sys.stderr.isatty() and time.monotonic() - started > PATIENCE:
            from tqdm import tqdm

            bar = tqdm(desc=what, total=total, unit=f" {unit}", initial=done)

    try:
        yield update
    finally:
        if bar is not None:
            bar.close()
