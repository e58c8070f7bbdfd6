"""Regular expressions, and the innermost rows of an index whose own text matches.

The text is that of the files as they were indexed; where these cannot be had, it is what the index has of their units.
Expressions are those of RE2, which takes time that is linear in the text. Case counts, unless ``(?i)`` begins the
expression. ``^`` and ``$`` are the ends of a line.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import one_line, shown
from data_prep.store.arrays import Bool, Int64
from search.engine.matching import LineOwners
from search.engine.question import LONGEST_QUERY, QueryError
from search.index.code_index import Index, text_or_units

_LARGEST: Final = 1500
"""Steps of an expression, whose number one character of a text may take as many of."""
_PATIENCE: Final = 10.0
"""Seconds that one search may take."""


class Pattern:
    """A regular expression, and the folder whose files it is looked for in."""

    def __init__(self, typed: str, root: Path | None = None) -> None:
        """Read an expression.

        Args:
            typed: the expression.
            root: the indexed folder; None: not known, or several.

        Raises:
            QueryError: it is none, or would take too long.
        """
        import re2  # which no other question needs

        if len(typed) > LONGEST_QUERY:
            raise QueryError(f"regex has at most {LONGEST_QUERY:,} characters, this one has {len(typed):,}")
        options = re2.Options()
        options.log_errors = False
        try:
            re2.compile(typed, options)  # alone, so that what is wrong with it is told of what was typed
            self._compiled = re2.compile(f"(?m){typed}", options)
        except re2.error as error:
            raise QueryError(f"regex takes an expression of RE2, not {shown(typed)}: {_told(error)}") from error
        except UnicodeEncodeError as error:
            raise QueryError(f"regex takes an expression of RE2 in UTF-8, not {shown(typed)}") from error
        if self._compiled.programsize > _LARGEST:
            raise QueryError(f"regex {shown(typed)} is too large: repeat less in it")
        self.typed: Final = typed
        self._root = root

    def lines(self, index: Index, owners: LineOwners, allowed: Bool[np.ndarray, " rows"]) -> dict[int, int]:
        """The rows among those ``allowed`` whose own text matches, in their order -> the first line that does.

        Raises:
            QueryError: it takes too long.
        """
        until, found = time.monotonic() + _PATIENCE, dict[int, int]()
        for file in np.flatnonzero(index.files_with(allowed)).tolist():
            data = text_or_units(index, file, self._root).encode("utf-8", "replace")
            if self._compiled.search(data):
                of_file: dict[int, int] = {}
                for row, line in self._matches(data, owners.of(file), until):
                    if allowed[row]:
                        of_file.setdefault(row, line)
                found |= dict(sorted(of_file.items()))
            if time.monotonic() > until:
                raise QueryError(f"regex {shown(self.typed)} takes too long: narrow the search, or repeat less in it")
        return found

    def _matches(self, data: bytes, rows: Int64[np.ndarray, " lines"], until: float) -> Iterator[tuple[int, int]]:
        """Each run of lines of one row that has a match: the row, and the line that the match begins on."""
        starts = np.append(0, np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1)  # of line 1, 2, ...
        rows = np.append(rows[1 : len(starts) + 1], np.full(max(0, len(starts) + 1 - len(rows)), -1))
        firsts = np.append(0, np.flatnonzero(rows[1:] != rows[:-1]) + 1)
        ends = np.append(starts[firsts[1:]] - 1, len(data))
        for row, start, end in zip(rows[firsts].tolist(), starts[firsts].tolist(), ends.tolist(), strict=True):
            if row >= 0 and (match := self._compiled.search(data, start, end)):
                yield row, int(starts.searchsorted(match.start(), side="right"))
            if time.monotonic() > until:
                return


def _told(error: Exception) -> str:
    """What RE2 says is wrong."""
    said = error.args[0] if error.args else ""
    return one_line(said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said))
