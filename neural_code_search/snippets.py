"""Texts of queries and Java methods -> pairs of words, parsed as an index parses them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from data_prep.bounds import shown
from data_prep.errors import UserError
from data_prep.records import Pair, SourceFile
from search.engine.question import words_of
from search.files.java import read_java

_TYPE: Final = "_"
"""Name of the type that is put around a method, as in a file; it has no words."""


def read_pairs(queries: Sequence[str], codes: Sequence[str]) -> list[Pair]:
    """Pair i of query i and code i.

    Raises:
        UserError: the lengths differ, a query has no words, or a code is not one Java method.
    """
    check_texts("queries", queries)
    check_texts("codes", codes)
    if len(queries) != len(codes):
        raise UserError(f"expected as many codes as queries, got {len(queries):,} queries and {len(codes):,} codes")
    asked = [_words(query, f"queries[{place}]") for place, query in enumerate(queries)]
    return [replace(pair, query=words) for pair, words in zip(read_codes(codes), asked, strict=True)]


def read_codes(codes: Sequence[str]) -> list[Pair]:
    """Java methods or constructors, each with the first sentence of its comment, if any, as its query.

    Raises:
        UserError: one of them is something else; the message has its position.
    """
    check_texts("codes", codes)
    return [_read(code, f"codes[{place}]") for place, code in enumerate(codes)]


def check_texts(name: str, texts: Sequence[str]) -> None:
    """Check that ``texts`` is a sequence of texts.

    Raises:
        UserError: it is not; the message has ``name``.
    """
    if isinstance(texts, str | bytes):
        raise UserError(f"expected a list of texts as {name}, got one text: {shown(texts)}")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise UserError(f"expected a text as {name}[{place}], got {type(text).__name__}")


def _words(query: str, name: str) -> tuple[str, ...]:
    try:
        return words_of(query)
    except UserError as error:
        raise UserError(f"{name}: {error}") from error


def _read(code: str, name: str) -> Pair:
    data = f"class {_TYPE} {{\n{code}\n}}\n".encode(errors="replace")
    try:
        units = read_java(SourceFile("", "", data)).units
    except UserError as error:
        raise UserError(f"{name}: {error}") from error
    methods = [unit.pair for unit in units if unit.pair.method.kind != "type"]
    outermost = min((pair.method.type_name.count(".") for pair in methods), default=0)
    found = [pair for pair in methods if pair.method.type_name.count(".") == outermost]
    if len(found) != 1:
        what = f"{len(found)} methods" if found else "none that can be read"
        raise UserError(f"{name}: expected one Java method, got {what} in {shown(code)}")
    return found[0]
