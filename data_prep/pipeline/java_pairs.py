"""Pairs from Java files: filtered methods without duplicates, split by file or by project."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Protocol, runtime_checkable

from data_prep.config import DataConfig
from data_prep.pipeline.duplicates import drop_duplicates
from data_prep.pipeline.filters import FILTERS, NOT_PARSED
from data_prep.pipeline.java_extraction import Chunk, Extracted
from data_prep.pipeline.splits import BY_FILE, SplitRule, project_of, split_pairs
from data_prep.pipeline.stages import MadePairs, Stopwatch, chunked, interned, listed, mapped
from data_prep.records import Pair, SourceFile
from data_prep.worker_pool import Guard
from data_prep.worker_process import PAIRS

_EXTRACT: Final = "data_prep.pipeline.java_extraction:extract"
_GUARD: Final = Guard(Chunk.divided, Extracted.joined, Chunk.refused, PAIRS)
_CHUNK_BYTES: Final = 1 << 20
"""Of files that a process reads at once, for balanced work."""


@runtime_checkable
class JavaSources(Protocol):
    """A data set of Java files."""

    left_out: list[tuple[str, str]]  # path, why it could not be read; filled by java_files()

    def java_files(self) -> Iterator[SourceFile]: ...


def pairs_of_java(
    raw: JavaSources,
    config: DataConfig,
    *,
    rule: SplitRule = BY_FILE,
    order: Callable[[Pair], Any] | None = None,
    progress: bool,
) -> MadePairs:
    """The pairs of the Java files of ``raw``, split by ``rule``; sorted by ``order``, else in the order of the files.

    Raises:
        UserError: the raw data are damaged or contain too few pairs.
        OSError: a file cannot be read, or a process was killed.
    """
    watch = Stopwatch()
    found = extract_all(raw.java_files(), config, progress=progress)
    found.broken += raw.left_out
    if order is not None:
        found.pairs.sort(key=order)
    watch.stage("extract")
    distinct = drop_duplicates(found.pairs, config.near_duplicate)
    watch.stage("duplicates")
    splits = split_pairs(distinct.pairs, config, rule)
    watch.stage("split")
    reasons = [*FILTERS, *[NOT_PARSED] * (config.profile == "jcg")]
    counts = {
        "files": found.files,
        "broken_files": len(found.broken),
        "documented_methods": found.methods,
        "dropped": {reason: found.dropped[reason] for reason in reasons},
        "duplicates": distinct.dropped,
        "pairs": len(distinct.pairs),
    }
    broken = f", {len(found.broken):,} of them broken" if found.broken else ""
    source = f"{found.methods:,} documented methods in {found.files:,} files{broken}"
    manifest: dict[str, Any] = {"counts": counts, "broken_files": listed(found.broken)}
    if config.has_statements:
        counts["not_parsed_by_javalang"] = len(found.not_parsed)
        manifest["not_parsed_by_javalang"] = listed(found.not_parsed)
    if rule.by == "project":
        manifest["pairs_of_projects"] = {name: _of_projects(pairs) for name, pairs in splits.items()}
    return MadePairs(splits, manifest, source, watch.seconds)


def extract_all(files: Iterable[SourceFile], config: DataConfig, *, progress: bool) -> Extracted:
    """The pairs of ``files`` that pass the filters, duplicates included."""
    chunks = (Chunk(each, config) for each in chunked(files, lambda file: len(file.data), _CHUNK_BYTES))
    whole = Extracted()
    for part in mapped(_EXTRACT, chunks, config, _GUARD, unit="files", size=lambda part: part.files, progress=progress):
        part.pairs = [*map(interned, part.pairs)]
        whole.add(part)
    return whole


def _of_projects(pairs: Sequence[Pair]) -> dict[str, int]:
    """Project -> number of pairs, largest first."""
    return dict(Counter(project_of(pair.method.origin) for pair in pairs).most_common())
