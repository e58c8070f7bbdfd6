"""What a file declares, as far as it can be read: of a half-typed file what its repaired text declares."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from data_prep.languages.java.declarations import ParsedFile
from data_prep.languages.language import FoundFunction, Language, ParsedSource, words
from search.files.repair import Repaired, repaired

Parsed = TypeVar("Parsed", ParsedSource, ParsedFile)

PARTLY: Final = "partly parsed, line {} was not understood: what could not be read is found by the whole file"
"""What is said of a file with syntax errors."""
_NO_NAMES: Final = words("if for while switch catch return function with else do try throw new func def class elif")
"""What a broken text may make the name of a function."""
_REPAIRS: Final = 3
"""How often a file is repaired at most."""
_MOST_LINES: Final = 2000
"""Lines of a function in which others are looked for."""
LONG: Final = 1000
"""Bytes of a line that people hardly write: what is declared behind them is a program's."""
_MEAN: Final = 200  # bytes of a line
_DECLARES: Final = re.compile(
    rb"[ \t]*(?:(?:export|default|async|public|private|protected|static|final|abstract)[ \t]+)*"
    rb"(?:def|class|function|func|interface|enum|type|const|let|var|module\.exports|exports)\b"
)


def parseable(data: bytes) -> bytes:
    """A text whose first line, if it is that of a script, is a comment of languages that have // for comments."""
    return b"//" + data[2:] if data.startswith(b"#!") else data


def is_minified(data: bytes) -> bool:
    """Whether a file is minified or data: nothing is declared outside of its long lines, which are most of it."""
    lines = [line.rstrip() for line in data.split(b"\n")]
    short = [line for line in lines if len(line) <= LONG]
    if sum(map(len, short)) > _MEAN * max(1, len(short)):
        return True
    in_long = sum(len(line) for line in lines if len(line) > LONG)
    return 2 * in_long > len(data) and not any(map(_DECLARES.match, short))


def best_of(
    data: bytes,
    language: Language,
    read: Callable[[bytes], Parsed],
    found_in: Callable[[Parsed], int],
    swallows: Callable[[Parsed], bool] = lambda _: False,
) -> tuple[Parsed, Repaired | None, list[str]]:
    """What is read of a file; if it does not parse, of the repair that has most, and what is said of that.

    It is repaired as it is, then without the lines that are not understood.

    Args:
        data: the file.
        language: its language.
        read: reads a text.
        found_in: how much was found in a text.
        swallows: whether what was found has others inside that should follow it. Else a text to which nothing is added
            is not read again: real files have syntax that a grammar does not know.
    """
    best, fixed = read(data), None
    if not best.broken_line:
        return best, None, []
    broken, most, without = best.broken_line, found_in(best), frozenset[int]()
    for _ in range(_REPAIRS):
        other: Repaired = repaired(data, language, without)
        if other.text == data:
            if not swallows(best):
                break
            without |= {broken}
            continue
        again = read(other.text)
        count = found_in(again)
        if count > most or (count == most and not again.broken_line):
            best, fixed, most = again, other, count
        broken = other.lines[0] if other.lines and not without else broken
        without |= {*other.lines, again.broken_line}
        if not again.broken_line:
            break
    return best, fixed, [PARTLY.format(broken)]


def swallows(data: bytes, parsed: ParsedSource) -> bool:
    """Whether a function with broken text goes on over the start of another one, by its indentation."""
    lines = data.split(b"\n")
    return any(
        _DECLARES.match(lines[line])
        for each in parsed.damaged()
        if (indent := _indent(lines[each.start_line - 1])) < 40
        for line in range(each.start_line, min(each.end_line, each.start_line + _MOST_LINES, len(lines)))
        if lines[line].strip() and _indent(lines[line]) <= indent
    )


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def declared_count(parsed: ParsedSource) -> int:
    """How much a file declares."""
    return len(plausible(parsed.functions)) + len(plausible(parsed.damaged())) + len(parsed.types())


def plausible(found: Iterable[FoundFunction]) -> list[FoundFunction]:
    """Functions of a file with syntax errors, without those that these have made up."""
    return [each for each in found if each.name not in _NO_NAMES]


def placed(found: Sequence[FoundFunction], fixed: Repaired | None) -> list[FoundFunction]:
    """What was found in a repaired text, by its places in the file."""
    if fixed is None:
        return [*found]
    return [replace(each, start=fixed.place(each.start), end=fixed.place(each.end)) for each in found]
