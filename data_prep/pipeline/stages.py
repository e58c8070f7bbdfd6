"""What the stages of preparation share: processes with a progress bar, seconds, and the pairs that come out."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

from tqdm import tqdm

from data_prep.config import DataConfig
from data_prep.records import Pair, SplitName
from data_prep.worker_pool import Guard, map_ordered, processors

_LISTED: Final = 1000
"""Most skipped files listed in a manifest; all are counted."""
Item = TypeVar("Item")


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


def mapped(
    function: str,
    chunks: Iterable[Any],
    config: DataConfig,
    guard: Guard | None = None,
    *,
    unit: str,
    size: Callable[[Any], int] = lambda _: 1,
    total: int | None = None,
    progress: bool,
) -> Iterator[Any]:
    """The results of a function for each chunk, in order, from ``--data.processes``, with a bar on a terminal.

    Args:
        function: "package.module:name".
        chunks: are sent to the processes.
        config: of the data set.
        guard: of chunks that cost too much.
        unit: of the bar.
        size: of a result, in units.
        total: of the bar, if it is known.
        progress: whether there is a bar.

    Raises:
        OSError: a process was killed.
    """
    parts = map_ordered(function, chunks, config.processes or processors(), guard)
    with closing(parts), tqdm(desc=unit, total=total, unit=f" {unit}", disable=None if progress else True) as bar:
        for part in parts:
            yield part
            bar.update(size(part))


def chunked(items: Iterable[Item], size: Callable[[Item], int], least: int) -> Iterator[list[Item]]:
    """Lists of ``items``, in order, each of ``least`` in size or, the last one, less."""
    chunk: list[Item] = []
    total = 0
    for item in items:
        chunk.append(item)
        total += size(item)
        if total >= least:
            yield chunk
            chunk, total = [], 0
    if chunk:
        yield chunk


def interned(pair: Pair) -> Pair:
    """The pair with interned words, which otherwise take most of the memory."""
    fields = {name: tuple(map(sys.intern, words)) for name, words in pair.method.fields.items()}
    return Pair(replace(pair.method, fields=fields), pair.query_text, tuple(map(sys.intern, pair.query)))


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
