"""What a data set comes to: its pairs by split, what its manifest says of them, and how long each stage took."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

from data_prep.records import Pair, SplitName

_LISTED: Final = 1000
"""Files left out that a manifest names; all are counted."""


@dataclass(frozen=True, slots=True)
class MadePairs:
    """The pairs of a data set."""

    splits: Mapping[SplitName, Sequence[Pair]]
    manifest: dict[str, Any]  # entries of its own, "counts" and its "pairs" among them
    source: str  # what the pairs are made of, for the printed line
    seconds: Mapping[str, float]  # stage -> time


@dataclass(slots=True)
class Stopwatch:
    """Seconds of each stage."""

    seconds: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=time.perf_counter)

    def stage(self, name: str) -> None:
        """End a stage, and begin the next."""
        now = time.perf_counter()
        self.seconds[name] = round(now - self.last, 2)
        self.last = now


@runtime_checkable
class ReadyMade(Protocol):
    """A data set whose pairs come as such, with their splits."""

    left_out: list[tuple[str, str]]  # file, why it is not used
    counts: dict[str, int]  # filled by pairs()

    def pairs(self) -> Mapping[SplitName, Sequence[Pair]]: ...

    def missing(self) -> list[str]:
        """Names of files that it could have and has not."""
        ...


def ready_made(raw: ReadyMade) -> MadePairs:
    """The pairs of ``raw`` as they are: none is filtered or compared with others."""
    watch = Stopwatch()
    splits = raw.pairs()
    watch.stage("read")
    counts = {**raw.counts, "pairs": sum(map(len, splits.values()))}
    manifest = {"counts": counts, "broken_files": listed(raw.left_out), "missing_files": raw.missing()}
    source = ", ".join(f"{count:,} {what.replace('_', ' ')}" for what, count in raw.counts.items())
    unused = "".join(f"; {name} is not used: {reason}" for name, reason in raw.left_out)
    return MadePairs(splits, manifest, source + unused, watch.seconds)


def listed(left_out: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Files that were left out, as a manifest has them."""
    return [{"path": path, "reason": reason} for path, reason in left_out[:_LISTED]]
