"""Query, context and function of prepared pairs: the record of Scotch's data set (row K-9), with its attribution.

Context and code are cut out of the shards; prepared pairs have neither.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from data_prep.errors import UserError
from data_prep.pipeline.shards import CorpusFile, CorpusFunction, TreeName, read_files, read_head
from data_prep.records import SplitName
from data_prep.store.prepared_data import PreparedData

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
    pairs = data.splits[split]
    reader = _Reader(shards)
    for row in range(len(pairs)):
        text = pairs.text(row)
        file = reader.file(text.origin, text.path)
        functions = [each for each in file.functions if each.start_line == text.start_line and not each.reason]
        function = next((each for each in functions if each.name == text.method_name), None)
        if function is None:
            raise UserError(f"{text.path} of {text.origin} has other functions than the pairs: prepare them again")
        yield _triple(reader.tree, file, function, limit)


class _Reader:
    """The files of shards, which are asked for in the order in which they are there."""

    def __init__(self, shards: Path) -> None:
        self._shards = shards
        self._origin = ""
        self._files: Iterator[CorpusFile] = iter(())
        self._last: CorpusFile | None = None
        self.tree = TreeName("", "", "")

    def file(self, origin: str, path: str) -> CorpusFile:
        if origin != self._origin:
            name, _, revision = origin.rpartition("@")
            shard = self._shards / f"{TreeName(name, revision, '').slug}.jsonl.gz"
            if not shard.is_file():
                raise UserError(f"{shard} is missing: prepare the data set again")
            self._origin, self._files, self._last = origin, read_files(shard), None
            self.tree = TreeName(**read_head(shard)["tree"])
        while self._last is None or self._last.path != path:
            self._last = next(self._files, None)
            if self._last is None:
                raise UserError(f"the shard of {origin} lacks {path}: prepare the data set again")
        return self._last


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
