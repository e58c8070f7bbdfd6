"""Java files -> methods with their fields and queries, in one process. Light to import: no torch, no numpy.

Of files, the methods that pass the filters (:func:`extract`); of the rows of a published test set every row, whatever
the filters say of it (:func:`pairs_of_rows`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.languages.comments import javadoc_sentence
from data_prep.languages.fields import LONGEST
from data_prep.languages.identifiers import query_words, split_identifier
from data_prep.languages.java.declarations import FoundMethod, LeftOut, find_methods, parse_java
from data_prep.languages.java.functions import clean_fields
from data_prep.pipeline.filters import NOT_PARSED, Candidate, is_generated, reason_to_drop
from data_prep.pipeline.stages import Extracted, chunked, collected, mapped
from data_prep.records import UNKNOWN, Excerpt, Method, Pair, SourceFile, SplitName
from data_prep.worker_pool import Guard
from data_prep.worker_process import PAIRS, limited

COSTLY: Final = "takes too much processor time or memory to parse"
_LINE: Final = re.compile(r"#L(\d+)")
_EXTRACT: Final = f"{__name__}:extract"
_CHUNK_BYTES: Final = 1 << 20
"""Of files that a process reads at once, for balanced work."""
_READ_ROWS: Final = f"{__name__}:pairs_of_chunk"
_ROWS_AT_ONCE: Final = 500
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Files to process together, and the configuration."""

    files: Sequence[SourceFile]
    config: DataConfig

    def divided(self) -> "list[Chunk]":
        """One chunk a file."""
        return [Chunk([file], self.config) for file in self.files]

    def refused(self) -> Extracted:
        """The result where the files cost too much to parse."""
        return Extracted(files=len(self.files), broken=[(file.path, COSTLY) for file in self.files])


_FILES_GUARD: Final = Guard(Chunk.divided, Extracted.joined, Chunk.refused, PAIRS)


def extract_all(files: Iterable[SourceFile], config: DataConfig, *, progress: bool) -> Extracted:
    """The pairs of ``files`` that pass the filters, duplicates included."""
    chunks = (Chunk(each, config) for each in chunked(files, lambda file: len(file.data), _CHUNK_BYTES))
    return collected(_EXTRACT, chunks, config, _FILES_GUARD, unit="files", progress=progress)


def extract(chunk: Chunk) -> Extracted:
    """The pairs of a chunk's files; broken files are recorded and skipped."""
    found = Extracted()
    for file in chunk.files:
        found.files += 1
        with limited(len(file.data)):
            _extract_file(file, chunk.config, found)
    return found


def _extract_file(file: SourceFile, config: DataConfig, found: Extracted) -> None:
    try:
        parsed = parse_java(file.data)
    except UserError as error:
        found.broken.append((file.path, str(error)))
        return
    generated, left_out = is_generated(file.data, parsed.code_start), LeftOut()
    for method in find_methods(parsed, left_out=left_out):
        if file.excerpt is not None and "." in method.type_name:
            continue  # nested inside the excerpt's method
        found.methods += 1
        candidate = candidate_of(file.path, method, generated=generated)
        reason = reason_to_drop(candidate, config)
        if reason is None:
            _keep(file, method, candidate, config, found)
        else:
            found.dropped[reason] += 1
    if trouble := parsed.trouble():
        found.broken.append((file.path, ": ".join(filter(None, (trouble, left_out.not_parsed())))))
    if left_out.declarations:
        found.broken.append((file.path, str(left_out)))


def _keep(file: SourceFile, method: FoundMethod, candidate: Candidate, config: DataConfig, found: Extracted) -> None:
    """Add the pair of a method, if the profile has fields for it."""
    fields, trouble = _fields(method, config)
    if trouble:
        found.not_parsed.append((f"{file.path}:{method.start_line}", trouble))
    if fields is None:
        found.dropped[NOT_PARSED] += 1
    else:
        found.pairs.append(Pair(record(file, method, fields), candidate.query_text, candidate.query))


def _fields(method: FoundMethod, config: DataConfig) -> tuple[Mapping[str, tuple[str, ...]] | None, str]:
    if not config.has_statements:
        return clean_fields(method), ""
    from data_prep.languages.java.jcg_fields import profile_fields  # by javalang, which others need not load

    return profile_fields(method, config.profile)


def candidate_of(path: str, found: FoundMethod, *, generated: bool) -> Candidate:
    """The properties of a declaration in the file ``path`` that the filters use."""
    sentence = javadoc_sentence(found.javadoc)
    return Candidate(
        path=path,
        name=found.name,
        kind=found.kind,
        lines=found.end_line - found.start_line + 1,
        annotations=found.annotations,
        javadoc=found.javadoc,
        query_text=sentence,
        query=query_words(sentence),
        generated_file=generated,
    )


def methods_of(file: SourceFile, *, documented_only: bool = False) -> Iterator[Method]:
    """All methods of a file with their fields, unfiltered.

    Raises:
        UserError: the file is too long to be parsed.
    """
    for found in find_methods(parse_java(file.data), documented_only=documented_only):
        yield record(file, found, clean_fields(found))


def record(file: SourceFile, found: FoundMethod, fields: Mapping[str, tuple[str, ...]]) -> Method:
    """The record of a method found in ``file``."""
    before = file.excerpt.lines_before if file.excerpt is not None else 0
    return Method(
        origin=file.origin,
        path=file.path,
        start_line=before + found.start_line,
        end_line=before + found.end_line,
        type_name=found.type_name,
        name=found.name,
        kind=found.kind,
        source=found.source,
        documentation=found.javadoc,
        fields=fields,
        split=file.excerpt.split if file.excerpt is not None else None,
    )


def wrap(row: Mapping[str, str], split: SplitName, origin: str) -> SourceFile:
    """The method of ``row`` below its comment in a separate class, so that it is read like any other file.

    Args:
        row: ``repo``, ``path``, ``func_name`` (Type.method), ``code``, ``docstring`` without comment marks, and
            optionally ``url`` with the line, ``...#L12-L20``.
        split: of the method.
        origin: of the method.
    """
    type_name = re.sub(r"\W", "_", row["func_name"].rpartition(".")[0]) or "_"
    head = f"class {type_name} {{ /**\n{row['docstring'].replace('*/', '* /')}\n*/\n"
    place = _LINE.search(row.get("url", ""))
    before = (int(place[1]) if place else 1) - head.count("\n") - 1
    data = f"{head}{row['code']}\n}}\n".encode(errors="replace")
    return SourceFile(origin, f"{row['repo']}/{row['path']}", data, Excerpt(split, before))


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A row, the split that it is for, and whether its documentation is a query or it is only a candidate."""

    fields: Mapping[str, str]
    split: SplitName
    is_query: bool = True


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
    file = wrap(row.fields, row.split, chunk.origin)
    with limited(len(file.data)):
        method = _parsed(file, chunk.config) if chunk.parsed else None
    text = " ".join(summary(row.fields["docstring"]).split())
    query = query_words(text)[:LONGEST] or (UNKNOWN,) if row.is_query else ()
    return Pair(method or _spelled(file, row), text, query), method is not None


def _parsed(file: SourceFile, config: DataConfig) -> Method | None:
    """The method of ``file``; None if it cannot be parsed."""
    try:
        found = next(find_methods(parse_java(file.data), documented_only=False), None)
    except UserError:
        return None
    if found is None:
        return None
    fields, _ = _fields(found, config)
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
