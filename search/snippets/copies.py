"""Copies of a piece of code: tokens without comments and spaces, runs of them in common, and what counts as a copy."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final, Literal

from data_prep.languages.registry import LANGUAGES
from data_prep.languages.registry import language as language_named
from search.files.languages import language_name

Copy = Literal["", "near", "exact"]
"""What a unit has of a piece of code: all of it in one run; most of it; neither."""

RUN: Final = 2
"""Tokens of a run, for the overlap that ranks."""
COPIED_RUN: Final = 4
"""The same, for near copies."""
COPIED: Final = 0.8
"""Share of a piece's runs of COPIED_RUN tokens from which a unit that has them is a near copy."""
SHORTEST: Final = 12
"""Tokens from which a piece of code can have copies: less than that is everywhere."""
_MOST: Final = 20_000
"""Tokens that are read of a piece of code."""
_STRING: Final = (
    r"\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)|'''(?:[^\\]|\\.)*?(?:'''|\Z)"
    r"|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?"
)
_TOKEN: Final = r"(?:[^\W\d]\w*|\d[\w.]*|[^\w\s])"


@dataclass(frozen=True, slots=True)
class Tokens:
    """A piece of code as runs of tokens."""

    all: Sequence[str]
    runs: frozenset[tuple[str, ...]]  # of RUN tokens
    copied: frozenset[tuple[str, ...]]  # of COPIED_RUN tokens

    @classmethod
    def of(cls, text: str, language: str) -> "Tokens":
        """The tokens of a text; strings are one token each, comments none."""
        found = [match[1] for match in _pattern(language).finditer(text) if match[1]][:_MOST]
        return cls(found, _runs(found, RUN), _runs(found, COPIED_RUN))

    @classmethod
    def of_unit(cls, text: str, path: str) -> "Tokens":
        """The tokens of a unit of the file ``path``."""
        return cls.of(text, language_name(path))

    def overlap(self, other: "Tokens") -> float:
        """The cosine of the two sets of runs: their intersection by the root of the product of their sizes; 0 to 1."""
        size = sqrt(len(self.runs) * len(other.runs))
        return len(self.runs & other.runs) / size if size else 0.0

    def copy_in(self, other: "Tokens") -> Copy:
        """What ``other`` has of these tokens."""
        if len(self.all) < SHORTEST or not self.copied:
            return ""
        share = len(self.copied & other.copied) / len(self.copied)
        if share == 1 and "\0".join(self.all) in "\0".join(other.all):
            return "exact"
        return "near" if share >= COPIED else ""


def _runs(tokens: Sequence[str], length: int) -> frozenset[tuple[str, ...]]:
    return frozenset(zip(*(tokens[start:] for start in range(length)), strict=False))


_PATTERNS: Final[dict[str, re.Pattern[str]]] = {}


def _pattern(language: str) -> re.Pattern[str]:
    """Tokens of a language in group 1; comments outside of it."""
    if language not in _PATTERNS:
        comment = _comment(language) if language else r"(?!)"
        _PATTERNS[language] = re.compile(f"({_STRING}|(?!{comment}){_TOKEN})|{comment}", re.DOTALL)
    return _PATTERNS[language]


def _comment(language: str) -> str:
    """Regular expression of a comment; documents are read as most languages are."""
    found = language_named(language) if language in LANGUAGES else None
    line, block = (found.line_comment, found.block_comment) if found else ("//", ("/*", "*/"))
    of_lines = rf"{re.escape(line)}[^\n]*"
    return rf"{of_lines}|{re.escape(block[0])}.*?(?:{re.escape(block[1])}|\Z)" if block else of_lines
