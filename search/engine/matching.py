"""The innermost rows that lines of files belong to, and words that stand in files in the order of a question.

A row's own text is its lines without those of the rows inside of it, and with the comment above it.

Words stand in a text at the distance that they have in the question. Where that has a number, or words that are not
there, a program has put values in: the text may have up to PUT_IN words in place of these.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from data_prep.store.arrays import Bool, Float, Int32, Int64, edges
from search.engine.file_ranking import is_common
from search.files.words import stem_of, stems
from search.index.code_index import Index
from search.retrieval.exact import given, search_loops
from search.retrieval.word_index import idf

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
        owners = self._index.rows_of(file)
        code = self._index.whole.lines_of_code(file).tolist()
        lines = [*map(self._index.split.lines, owners)]
        ends = {last for _, last in lines}  # a comment there is of what ends, not of what begins below
        spans = []
        for row, (begin, last) in zip(owners, lines, strict=True):
            start = min(begin, len(code))
            while start > 1 and not code[start - 2] and start - 1 not in ends:
                start -= 1
            start = min(start, begin)
            spans.append((start - last, row, start, last))
        rows = np.full(1 + max((last for *_, last in spans), default=0), -1, np.int64)
        for _, row, start, last in sorted(spans):  # what is inside comes last, also of equal ones
            rows[start : last + 1] = row
        return rows


FEWEST: Final = 3
"""Words of a run, at least."""
FILE: Final = np.int64(1 << 32)
"""Between the places of one file and those of the next."""
LIGHT: Final = 0.5
"""What a common word weighs."""
_FILES: Final = 40  # that are looked into, those that have most of the words
_SHARE: Final = 1 / 3  # of the words that a file has at least
_SOME: Final = 1 / 6  # the same where common words are looked for too
_NONE: Final = np.empty(0, np.int32)
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


def tells(word: str) -> bool:
    """Whether a word of a question is looked for by its places."""
    return not (is_common(word) or word.isdigit() or (len(word) < 2 and word.isascii()))


def telling(
    index: Index, words: Sequence[str], *, comments: bool, light: bool = False
) -> tuple[list[Word], Int32[np.ndarray, " places"]]:
    """The words of a question that say something, with their places in the files that have most of them.

    And for all of these places in turn 1 for one in a comment, else 0.

    Args:
        index: of the files.
        words: of the question.
        comments: whether comments are looked into.
        light: whether common words are looked for too, in these files, and weigh LIGHT, others 1.
    """
    whole, size = index.whole, len(index.files)
    asked, holders, common = list[tuple[int, int, str]](), list[Int32[np.ndarray, " files"]](), list[bool]()
    place = values = 0
    for word in words:
        is_light = light and is_common(word)
        stem = next(iter(stems(word)), word) if is_light or tells(word) else ""
        files = whole.having(stem) if stem else _NONE
        if len(files):
            asked.append((place, values, stem))
            holders.append(files)
            common.append(is_light)
        values += bool(stem and not len(files)) or word.isdigit()
        place += not stem or bool(len(files))
    if not holders:
        return [], _NONE
    counts, held = np.array([len(each) for each in holders], np.int64), np.concatenate(holders)
    weights = idf(counts, size)
    having, mass = np.bincount(held, minlength=size), np.bincount(held, np.repeat(weights, counts), size)
    mass[having < min(FEWEST, len(asked))] = 0.0
    kept = mass >= max((_SOME if light else _SHARE) * weights.sum(), 1e-9)
    if np.count_nonzero(kept) > _FILES:
        kept &= mass >= np.partition(mass, -_FILES)[-_FILES]
    files, places, begun = whole.occurrences_in(kept, [stem for _, _, stem in asked])
    keys = files * FILE + (places >> 1)
    commented = places & 1
    if not comments:
        code = commented == 0
        keys, begun, commented = keys[code], edges(code.view(np.int8))[begun], commented[code]
    first = begun.tolist()
    weights = np.where(common, LIGHT, 1.0) if light else weights
    parts = zip(asked, weights.tolist(), first, first[1:], strict=False)
    found = [Word(place, values, weight, keys[start:end]) for (place, values, _), weight, start, end in parts]
    return found, commented


@dataclass(slots=True)
class Chains:
    """The best passage that ends at each place of a word."""

    weights: Float[np.ndarray, " places"]
    lengths: Int64[np.ndarray, " places"]
    firsts: Int64[np.ndarray, " places"]  # where it begins, among the places of all words

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
    keys, own = word.keys, sum(len(each.keys) for each in words[:number])
    best = Chains(np.full(len(keys), word.weight), np.ones(len(keys), np.int64), own + np.arange(len(keys)))
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


def among(keys: Int64[np.ndarray, " some"], others: Int64[np.ndarray, " others"]) -> Bool[np.ndarray, " some"]:
    """Which of ``keys`` are among ``others``, which are ascending."""
    return (
        others[np.minimum(np.searchsorted(others, keys), len(others) - 1)] == keys
        if len(others)
        else np.zeros(len(keys), np.bool_)
    )


_OTHERS: Final = 2  # words of a message beside a number, at least
_BESIDE: Final = 12
"""Words between a number and another word of the question that stand together."""


def without_values(index: Index, words: Sequence[str]) -> Sequence[str]:
    """The words of a question without its numbers and letters that a program put in, as in ``pool 7 drained``.

    Some files have two other words of the question at least, all that any has, and none of these the number near them.
    """
    numbers = [word for word in dict.fromkeys(words) if word.isdigit() or (len(word) == 1 and word.isascii())]
    if not numbers:
        return words
    others = {stem_of(word) for word in words if len(word) > 1 and not word.isdigit() and not is_common(word)}
    known = [stem for stem in others if len(index.whole.having(stem))]
    if len(known) < _OTHERS:
        return words
    files = index.whole.having(known[0])
    for stem in known[1:]:
        files = np.intersect1d(files, index.whole.having(stem))
    if not len(files):
        return words
    wanted = np.zeros(len(index.files), np.bool_)
    wanted[files] = True
    places = np.sort(_places(index, known, wanted))
    values = {word for word in numbers if not _are_near(_places(index, [stem_of(word)], wanted), places)}
    values = {word for word in values if not _in_paths(index, stem_of(word), wanted)}  # as of the folder v1
    return [word for word in words if word not in values]


def _in_paths(index: Index, stem: str, wanted: Bool[np.ndarray, " files"]) -> bool:
    """Whether the path of one of the wanted files has a word."""
    _, files, counts = index.whole.postings([stem])
    return bool((wanted[files] & (counts["stem"] + counts["folders"] > 0)).any())


def _places(index: Index, stems: Sequence[str], wanted: Bool[np.ndarray, " files"]) -> Int64[np.ndarray, " places"]:
    """Where words are in the wanted files, as one number for a file and a place."""
    own, places, _ = index.whole.occurrences_in(wanted, stems)
    return own.astype(np.int64) * FILE + places


def _are_near(some: Int64[np.ndarray, " some"], others: Int64[np.ndarray, " others"]) -> bool:
    """Whether one place is at most _BESIDE words from one of ``others``, which are ascending and at least one."""
    behind = np.searchsorted(others, some)
    before, after = others[np.maximum(behind - 1, 0)], others[np.minimum(behind, len(others) - 1)]
    return bool((np.minimum(abs(some - before), abs(after - some)) <= _BESIDE).any())
