"""The result of preparing a data set: its pairs by split, manifest entries, and the duration of each stage."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

from data_prep.records import Pair, SplitName

_LISTED: Final = 1000
"""Most skipped files listed in a manifest; all are counted."""


@dataclass(frozen=True, slots=True)
class MadePairs:
    """The pairs of a data set."""

    splits: Mapping[SplitName, Sequence[Pair]]
    manifest: dict[str, Any]  # manifest entries, including "counts" with "pairs"
    source: str  # description of the source, for the printed line
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
    """A data set that provides pairs with splits."""

    left_out: list[tuple[str, str]]  # file, why it is skipped
    counts: dict[str, int]  # filled by pairs()

    def pairs(self) -> Mapping[SplitName, Sequence[Pair]]: ...

    def missing(self) -> list[str]:
        """Names of missing optional files."""
        ...


def ready_made(raw: ReadyMade) -> MadePairs:
    """The pairs of ``raw``, without filtering or removal of duplicates."""
    watch = Stopwatch()
    splits = raw.pairs()
    watch.stage("read")
    counts = {**raw.counts, "pairs": sum(map(len, splits.values()))}
    manifest = {"counts": counts, "broken_files": listed(raw.left_out), "missing_files": raw.missing()}
    source = ", ".join(f"{count:,} {what.replace('_', ' ')}" for what, count in raw.counts.items())
    unused = "".join(f"; {name} is not used: {reason}" for name, reason in raw.left_out)
    return MadePairs(splits, manifest, source + unused, watch.seconds)


def listed(left_out: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Skipped files, for a manifest."""
    return [{"path": path, "reason": reason} for path, reason in left_out[:_LISTED]]
