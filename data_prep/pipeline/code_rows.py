"""Rows of a code and its query in any language -> pairs, in several processes: each function is parsed by itself.

Code that its language's parser refuses, and code of no known language, has the words of its identifiers. Of a published
data set every row is a pair, whatever the filters say of it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from typing import Any, Final, NamedTuple

from data_prep.config import DEFAULT_LANGUAGE, DataConfig
from data_prep.languages.fields import LONGEST
from data_prep.languages.identifiers import query_words, split_identifier
from data_prep.languages.language import Language
from data_prep.languages.pieces import Piece, piece_among, plain_words
from data_prep.languages.registry import language as language_named
from data_prep.pipeline.copies import DIGITS, Fingerprint, identifiers
from data_prep.pipeline.java_extraction import LINE, java_method
from data_prep.pipeline.shards import parts_between
from data_prep.pipeline.stages import chunked, interned, mapped
from data_prep.records import UNKNOWN, Method, Pair, SplitName
from data_prep.store.arrays import Ragged
from data_prep.store.split import Gathered, Split
from data_prep.worker_pool import Guard
from data_prep.worker_process import PAIRS, limited

NO_WORDS: Final = "no word in the query"
NO_CODE_WORDS: Final = "no word in the code"
_ROWS_AT_ONCE: Final = 500
_WORD: Final = re.compile(r"\w+")


class CodeRow(NamedTuple):  # as which it is made and sent sooner than as a dataclass
    """A code and its query."""

    query: str  # "": the code is only a candidate
    code: str
    language: str | None = None  # of the registry; "": of none that is known; None: not said
    split: SplitName | None = None
    path: str = ""
    line: int = 1
    name: str = ""  # where its parser finds none; may have its types: Type.method
    licence: str = ""


@dataclass(frozen=True, slots=True)
class ReadRow:
    """The pair of a row."""

    pair: Pair
    language: str  # "": of none that is known
    is_parsed: bool
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class RowChunk:
    """Rows to read together."""

    rows: Sequence[Any]  # of CodeRow, or of PublishedRow
    origin: str
    config: DataConfig
    among: tuple[str, ...]  # languages of rows that say none
    parsed: bool = True  # else only words are read


@dataclass(frozen=True, slots=True)
class ReadPart:
    """What is read of some rows, as few objects, which are sent sooner than many; all but the first is of the pairs."""

    reasons: list[str]  # of each row, why it is no pair; "": it is one
    pairs: Split
    languages: list[str]  # "": of none that is known
    parsed: list[bool]
    exact: list[bytes]  # of the fingerprints of their codes
    identifiers: Ragged
    codes: list[bytes]  # digests of their codes as they are shown
    queries: list[bytes]  # digests of the texts of their queries


def read_rows(rows: Iterable[CodeRow], origin: str, config: DataConfig) -> Iterator[tuple[Pair, bool] | str]:
    """The pair of each row, in order, and whether its code is parsed, or why it has none.

    Args:
        rows: as they come, with their languages.
        origin: of the methods.
        config: of the data set.

    Raises:
        OSError: a process was killed.
    """
    for found in _read_of(rows, read_chunk, origin, config):
        yield found if isinstance(found, str) else (interned(found.pair), found.is_parsed)


def read_parts(
    rows: Iterable[CodeRow], origin: str, config: DataConfig, *, among: tuple[str, ...]
) -> Iterator[ReadPart]:
    """The same of parts of the rows.

    Args:
        rows: as they come.
        origin: of the methods.
        config: of the data set.
        among: the languages of rows that say none: recognised if they are several, unknown if there is none.

    Raises:
        OSError: a process was killed.
    """

    def size(parts: Sequence[ReadPart]) -> int:
        return sum(len(part.reasons) for part in parts)

    return _read_of(rows, read_part, origin, config, among=among, size=size)


def _read_of(
    rows: Iterable[Any],
    read: Callable[[RowChunk], list[Any]],
    origin: str,
    config: DataConfig,
    *,
    among: tuple[str, ...] = (),
    size: Callable[[Any], int] = len,
    progress: bool = True,
) -> Iterator[Any]:
    """What the function ``read`` gives of each chunk of the rows, in order; ``size``: the rows of a result.

    A chunk that costs too much is divided into one a row, and these are at last read without a parser.
    """
    guard = Guard(
        divided=lambda whole: [replace(whole, rows=[row]) for row in whole.rows],
        joined=lambda parts: [*chain.from_iterable(parts)],
        refused=lambda single: read(replace(single, parsed=False)),
        limits=PAIRS,
    )
    chunks = (RowChunk(each, origin, config, among) for each in chunked(rows, lambda _: 1, _ROWS_AT_ONCE))
    name = f"{__name__}:{read.__name__}"
    return chain.from_iterable(mapped(name, chunks, config, guard, unit="rows", size=size, progress=progress))


def read_chunk(chunk: RowChunk) -> list[ReadRow | str]:
    """What :func:`read_rows` gives of a chunk, in one process."""
    found: list[ReadRow | str] = []
    for row in chunk.rows:
        with limited(len(row.code)):
            found.append(_read(row, chunk))
    return found


def read_part(chunk: RowChunk) -> list[ReadPart]:
    """What :func:`read_parts` gives of a chunk, in one process."""
    found = read_chunk(chunk)
    read = [each for each in found if not isinstance(each, str)]
    gathered = Gathered()
    for each in read:
        gathered.add(each.pair)
    pairs, prints = [each.pair for each in read], [each.fingerprint for each in read]
    return [ReadPart(
        [each if isinstance(each, str) else "" for each in found],
        gathered.split(),
        [each.language for each in read],
        [each.is_parsed for each in read],
        [each.exact for each in prints],
        identifiers(prints),
        [_digest(pair.method.source) for pair in pairs],
        [_digest(pair.query_text) for pair in pairs],
    )]  # fmt: skip


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def _read(row: CodeRow, chunk: RowChunk) -> ReadRow | str:
    query = query_words(row.query)[:LONGEST]
    if row.query and not query:
        return NO_WORDS
    name, piece = _piece(row, chunk.among, parsed=chunk.parsed)
    language = language_named(name) if name else None
    method = _method(row, chunk.origin, piece)
    if not any(method.fields.values()):
        return NO_CODE_WORDS
    return ReadRow(Pair(method, row.query, query), name, piece is not None, _fingerprint(row, piece, language))


def _piece(row: CodeRow, among: tuple[str, ...], *, parsed: bool) -> tuple[str, Piece | None]:
    """The language of a row, and what its parser reads."""
    among = among if row.language is None else (row.language,)
    return piece_among(row.code, among) if parsed else ("".join(among[:1]), None)


def _method(row: CodeRow, origin: str, piece: Piece | None) -> Method:
    type_name, _, name = row.name.rpartition(".")
    fields = piece.fields if piece else {"name": (), "tokens": plain_words(row.code), "api": ()}
    if piece and piece.name:
        type_name, name = piece.type_name or type_name, piece.name
    fields = {**fields, "name": fields["name"] or split_identifier(name)[:LONGEST]}
    source = _source(row, piece)
    last = row.line + source.count("\n")
    place = (origin, row.path, row.line, last, type_name, name)
    return Method(*place, "method", source, "", fields, row.split, row.licence)


def _source(row: CodeRow, piece: Piece | None) -> str:
    """The code as it is written, without documentation that says the query."""
    if piece is None or not piece.doc or not row.query:
        return row.code
    said, asked = (" ".join(_WORD.findall(text.lower())) for text in (piece.doc, row.query))
    if asked not in said:
        return row.code
    start, end = piece.docstring or (piece.end, piece.end)
    code = piece.text[piece.start : start].rstrip() + piece.text[end : piece.end]
    return code.decode("utf-8", "replace")


def _fingerprint(row: CodeRow, piece: Piece | None, language: Language | None) -> Fingerprint:
    """That of the code without comments and digits, so that ``add_1`` and ``add_2`` are alike."""
    code = row.code.encode("utf-8", "replace")
    if piece:
        code = b" ".join(parts_between(piece.text, piece.comments, piece.start, piece.end))
    return Fingerprint.of(code.translate(None, DIGITS), language.keywords if language else frozenset())


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A row, the split that it is for, and whether its documentation is a query or it is only a candidate."""

    fields: Mapping[str, str]
    split: SplitName
    is_query: bool = True
    language: str = DEFAULT_LANGUAGE


def pairs_of_rows(
    rows: Iterable[PublishedRow], origin: str, config: DataConfig, *, progress: bool = True
) -> Iterator[tuple[SplitName, Pair, bool]]:
    """The split and pair of each row, in order, and whether its code could be parsed; ``progress``: if with a bar."""
    return _read_of(rows, pairs_of_chunk, origin, config, progress=progress)


def pairs_of_chunk(chunk: RowChunk) -> list[tuple[SplitName, Pair, bool]]:
    """The same of a chunk, in one process."""
    return [(row.split, *_pair(row, chunk)) for row in chunk.rows]


def summary(docstring: str) -> str:
    """What CodeSearchNet makes ``docstring_tokens`` of: the text before the first empty line, else before the first @.

    function_parser/parsers/commentutils.py of github/CodeSearchNet.
    """
    return docstring.partition("\n\n" if "\n\n" in docstring else "@")[0]


def _pair(row: PublishedRow, chunk: RowChunk) -> tuple[Pair, bool]:
    text = " ".join(summary(row.fields["docstring"]).split())
    query = query_words(text)[:LONGEST] or (UNKNOWN,) if row.is_query else ()
    if row.language == DEFAULT_LANGUAGE:
        config = chunk.config if chunk.parsed else None
        method, is_parsed = java_method(row.fields, row.split, chunk.origin, config)
    else:
        code = code_row(row.fields, row.language, row.split, row.fields["docstring"])
        with limited(len(code.code)):
            _, piece = _piece(code, (), parsed=chunk.parsed)
            method, is_parsed = _method(code, chunk.origin, piece), piece is not None
    return Pair(method, text, query), is_parsed


def code_row(fields: Mapping[str, str], language: str, split: SplitName, query: str) -> CodeRow:
    """The row of a language other than Java."""
    place = LINE.search(fields.get("url", ""))
    path, line = f"{fields['repo']}/{fields['path']}", int(place[1]) if place else 1
    return CodeRow(query, fields["code"], language, split, path, line, fields["func_name"])


def placed(pair: Pair) -> tuple[str, int, int, str, str]:
    """Sort key by place, so that the order of rows does not matter."""
    method = pair.method
    return method.path, method.start_line, method.end_line, method.source, pair.query_text
