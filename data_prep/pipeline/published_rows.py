"""Rows of a published data set in any language -> pairs: every row, whatever the filters say of it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from data_prep.config import DEFAULT_LANGUAGE, DataConfig
from data_prep.errors import UserError
from data_prep.languages.fields import LONGEST
from data_prep.languages.identifiers import query_words, split_identifier
from data_prep.languages.java.declarations import find_methods, parse_java
from data_prep.pipeline.code_rows import CodeRow, method_of
from data_prep.pipeline.java_extraction import LINE, method_fields, record, wrap
from data_prep.pipeline.stages import chunked, mapped
from data_prep.records import UNKNOWN, Method, Pair, SourceFile, SplitName
from data_prep.worker_pool import Guard
from data_prep.worker_process import PAIRS, limited

_READ_ROWS: Final = f"{__name__}:pairs_of_chunk"
_ROWS_AT_ONCE: Final = 500
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*")


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A row, the split that it is for, and whether its documentation is a query or it is only a candidate."""

    fields: Mapping[str, str]
    split: SplitName
    is_query: bool = True
    language: str = DEFAULT_LANGUAGE


@dataclass(frozen=True, slots=True)
class RowChunk:
    """Rows to read together."""

    rows: Sequence[PublishedRow]
    origin: str
    config: DataConfig
    parsed: bool = True  # else each method is read word by word, as one that cannot be parsed

    def divided(self) -> "list[RowChunk]":
        """One chunk a row."""
        return [replace(self, rows=[row]) for row in self.rows]


def pairs_of_rows(
    rows: Iterable[PublishedRow], origin: str, config: DataConfig, *, progress: bool
) -> Iterator[tuple[SplitName, Pair, bool]]:
    """The split and pair of each row, in order, and whether its code could be parsed."""
    chunks = (RowChunk(each, origin, config) for each in chunked(rows, lambda _: 1, _ROWS_AT_ONCE))
    for part in mapped(_READ_ROWS, chunks, config, _ROWS_GUARD, unit="rows", size=len, progress=progress):
        yield from part


def pairs_of_chunk(chunk: RowChunk) -> list[tuple[SplitName, Pair, bool]]:
    """The same of a chunk, in one process."""
    return [(row.split, *_pair(row, chunk)) for row in chunk.rows]


_ROWS_GUARD: Final = Guard(
    divided=RowChunk.divided,
    joined=lambda parts: [*chain.from_iterable(parts)],
    refused=lambda chunk: pairs_of_chunk(replace(chunk, parsed=False)),
    limits=PAIRS,
)


def summary(docstring: str) -> str:
    """What CodeSearchNet makes ``docstring_tokens`` of: the text before the first empty line, else before the first @.

    function_parser/parsers/commentutils.py of github/CodeSearchNet.
    """
    return docstring.partition("\n\n" if "\n\n" in docstring else "@")[0]


def _pair(row: PublishedRow, chunk: RowChunk) -> tuple[Pair, bool]:
    text = " ".join(summary(row.fields["docstring"]).split())
    query = query_words(text)[:LONGEST] or (UNKNOWN,) if row.is_query else ()
    method, is_parsed = _java(row, chunk) if row.language == DEFAULT_LANGUAGE else _other(row, chunk)
    return Pair(method, text, query), is_parsed


def _other(row: PublishedRow, chunk: RowChunk) -> tuple[Method, bool]:
    code = code_row(row.fields, row.language, row.split, row.fields["docstring"])
    with limited(len(code.code)):
        return method_of(code, chunk.origin, parsed=chunk.parsed)


def code_row(fields: Mapping[str, str], language: str, split: SplitName, query: str) -> CodeRow:
    """The row of a language other than Java."""
    place = LINE.search(fields.get("url", ""))
    path, line = f"{fields['repo']}/{fields['path']}", int(place[1]) if place else 1
    return CodeRow(query, fields["code"], language, split, path, line, fields["func_name"])


def _java(row: PublishedRow, chunk: RowChunk) -> tuple[Method, bool]:
    file = wrap(row.fields, row.split, chunk.origin)
    with limited(len(file.data)):
        method = _parsed(file, chunk.config) if chunk.parsed else None
    return method or _spelled(file, row), method is not None


def _parsed(file: SourceFile, config: DataConfig) -> Method | None:
    """The method of ``file``; None if it cannot be parsed."""
    try:
        found = next(find_methods(parse_java(file.data), documented_only=False), None)
    except UserError:
        return None
    if found is None:
        return None
    fields, _ = method_fields(found, config)
    return None if fields is None else record(file, found, fields)


def _spelled(file: SourceFile, row: PublishedRow) -> Method:
    """A method whose words are those of its identifiers."""
    type_name, _, name = row.fields["func_name"].rpartition(".")
    words = (word for identifier in _IDENTIFIER.findall(row.fields["code"]) for word in split_identifier(identifier))
    fields = {"name": tuple(split_identifier(name)[:LONGEST]), "tokens": tuple(dict.fromkeys(words))[:LONGEST]}
    code = row.fields["code"]
    before = file.data[: file.data.index(b"\n*/\n")].count(b"\n") + 2  # lines of the class and the comment
    line = before + 1 + (file.excerpt.lines_before if file.excerpt else 0)
    place = (file.origin, file.path, line, line + code.count("\n"), type_name, name)
    return Method(*place, kind="method", source=code, documentation="", fields=fields, split=row.split)


def placed(pair: Pair) -> tuple[str, int, int, str, str]:
    """Sort key by place, so that the order of rows does not matter."""
    method = pair.method
    return method.path, method.start_line, method.end_line, method.source, pair.query_text
