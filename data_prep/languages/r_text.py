"""R's source as tokens: what is a string, a quoted name or a comment, so that ``#`` in a string begins no comment.

By R's language definition (chapter 10) and ``?Quotes``: strings in either quotes and names in backticks may have line
ends and escapes; raw strings, ``r"--[...]--"``, end at the same bracket, dashes and quote, and have no escapes;
``%...%`` is an operator, whatever stands inside. What is not closed, which R refuses, ends with its line.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

TokenKind = Literal["string", "name", "comment", "operator", "bracket"]

_TOKEN: Final = re.compile(
    r"(?P<comment>#[^\n]*)|(?P<raw>(?<![\w.])[rR][\"']-*[(\[{])|(?P<string>[\"'])|(?P<name>`)"
    r"|(?P<operator>%[^%\n]*%)|(?P<bracket>[()\[\]{}])"
)
_CLOSED: Final = {quote: re.compile(rf"(?s)(?:[^{quote}\\]|\\.)*+{quote}") for quote in "\"'`"}
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}


class Token(NamedTuple):
    """A part of a source text; names without backticks, numbers and other operators are none."""

    kind: TokenKind
    start: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a source with line feeds as line ends, in order; in time proportional to its length."""
    open_ended: set[str] = set()  # marks that were not closed once: looking for them to the end again takes the square
    place = 0
    while found := _TOKEN.search(text, place):
        kind = found.lastgroup
        place = found.end()
        if kind in ("raw", "string", "name"):
            mark = "raw" if kind == "raw" else found[0]
            line_end = text.find("\n", place)
            line_end = len(text) if line_end < 0 else line_end
            closed = _end(text, found, line_end if mark in open_ended else len(text))
            if closed is None:
                open_ended.add(mark)
            place = line_end if closed is None else closed
        yield Token("string" if kind == "raw" else kind, found.start(), place)  # type: ignore[arg-type]


def _end(text: str, opened: re.Match[str], stop: int) -> int | None:
    """Where the string or name that ``opened`` begins ends; None if it is not closed before ``stop``."""
    if opened.lastgroup != "raw":
        closed = _CLOSED[opened[0]].match(text, opened.end(), stop)
        return closed.end() if closed else None
    closing = f"{_CLOSING[opened[0][-1]]}{opened[0][2:-1]}{opened[0][1]}"
    start = text.find(closing, opened.end(), stop)
    return None if start < 0 else start + len(closing)


def lines_inside(text: str) -> frozenset[int]:
    """The lines, from 0, that begin inside a string or a quoted name."""
    found: set[int] = set()
    line = place = 0
    for token in tokens(text):
        if token.kind in ("string", "name"):
            line += text.count("\n", place, token.start)
            last = line + text.count("\n", token.start, token.end)
            found.update(range(line + 1, last + 1))
            line, place = last, token.end
    return frozenset(found)
