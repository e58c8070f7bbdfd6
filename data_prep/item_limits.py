"""Limits of what a file may cost the process that reads it, which are those of the kernel and hold inside of a parser.

A parser's cost may grow with the square of a file's length: for text that was written for that, 2 MiB take hours and
all memory. A process that goes beyond a limit is ended, and its parent takes another one
(:mod:`data_prep.worker_pool`). The limits are so far from what any real file takes that no result depends on the
machine.
"""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SECONDS: Final = 2.0
"""Processor time of a file."""
SECONDS_PER_MIB: Final = 20.0
"""More of it for its length; real files take .6."""
MEMORY: Final = 2 << 30
"""Bytes of a process beyond what it has before its first file, where the kernel counts them (Linux)."""
_STATUS: Final = Path("/proc/self/statm")

_begun = False


def begin() -> None:
    """Limit the memory of this process from now on, and the time of each file."""
    global _begun
    _begun = True
    if _STATUS.exists():
        data = int(_STATUS.read_text().split()[5]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        least = data + MEMORY if most == resource.RLIM_INFINITY else min(most, data + MEMORY)
        resource.setrlimit(resource.RLIMIT_DATA, (least, most))


@contextmanager
def limited(size: int) -> Iterator[None]:
    """End this process, if its time is limited, when what is inside takes longer than a file of ``size`` bytes may."""
    if not _begun:
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, allowed_seconds(size))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def allowed_seconds(size: int) -> float:
    """Processor time for a file of ``size`` bytes."""
    return SECONDS + SECONDS_PER_MIB * size / (1 << 20)
