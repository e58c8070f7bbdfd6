"""Things in the place of a file that a program may wait for, or read without end."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

KINDS = ("pipe", "device", "loop")


def odd_thing(kind: str, path: Path) -> Path:
    """Put a pipe that nobody writes to, a link to an endless device, or a link to itself at ``path``."""
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else path)
    return path


@contextmanager
def deadline(seconds: int = 20) -> Iterator[None]:
    """The test fails where the block takes longer, whatever errors it catches."""

    def passed(*_: object) -> None:
        pytest.fail(f"still waiting or reading after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, passed)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
