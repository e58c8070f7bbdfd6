"""Pairs of the functions of a corpus: those of its shards that pass the filters, without duplicates, split."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tqdm import tqdm

from data_prep.config import DataConfig
from data_prep.corpus.duplicates import Fingerprint, find_duplicates
from data_prep.corpus.records import CorpusFile, CorpusFunction
from data_prep.corpus.shards import read_files, read_head
from data_prep.corpus.splits import random_splits, splits_of_trees
from data_prep.errors import UserError
from data_prep.languages.identifiers import query_words
from data_prep.languages.registry import LANGUAGES, language
from data_prep.pairs.filters import FILTERS, Candidate
from data_prep.pairs.from_java import interned
from data_prep.pairs.made import MadePairs, Stopwatch
from data_prep.records import SPLITS, Method, Pair, SplitName
from data_prep.worker_pool import map_ordered, processors

_READ: Final = "data_prep.corpus.pairs:pairs_of_shard"
_JAVA_ONLY: Final = ("test", "standard method", "constructor", "generated code")
"""Filters of Java data; a corpus has its own in their place."""


def languages_of(name: str) -> tuple[str, ...]:
    """The languages of ``--data.language``."""
    return tuple(LANGUAGES) if name == "all" else (language(name).name,)


@dataclass(frozen=True, slots=True)
class ShardTask:
    """A shard to read pairs from."""

    path: Path
    config: DataConfig


@dataclass(slots=True)
class ShardPairs:
    """The pairs of a shard."""

    pairs: list[Pair] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)  # of each pair
    fingerprints: list[Fingerprint] = field(default_factory=list)  # of each pair
    dropped: Counter[str] = field(default_factory=Counter)  # reason -> functions


def pairs_of_shard(task: ShardTask) -> ShardPairs:
    """The functions of a shard that have no reason to be left out and pass the filters of ``task.config``."""
    found = ShardPairs()
    tree = read_head(task.path)["tree"]
    for file in read_files(task.path, languages_of(task.config.language)):
        for function in file.functions:
            if not function.reason:
                _add(found, f"{tree['name']}@{tree['revision']}", file, function, task.config)
    return found


def _add(found: ShardPairs, origin: str, file: CorpusFile, function: CorpusFunction, config: DataConfig) -> None:
    code = file.stripped(function.start, function.end)
    query = query_words(function.query)
    candidate = Candidate(
        file.path, function.name, "method", len(code.splitlines()), function.annotations, function.doc, function.query,
        query, generated_file=False,
    )  # fmt: skip
    reason = next((name for name, holds in FILTERS.items() if name not in _JAVA_ONLY and holds(candidate, config)), "")
    if reason:
        found.dropped[reason] += 1
        return
    fields = {name: tuple(words) for name, words in function.fields.items()}
    method = Method(
        origin, file.path, function.start_line, function.end_line, function.type_name, function.name, "method",
        file.source(function), function.doc, fields, licence=file.licence,
    )  # fmt: skip
    found.pairs.append(Pair(method, function.query, query))
    found.languages.append(file.language)
    found.fingerprints.append(Fingerprint.of(code, language(file.language).keywords))


def pairs_of_corpus(shards: Sequence[Path], config: DataConfig, *, progress: bool) -> MadePairs:
    """The pairs of ``--data.language`` in ``shards``, split by ``--data.split``.

    Raises:
        UserError: a shard is damaged, or a split is empty.
        OSError: a file cannot be read, or a process was killed.
    """
    watch = Stopwatch()
    heads = [read_head(path) for path in shards]
    found = _read_all(shards, config, progress)
    watch.stage("read")
    kept = _without_duplicates(found)
    watch.stage("duplicates")
    pairs = [found.pairs[row] for row in kept.rows]
    splits = _split(pairs, heads, config)
    watch.stage("split")
    counts: dict[str, Any] = {
        "trees": len(heads),
        "functions": sum(map(sum, _counted(heads, config, "functions"))),
        "dropped": {
            **dict(Counter(_sums(heads, config, "functions"))),
            **{f"pairs: {k}": v for k, v in found.dropped.items()},
        },
        "duplicates": kept.dropped,
        "pairs": len(pairs),
        "licences": dict(Counter(pair.method.licence for pair in pairs).most_common()),
    }
    return MadePairs(
        splits,
        {"counts": counts, "broken_files": [], "missing_files": [], "pairs_of_trees": _of_trees(splits)},
        f"{counts['functions']:,} functions of {len(heads):,} source trees",
        watch.seconds,
    )


def _sums(heads: Sequence[Mapping[str, Any]], config: DataConfig, kind: str) -> Counter[str]:
    """Reason -> number over all shards and languages; the kept ones are not a reason."""
    total: Counter[str] = Counter()
    for head in heads:
        for name in languages_of(config.language):
            total.update(head["languages"].get(name, {}).get(kind, {}))
    del total[""]
    return total


def _counted(heads: Sequence[Mapping[str, Any]], config: DataConfig, kind: str) -> Iterator[Sequence[int]]:
    for head in heads:
        for name in languages_of(config.language):
            yield list(head["languages"].get(name, {}).get(kind, {}).values())


def _read_all(shards: Sequence[Path], config: DataConfig, progress: bool) -> ShardPairs:
    whole = ShardPairs()
    parts = map_ordered(_READ, (ShardTask(path, config) for path in shards), config.processes or processors())
    with (
        closing(parts),
        tqdm(desc="shards", total=len(shards), unit=" trees", disable=None if progress else True) as bar,
    ):
        for part in parts:
            whole.pairs += map(interned, part.pairs)
            whole.languages += map(sys.intern, part.languages)
            whole.fingerprints += part.fingerprints
            whole.dropped += part.dropped
            bar.update()
    return whole


@dataclass(frozen=True, slots=True)
class _Kept:
    rows: list[int]
    dropped: dict[str, int]


def _without_duplicates(found: ShardPairs) -> _Kept:
    """The rows that remain, in order; languages are compared apart."""
    left_out: set[int] = set()
    dropped = {"exact": 0, "near": 0}
    for name in sorted(set(found.languages)):
        rows = [row for row, each in enumerate(found.languages) if each == name]
        copies = find_duplicates([found.fingerprints[row] for row in rows])
        dropped["exact"] += int(copies.exact.sum())
        dropped["near"] += int(copies.near.sum())
        left_out.update(row for row, is_copy in zip(rows, copies.exact | copies.near, strict=True) if is_copy)
    return _Kept([row for row in range(len(found.pairs)) if row not in left_out], dropped)


def _split(
    pairs: Sequence[Pair], heads: Sequence[Mapping[str, Any]], config: DataConfig
) -> dict[SplitName, list[Pair]]:
    splits: dict[SplitName, list[Pair]] = {name: [] for name in SPLITS}
    if config.split == "random":
        for pair, split in zip(pairs, random_splits(len(pairs), config.split_seed), strict=True):
            splits[split].append(pair)
    else:
        of_tree = splits_of_trees(_sizes(heads), config.split_seed)
        for pair in pairs:
            splits[of_tree[pair.method.origin.rpartition("@")[0]]].append(pair)
    if empty := [name for name in SPLITS if not splits[name]]:
        raise UserError(
            f"{len(pairs):,} pairs of {len(heads):,} source trees are too few for a split by {config.split} "
            f"({', '.join(empty)} would be empty): give more of them, or --data.split=random"
        )
    return {name: [replace(pair, method=replace(pair.method, split=name)) for pair in splits[name]] for name in SPLITS}


def _sizes(heads: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Language -> tree -> pairs, before filters of the configuration and duplicates, in all languages."""
    sizes: dict[str, dict[str, int]] = {name: {} for name in LANGUAGES}
    for head in heads:
        for name, counts in head["languages"].items():
            sizes[name][head["tree"]["name"]] = counts["functions"].get("", 0)
    return sizes


def _of_trees(splits: Mapping[SplitName, Sequence[Pair]]) -> dict[str, dict[str, int]]:
    """Split -> source tree -> pairs, largest first."""
    return {name: dict(Counter(pair.method.origin for pair in pairs).most_common()) for name, pairs in splits.items()}
