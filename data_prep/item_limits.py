"""Limits of what an item, such as a file, may cost its process: the kernel's, which hold inside of a parser too.

A parser's cost may grow with the square of a file's length: for text that was written for that, 2 MiB take hours and
all memory. A process that goes beyond a limit is ended, and its parent takes another one
(:mod:`data_prep.worker_pool`, :mod:`data_prep.limited_calls`). The limits are so far from what any real file takes
that no result depends on the machine.
"""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Limits:
    """What an item may cost."""

    seconds: float  # of processor time
    seconds_per_mib: float  # more of it for its length
    memory: int  # bytes of a process beyond what it has before its first item, where the kernel counts them (Linux)

    def allowed_seconds(self, size: int) -> float:
        """Processor time for an item of ``size`` bytes."""
        return self.seconds + self.seconds_per_mib * size / (1 << 20)


FILE: Final = Limits(seconds=2.0, seconds_per_mib=20.0, memory=2 << 30)
"""Of a source file; real files take .6 s for each MiB."""
PAIRS: Final = Limits(seconds=20.0, seconds_per_mib=200.0, memory=4 << 30)
"""Of a file whose pairs are extracted, which javalang reads too, ten times slower."""
TREE: Final = replace(FILE, memory=8 << 30)
"""Of each file of a source tree, whose functions stay in memory together."""
TEXT: Final = Limits(seconds=1.0, seconds_per_mib=0.0, memory=1 << 29)
"""Of a text that anyone may send, which has at most 65,536 characters; real ones take .05 s."""
_STATUS: Final = Path("/proc/self/statm")

_begun: Limits | None = None


def begin(limits: Limits) -> None:
    """Limit the memory of this process from now on, and the time of each item."""
    global _begun
    _begun = limits
    if _STATUS.exists():
        data = int(_STATUS.read_text().split()[5]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = data + limits.memory
        resource.setrlimit(
            resource.RLIMIT_DATA, (wanted if most == resource.RLIM_INFINITY else min(most, wanted), most)
        )


@contextmanager
def limited(size: int) -> Iterator[None]:
    """End this process, if its time is limited, when what is inside takes longer than an item of ``size`` bytes may."""
    if _begun is None:
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, _begun.allowed_seconds(size))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
