"""Restores the usual layout of prose and code that a release has as space-separated tokens."""

import re
from collections.abc import Iterator
from typing import Final

_PROSE: Final = (
    (re.compile(r"&\s+(lt|gt|amp|quot|nbsp)\s+;"), r"&\1;"),
    (re.compile(r"<\s+(?:(/)\s+)?(?=\w)"), r"<\1"),  # < / p >
    (re.compile(r"\s+(?:(/)\s+)?>"), r"\1>"),
    (re.compile(r"(?<=\w)\s+'\s+(?=(?:s|t|d|m|re|ve|ll)\b)"), "'"),  # don ' t
    (re.compile(r"\b([a-z])\s+\.\s+([a-z])\s+\."), r"\1.\2."),  # e . g .
    (re.compile(r"(?<=\d)\s+\.\s+(?=\d)"), "."),
    (re.compile(r"(?<=[(\[])\s+|\s+(?=[)\].,;:!?](?:\s|$))"), ""),
)
_PIECE: Final = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\S+')
_SHIFT: Final = re.compile(r">( >)+(?= )")
_LITERAL: Final = re.compile(r"(?<![\w$])_(STR|NUM|BOOL)(?![\w$])")
_STANDS_FOR: Final = {"STR": '""', "NUM": "0", "BOOL": "true"}
_INDENT: Final = "    "


def prose(text: str) -> str:
    """``text`` without the spaces before its punctuation: ``don ' t ( e . g . ) .`` -> ``don't (e.g.).``."""
    for spaced, written in _PROSE:
        text = spaced.sub(written, text)
    return text


def laid_out(code: str) -> str:
    """``code`` with one indented line per statement and brace; parentheses are not broken across lines."""
    return "\n".join(_SHIFT.sub(lambda found: found[0].replace(" ", ""), line) for line in _lines(code))


def with_literals(code: str) -> str:
    """``code`` with TL-CodeSum's ``_STR``, ``_NUM`` and ``_BOOL`` replaced by literals of that type."""
    return _LITERAL.sub(lambda found: _STANDS_FOR[found[1]], code)


def _lines(code: str) -> Iterator[str]:
    line: list[str] = []
    depth = open_parentheses = 0
    for piece in _PIECE.findall(code):
        open_parentheses += {"(": 1, ")": -1}.get(piece, 0)
        closes = piece == "}" and not open_parentheses
        if closes and line:
            yield _INDENT * depth + " ".join(line)
            line = []
        depth = max(0, depth - closes)
        line.append(piece)
        if piece in ("{", "}", ";") and not open_parentheses:
            yield _INDENT * depth + " ".join(line)
            line = []
            depth += piece == "{"
    if line:
        yield _INDENT * depth + " ".join(line)
