"""The lines of a hit that show it at a glance: those around the line with most of a question's rare words.

A hit's source begins in the middle of its line, at the declaration; its other lines are indented as in the file. What
the first line has lost is made good here, so that the code stands as it does in its file.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from data_prep.languages.registry import language_of
from data_prep.short_cache import kept_if_short
from search.engine.question import asked_words
from search.retrieval.bm25_index import Bm25Index, terms_of

LINES: Final = 6
"""Lines of a preview, at most."""
_BEFORE: Final = 2
"""Lines before the best one."""
_PARAMETER: Final = 0.5
"""How much the words of a line of parameters count."""
_COMMENT: Final = 0.5
"""How much those of a comment or of documentation count."""
_COMMENTS: Final = ("//", "/*", "*", "#")
_QUOTES: Final = ('"""', "'''")
_MOST_WORDS: Final = 0.8
"""Share of the words of a line that a sentence has which the line repeats."""
_LONGEST: Final = 240
"""Characters of a line that are shown."""
_READ: Final = 100_000
"""Characters of a source that are looked at."""
_STEP: Final = 4
"""Spaces that a block is indented by, where nothing else says it."""
_LIST: Final = "all any can do does from how i its my one some we what when where which who why you"
_LITTLE: Final = frozenset(_LIST.split())
"""Words of sentences that say little, though few identifiers have them."""
_WORD: Final = re.compile(r"\w+(?:['’]\w+)*")
_BLANKS: Final = {code: " " for code in range(128) if not re.match(r"[\w']", chr(code))}
"""What is between words, as blanks."""
_DECLARED: Final = re.compile(r"\s*(?:@|(?:async\s+def|def|class)\b)")
_CLOSING: Final = re.compile(r"\s*[)\]}]")
_HEAD_ENDS: Final = re.compile(r":\s*(?:#.*)?\Z")


@dataclass(frozen=True, slots=True)
class Preview:
    """Some lines of a source, which stand as in its file but for what all of it is indented by."""

    start_line: int
    """The file's line that the first of them is."""
    best_line: int
    """The one with most of the question's rare words."""
    lines: Sequence[str]
    places: Sequence[int]
    """Where each of them begins in the source, behind what is left out of its indentation."""
    indent: int
    """What all of the source is indented by (:func:`indentation`)."""

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)

    @property
    def end_line(self) -> int:
        """The file's line that the last of them is."""
        return self.start_line + len(self.lines) - 1


def preview(
    source: str,
    start_line: int,
    rarity: Mapping[str, float],
    *,
    path: str,
    name: str = "",
    sentence: str = "",
    most: int = LINES,
) -> Preview:
    """The lines around the one that has most of a question's rare words, or else the first ones.

    Args:
        source: of the hit.
        start_line: the file's line that it begins at.
        rarity: stem of each word of the question -> how much it says (:func:`rarities`).
        path: of its file, whose suffix says the language.
        name: of the hit, with the enclosing types.
        sentence: of its documentation, which is shown beside the lines.
        most: lines.
    """
    lost, text = indentation(source, path, name), source[:_READ].rstrip()
    lines, scores = _read(text).lines, line_scores(text, rarity, sentence)
    best = scores.index(max(scores))
    first, end = _window(lines, best, most)
    begins = sum(map(len, lines[:first])) + first
    shown, places = [], []
    for place in range(first, end):
        line = lines[place].removesuffix("\r")
        left_out = min(lost, len(line) - len(line.lstrip())) if place else 0
        places.append(begins + left_out)
        shown.append(_cut(line[left_out:]))
        begins += len(lines[place]) + 1
    return Preview(start_line + first, start_line + best, shown, places, lost)


def line_scores(text: str, rarity: Mapping[str, float], sentence: str = "") -> list[float]:
    """How much of a question each line of a declaration or file says, by the question's words that are in it.

    A parameter says less than what is done with it, a comment less than code. A line that repeats the ``sentence``,
    which is shown beside them, says nothing.
    """
    read = _read(text)
    scores = [0.0] * len(read.lines)
    for stem, weight in rarity.items():
        for place in read.having(stem):
            scores[place] += weight
    found = [place for place, score in enumerate(scores) if score]
    shown = frozenset(_WORD.findall(sentence)) if found else frozenset()
    for place in found:
        if _repeats(read.words(place), shown):
            scores[place] = 0.0
            continue
        if place in read.quoted or read.lines[place].lstrip().startswith(_COMMENTS):
            scores[place] *= _COMMENT
        if 0 < place <= read.parameters:
            scores[place] *= _PARAMETER
    return scores


class _Read:
    """What is known of a text whatever the question is."""

    def __init__(self, text: str) -> None:
        self.text, self.lines = text, text.split("\n")
        self._words: dict[int, list[str]] = {}
        self._having: dict[str, list[int]] = {}
        self._by_stem: dict[str, list[str]] = {}
        for word in _words_in(text):
            for stem in _STEMS[word]:
                self._by_stem.setdefault(stem, []).append(word)

    def telling(self, stems: Iterable[str]) -> set[str]:
        """The words that have one of some stems."""
        return {word for stem in stems for word in self._by_stem.get(stem, ())}

    def having(self, stem: str) -> Sequence[int]:
        """The lines, from 0, with a word that has this stem."""
        if stem not in self._by_stem:
            return ()
        if stem not in self._having:
            words = frozenset(self._by_stem[stem])
            lines = sorted(_lines_with(words, self.text))
            self._having[stem] = [place for place in lines if not words.isdisjoint(self.words(place))]
        return self._having[stem]

    def words(self, place: int) -> Sequence[str]:
        """The words of a line, in order."""
        if place not in self._words:
            self._words[place] = _WORD.findall(self.lines[place])
        return self._words[place]

    @cached_property
    def quoted(self) -> frozenset[int]:
        """The lines of documentation in quotes."""
        return frozenset(_quoted(self.lines, self.text))

    @cached_property
    def parameters(self) -> int:
        """The last line of those that parameters are on."""
        open_brackets = 0
        for place, line in enumerate(self.lines):
            open_brackets += line.count("(") - line.count(")")
            if open_brackets <= 0:
                return place
        return len(self.lines)


def _words_in(text: str) -> set[str]:
    """The distinct words of a text: by its blanks, which takes a fifth of the time, where it is ASCII."""
    if not text.isascii():
        return {*_WORD.findall(text)}
    found = {*text.translate(_BLANKS).split()}
    joined = [word for word in found if "'" in word]
    return found.difference(joined).union(_WORD.findall(" ".join(joined))) if joined else found


_read: Final = kept_if_short(8_000, 2048)(_Read)
"""The same of a hit, which is often one of another question too."""


def _lines_with(words: Iterable[str], text: str) -> set[int]:
    """The lines of a text, from 0, that have one of some words, perhaps inside of another word."""
    found: set[int] = set()
    for word in words:
        line, begin, place = 0, 0, text.find(word)
        while place >= 0:
            line += text.count("\n", begin, place)
            found.add(line)
            line, begin = line + 1, text.find("\n", place) + 1
            place = text.find(word, begin) if begin else -1
    return found


def _quoted(lines: Sequence[str], text: str) -> set[int]:
    """The lines of documentation in quotes; ``text``: all lines."""
    found: set[int] = set()
    open_quote, since = "", 0
    for place in sorted(_lines_with(_QUOTES, text)):
        line = lines[place].strip()
        begins = next((each for each in _QUOTES if line.lstrip("rR").startswith(each)), "")
        if begins:
            found.add(place)
        if open_quote and open_quote in line:
            found.update(range(since, place + 1))
            open_quote = ""
        elif begins and not open_quote and line.count(begins) == 1:
            open_quote, since = begins, place
    return found.union(range(since, len(lines))) if open_quote else found


def _repeats(words: Sequence[str], sentence: frozenset[str]) -> bool:
    """Whether a line says hardly more than a sentence."""
    return len(words) > 2 and len(sentence.intersection(words)) >= _MOST_WORDS * len({*words})


def rarities(words: Sequence[str], lexical: Bm25Index) -> dict[str, float]:
    """The stem of each word of a question -> how much it says: the logarithm of how few rows have it.

    One that none has says most: it may stand in a text.
    """
    telling = [word for word in words if word not in _LITTLE] or words
    found = {stem: lexical.holders(stem) for stem in terms_of(telling)} if telling else {}
    return {stem: math.log1p(lexical.size / max(1, holders)) for stem, holders in found.items()}


@lru_cache(maxsize=2048)
def indentation(source: str, path: str, name: str = "") -> int:
    """How many characters the first line of a source has lost: its lines but the first are indented by so many more.

    A closing bracket says it, or in Python the end of the head or the decorated declaration. Where nothing does, each
    enclosing type counts as one step.

    Args:
        source: of a declaration.
        path: of its file, whose suffix says the language.
        name: of the declaration, with the enclosing types.
    """
    first, *rest = [*filter(str.strip, source[:_READ].split("\n"))] or [""]
    language = language_of(path)
    if not rest or language is None or first[:1].isspace():
        return 0
    if (language.closing or not _DECLARED.match(first)) and _closes(first, rest):
        return _depth(rest[-1])
    if language.closing:
        return min(_STEP * name.count("."), _depth(rest[0]))
    return _in_python(first, rest, name.count("."))


def _closes(first: str, rest: Sequence[str]) -> bool:
    """Whether the last line closes what the first begins; a source that is cut ends deeper in it."""
    deepest = _depth(rest[0]) - (not (first.startswith("@") or rest[0].lstrip()[0] in "{)]}"))
    return _CLOSING.match(rest[-1]) is not None and _depth(rest[-1]) <= deepest


def _in_python(first: str, rest: Sequence[str], types: int) -> int:
    """The same of a declaration that no bracket closes."""
    if first.startswith("@") and (declared := next(filter(_DECLARED.match, rest), "")):
        return _depth(declared)
    for place, line in enumerate((first, *rest[:-1])):
        if _HEAD_ENDS.search(line):
            if _CLOSING.match(line):
                return _depth(line)
            body = _depth(rest[place])
            usual = 1 if rest[place].startswith("\t") else _STEP
            return body - (usual if body >= usual * (types + 1) else body // (types + 1))
    return 0


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _window(lines: Sequence[str], best: int, most: int) -> tuple[int, int]:
    """The first line to show and the one after the last, without blank ones at either end."""
    first = max(0, min(best - min(_BEFORE, most - 1), len(lines) - most))
    end = min(len(lines), first + most)
    while first < best and not lines[first].strip():
        first += 1
    while end - 1 > best and not lines[end - 1].strip():
        end -= 1
    return first, end


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def word_places(text: str, rarity: Mapping[str, float]) -> Iterator[tuple[int, int]]:
    """Start and end of each identifier or word of a text that has one of a question's words."""
    telling = _read(text).telling(rarity)
    return (found.span() for found in _WORD.finditer(text) if found[0] in telling) if telling else iter(())


class _Stems(dict[str, frozenset[str]]):
    """A word -> its stems, without a call where it was met before; short words are kept until they are many."""

    def __missing__(self, word: str) -> frozenset[str]:
        found = frozenset(terms_of(asked_words(word)))
        if len(word) <= 40:
            if len(self) >= 1 << 15:
                self.clear()
            self[word] = found
        return found


_STEMS: Final = _Stems()
