"""What a file declares, as far as it can be read: of a half-typed file what its repaired text declares."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, Protocol, TypeVar, runtime_checkable

from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import FoundFunction, Language, ParsedSource, words
from data_prep.languages.own_tree import captures_of_broken
from data_prep.languages.parsing import stray_line, syntax_tree
from search.files.parts import repaired_by_parts
from search.files.repair import Repaired, repaired


@runtime_checkable
class _Parsed(Protocol):
    """A source as it was parsed."""

    @property
    def broken_line(self) -> int:
        """The first line of what does not parse, from 1; 0: all does."""


Parsed = TypeVar("Parsed", bound=_Parsed)

PARTLY: Final = "partly parsed, line {} was not understood: what could not be read is found by the whole file"
"""What is said of a file with syntax errors."""
_NO_NAMES: Final = words("if for while switch catch return function with else do try throw new func def class elif")
"""What a broken text may make the name of a function."""
_STATEMENTS: Final = words("if while switch else elif")
"""Those that are no names of methods."""
_APART: Final = compiled_later(rb"\s+[\w({]|$")
"""What is behind the start of a statement."""
_CONFLICT: Final = compiled_later(rb"(?m)^(?:<{7}|>{7}|\|{7}|={7})(?=[ \r\n]|$)[^\n]*")
_LARGE: Final = 1 << 16
"""Bytes of a file that is not repaired part by part, if it has few errors."""
_FEW: Final = 20
_TRIES: Final = 4
LONG: Final = 1000
"""Bytes of a line that people hardly write: what is declared behind them is a program's."""
_MEAN: Final = 200  # bytes of a line
_DECLARES: Final = compiled_later(
    rb"[ \t]*(?:(?:export|default|async|public|private|protected|static|final|abstract|pub|internal|open|override|local"
    rb"|inline|extern|unsafe|suspend|data|sealed|case|implicit)[ \t]+)*"
    rb"(?:def\w*|class|function|func|fun|fn|interface|enum|type|const|let|var|val|object|struct|trait|impl|extension|actor"
    rb"|protocol|module|namespace|module\.exports|exports)\b"
    rb"|[\w.]+[ \t]*(?:<-|=)[ \t]*function\b|\w+[ \t]+::[ \t]"
    rb"|[ \t]*+(?!(?:if|for|while|switch|catch)\b)[\w$:*&<>~., \t\[\]]{1,200}\([^;{}()]{0,300}\)[\w \t]{0,40}\{(?!\S)"
    rb"|(?!(?:return|else|new|throw)\b)\w[\w$:*&<>~ \t]{0,200}[ \t*&:]\w+\([^;{}()\"']{0,300}\)[\w \t]{0,40}$"
)

_HEAD: Final = 4096
"""Bytes of a file that say how it was made."""
_BUNDLED: Final = compiled_later(
    rb"(?m)^var (?:[A-Z]\w* = \(\(\) => \{\n\s*var )?__(?:defProp|create) = Object\.(?:defineProperty|create)[;,]"
    rb"|^Object\.defineProperty\(exports, [\"']__esModule[\"'], \{\s*value: true,?\s*\}\);"
    rb"|^\(function (?:webpackUniversalModuleDefinition\(|\(global, factory\) \{\s*typeof exports === )"
    rb"|\(\(\) => \{ // webpackBootstrap$"
)
"""What esbuild, TypeScript, Babel, webpack and Rollup begin what they make with."""
_MAPPED: Final = compiled_later(rb"\n(?://|/\*)[#@][ \t]?sourceMappingURL=[^\s\"'`]+\s*(?:\*/\s*)?\Z")
"""What names the map back to the sources, at the end."""


class Declared(NamedTuple):
    """What was found in a text."""

    number: int  # of functions and types, which broken text seldom makes up
    lines: Sequence[tuple[int, int, str]]  # the first and last ones of these and of constants, and the types around


def parseable(data: bytes) -> bytes:
    """A text whose first line, if it is that of a script, is a comment of languages that have // for comments."""
    return b"//" + data[2:] if data.startswith(b"#!") else data


def is_minified(data: bytes) -> bool:
    """Whether a file is minified or data: nothing is declared outside of its long lines, which are most of it."""
    lines = data.split(b"\n")
    if len(data) <= _MEAN * len(lines) and max(map(len, lines)) <= LONG:
        return False
    lines = [*map(bytes.rstrip, lines)]
    short = [line for line in lines if len(line) <= LONG]
    size = sum(map(len, short))
    if size > _MEAN * max(1, len(short)):
        return True
    in_long = sum(map(len, lines)) - size
    return 2 * in_long > len(data) and not any(map(_DECLARES.match, short))


def is_built(data: bytes) -> bool:
    """Whether a bundler or compiler made a file from others, by what it writes at its beginning or end."""
    return _BUNDLED.search(data[:_HEAD]) is not None or _MAPPED.search(data[-_HEAD:]) is not None


def best_of(
    data: bytes,
    language: Language,
    path: str,
    read: Callable[[bytes], Parsed],
    found_in: Callable[[Parsed, bytes], Declared],
) -> tuple[Parsed, Repaired | None, list[str]]:
    """What is read of a file; if it does not parse, of the repair that has most, and what is said of that.

    Args:
        data: the file.
        language: its language.
        path: its path, whose suffix says the grammar.
        read: reads a text.
        found_in: what was found in a text.
    """
    best, fixed = read(data), None
    if not best.broken_line:
        return best, None, []
    grammar = language.grammar_of(path)
    begun = parseable if language.line_comment == "//" else bytes
    of_parts = language.piece_grammar or grammar  # a part need not have the mark that begins code

    def parses(text: bytes) -> bool:
        tree = syntax_tree(grammar if b"<?" in text else of_parts, begun(text))
        return not tree.root_node.has_error and not stray_line(language, tree)

    broken, most = best.broken_line, found_in(best, data)
    eased = language.eased(data)
    plain = _without_errors(eased, grammar) if len(data) > _LARGE else b""
    for other in [Repaired(plain, [])] if plain else _repairs(eased, data, language, parses):
        again = read(other.text)
        changed = _first_changed(other, eased)
        if fixed is None and changed and broken in (best.broken_line, 0):
            broken = changed
        found = found_in(again, other.text)
        is_whole = bool(best.broken_line) and not again.broken_line
        if is_whole and found == most:
            break  # the errors hide nothing
        if found.number > most.number or (found.number == most.number and is_whole and found.lines != most.lines):
            best, fixed, most, broken = again, other, found, changed or broken
    return best, fixed, [PARTLY.format(broken)]


def _first_changed(fixed: Repaired, data: bytes) -> int:
    """The first line of ``data``, from 1, that a repair has changed or added something to; 0: none."""
    lines = [data.count(b"\n", 0, fixed.added[0].place)] if fixed.added else []
    if fixed.plain != data:
        both = zip(fixed.plain.split(b"\n"), data.split(b"\n"), strict=True)
        lines.append(next(number for number, (one, other) in enumerate(both) if one != other))
    return min(lines, default=-1) + 1


def _repairs(data: bytes, typed: bytes, language: Language, parses: Callable[[bytes], bool]) -> Iterator[Repaired]:
    """The file repaired part by part, with both sides of its conflicts or one alone, or as a whole."""
    both, alone = _without_marks(data), _without_marks(_one_side(data))
    for each in (both, alone) if both != alone else (both,):
        yield repaired_by_parts(each, typed, language, parses)
    yield repaired(alone, language, typed)


def _without_errors(data: bytes, grammar: str) -> bytes:
    """A file with blanks in place of its few errors, if it parses then; else nothing. It costs as little as reading."""
    text = bytearray(data)
    for _ in range(_TRIES):
        tree = syntax_tree(grammar, bytes(text))
        if not tree.root_node.has_error:
            return bytes(text)
        errors = captures_of_broken(tree, lambda node: "error" * (node.is_error or node.is_missing)).get("error", [])
        if len(errors) > _FEW or any(each.is_missing or each.end_byte - each.start_byte > LONG for each in errors):
            break
        for each in errors:
            text[each.start_byte : each.end_byte] = _blank(bytes(text[each.start_byte : each.end_byte]))
    return b""


def _without_marks(data: bytes) -> bytes:
    """The file with blanks in place of git's marks of conflicts."""
    return _CONFLICT.sub(_blank, data)


def _one_side(data: bytes) -> bytes:
    """The file with the first side alone of each of git's conflicts; the other one is blank."""
    text, start = bytearray(data), None
    for mark in _CONFLICT.finditer(data):
        kind = mark[0][:1]
        if kind == b">" and start is not None:
            text[start : mark.end()] = _blank(data[start : mark.end()])
        start = None if kind in b"<>" else mark.start() if start is None else start
    return bytes(text)


def _blank(found: re.Match[bytes] | bytes) -> bytes:
    return re.sub(rb"[^\n]", b" ", found if isinstance(found, bytes) else found[0])


def declared_in(parsed: ParsedSource, text: bytes) -> Declared:
    """What a ``text`` declares."""
    inside = *parsed.damaged(), *parsed.inner(), *parsed.handlers()
    found = plausible([*parsed.functions, *inside, *parsed.types()], text)
    lines = [(each.start_line, each.end_line, each.type_name) for each in (*found, *parsed.constants())]
    return Declared(len(found), sorted(lines))


def plausible(found: Iterable[FoundFunction], text: bytes) -> list[FoundFunction]:
    """Functions of a ``text`` with syntax errors, without those that these have made up of statements.

    A method may be called like a statement: it has its bracket right behind its name, or something before that.
    """
    return [
        each
        for each in found
        if each.name not in _NO_NAMES
        or not (begun := text[each.start : each.start + LONG]).startswith(each.name.encode())
        or not (each.name in _STATEMENTS or _APART.match(begun, len(each.name)))
    ]


def placed(found: Sequence[FoundFunction], fixed: Repaired | None) -> list[FoundFunction]:
    """What was found in a repaired text, by its places in the file."""
    if fixed is None:
        return [*found]
    return [replace(each, start=fixed.place(each.start), end=fixed.place(each.end)) for each in found]
