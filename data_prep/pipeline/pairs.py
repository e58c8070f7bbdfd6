"""Pairs of Java files and of a corpus's shards: functions that pass the filters, without duplicates, split."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from data_prep.config import DataConfig
from data_prep.errors import UserError, one_line
from data_prep.languages.language import Language
from data_prep.languages.registry import LANGUAGES, language, language_of
from data_prep.pipeline.copies import Fingerprint, find_duplicates
from data_prep.pipeline.duplicates import Distinct, drop_duplicates
from data_prep.pipeline.filters import CORPUS_FILTERS, FILTERS, NOT_PARSED, Candidate, reason_to_drop
from data_prep.pipeline.java_extraction import extract_all
from data_prep.pipeline.shards import CorpusFile, CorpusFunction, read_files, read_head
from data_prep.pipeline.splits import (
    BY_FILE,
    SplitRule,
    divided,
    project_of,
    random_splits,
    split_pairs,
    splits_of_trees,
)
from data_prep.pipeline.stages import Extracted, MadePairs, Stopwatch, collected, counted_reasons, listed
from data_prep.records import SPLITS, Method, Pair, SourceFile, SplitName

_NAMED: Final = 3
"""Broken files that are named; the manifest names more."""
_READ: Final = "data_prep.pipeline.pairs:pairs_of_shard"


class JavaSources(ABC):
    """A data set of Java files."""

    rule: ClassVar[SplitRule] = BY_FILE

    def __init__(self, config: DataConfig) -> None:
        self._config = config
        self.left_out: list[tuple[str, str]] = []  # path, why it could not be read; filled by java_files()

    @abstractmethod
    def java_files(self) -> Iterator[SourceFile]:
        """Every source file, in order."""

    def make(self) -> MadePairs:
        """Build the pairs, in the order that :meth:`extracted` gives them.

        Raises:
            UserError: the raw data are damaged or contain too few pairs.
            OSError: a file cannot be read, or a process was killed.
        """
        config, watch = self._config, Stopwatch()
        found = self.extracted()
        found.broken += self.left_out
        watch.stage("extract")
        distinct = self.distinct(found.pairs)
        watch.stage("duplicates")
        splits = split_pairs(distinct.pairs, config, self.rule)
        watch.stage("split")
        manifest = _about(found, distinct, config)
        if self.rule.by == "project":
            manifest["pairs_of_projects"] = _by_origin(splits, project_of)
        source = f"{found.methods:,} documented methods in {found.files:,} files{_in_words(found.broken)}"
        left_out = counted_reasons([], found.dropped + Counter(distinct.dropped))
        return MadePairs(splits, manifest, source + left_out, watch.seconds)

    def extracted(self) -> Extracted:
        """What is extracted from the files."""
        return extract_all(self.java_files(), self._config)

    def distinct(self, pairs: Sequence[Pair]) -> Distinct:
        """The pairs without copies."""
        return drop_duplicates(pairs, self._config.near_duplicate)


def _about(found: Extracted, distinct: Distinct, config: DataConfig) -> dict[str, Any]:
    """Counts and broken files, for a manifest."""
    reasons = [*FILTERS, *[NOT_PARSED] * (config.profile == "jcg")]
    counts = {
        "files": found.files,
        "broken_files": len(found.broken),
        "documented_methods": found.methods,
        "dropped": {reason: found.dropped[reason] for reason in reasons},
        "duplicates": distinct.dropped,
        "pairs": len(distinct.pairs),
    }
    about: dict[str, Any] = {"counts": counts, "broken_files": listed(found.broken)}
    if config.has_statements:
        counts["not_parsed_by_javalang"] = len(found.not_parsed)
        about["not_parsed_by_javalang"] = listed(found.not_parsed)
    return about


def _in_words(broken: Sequence[tuple[str, str]]) -> str:
    """``, 1 broken: A.java does not parse at line 5``; "" if none is."""
    first = "; ".join(f"{path} {reason}" for path, reason in broken[:_NAMED])
    return one_line(f", {len(broken):,} broken: {first}{'; ...' * (len(broken) > _NAMED)}") if broken else ""


def _by_origin(splits: Mapping[SplitName, Sequence[Pair]], name: Callable[[str], str]) -> dict[str, dict[str, int]]:
    """Split -> project or source tree, the ``name`` of an origin -> pairs, largest first."""
    counts = {split: Counter(name(pair.method.origin) for pair in pairs) for split, pairs in splits.items()}
    return {split: dict(each.most_common()) for split, each in counts.items()}


def languages_of(name: str) -> tuple[str, ...]:
    """The language of ``--data.language``; none for all of those that the source trees are listed with.

    Raises:
        UserError: there is no such language.
    """
    return () if name == "all" else (language(name).name,)


def _counted(head: Mapping[str, Any], config: DataConfig) -> list[Mapping[str, Any]]:
    """What was counted in a shard, of each of its languages that is wanted."""
    wanted = languages_of(config.language) or LANGUAGES
    return [head["languages"][name] for name in wanted if name in head["languages"]]


@dataclass(frozen=True, slots=True)
class ShardTask:
    """A shard to read pairs from."""

    path: Path
    config: DataConfig


def pairs_of_shard(task: ShardTask) -> Extracted:
    """The functions of a shard that have no reason to be left out and pass the filters of ``task.config``."""
    found = Extracted(files=1)
    tree = read_head(task.path)["tree"]
    for file in read_files(task.path, languages_of(task.config.language)):
        for function in file.functions:
            if not function.reason:
                _add(found, f"{tree['name']}@{tree['revision']}", file, function, task.config)
    return found


def _add(found: Extracted, origin: str, file: CorpusFile, function: CorpusFunction, config: DataConfig) -> None:
    code = file.stripped(function.start, function.end)
    candidate = Candidate.of_function(file.path, function, len(code.splitlines()))
    if reason := reason_to_drop(candidate, config, CORPUS_FILTERS):
        found.dropped[reason] += 1
        return
    fields = {name: tuple(words) for name, words in function.fields.items()}
    method = Method(
        origin, file.path, function.start_line, function.end_line, function.type_name, function.name, "method",
        file.source(function), function.doc, fields, licence=file.licence,
    )  # fmt: skip
    found.pairs.append(Pair(method, function.query, candidate.query))
    found.fingerprints.append(Fingerprint.of(code, language(file.language).keywords))


def pairs_of_corpus(shards: Sequence[Path], config: DataConfig) -> MadePairs:
    """The pairs of ``--data.language`` in ``shards``, split by ``--data.split``.

    Raises:
        UserError: a shard is damaged, or a split is empty.
        OSError: a file cannot be read, or a process was killed.
    """
    watch = Stopwatch()
    heads = [read_head(path) for path in shards]
    tasks = [ShardTask(path, config) for path in shards]
    found = collected(_READ, tasks, config, unit="shards")
    watch.stage("read")
    pairs, duplicates = _without_duplicates(found)
    watch.stage("duplicates")
    splits = _split(pairs, heads, config)
    watch.stage("split")
    reasons = _reasons(heads, config, "functions")
    functions = reasons.total()
    del reasons[""]
    broken = [
        (f"{head['tree']['name']}/{path}", reason)
        for head in heads
        for each in _counted(head, config)
        for path, reason in each.get("broken_files", ())
    ]
    copies = Counter({f"{name} copies": number for name, number in duplicates.items()})
    counts: dict[str, Any] = {
        "trees": len(heads),
        "functions": functions,
        "dropped": {**reasons, **{f"pairs: {reason}": number for reason, number in found.dropped.items()}},
        "duplicates": duplicates,
        "pairs": len(pairs),
        "licences": dict(Counter(pair.method.licence for pair in pairs).most_common()),
    }
    return MadePairs(
        splits,
        {
            "counts": counts,
            "broken_files": listed(broken),
            "missing_files": [],
            "pairs_of_trees": _by_origin(splits, str),
        },
        f"{functions:,} functions of {len(heads):,} source trees{_in_words(broken)}"
        f"{counted_reasons([], reasons + found.dropped + copies)}",
        watch.seconds,
    )


def _reasons(heads: Sequence[Mapping[str, Any]], config: DataConfig, what: str) -> Counter[str]:
    """Reason to leave out one of ``what``, files or functions -> number over all shards; "" of those that are kept."""
    total: Counter[str] = Counter()
    for head in heads:
        for each in _counted(head, config):
            total.update(each[what])
    return total


def _without_duplicates(found: Extracted) -> tuple[list[Pair], dict[str, int]]:
    """The pairs that remain, in order, and the numbers of the others; languages are compared apart."""
    rows_of: dict[Language | None, list[int]] = {}
    for row, pair in enumerate(found.pairs):
        rows_of.setdefault(language_of(pair.method.path), []).append(row)
    left_out: set[int] = set()
    dropped = {"exact": 0, "near": 0}
    for rows in rows_of.values():
        copies = find_duplicates([found.fingerprints[row] for row in rows])
        dropped["exact"] += int(copies.exact.sum())
        dropped["near"] += int(copies.near.sum())
        left_out.update(row for row, is_copy in zip(rows, copies.exact | copies.near, strict=True) if is_copy)
    return [pair for row, pair in enumerate(found.pairs) if row not in left_out], dropped


def _split(
    pairs: Sequence[Pair], heads: Sequence[Mapping[str, Any]], config: DataConfig
) -> dict[SplitName, list[Pair]]:
    if config.split == "random":
        names = random_splits(len(pairs), config.split_seed)
    else:
        of_tree = splits_of_trees(_sizes(heads), config.split_seed)
        names = [of_tree[pair.method.origin.rpartition("@")[0]] for pair in pairs]
    splits = divided(pairs, names)
    if empty := [name for name in SPLITS if not splits[name]]:
        files = _reasons(heads, config, "files")
        kept = files.pop("", 0)
        left_out = "".join(f"; of the others {number:,}: {reason}" for reason, number in files.most_common(1))
        raise UserError(
            f"{len(pairs):,} pairs of {len(heads):,} source trees are too few for a split by {config.split} "
            f"({', '.join(empty)} would be empty): give more of them, or --data.split=random. "
            f"{kept:,} of {kept + files.total():,} files have functions{left_out}"
        )
    return {name: [replace(pair, method=replace(pair.method, split=name)) for pair in splits[name]] for name in SPLITS}


def _sizes(heads: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Language -> tree -> pairs, before filters of the configuration and duplicates, in all languages."""
    sizes: dict[str, dict[str, int]] = {}
    for head in heads:
        for name, counts in head["languages"].items():
            sizes.setdefault(name, {})[head["tree"]["name"]] = counts["functions"].get("", 0)
    return sizes
