"""What the stages of preparation share: processes with a progress bar, seconds, counts, and the pairs that come out."""

import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter, length_hint
from pathlib import Path
from typing import Any, ClassVar, Final, Self, TypeVar

from tqdm import tqdm

from data_prep.config import DataConfig
from data_prep.errors import one_line
from data_prep.files.access import named_path
from data_prep.installation import processors
from data_prep.records import Pair, SplitName
from data_prep.worker_pool import Guard, map_ordered

_LISTED: Final = 1000
"""Most skipped files listed in a manifest; all are counted."""
_SHOWN: Final = 3
"""Places of a reason in the printed line."""
Item = TypeVar("Item")


class Sums:
    """A dataclass of numbers, counters and lists, which can be added up."""

    def add(self, other: Self) -> None:
        """Add each field of ``other`` to that of this one."""
        for each in fields(self):  # type: ignore[arg-type]  # each subclass is a dataclass
            total = getattr(self, each.name)
            total += getattr(other, each.name)
            setattr(self, each.name, total)

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """The sum of all parts, in order."""
        whole = cls()
        for part in parts:
            whole.add(part)
        return whole


@dataclass(slots=True)
class Extracted(Sums):
    """What is extracted from some files or shards."""

    pairs: list[Pair] = field(default_factory=list)
    fingerprints: list[Any] = field(default_factory=list)  # of each pair of a shard
    files: int = 0  # or shards
    methods: int = 0  # documented, before the filters
    dropped: Counter[str] = field(default_factory=Counter)  # reason -> methods
    broken: list[tuple[str, str]] = field(default_factory=list)  # path, error
    not_parsed: list[tuple[str, str]] = field(default_factory=list)  # path:line of a method, javalang's error


@dataclass(frozen=True, slots=True)
class MadePairs:
    """The pairs of a data set."""

    splits: Mapping[SplitName, Any]  # a sequence of pairs, or a Split: its module loads numpy, which extraction lacks
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
    size: Callable[[Any], int],
    progress: bool = True,
) -> Iterator[Any]:
    """The results of a function for each chunk, in order, from ``--data.processes``, with a bar on a terminal.

    Args:
        function: "package.module:name".
        chunks: are sent to the processes.
        config: of the data set.
        guard: of chunks that cost too much.
        unit: of the bar.
        size: of a result, in units.
        progress: whether there is a bar.

    Raises:
        OSError: a process was killed.
    """
    parts = map_ordered(function, chunks, config.processes or processors(), guard)
    total, hidden = length_hint(chunks) or None, None if progress else True
    with closing(parts), tqdm(desc=unit, total=total, unit=f" {unit}", disable=hidden) as bar:
        for part in parts:
            yield part
            bar.update(size(part))


def collected(
    function: str, chunks: Iterable[Any], config: DataConfig, guard: Guard | None = None, *, unit: str
) -> Extracted:
    """The sum of what a function extracts from each chunk, as by :func:`mapped`, with interned words."""
    whole = Extracted()
    for part in mapped(function, chunks, config, guard, unit=unit, size=attrgetter("files")):
        part.pairs = [*map(interned, part.pairs)]
        whole.add(part)
    return whole


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


def raw_folder(config: DataConfig, name: str) -> Path:
    """Where the raw data of the data set ``name`` are: at ``--data.path``, else where they are put when fetched."""
    return named_path(config.path) if config.path else Path(config.root) / "raw" / name


def interned(pair: Pair) -> Pair:
    """The pair with interned words, which otherwise take most of the memory."""
    fields = {name: tuple(map(sys.intern, words)) for name, words in pair.method.fields.items()}
    return Pair(replace(pair.method, fields=fields), pair.query_text, tuple(map(sys.intern, pair.query)))


class ReadyMade(ABC):
    """A data set of a paper: its pairs and splits are not filtered and keep their duplicates."""

    cache_name: ClassVar[str]

    def __init__(self, config: DataConfig) -> None:
        """Find the folder, which may also be that of the clones of all papers."""
        self._config, self._place = config, raw_folder(config, self.cache_name)
        papers = self._place.with_name("papers")
        if not config.path and not self._place.is_dir() and papers.is_dir():
            self._place = papers
        self.left_out: list[tuple[str, str]] = []  # file, why it is skipped
        self.counts: dict[str, int] = {}  # filled by pairs()

    @abstractmethod
    def pairs(self) -> Mapping[SplitName, Sequence[Pair]]:
        """The pairs of each split."""

    @abstractmethod
    def missing(self) -> list[str]:
        """Names of missing optional files."""

    def make(self) -> MadePairs:
        """Return the pairs without further processing."""
        watch = Stopwatch()
        splits = self.pairs()
        watch.stage("read")
        counts = {**self.counts, "pairs": sum(map(len, splits.values()))}
        manifest = {"counts": counts, "broken_files": listed(self.left_out), "missing_files": self.missing()}
        source = ", ".join(f"{count:,} {what.replace('_', ' ')}" for what, count in self.counts.items())
        unused = "".join(f"; {name} is not used: {reason}" for name, reason in self.left_out)
        return MadePairs(splits, manifest, source + unused, watch.seconds)


def counted_reasons(left_out: Sequence[tuple[str, str]], reasons: Mapping[str, int]) -> str:
    """``; left out 3: 2 no query (a.jsonl:5, a.jsonl:9), 1 no JSON (a.jsonl:7)``; "" if nothing is.

    Args:
        left_out: places and reasons, as far as they are known.
        reasons: reason, without what follows a colon -> number.
    """
    places: dict[str, list[str]] = {}
    for place, why in left_out:
        named = places.setdefault(why.partition(":")[0], [])
        if len(named) < _SHOWN:
            named.append(place.rpartition("/")[2])
    told = (
        f"{number:,} {reason}" + (f" ({', '.join(places[reason])})" if reason in places else "")
        for reason, number in sorted(reasons.items(), key=lambda each: -each[1])
        if number
    )
    whole = ", ".join(told)
    return one_line(f"; left out {sum(reasons.values()):,}: {whole}") if whole else ""


def listed(left_out: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Skipped files, for a manifest."""
    return [{"path": path, "reason": reason} for path, reason in left_out[:_LISTED]]
