"""From raw data to the prepared data set: found in the cache, or made by all steps in order."""

import hashlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tqdm import tqdm

from data_prep.archives import MAX_FILE_BYTES
from data_prep.config import DataConfig
from data_prep.duplicates import drop_duplicates
from data_prep.extraction import Chunk, Extracted
from data_prep.filters import FILTERS
from data_prep.folder_lock import sole_holder
from data_prep.named_paths import check_folder_place
from data_prep.records import SPLITS, JavaFile, Pair, SplitName
from data_prep.registry import data_set
from data_prep.regular_files import read_regular
from data_prep.splits import BY_FILE, project_of, split_pairs
from data_prep.store import PreparedData, limit_pairs, open_prepared, write_prepared
from data_prep.store_manifest import FORMAT_VERSION, MANIFEST, DamagedStore, file_sha256
from data_prep.worker_pool import map_ordered

_EXTRACT: Final = "data_prep.extraction:extract"
_CHUNK_BYTES: Final = 1 << 20
_LISTED: Final = 1000
"""Broken files named in the manifest; all are counted."""
_ELSEWHERE: Final = frozenset(("path", "limit", "root", "processes", "extra", "apart"))
"""Fields of DataConfig that leave the prepared pairs as they are, or show in the inputs."""
_WITHOUT_PART: Final = frozenset(
    (
        "batching.py",
        "vocabulary.py",
        "config.py",
        "bounds.py",
        "named_paths.py",
        "download.py",
        "debian_apt.py",
        "folder_lock.py",
        "git_repository.py",
    )
)
"""Modules that have no part in what is prepared, or whose part shows in the settings and inputs."""


def prepare(
    name: str, config: DataConfig, *, command: str, say: Callable[[str], None], progress: bool = True
) -> PreparedData:
    """The data set ``name`` prepared under ``config.root``, cut to ``config.limit`` pairs.

    What is there is used again when raw data, settings and program are the same and no file is damaged; otherwise it is
    made anew, whole or not at all.

    Args:
        name: one of ``data_prep.registry.DATASETS``.
        config: section ``data`` of the configuration.
        command: what the user typed, for the manifest.
        say: told in one line why the data set is made anew, and then what came out.
        progress: whether a bar may show on a terminal.

    Raises:
        ValueError: the name or a setting is wrong, or the raw data cannot be had or give too few pairs.
        OSError: a file cannot be read or written, or a process was killed.
    """
    raw = data_set(name, config)
    sources = Sources.of(name, raw.inputs(), raw.origin(), config)
    folder = Path(config.root) / raw.cache_name
    found = _found(folder, sources)
    if isinstance(found, str):
        check_folder_place(folder.parent, "--data.root")
        lock = folder.with_name(f".{folder.name}.lock")
        with sole_holder(lock, lambda: say(f"waiting for another process that prepares {name}")):
            found = _found(folder, sources)  # that process may have made it
            if isinstance(found, str):
                say(f"preparing {name}: {found}")
                say(_make(raw, sources, folder, config, command, progress))
                found = open_prepared(folder)
    return limit_pairs(found, config.limit)


def _found(folder: Path, sources: "Sources") -> PreparedData | str:
    """The data set as it lies in ``folder``, or why it has to be made."""
    try:
        data = open_prepared(folder)
    except DamagedStore as damage:
        return str(damage) if (folder / MANIFEST).exists() else "not prepared yet"
    return sources.change_since(data.manifest) or data


@dataclass(frozen=True, slots=True)
class Sources:
    """All that decides what the prepared data set holds."""

    dataset: str
    origin: str
    inputs: list[dict[str, Any]]  # name, bytes, sha256
    settings: dict[str, Any]
    program: str  # sha256 over this package's source and the parser's version

    @classmethod
    def of(cls, name: str, inputs: Iterable[Path], origin: str, config: DataConfig) -> "Sources":
        """What holds now; reads every input once."""
        settings = {f.name: getattr(config, f.name) for f in fields(config) if f.name not in _ELSEWHERE}
        return cls(name, origin, [_input(path) for path in inputs], settings, _program())

    @property
    def fingerprint(self) -> str:
        """One sha256 over everything."""
        return hashlib.sha256(json.dumps(self.as_dict(), sort_keys=True).encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """As it stands in the manifest."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def change_since(self, manifest: Mapping[str, Any]) -> str:
        """What is different from the manifest's record, in a few words; "" where nothing is."""
        now, before = self.as_dict(), manifest.get("sources")
        if before == now:
            told = manifest.get("origin"), manifest.get("fingerprint"), _are_words(manifest.get("missing_files", []))
            return "" if told == (self.origin, self.fingerprint, True) else "its manifest contradicts itself"
        if not isinstance(before, dict) or not isinstance(was := before.get("settings"), dict):
            return "its manifest does not say what it was made of"
        if before.get("inputs") != self.inputs or before.get("origin") != self.origin:
            return f"the raw data changed, now {self.origin}"
        changed = [f"{key} {was.get(key)} -> {value}" for key, value in self.settings.items() if was.get(key) != value]
        if changed:
            return f"settings changed: {', '.join(changed)}"
        return "the program that prepares it changed"


def _are_words(content: object) -> bool:
    return isinstance(content, list) and all(isinstance(each, str) for each in content)


def _input(path: Path) -> dict[str, Any]:
    if not path.is_dir():
        return {"name": path.name, "bytes": path.stat().st_size, "sha256": file_sha256(path)}
    digest, size = hashlib.sha256(), 0
    for file in sorted(path.rglob("*.java")):
        try:
            data, _ = read_regular(file, MAX_FILE_BYTES + 1)
        except OSError:
            continue  # left out and listed where the sources are read
        size += len(data)
        digest.update(b"%d %s\n" % (len(data), os.fsencode(file.relative_to(path))) + data)
    return {"name": path.name, "bytes": size, "sha256": digest.hexdigest()}


def _program() -> str:
    here = Path(__file__).parent
    digest = hashlib.sha256(f"{FORMAT_VERSION} {version('tree-sitter')} {version('tree-sitter-java')}".encode())
    for file in sorted(here.rglob("*.py")):
        if file.name not in _WITHOUT_PART:
            digest.update(file.relative_to(here).as_posix().encode() + b"\n" + file.read_bytes())
    return digest.hexdigest()


@dataclass(slots=True)
class _Stopwatch:
    """Seconds of each stage."""

    seconds: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=time.perf_counter)

    def stage(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] = round(now - self.last, 2)
        self.last = now


@dataclass(frozen=True, slots=True)
class _Made:
    """What a data set came to."""

    splits: Mapping[SplitName, Sequence[Pair]]
    manifest: dict[str, Any]  # its own entries
    source: str  # what the pairs are made of, for the printed line


def _make(raw: Any, sources: Sources, folder: Path, config: DataConfig, command: str, progress: bool) -> str:
    watch = _Stopwatch()
    ready_made = hasattr(raw, "pairs")  # else it has Java files
    made = _ready_made(raw, watch) if ready_made else _from_java(raw, config, progress, watch)
    manifest = {
        "dataset": sources.dataset,
        "origin": sources.origin,
        "command": command,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "fingerprint": sources.fingerprint,
        "sources": sources.as_dict(),
        **made.manifest,
        "seconds": watch.seconds,
    }
    write_prepared(folder, made.splits, manifest)
    sizes = ", ".join(f"{name} {len(made.splits.get(name, ())):,}" for name in SPLITS)
    return (
        f"prepared {sources.origin} in {sum(watch.seconds.values()):.0f} s: "
        f"{made.manifest['counts']['pairs']:,} pairs ({sizes}) of {made.source}"
    )


def _from_java(raw: Any, config: DataConfig, progress: bool, watch: _Stopwatch) -> _Made:
    """The methods of Java files, filtered, without duplicates, split by file or as the data set says."""
    found = _extract_all(raw.java_files(), config, progress)
    found.broken += raw.left_out
    watch.stage("extract")
    distinct = drop_duplicates(found.pairs, config.near_duplicate)
    watch.stage("duplicates")
    rule = getattr(raw, "split_rule", BY_FILE)
    splits = split_pairs(distinct.pairs, config, rule)
    watch.stage("split")
    counts = {
        "files": found.files,
        "broken_files": len(found.broken),
        "documented_methods": found.methods,
        "dropped": {reason: found.dropped[reason] for reason in FILTERS},
        "duplicates": distinct.dropped,
        "pairs": len(distinct.pairs),
    }
    broken = f", {len(found.broken):,} of them broken" if found.broken else ""
    source = f"{found.methods:,} documented methods in {found.files:,} files{broken}"
    manifest = {"counts": counts, "broken_files": _listed(found.broken)}
    if rule.by == "project":
        manifest["pairs_of_projects"] = {name: _of_projects(pairs) for name, pairs in splits.items()}
    if hasattr(raw, "about"):
        manifest["about"] = raw.about()
    return _Made(splits, manifest, source)


def _of_projects(pairs: Sequence[Pair]) -> dict[str, int]:
    """Project -> how many pairs are its own, most first."""
    return dict(Counter(project_of(pair.method.origin) for pair in pairs).most_common())


def _ready_made(raw: Any, watch: _Stopwatch) -> _Made:
    """Pairs that come as such, with their splits: none is filtered or compared with others."""
    splits = raw.pairs()
    watch.stage("read")
    counts = {**raw.counts, "pairs": sum(map(len, splits.values()))}
    manifest = {"counts": counts, "broken_files": _listed(raw.left_out), "missing_files": raw.missing()}
    source = ", ".join(f"{count:,} {what.replace('_', ' ')}" for what, count in raw.counts.items())
    unused = "".join(f"; {name} is not used: {reason}" for name, reason in raw.left_out)
    return _Made(splits, manifest, source + unused)


def _listed(broken: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"path": path, "reason": reason} for path, reason in broken[:_LISTED]]


def _extract_all(files: Iterable[JavaFile], config: DataConfig, progress: bool) -> Extracted:
    whole = Extracted()
    parts = map_ordered(_EXTRACT, _chunks(files, config), config.processes or _processors())
    with closing(parts), tqdm(desc="files", unit=" files", disable=None if progress else True) as bar:
        for part in parts:
            whole.pairs += map(_interned, part.pairs)
            whole.files += part.files
            whole.methods += part.methods
            whole.dropped += Counter(part.dropped)
            whole.broken += part.broken
            bar.update(part.files)
    return whole


def _interned(pair: Pair) -> Pair:
    """The same pair, equal words being one object in all pairs: else words take most of the memory."""
    fields = {name: tuple(map(sys.intern, words)) for name, words in pair.method.fields.items()}
    return Pair(replace(pair.method, fields=fields), pair.query_text, tuple(map(sys.intern, pair.query)))


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _chunks(files: Iterable[JavaFile], config: DataConfig) -> Iterator[Chunk]:
    """Files by the megabyte, so that each process has as much to do."""
    chunk: list[JavaFile] = []
    size = 0
    for file in files:
        chunk.append(file)
        size += len(file.data)
        if size >= _CHUNK_BYTES:
            yield Chunk(chunk, config)
            chunk, size = [], 0
    if chunk:
        yield Chunk(chunk, config)


def pairs_of(files: Iterable[JavaFile], config: DataConfig) -> list[Pair]:
    """The pairs of ``files`` that pass the filters, duplicates included."""
    return _extract_all(files, config, progress=False).pairs
