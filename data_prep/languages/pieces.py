"""A piece of code apart from its file: its language, and its function, or the words of what is no function."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from textwrap import dedent
from typing import Final

from data_prep.errors import UserError
from data_prep.languages.fields import LONGEST, code_fields, distinct_words
from data_prep.languages.identifiers import LONGEST_WORD
from data_prep.languages.language import PIECE_TYPE, FoundFunction, Language
from data_prep.languages.own_tree import Tree
from data_prep.languages.parsing import syntax_tree
from data_prep.languages.registry import language as language_named
from data_prep.languages.registry import languages

_START: Final = 1 << 12
"""Characters by which a language is recognised."""
_WEIGHT: Final = 0.5
"""What the share of typical lines counts against the share of skipped text."""
_SURE: Final = 0.3
"""Share of typical lines from which a language's own doubt does not count."""
_BROKEN: Final = 0.1
"""Doubt from which a piece is of no known language."""
_MOST_NODES: Final = 20_000
_IDENTIFIER: Final = re.compile(r"[^\W\d][\w$]*")
_INDENTED: Final = re.compile(r"\A\s*\n?[ \t]")


@dataclass(frozen=True, slots=True)
class Piece:
    """What a parser reads of a piece of code; offsets are in bytes of its text."""

    name: str  # of its function; "" if it is none, or has none
    type_name: str
    fields: Mapping[str, tuple[str, ...]]
    text: bytes  # without the indent of all lines
    start: int = 0  # of the function, without the comment before it
    end: int = 0
    doc: str = ""  # its documentation
    docstring: tuple[int, int] | None = None  # where that is, if it is inside
    comments: Sequence[tuple[int, int]] = ()


def read_piece(code: str, language: Language) -> Piece | None:
    """The function that a piece of code is, or its statements; None if its language's parser finds an error in it."""
    text = (
        (dedent(code.lstrip("\r\n")) if _INDENTED.match(code) else code).replace("\r\n", "\n").encode(errors="replace")
    )
    for before, after in language.pieces:
        before = "" if before.startswith("<?") and b"<?php" in text else before
        if found := _function(text, before.encode(), after.encode(), language):
            return found
    return _statements(text, language)


def _function(text: bytes, before: bytes, after: bytes, language: Language) -> Piece | None:
    """The only outer function of a text between two others."""
    try:
        parsed = language.parse(before + text + after, f"piece{language.suffixes[0]}")
    except UserError:
        return None
    if parsed.broken_line or not parsed.functions:
        return None
    first = parsed.functions[0]
    if any(each.start >= first.end for each in parsed.functions):
        return None
    shift = len(before)
    comments = [(start - shift, end - shift) for start, end in parsed.comments]
    docstring = None if first.docstring is None else (first.docstring[0] - shift, first.docstring[1] - shift)
    place = (max(0, first.start - shift), min(len(text), first.end - shift))
    name, type_name = ("" if each == PIECE_TYPE else each for each in (first.name, first.type_name))
    return Piece(name, type_name, _own_fields(first), text, *place, first.doc, docstring, comments)


def _own_fields(found: FoundFunction) -> dict[str, tuple[str, ...]]:
    """The fields of a function without the name of the type that was put around it."""
    fields = {**found.fields()}
    fields["api"] = tuple(word for word in fields["api"] if word != PIECE_TYPE)
    return {**fields, "name": ()} if found.name == PIECE_TYPE else fields


def _statements(text: bytes, language: Language) -> Piece | None:
    root = syntax_tree_of(text, language).root_node
    if root.has_error:
        return None
    return Piece("", "", code_fields("", "", (root, root, None), language), text, 0, len(text))


def syntax_tree_of(text: bytes, language: Language) -> Tree:
    """The syntax tree of a piece of code."""
    grammar = language.grammar if b"<?php" in text else language.piece_grammar or language.grammar
    return syntax_tree(grammar, text)


def plain_words(code: str) -> tuple[str, ...]:
    """The distinct words of the identifiers of code of any language, or of none."""
    names = dict.fromkeys(name[:LONGEST_WORD] for name in _IDENTIFIER.findall(code))
    return distinct_words(names)[:LONGEST]


def language_of(text: str, among: Collection[str] = ()) -> str:
    """The language of a piece of code, the one whose parser skips the least; "" if it is of none that is known.

    Args:
        text: need not be whole: it may begin or end anywhere.
        among: those that it may be of; none: all.
    """
    part = text[:_START]
    lines = [line for line in part.splitlines() if line.strip()]
    doubt = {each.name: _doubt(part, lines, each) for each in languages() if not among or each.name in among}
    best = min(doubt, key=lambda name: doubt[name])
    return best if doubt[best] < _BROKEN else ""


def _doubt(part: str, lines: Sequence[str], language: Language) -> float:
    typical = _typical(lines, language.typical)
    own = language.doubt * max(0.0, 1 - typical / _SURE)
    return own + _skipped(part, language.name) - _WEIGHT * typical


def _typical(lines: Sequence[str], pattern: str) -> float:
    """The share of the lines that have something typical of a language."""
    typical = re.compile(pattern)
    return sum(typical.search(line) is not None for line in lines) / max(1, len(lines))


@lru_cache(maxsize=32)
def _skipped(text: str, language: str) -> float:
    """The share of the text that the parser skips, and what it adds; 0 where there is no parser."""
    if not language_named(language).grammar:
        return 0.0
    root = syntax_tree_of(text.encode(errors="replace"), language_named(language)).root_node
    todo, skipped = [root] if root.has_error else [], 0
    for _ in range(_MOST_NODES):
        if not todo:
            break
        node = todo.pop()
        if node.is_error:  # it may be around everything: what it has parsed does not count
            skipped += sum(each.end_byte - each.start_byte for each in node.children if not each.child_count)
        skipped += node.is_missing
        todo += [each for each in node.children if each.has_error]
    return skipped / max(1, root.end_byte - root.start_byte)


def common_languages(codes: Sequence[str], least: float) -> Iterator[str]:
    """The languages of at least a share of some pieces of code, the most frequent first."""
    counts: dict[str, int] = {}
    for code in codes:
        found = language_of(code)
        counts[found] = counts.get(found, 0) + bool(found)
    return (
        name for name in sorted(counts, key=lambda name: -counts[name]) if counts[name] >= max(1, least * len(codes))
    )
