"""Pairs from Java files: filtered methods without duplicates, split by file or by project."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Final, Protocol, runtime_checkable

from tqdm import tqdm

from data_prep.config import DataConfig
from data_prep.item_limits import PAIRS
from data_prep.pairs.duplicates import drop_duplicates
from data_prep.pairs.extraction import Chunk, Extracted
from data_prep.pairs.filters import FILTERS, NOT_PARSED
from data_prep.pairs.made import MadePairs, Stopwatch, listed
from data_prep.pairs.splits import BY_FILE, SplitRule, project_of, split_pairs
from data_prep.records import Pair, SourceFile
from data_prep.worker_pool import Guard, map_ordered, processors

_EXTRACT: Final = "data_prep.pairs.extraction:extract"
_GUARD: Final = Guard(Chunk.divided, Extracted.joined, Chunk.refused, PAIRS)
_CHUNK_BYTES: Final = 1 << 20


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
        ValueError: the raw data are damaged or contain too few pairs.
        OSError: a file cannot be read, or a process was killed.
    """
    watch = Stopwatch()
    found = _extract_all(raw.java_files(), config, progress)
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


def pairs_of(files: Iterable[SourceFile], config: DataConfig) -> list[Pair]:
    """The pairs of ``files`` that pass the filters, duplicates included."""
    return _extract_all(files, config, progress=False).pairs


def _of_projects(pairs: Sequence[Pair]) -> dict[str, int]:
    """Project -> number of pairs, largest first."""
    return dict(Counter(project_of(pair.method.origin) for pair in pairs).most_common())


def _extract_all(files: Iterable[SourceFile], config: DataConfig, progress: bool) -> Extracted:
    whole = Extracted()
    parts = map_ordered(_EXTRACT, _chunks(files, config), config.processes or processors(), _GUARD)
    with closing(parts), tqdm(desc="files", unit=" files", disable=None if progress else True) as bar:
        for part in parts:
            part.pairs = [*map(interned, part.pairs)]
            whole.add(part)
            bar.update(part.files)
    return whole


def interned(pair: Pair) -> Pair:
    """The pair with interned words, which otherwise take most of the memory."""
    fields = {name: tuple(map(sys.intern, words)) for name, words in pair.method.fields.items()}
    return Pair(replace(pair.method, fields=fields), pair.query_text, tuple(map(sys.intern, pair.query)))


def _chunks(files: Iterable[SourceFile], config: DataConfig) -> Iterator[Chunk]:
    """Chunks of about a megabyte of files, for balanced work."""
    chunk: list[SourceFile] = []
    size = 0
    for file in files:
        chunk.append(file)
        size += len(file.data)
        if size >= _CHUNK_BYTES:
            yield Chunk(chunk, config)
            chunk, size = [], 0
    if chunk:
        yield Chunk(chunk, config)
