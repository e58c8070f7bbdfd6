"""What the data sets of several languages have in common: source trees -> shards -> pairs of ``--data.language``.

Pairs are the functions of the shards that pass the filters, without duplicates, split.
"""

import logging
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.languages.identifiers import query_words
from data_prep.languages.registry import LANGUAGES, language
from data_prep.pipeline.corpus_statistics import statistics
from data_prep.pipeline.duplicates import Fingerprint, find_duplicates
from data_prep.pipeline.filters import CORPUS_FILTERS, Candidate, reason_to_drop
from data_prep.pipeline.shard_folder import MadeShards, ShardFolder, TreeTask, extraction_program
from data_prep.pipeline.shards import CorpusFile, CorpusFunction, read_files, read_head
from data_prep.pipeline.splits import divided, random_splits, splits_of_trees
from data_prep.pipeline.stages import MadePairs, Stopwatch, interned, mapped
from data_prep.records import SPLITS, Method, Pair, SplitName

_READ: Final = "data_prep.pipeline.corpus:pairs_of_shard"
_logger = logging.getLogger(__name__)


class Corpus(ABC):
    """A data set of source trees in several languages."""

    name: ClassVar[str]

    def __init__(self, config: DataConfig) -> None:
        """Check the language.

        Raises:
            UserError: there is no such language, or the profile is Java's.
        """
        if config.has_statements:
            raise UserError(
                f"{self.name} has no statement trees: leave out --data.profile, and for fcarcs give "
                "--data.statements=false --model.structure=ast"
            )
        self.languages = languages_of(config.language)
        self.cache_name = f"{self.name}-{config.language}{'-random' * (config.split == 'random')}"
        self._config = config
        self._made: MadeShards | None = None

    @abstractmethod
    def tasks(self, program: str) -> Sequence[TreeTask]:
        """The source trees."""

    @abstractmethod
    def listed(self) -> Path:
        """The list of the source trees."""

    @property
    def shard_folder(self) -> Path:
        """Where the shards are."""
        return Path(self._config.root) / "raw" / self.name / "shards"

    def inputs(self) -> list[Path]:
        """The list and the shards, extracted if they are missing.

        Raises:
            UserError: none can be had.
        """
        return [self.listed(), *self._shards().paths]

    def origin(self) -> str:
        """The name, and the number of source trees."""
        return f"{self.name} of {len(self._shards().paths)} source trees"

    def make(self, progress: bool) -> MadePairs:
        """Build the pairs, with statistics in the manifest."""
        found = self._shards()
        made = pairs_of_corpus(found.paths, self._config, progress=progress)
        about: dict[str, Any] = {"source_trees_left_out": found.left_out, "statistics": statistics(found.paths)}
        return replace(made, manifest={**made.manifest, **about})

    def _shards(self) -> MadeShards:
        if self._made is None:
            folder = ShardFolder(self.shard_folder, _logger.warning)
            self._made = folder.made(
                self.tasks(extraction_program()), processes=self._config.processes, cluster=self._config.cluster
            )
        return self._made


def lines_of_list(path: Path, what: str) -> Iterator[tuple[int, str]]:
    """Number and text of each line of a list of source trees, without comments and blank ones.

    Raises:
        UserError: the list is missing or no text.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--data.path={path} cannot be read ({error}): expected a list of {what}") from error
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#"))


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
    if reason := reason_to_drop(candidate, config, CORPUS_FILTERS):
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
    pairs, duplicates = _without_duplicates(found)
    watch.stage("duplicates")
    splits = _split(pairs, heads, config)
    watch.stage("split")
    reasons = _function_reasons(heads, config)
    functions = reasons.total()
    del reasons[""]
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
        {"counts": counts, "broken_files": [], "missing_files": [], "pairs_of_trees": _of_trees(splits)},
        f"{functions:,} functions of {len(heads):,} source trees",
        watch.seconds,
    )


def _function_reasons(heads: Sequence[Mapping[str, Any]], config: DataConfig) -> Counter[str]:
    """Reason to leave out a function -> number over all shards and languages; "" of those that are kept."""
    total: Counter[str] = Counter()
    for head in heads:
        for name in languages_of(config.language):
            total.update(head["languages"].get(name, {}).get("functions", {}))
    return total


def _read_all(shards: Sequence[Path], config: DataConfig, progress: bool) -> ShardPairs:
    whole = ShardPairs()
    tasks = [ShardTask(path, config) for path in shards]
    for part in mapped(_READ, tasks, config, unit="shards", total=len(tasks), progress=progress):
        whole.pairs += map(interned, part.pairs)
        whole.languages += map(sys.intern, part.languages)
        whole.fingerprints += part.fingerprints
        whole.dropped += part.dropped
    return whole


def _without_duplicates(found: ShardPairs) -> tuple[list[Pair], dict[str, int]]:
    """The pairs that remain, in order, and the numbers of the others; languages are compared apart."""
    left_out: set[int] = set()
    dropped = {"exact": 0, "near": 0}
    for name in sorted(set(found.languages)):
        rows = [row for row, each in enumerate(found.languages) if each == name]
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
