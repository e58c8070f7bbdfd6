"""Prepares a data set from raw data, or loads it from the cache."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from data_prep.config import DataConfig, DataSet, OfLanguages, data_set
from data_prep.files.access import check_folder_place, file_sha256, raise_if_passing, read_regular
from data_prep.files.json_text import sorted_json
from data_prep.files.writing import sole_holder
from data_prep.installation import program_sha256
from data_prep.records import SPLITS
from data_prep.sources.archives import MAX_FILE_BYTES
from data_prep.store.prepared_data import MANIFEST, PreparedData, limit_pairs, open_prepared, write_prepared
from data_prep.store.split import DamagedStore

_ELSEWHERE: Final = frozenset((
    "path", "mirror", "release", "limit", "train_limit", "root", "processes",
    "extra_train_sets", "exclude_overlap_with",
    "clean_splits", "mirrors", "cluster", "hold_out", "columns",
))  # fmt: skip
"""Fields of DataConfig that do not affect the prepared pairs, or are reflected in the inputs."""
_OF_LANGUAGES: Final = frozenset(("language", "split"))
"""Fields that only data sets of several languages read."""


def prepare(name: str, config: DataConfig, *, command: str, say: Callable[[str], None]) -> PreparedData:
    """The data set ``name`` prepared under ``config.root``, limited to ``config.limit`` pairs.

    A prepared data set is reused if raw data, settings and program are the same and no file is damaged; otherwise it is
    prepared again, atomically.

    Args:
        name: one of ``data_prep.config.DATASETS``.
        config: section ``data`` of the configuration.
        command: what the user typed, for the manifest.
        say: prints a line on why the data set is prepared, and then a line on the result.

    Raises:
        ValueError: the name or a setting is invalid, or the raw data are not available or contain too few pairs.
        OSError: a file cannot be read or written, or a process was killed.
    """
    raw = data_set(name, config)
    sources = Sources.of(name, raw, config)
    folder = Path(config.root) / f"{raw.cache_name}{config.variant}"
    found = _found(folder, sources)
    if isinstance(found, str):
        check_folder_place(folder.parent, "--data.root")
        lock = folder.with_name(f".{folder.name}.lock")
        with sole_holder(lock, lambda: say(f"waiting for another process that prepares {name}")):
            found = _found(folder, sources)  # that process may have made it
            if isinstance(found, str):
                say(f"preparing {name}: {found}")
                say(_make(raw, sources, folder, command))
                found = open_prepared(folder)
    return limit_pairs(found, config.limit)


def _found(folder: Path, sources: "Sources") -> PreparedData | str:
    """The data set in ``folder``, or why it has to be prepared."""
    try:
        data = open_prepared(folder)
    except DamagedStore as damage:
        return str(damage) if (folder / MANIFEST).exists() else "not prepared yet"
    return sources.change_since(data.manifest) or data


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything that determines the content of the prepared data set."""

    dataset: str
    origin: str
    inputs: list[dict[str, Any]]  # name, bytes, sha256
    settings: dict[str, Any]
    program: str  # sha256 over the source code that prepares it, and the parsers' versions

    @classmethod
    def of(cls, name: str, raw: DataSet, config: DataConfig) -> "Sources":
        """The current state; reads every input once."""
        inputs = inputs_of(raw)
        without = _ELSEWHERE if isinstance(raw, OfLanguages) else _ELSEWHERE | _OF_LANGUAGES
        settings = {f.name: getattr(config, f.name) for f in fields(config) if f.name not in without}
        settings["statements"] = config.has_statements
        return cls(name, raw.origin(), inputs, settings, program_sha256(type(raw).__module__))

    @property
    def fingerprint(self) -> str:
        """One sha256 over everything."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    def change_since(self, manifest: Mapping[str, Any]) -> str:
        """A short description of the difference from the manifest's record; "" if there is none."""
        now, before = asdict(self), manifest.get("sources")
        if before == now:
            return ""
        if not before:
            return "its manifest does not record its sources"
        if before["inputs"] != self.inputs or before["origin"] != self.origin:
            return f"the raw data changed, now {self.origin}"
        was = before["settings"]
        changed = [f"{key} {was.get(key)} -> {value}" for key, value in self.settings.items() if was.get(key) != value]
        if changed:
            return f"settings changed: {', '.join(changed)}"
        return "the program that prepares it changed"


def inputs_of(raw: DataSet) -> list[dict[str, Any]]:
    """Name, bytes and sha256 of every raw file, which are read for it."""
    return [_input(path) for path in raw.inputs()]


def inputs_sha256(inputs: Sequence[Mapping[str, Any]]) -> str:
    """One sha256 over :func:`inputs_of`, as a manifest records it."""
    return hashlib.sha256(sorted_json(inputs)).hexdigest()


def _input(path: Path) -> dict[str, Any]:
    if not path.is_dir():
        return {"name": path.name, "bytes": path.stat().st_size, "sha256": file_sha256(path)}
    digest, size = hashlib.sha256(), 0
    for file in sorted(path.rglob("*.java")):
        try:
            data, _ = read_regular(file, MAX_FILE_BYTES + 1)
        except OSError as error:
            raise_if_passing(error)
            continue  # skipped and listed where the sources are read
        size += len(data)
        digest.update(b"%d %s\n" % (len(data), os.fsencode(file.relative_to(path))) + data)
    return {"name": path.name, "bytes": size, "sha256": digest.hexdigest()}


def _make(raw: DataSet, sources: Sources, folder: Path, command: str) -> str:
    made = raw.make()
    manifest = {
        "dataset": sources.dataset,
        "origin": sources.origin,
        "command": command,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "fingerprint": sources.fingerprint,
        "sources": asdict(sources),
        **made.manifest,
        "seconds": dict(made.seconds),
    }
    write_prepared(folder, made.splits, manifest)
    sizes = ", ".join(f"{name} {len(made.splits.get(name, ())):,}" for name in SPLITS)
    return (
        f"prepared {sources.origin} in {sum(made.seconds.values()):.0f} s: "
        f"{made.manifest['counts']['pairs']:,} pairs ({sizes}) of {made.source}"
    )
