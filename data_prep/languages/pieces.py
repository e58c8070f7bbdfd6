"""A piece of code apart from its file: its language, and its function, or the words of what is no function.

``pieces.json`` says how likely each language is by words and signs: a small table, which knows no whole grammar. It
was learned from lines of open projects by ``python -m tests.piece_table fit``. It has a weight of each of some words,
pairs of signs and ends of lines for each language, and for what is of none, such as prose and JSON.
"""

import json
import re
from base64 import b85decode
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import pairwise
from math import log
from pathlib import Path
from textwrap import dedent
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.languages.fields import LONGEST, code_fields, distinct_words
from data_prep.languages.identifiers import LONGEST_WORD
from data_prep.languages.language import PIECE_TYPE, FoundFunction, Language, ParsedSource, resolved
from data_prep.languages.own_tree import Tree
from data_prep.languages.parsing import parse, syntax_tree
from data_prep.languages.registry import language as language_named
from data_prep.languages.registry import languages
from data_prep.store.arrays import Float

PLACE: Final = Path(__file__).with_name("pieces.json")
NONE: Final = ""
"""What is in no language."""
_PART: Final = re.compile(r"[^\W\d]\w*|[^\w\s]+")
_LONGEST_LINE: Final = 300
_LINES: Final = 100
Weights = Float[np.ndarray, "features languages"]


def features(text: str) -> Mapping[str, int]:
    """How often a text has each word, each sign and two of them in a row, and each start and end of a line."""
    found: Counter[str] = Counter()
    for line in text.splitlines()[:_LINES]:
        parts = _PART.findall(line[:_LONGEST_LINE])
        for part in parts:
            is_word = part[0] == "_" or part[0].isalpha()
            found.update((part,) if is_word else (*part, *map("".join, pairwise(part))))
        if parts:
            last = parts[-1]
            found.update((f"^{parts[0][:12]}", f"{last if last[0].isalpha() else last[-2:]}$"))
            found["\t"] += line.startswith("\t")
    return found


@cache
def _table() -> tuple[list[str], dict[str, int], Weights, Float[np.ndarray, " languages"]]:
    """The languages, the place of each feature, its weights, and the weights that each piece has."""
    saved = json.loads(PLACE.read_text(encoding="utf-8"))
    names: list[str] = saved["languages"]
    weights = np.frombuffer(b85decode(saved["weights"]), np.int8).reshape(-1, len(names)) * saved["unit"]
    return names, {feature: place for place, feature in enumerate(saved["features"])}, weights[1:], weights[0]


def probabilities(text: str) -> dict[str, float]:
    """Of each language that the table knows, and of :data:`NONE`; their sum is 1."""
    names, places, weights, scores = _table()
    known = [(places[each], count) for each, count in features(text).items() if each in places]
    if known:
        at, counts = zip(*known, strict=True)
        scores = scores + np.log1p(np.array(counts, np.float64)) @ weights[list(at)]
    odds = np.exp(scores - scores.max())
    return dict(zip(names, (odds / odds.sum()).tolist(), strict=True))


_START: Final = 1 << 12
"""Characters by which a language is recognised."""
_LEAST: Final = 1e-9
_WEIGHT: Final = 0.5
"""What the share of typical lines counts for the language of many pieces."""
_TYPICAL, _SKIPPED, _LIKELY, _DOUBT, _LATER = 2.0, 3.0, 2.0, 4.0, 0.05
"""What counts against the logarithm of the odds: the share of typical lines, that of skipped text, being likely, the
language's own doubt, and each place in the registry, whose first languages are the most frequent."""
_SURE: Final = 0.3
"""Share of typical lines from which a language's own doubt does not count."""
_UNKNOWN: Final = 0.05
"""Odds of a language that the table does not know."""
_PARSED: Final = 6
"""Languages whose parsers are asked."""
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
    is_function: bool = False


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
    reader: Callable[..., ParsedSource] = resolved(language.parser)
    reader = partial(reader, whole=True) if reader is parse else reader  # what does not parse is no piece anyway
    try:
        parsed = reader(language, before + text + after, f"piece{language.suffixes[0]}")
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
    return Piece(name, type_name, _own_fields(first), text, *place, first.doc, docstring, comments, is_function=True)


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
    """The syntax tree of a piece of code; Kotlin's parser would not end at some that end without a line break."""
    grammar = language.grammar if b"<?php" in text else language.piece_grammar or language.grammar
    return syntax_tree(grammar, text + b"\n")


def plain_words(code: str) -> tuple[str, ...]:
    """The distinct words of the identifiers of code of any language, or of none."""
    names = dict.fromkeys(name[:LONGEST_WORD] for name in _IDENTIFIER.findall(code))
    return distinct_words(names)[:LONGEST]


def language_of(text: str, among: Collection[str] = (), likely: Collection[str] = ()) -> str:
    """The language of a piece of code, by its words and signs and what parsers skip; "" if it is of none that is known.

    Args:
        text: need not be whole: it may begin or end anywhere.
        among: those that it may be of; none: all.
        likely: one of them that reads all of it, and is typical of it, is taken; others have a start.
    """
    part = text[:_START]
    lines = [line for line in part.splitlines() if line.strip()]
    typical = {each.name: _typical(lines, each.typical) for each in languages() if not among or each.name in among}
    first = max((name for name in typical if name in likely), key=lambda name: typical[name], default="")
    if first and typical[first] and not _skipped(part, first):
        return first
    odds = probabilities(part)
    merit = {
        name: log(max(odds.get(name, _UNKNOWN), _LEAST)) + _TYPICAL * share + _LIKELY * (name in likely)
        - _DOUBT * language_named(name).doubt * max(0.0, 1 - share / _SURE) * (1 - odds.get(name, 0.0)) - _LATER * place
        for place, (name, share) in enumerate(typical.items())
    }  # fmt: skip
    asked = sorted(merit, key=lambda name: -merit[name])[:_PARSED]
    found = {name: merit[name] - _SKIPPED * _skipped(part, name) for name in asked}
    best = max(found, key=lambda name: found[name])
    return best if found[best] > log(max(odds[NONE], _LEAST)) else ""


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


def languages_of(codes: Sequence[str], least: float) -> tuple[str, ...]:
    """The languages of some pieces of code, the most frequent first.

    The first is the one that reads most of them, functions before statements, and has the most typical lines; the next
    is that of the functions which those before it do not read.

    Args:
        codes: a sample.
        least: the share of them that a further language has to read.
    """
    found: list[str] = []
    left = [code[:_START] for code in codes]
    while left and (not found or len(left) >= least * len(codes)):
        read = {each.name: [_read(code, each) for code in left] for each in languages()}
        merit = {name: sum(marks) - len(left) * language_named(name).doubt for name, marks in read.items()}
        best = max(merit, key=lambda name: merit[name])
        whole = sum(mark >= _FUNCTION for mark in read[best])
        if merit[best] < _LEAST_MERIT * len(left) or (found and whole < least * len(codes)):
            break
        found.append(best)
        left = [code for code, mark in zip(left, read[best], strict=True) if not mark]
    return tuple(found)


_FUNCTION: Final = 1.0
_STATEMENTS: Final = 0.5
_LEAST_MERIT: Final = 0.15
"""Mean merit of a language that counts; of SQL, which none reads, the best has .08."""


def _read(code: str, language: Language) -> float:
    """How well a language reads a piece of code."""
    piece = read_piece(code, language)
    read = 0.0 if piece is None else _FUNCTION if piece.is_function else _STATEMENTS
    return read + _WEIGHT * _typical([line for line in code.splitlines() if line.strip()], language.typical)


def piece_among(code: str, among: Sequence[str]) -> tuple[str, Piece | None]:
    """The language of a piece of code among some, "" if there are none, and what its parser reads."""
    read = []
    for name in among:
        piece = read_piece(code, language_named(name)) if name else None
        if piece is not None and (piece.is_function or len(among) == 1):
            return name, piece
        read.append((name, piece))
    name = among[0] if len(among) == 1 else language_of(code, among) if among else ""
    return name, dict(read).get(name)
