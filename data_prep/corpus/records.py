"""The records of a corpus: a source tree at a revision, its files, and the functions of a file.

The text of a file is stored once. A function is two offsets into it; its code, its source for display and its context,
which is the text before it, are cut out when they are needed. Offsets are in bytes of UTF-8.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

_BLANK_LINE: Final = re.compile(rb"(?m)^[ \t\f\r]*\n")
_WORD: Final = re.compile(rb"\w+")

CODE_FIELDS: Final = ("name", "tokens", "api", "ast")
"""Code fields that are stored with a function."""


@dataclass(frozen=True, slots=True)
class TreeName:
    """A source tree at a revision: a repository at a commit, or a package of a version."""

    name: str  # owner/name, or the package's name
    revision: str  # commit in full, or version
    url: str  # of its page, or a package URL; "" if not known

    @property
    def slug(self) -> str:
        """A file name for it."""
        return re.sub(r"[^\w.+-]", "+", self.name) + "-" + re.sub(r"[^\w.+-]", "+", self.revision)[:12]


@dataclass(frozen=True, slots=True)
class CorpusFunction:
    """A function of a file."""

    name: str
    type_name: str
    kind: str
    start: int
    end: int
    start_line: int  # 1-based
    end_line: int  # 1-based, inclusive
    doc: str  # without comment marks; "" if there is none
    query: str  # first sentence of doc
    docstring: tuple[int, int] | None
    annotations: Sequence[str]
    reason: str  # why it is in no pair; "" if it is
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)  # CODE_FIELDS; empty with a reason

    @property
    def dotted(self) -> str:
        """The name qualified by the enclosing types; "" if it has none."""
        return f"{self.type_name}.{self.name}" if self.type_name and self.name else self.name


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file with its functions."""

    path: str
    language: str
    licence: str  # SPDX
    text: bytes  # UTF-8
    comments: Sequence[tuple[int, int]]  # ascending, disjoint, docstrings included
    functions: Sequence[CorpusFunction]

    def source(self, function: CorpusFunction) -> str:
        """The function as written, with its comments but without its docstring, which is the query."""
        start, end = function.docstring or (function.end, function.end)
        before, after = self.text[function.start : start], self.text[end : function.end]
        return (before.rstrip() + after).decode("utf-8", "replace")

    def code(self, function: CorpusFunction) -> str:
        """The function without comments, docstrings and blank lines."""
        return self.stripped(function.start, function.end).decode("utf-8", "replace")

    def context(self, function: CorpusFunction, limit: int = 0) -> str:
        """The text before the function's first line, without comments, docstrings and blank lines.

        Its own documentation is not part of it.

        Args:
            function: of this file.
            limit: of the last characters; 0: all.
        """
        line = self.text.rfind(b"\n", 0, function.start) + 1
        whole = self.stripped(0, line).decode("utf-8", "replace")
        return whole[-limit:] if limit else whole

    def stripped(self, start: int, end: int) -> bytes:
        """The text between two offsets, each comment replaced by a space, without blank lines."""
        return _BLANK_LINE.sub(b"", b" ".join(self._pieces(start, end)))

    def _pieces(self, start: int, end: int) -> Iterator[bytes]:
        place = bisect_left(self.comments, (start, start))
        for first, last in self.comments[place:]:
            if first >= end:
                break
            yield self.text[start:first]
            start = last
        yield self.text[start:end]


def alphanumeric_runs(code: bytes) -> bytes:
    """The runs of letters, digits and underscores, joined by spaces: equal for code that differs in layout only."""
    return b" ".join(_WORD.findall(code))
