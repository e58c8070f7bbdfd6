"""Counts and lengths of a corpus, from its shards: functions a language, licence and reason for leaving out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from data_prep.languages.registry import LANGUAGES
from data_prep.pipeline.shards import alphanumeric_runs, read_files, read_head
from data_prep.worker_pool import map_ordered

_MEASURE: Final = "data_prep.pipeline.corpus_statistics:lengths_of_shard"


def statistics(shards: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Of each language: source trees, bytes, files and functions by reason ("" kept), licences of kept functions."""
    heads = [read_head(path) for path in shards]
    parts = {name: [head["languages"][name] for head in heads if name in head["languages"]] for name in LANGUAGES}
    return {name: _of_language(each) for name, each in parts.items()}


def _of_language(counts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {"trees": 0, "trees_with_pairs": 0, "bytes": 0, "broken_functions": 0}
    totals: dict[str, Counter[str]] = {name: Counter() for name in ("files", "functions", "licences")}
    for each in counts:
        found["trees"] += 1
        found["trees_with_pairs"] += bool(each["functions"].get(""))
        found["bytes"] += each["bytes"]
        found["broken_functions"] += each["broken"]
        for name, total in totals.items():
            total.update(each[name])
    return {**found, **{name: dict(total.most_common()) for name, total in totals.items()}}


@dataclass(slots=True)
class Lengths:
    """Sums over the kept functions of a language."""

    functions: int = 0
    doc_words: int = 0  # of the whole documentation, between spaces
    query_words: int = 0  # of its first sentence
    code_words: int = 0  # alphanumeric runs of the code without comments
    code_lines: int = 0
    context_lines: int = 0  # before the function, without comments and blank lines

    def add(self, other: "Lengths") -> None:
        """Add the sums of other functions."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def mean(self, name: str) -> float:
        """The mean of a length."""
        return float(getattr(self, name)) / max(1, self.functions)


def lengths_of_shard(path: Path) -> dict[str, Lengths]:
    """The lengths of a shard's kept functions by language."""
    found: dict[str, Lengths] = {}
    for file in read_files(path):
        for function in file.functions:
            if function.reason:
                continue
            code, context = file.stripped(function.start, function.end), file.context(function)
            own = Lengths(
                1,
                len(function.doc.split()),
                len(function.query.split()),
                len(alphanumeric_runs(code).split()),
                len(code.splitlines()),
                len(context.splitlines()),
            )
            found.setdefault(file.language, Lengths()).add(own)
    return found


def measured_lengths(shards: Sequence[Path], processes: int) -> dict[str, Lengths]:
    """The lengths of all kept functions by language.

    Raises:
        UserError: a shard is damaged.
        OSError: one cannot be read, or a process was killed.
    """
    whole: dict[str, Lengths] = {}
    with closing(map_ordered(_MEASURE, shards, processes)) as parts:
        for part in parts:
            for name, lengths in part.items():
                whole.setdefault(name, Lengths()).add(lengths)
    return whole
