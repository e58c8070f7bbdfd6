"""What is read out of a corpus's shards: the triples of prepared pairs, counts and lengths.

A triple is query, context and function, the record of Scotch's data set (row K-9), with its attribution. Context and
code are cut out of the shards; prepared pairs have neither.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from data_prep.errors import UserError
from data_prep.languages.registry import LANGUAGES
from data_prep.pipeline.shards import CorpusFile, CorpusFunction, TreeName, alphanumeric_runs, read_files, read_head
from data_prep.pipeline.stages import Sums
from data_prep.records import SplitName
from data_prep.store.prepared_data import PreparedData
from data_prep.worker_pool import map_ordered

_MEASURE: Final = "data_prep.pipeline.triples:lengths_of_shard"
CONTEXT: Final = 4_000
"""Characters of a context by default: more than a transformer of 512 subwords reads."""


@dataclass(frozen=True, slots=True)
class Triple:
    """A documented function and the text before it."""

    repository_name: str
    function_path: str
    function_identifier: str  # "" if it has no name
    language: str
    function: str  # without comments, docstrings and blank lines
    docstring: str
    function_url: str
    context: str  # the same of the text before the function, its end
    license: str  # SPDX


def triples(data: PreparedData, split: SplitName, shards: Path, *, limit: int = CONTEXT) -> Iterator[Triple]:
    """The triples of a split's pairs, in its order.

    Args:
        data: as prepared from ``shards``, limited or not.
        split: of it.
        shards: the folder of the shards, ``data/raw/repositories/shards``.
        limit: characters of a context, its last; 0: all.

    Raises:
        UserError: a shard is missing, or of another program than the pairs.
    """
    origin, tree, files = "", TreeName("", "", ""), dict[str, CorpusFile]()
    for row in range(len(data.splits[split])):
        text = data.splits[split].text(row)
        if text.origin != origin:
            origin = text.origin
            tree, files = _shard_of(origin, shards)
        functions = files[text.path].functions if text.path in files else ()
        found = (each for each in functions if each.start_line == text.start_line and not each.reason)
        function = next((each for each in found if each.name == text.method_name), None)
        if function is None:
            raise UserError(f"{text.path} of {origin} has other functions than the pairs: prepare them again")
        yield _triple(tree, files[text.path], function, limit)


def _shard_of(origin: str, shards: Path) -> tuple[TreeName, dict[str, CorpusFile]]:
    """The source tree of an origin, NAME@REVISION, and its files by their paths."""
    name, _, revision = origin.rpartition("@")
    shard = shards / f"{TreeName(name, revision, '').slug}.jsonl.gz"
    if not shard.is_file():
        raise UserError(f"{shard} is missing: prepare the data set again")
    return TreeName(**read_head(shard)["tree"]), {file.path: file for file in read_files(shard)}


def _triple(tree: TreeName, file: CorpusFile, function: CorpusFunction, limit: int) -> Triple:
    return Triple(
        repository_name=tree.name,
        function_path=file.path,
        function_identifier=function.dotted,
        language=file.language,
        function=file.code(function),
        docstring=function.doc,
        function_url=link(tree, file.path, function),
        context=file.context(function, limit),
        license=file.licence,
    )


def link(tree: TreeName, path: str, function: CorpusFunction) -> str:
    """The address of a function's lines at the commit, or the URL of its package."""
    if not tree.url.startswith("https://github.com/"):
        return tree.url
    return f"{tree.url}/blob/{tree.revision}/{quote(path)}#L{function.start_line}-L{function.end_line}"


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
class Lengths(Sums):
    """Sums over the kept functions of a language."""

    functions: int = 0
    doc_words: int = 0  # of the whole documentation, between spaces
    query_words: int = 0  # of its first sentence
    code_words: int = 0  # alphanumeric runs of the code without comments
    code_lines: int = 0
    context_lines: int = 0  # before the function, without comments and blank lines

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
