"""A shard: the functions of one source tree in a file, gzip-compressed JSON Lines, the same bytes for the same tree.

The first line describes the tree, with counts and the program that made it; then follows one line per file. The text of
a file is stored once. A function is two offsets into it; its code, its source for display and its context, which is the
text before it, are cut out when they are needed. Offsets are in bytes of UTF-8.

Also what is counted and measured of all shards of a corpus.
"""

import gzip
import io
import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from data_prep.errors import UserError
from data_prep.files.json_text import json_lines
from data_prep.languages.language import Function
from data_prep.languages.registry import LANGUAGES
from data_prep.pipeline.stages import Sums
from data_prep.worker_pool import map_ordered

FORMAT: Final = "corpus-shard-1"
_LEVEL: Final = 4
_BLANK_LINE: Final = re.compile(rb"(?m)^[ \t\f\r]*\n")
_APART: Final = re.sub(rb"\W", b" ", bytes(range(256)))
"""Each byte, or a space where it is none of a word."""
CODE_FIELDS: Final = ("name", "tokens", "api", "ast")
"""Code fields that are stored with a function."""


@dataclass(frozen=True, slots=True)
class TreeName:
    """A source tree at a revision: a repository at a commit, or a package of a version."""

    name: str  # owner/name, or the package's name
    revision: str  # commit in full, or version
    url: str  # of its page, or a package URL; "" if not known

    @property
    def slug(self) -> str:
        """A file name for it."""
        return re.sub(r"[^\w.+-]", "+", self.name) + "-" + re.sub(r"[^\w.+-]", "+", self.revision)[:12]


@dataclass(slots=True, unsafe_hash=True)
class CorpusFunction(Function):
    """A function of a file, as a shard has it."""

    reason: str  # why it is in no pair; "" if it is
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)  # CODE_FIELDS; empty with a reason


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file with its functions."""

    path: str
    language: str
    licence: str  # SPDX
    text: bytes  # UTF-8
    comments: Sequence[tuple[int, int]]  # ascending, disjoint, docstrings included
    functions: Sequence[CorpusFunction]

    def source(self, function: Function) -> str:
        """The function as written, with its comments but without its docstring, which is the query."""
        start, end = function.docstring or (function.end, function.end)
        before, after = self.text[function.start : start], self.text[end : function.end]
        return (before.rstrip() + after).decode("utf-8", "replace")

    def code(self, function: CorpusFunction) -> str:
        """The function without comments, docstrings and blank lines."""
        return self.stripped(function.start, function.end).decode("utf-8", "replace")

    def context(self, function: CorpusFunction, limit: int = 0) -> str:
        """The text before the function's first line, without comments, docstrings and blank lines.

        Its own documentation is not part of it.

        Args:
            function: of this file.
            limit: of the last characters; 0: all.
        """
        line = self.text.rfind(b"\n", 0, function.start) + 1
        whole = self.stripped(0, line).decode("utf-8", "replace")
        return whole[-limit:] if limit else whole

    def stripped(self, start: int, end: int) -> bytes:
        """The text between two offsets, each comment replaced by a space, without blank lines."""
        return _BLANK_LINE.sub(b"", b" ".join(parts_between(self.text, self.comments, start, end)))


def parts_between(text: bytes, comments: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[bytes]:
    """What is before, between and behind the ``comments`` of a text, from one offset to another."""
    for first, last in comments[bisect_left(comments, (start, start)) :]:
        if first >= end:
            break
        yield text[start:first]
        start = last
    yield text[start:end]


def alphanumeric_runs(code: bytes) -> bytes:
    """The runs of letters, digits and underscores, joined by spaces: equal for code that differs in layout only."""
    return b" ".join(code.translate(_APART).split())


def shard_bytes(head: Mapping[str, Any], files: Iterable[CorpusFile]) -> bytes:
    """A shard; ``files`` is read before ``head``, which may be filled meanwhile."""
    lines = io.BytesIO()
    with gzip.GzipFile("", "wb", _LEVEL, lines, mtime=0) as packed:
        for file in files:
            packed.write(_line(_as_json(file)))
    first = io.BytesIO()
    with gzip.GzipFile("", "wb", _LEVEL, first, mtime=0) as packed:
        packed.write(_line({"format": FORMAT, **head}))
    return first.getvalue() + lines.getvalue()


def read_head(path: Path) -> dict[str, Any]:
    """The description of a shard's tree.

    Raises:
        UserError: the file is damaged or no shard.
        OSError: it cannot be read.
    """
    for _, head in json_lines(path):
        if head.get("format") == FORMAT:
            return head
        break
    raise UserError(f"{path} is no shard of a corpus: remove it, and it is made again")


def read_files(path: Path, languages: Sequence[str] = ()) -> Iterator[CorpusFile]:
    """The files of a shard, of all languages or some.

    Raises:
        UserError: the shard is damaged.
        OSError: it cannot be read.
    """
    for number, row in json_lines(path):
        if number > 1 and (not languages or row.get("language") in languages):
            try:
                yield _file(row)
            except (TypeError, ValueError, KeyError, IndexError) as error:
                raise UserError(f"{path}:{number} is damaged: remove the file, and it is made again") from error


def _line(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _as_json(file: CorpusFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "language": file.language,
        "licence": file.licence,
        "text": file.text.decode(),
        "comments": [place for span in file.comments for place in span],
        "functions": [_of_function(function) for function in file.functions],
    }


def _of_function(function: CorpusFunction) -> list[Any]:
    each = function
    fields = [" ".join(each.fields[name]) for name in CODE_FIELDS] if each.fields else []
    place = [each.start, each.end, each.start_line, each.end_line, *(each.docstring or ())]
    names = [each.name, each.type_name, each.kind]
    return [*names, place, each.doc, each.query, list(each.annotations), each.reason, fields]


def _file(row: Mapping[str, Any]) -> CorpusFile:
    places = row["comments"]
    spans = list(zip(places[::2], places[1::2], strict=True))
    functions = [_function(each) for each in row["functions"]]
    return CorpusFile(row["path"], row["language"], row["licence"], row["text"].encode(), spans, functions)


def _function(row: Sequence[Any]) -> CorpusFunction:
    name, type_name, kind, (start, end, start_line, end_line, *docstring), doc, query, annotations, reason, fields = row
    words = {field: tuple(text.split(" ")) if text else () for field, text in zip(CODE_FIELDS, fields, strict=False)}
    inside = (docstring[0], docstring[1]) if docstring else None
    return CorpusFunction(
        name, type_name, kind, start, end, start_line, end_line, doc, query, inside, annotations, reason, words
    )


_MEASURE: Final = f"{__name__}:lengths_of_shard"


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
