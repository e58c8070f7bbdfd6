"""Text that matches, and the innermost rows of an index that have it: a regular expression, or words in their order.

A row's own text is its lines without those of the rows inside of it, and with the comment above it. The text is that of
the files as they were indexed; where these cannot be had, it is what the index has of their units. Expressions are
those of RE2, which takes time that is linear in the text. Case counts, unless ``(?i)`` begins the expression. ``^`` and
``$`` are the ends of a line.

Words stand in a text at the distance that they have in the question. Where that has a number, or words that are not
there, a program has put values in: the text may have up to PUT_IN words in place of these.
"""

import ctypes
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import one_line, shown
from data_prep.store.arrays import Bool, Float, Int64, edges
from search.engine.question import LONGEST_QUERY, QueryError
from search.index.code_index import Index, text_or_units
from search.retrieval.exact import given, search_loops

_LARGEST: Final = 1500
"""Steps of an expression, whose number one character of a text may take as many of."""
_PATIENCE: Final = 10.0
"""Seconds that one search may take."""
_KEPT: Final = 4096
"""Files whose owners of lines are kept."""


class LineOwners:
    """The innermost row of each line of the files of an index."""

    def __init__(self, index: Index) -> None:
        """``index``: of the files."""
        self._index = index
        self.of = lru_cache(maxsize=_KEPT)(self._of)
        """The row of each line of a file, from line 0, which is none; -1: no row has it."""

    def at(self, file: int, line: int) -> int:
        """The row of a line of a file, or -1."""
        rows = self.of(file)
        return int(rows[line]) if line < len(rows) else -1

    def holding(self, rows: Sequence[int], stems: Sequence[str]) -> Bool[np.ndarray, "rows stems"]:
        """Which of some rows have which stems in their own lines, annotations or the comment above."""
        files = np.zeros(len(self._index.files), np.bool_)
        files[[self._index.file_number(row) for row in rows]] = True
        found, places, begun = self._index.whole.occurrences_in(files, stems)
        numbers, has = {row: number for number, row in enumerate(rows)}, np.zeros((len(rows), len(stems)), np.bool_)
        for column, (start, end) in enumerate(pairwise(begun.tolist())):
            own, begins = places[start:end] >> 1, found[start:end]
            for file in dict.fromkeys(begins.tolist()):
                lines = self._index.whole.lines[file].searchsorted(own[begins == file], side="right") + 1
                for row in {*self.of(file).take(lines[lines < len(self.of(file))]).tolist()}.intersection(numbers):
                    has[numbers[row], column] = True
        return has

    def _of(self, file: int) -> Int64[np.ndarray, " lines"]:
        first, end = self._index.file_edges[file : file + 2].tolist()
        code = self._index.whole.lines_of_code(file).tolist()
        texts = [*map(self._index.split.text, range(first, end))]
        ends = {each.end_line for each in texts}  # a comment there is of what ends, not of what begins below
        spans = []
        for row, each in zip(range(first, end), texts, strict=True):
            start = min(each.start_line, len(code))
            while start > 1 and not code[start - 2] and start - 1 not in ends:
                start -= 1
            start = min(start, each.start_line)
            spans.append((start - each.end_line, row, start, each.end_line))
        rows = np.full(1 + max((last for *_, last in spans), default=0), -1, np.int64)
        for _, row, start, last in sorted(spans):  # what is inside comes last, also of equal ones
            rows[start : last + 1] = row
        return rows


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
        counted = np.cumsum(np.append(0, allowed))
        asked = counted[index.file_edges[1:]] > counted[index.file_edges[:-1]]
        for file in np.flatnonzero(asked).tolist():
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


PUT_IN: Final = 8
"""Words that may stand at a placeholder."""
_APART: Final = 6
"""Places of a question between two words that follow each other in a passage, at most."""
_BEFORE: Final = 4
"""Words before a word that it may follow."""
_NEAREST: Final = 2
"""Places of a word before a placeholder that are looked at: the value that is put in may be called so too."""
_LIMITS: Final = np.array([_BEFORE, _APART, PUT_IN, _NEAREST], np.int64)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question that says something."""

    place: int  # in the question, without words that no file has
    values: int  # how many words before it are numbers, or in no file
    weight: float
    keys: Int64[np.ndarray, " places"]  # ascending; of a file and a place in it


@dataclass(slots=True)
class Chains:
    """The best passage that ends at each place of a word."""

    weights: Float[np.ndarray, " places"]
    lengths: Int64[np.ndarray, " places"]
    firsts: Int64[np.ndarray, " places"]

    def improve(
        self, before: "Chains", places: Int64[np.ndarray, " places"], weight: float, there: Bool[np.ndarray, " places"]
    ) -> None:
        """Add one word to the passages that end at some places, where they are ``there``, if that is better."""
        own = np.flatnonzero(there)
        if not len(own):
            return
        weights = before.weights[places[own]] + weight
        better = weights > self.weights[own]
        own = own[better]
        self.weights[own] = weights[better]
        self.lengths[own] = before.lengths[places[own]] + 1
        self.firsts[own] = before.firsts[places[own]]


def linked(words: Sequence[Word], gap: float) -> tuple[Int64[np.ndarray, " places"], Chains]:
    """The places of all words, one word after the other, and the best passage that ends at each.

    Args:
        words: of the question, at least one.
        gap: what a placeholder takes away.
    """
    keys = np.concatenate([word.keys for word in words])
    if (library := search_loops()) is None:
        found: list[Chains] = []
        for number in range(len(words)):
            found.append(ending(words, number, found, gap))
        parts = ([each.weights for each in found], [each.lengths for each in found], [each.firsts for each in found])
        return keys, Chains(*map(np.concatenate, parts))
    starts = edges(np.array([len(word.keys) for word in words], np.int64))
    asked = np.array([(word.place, word.values) for word in words], np.int64).T.copy()
    weights = np.array([*(word.weight for word in words), gap])
    chains = Chains(np.empty(len(keys)), np.empty(len(keys), np.int64), np.empty(len(keys), np.int64))
    found_in = chains.weights, chains.lengths, chains.firsts
    arrays = given(keys, starts, asked[0], asked[1], weights, weights[-1:], _LIMITS, *found_in)
    library.link_words(*arrays, ctypes.c_int64(len(words)))
    return keys, chains


def ending(words: Sequence[Word], number: int, before: Sequence[Chains], gap: float) -> Chains:
    """The best passages that end with a word, by those that end with the words before it.

    Args:
        words: of the question.
        number: of the word.
        before: the passages that end with each word before it.
        gap: what a placeholder takes away.
    """
    word = words[number]
    keys = word.keys
    best = Chains(np.full(len(keys), word.weight), np.ones(len(keys), np.int64), keys.copy())
    for other in range(max(0, number - _BEFORE), number):
        apart, last = word.place - words[other].place, words[other].keys
        if apart > _APART or not len(last) or not len(keys):
            continue
        exact = np.minimum(np.searchsorted(last, keys - apart), len(last) - 1)
        best.improve(before[other], exact, word.weight, last[exact] == keys - apart)
        value = other < number - 1 or word.values > words[other].values
        most = apart + PUT_IN if value else 2 if apart == 1 else 0  # one word: the prefix of the next line's text
        if not most:
            continue
        near = np.searchsorted(last, keys)
        for step in range(1, _NEAREST + 1):
            places = np.maximum(near - step, 0)
            best.improve(before[other], places, word.weight - gap, (near >= step) & (keys - last[places] <= most))
    return best
