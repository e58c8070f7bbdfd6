"""How much of a question each line of a text says, and where its words are: for the lines that an answer shows."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Final

from search.engine.question import asked_words
from search.files.words import terms_of
from search.retrieval.word_index import Bm25Index

_PARAMETER: Final = 0.5
"""How much the words of a line of parameters count."""
_COMMENT: Final = 0.5
"""How much those of a comment or of documentation count."""
_LICENCE: Final = re.compile(r"(?i)\b(?:copyright|licen[cs]e[ds]?|rights reserved|governed by|warrant(?:y|ies)|spdx)\b")
_LAWYERS: Final = 0.02
"""How much a comment about the licence counts, which many files begin with."""
_COMMENTS: Final = re.compile(r"\s*(?://|/\*|\*|#(?!!?\[))")
"""What begins the line of a comment, but no attribute."""
_QUOTES: Final = ('"""', "'''")
_MOST_WORDS: Final = 0.8
"""Share of the words of a line that a sentence has which the line repeats."""
_LIST: Final = "all any can do does from how i its my one some we what when where which who why you"
_LITTLE: Final = frozenset(_LIST.split())
"""Words of sentences that say little, though few identifiers have them."""
_WORD: Final = re.compile(r"\w+(?:['’]\w+)*")
_JOINING: Final = "'’"
"""What joins letters to one word."""
_APART: Final = frozenset(("", *' \t\n.,:;()[]{}<>=+-*/&|!?@#"`'))
"""What most words of code stand between."""
_BLANKS: Final = {code: " " for code in range(128) if not re.match(r"[\w']", chr(code))}
"""What is between words, as blanks."""
_SHORT_WORD: Final = 40
"""Letters of a word up to which it is kept for other texts."""
_MANY: Final = 1 << 15


def line_scores(text: str, rarity: Mapping[str, float], sentence: str = "") -> list[float]:
    """How much of a question each line of a text says; 0 of one that has none of its words."""
    read = read_text(text)
    said = read.said(rarity, sentence)
    return [said.get(place, 0.0) for place in range(len(read.lines))]


class _Met:
    """Short words that were met, and those of each stem."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.by_stem: dict[str, set[str]] = {}

    def add(self, words: set[str]) -> dict[str, set[str]]:
        """Add short words; returns the long ones of each stem."""
        others: dict[str, set[str]] = {}
        for word in words - self.words:
            is_short = len(word) <= _SHORT_WORD
            for stem in terms_of(asked_words(word)):
                (self.by_stem if is_short else others).setdefault(stem, set()).add(word)
            if is_short:
                self.words.add(word)
        return others


_met = [_Met()]
"""The last one, which another one replaces once it has many words."""


class ReadText:
    """What is known of a text whatever the question is."""

    def __init__(self, text: str) -> None:
        """``text``: a declaration or file."""
        self.text, self.lines = text, text.split("\n")
        self._all = _words_in(text)
        self._known: dict[str, tuple[Collection[str], Sequence[int]]] = {}
        self._shares: dict[str, dict[int, float]] = {}
        if len(_met[0].words) > _MANY:
            _met[0] = _Met()
        self._met, self._others = _met[0], _met[0].add(self._all)

    def said(self, rarity: Mapping[str, float], sentence: str = "") -> dict[int, float]:
        """How much of a question lines say, by the question's words that are in them.

        A parameter says less than what is done with it, a comment less than code. A line that repeats the
        ``sentence``, which is shown beside them, says nothing.

        Returns:
            Each line that has a word of the question, from 0.
        """
        having, _ = self._having(rarity)
        return {place: said * self._share(place, sentence) for place, said in having.items()}

    def best(self, rarity: Mapping[str, float], sentence: str = "") -> tuple[int, set[str]]:
        """The line of which :meth:`said` says most, the first of equal ones, 0 if none; and the question's words."""
        having, words = self._having(rarity)
        best, most = 0, 0.0
        for place in sorted(having, key=having.__getitem__, reverse=True):
            if having[place] < most:
                break  # no line says more than its words
            said = having[place] * self._share(place, sentence)
            if said > most or (said == most > 0 and place < best):
                best, most = place, said
        return best, words

    def _having(self, rarity: Mapping[str, float]) -> tuple[dict[int, float], set[str]]:
        """The lines that have words of a question, and how much these say; and these words, as they are written."""
        found: dict[int, float] = {}
        written: set[str] = set()
        for stem, weight in rarity.items():
            words, places = self._known.get(stem) or self.of(stem)
            if words:
                written.update(words)
                for place in places:
                    found[place] = found.get(place, 0.0) + weight
        return found, written

    def of(self, stem: str) -> tuple[Collection[str], Sequence[int]]:
        """The words that have a stem, and the lines, from 0, with one of them."""
        if stem not in self._known:
            known, others = self._met.by_stem.get(stem, ()), self._others.get(stem, ())
            words = self._all.intersection(known).union(others) if known or others else ()
            self._known[stem] = words, sorted(lines_with(words, self.text, whole=True)) if words else ()
        return self._known[stem]

    def _share(self, place: int, sentence: str) -> float:
        """What the words of a line count beside a sentence that is shown."""
        shares = self._shares.setdefault(sentence, {})
        if place not in shares:
            line = self.lines[place]
            comment = self._is_comment(place)
            share = (_LAWYERS if _LICENCE.search(line) else _COMMENT) if comment else 1.0
            share *= _PARAMETER if 0 < place <= self._parameters else 1.0
            shares[place] = 0.0 if sentence and _repeats(_WORD.findall(line), sentence) else share
        return shares[place]

    def _is_comment(self, place: int) -> bool:
        return place in self._quoted or _COMMENTS.match(self.lines[place]) is not None

    def is_code(self, place: int, sentence: str) -> bool:
        """Whether a line is no comment, nor repeats a sentence that is shown."""
        return not self._is_comment(place) and self._share(place, sentence) > 0

    @cached_property
    def starts(self) -> Sequence[int]:
        """Where each line begins, and one begins behind the last."""
        return [*accumulate((len(line) + 1 for line in self.lines), initial=0)]

    @cached_property
    def lower(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    @cached_property
    def longest(self) -> int:
        """Characters of the longest line."""
        return max(map(len, self.lines))

    @cached_property
    def returns(self) -> bool:
        """Whether a line may end with a carriage return."""
        return "\r" in self.text

    @cached_property
    def _quoted(self) -> frozenset[int]:
        """The lines of documentation in quotes."""
        return frozenset(_quoted(self.lines, self.text))

    @cached_property
    def _parameters(self) -> int:
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


_SHORT: Final = 8_000
"""Characters of a text up to which many are kept."""
KEPT: Final = 4096
"""Short texts that are kept."""


def _read(text: str, most: int) -> ReadText:
    return ReadText(text[:most].rstrip() if most else text)


_short, _long = lru_cache(maxsize=KEPT)(_read), lru_cache(maxsize=256)(_read)


def read_text(text: str, most: int = 0) -> ReadText:
    """What is known of a text, such as of a hit, which is often one of another question too.

    Args:
        text: any.
        most: characters that are read, without blanks at their end; 0: all as they are.
    """
    return (_short if len(text) <= _SHORT else _long)(text, most)


def lines_with(words: Iterable[str], text: str, *, whole: bool = False) -> set[int]:
    """The lines of a text, from 0, that have one of some words, perhaps inside of another one unless ``whole``."""
    found: set[int] = set()
    for word in words:
        line, begin, place = 0, 0, text.find(word)
        while place >= 0:
            if whole and not _is_whole(text, place, place + len(word)):
                place = text.find(word, place + 1)
                continue
            line += text.count("\n", begin, place)
            found.add(line)
            line, begin = line + 1, text.find("\n", place) + 1
            place = text.find(word, begin) if begin else -1
    return found


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether a word of a text is no part of a longer one."""
    before, behind = text[start - 1 : start], text[end : end + 1]
    if before in _APART and behind in _APART:
        return True
    if before.isalnum() or behind.isalnum() or before == "_" or behind == "_":
        return False
    return not (before in _JOINING and before and _is_letter(text[start - 2 : start - 1])) and not (
        behind in _JOINING and behind and _is_letter(text[end + 1 : end + 2])
    )


def _is_letter(text: str) -> bool:
    return text.isalnum() or text == "_"


def _quoted(lines: Sequence[str], text: str) -> set[int]:
    """The lines of documentation in quotes; ``text``: all lines."""
    found: set[int] = set()
    open_quote, since = "", 0
    for place in sorted(lines_with(_QUOTES, text)):
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


def _repeats(words: Sequence[str], sentence: str) -> bool:
    """Whether a line says hardly more than a sentence."""
    shown = _words_of(sentence) if len(words) > 2 else frozenset()
    return bool(shown) and len(shown.intersection(words)) >= _MOST_WORDS * len({*words})


@lru_cache(maxsize=64)
def _words_of(sentence: str) -> frozenset[str]:
    return frozenset(_WORD.findall(sentence))


def rarities(words: Sequence[str], lexical: Bm25Index) -> dict[str, float]:
    """The stem of each word of a question -> how much it says: the logarithm of how few rows have it.

    One that none has says most: it may stand in a text.
    """
    telling = [word for word in words if word not in _LITTLE] or words
    found = {stem: lexical.holders(stem) for stem in terms_of(telling)} if telling else {}
    return {stem: math.log1p(lexical.size / max(1, holders)) for stem, holders in found.items()}


def places_of(words: Iterable[str], text: str) -> list[tuple[int, int]]:
    """Start and end of each identifier or word of a text that is among some."""
    found = []
    for word in words:
        place = text.find(word)
        while place >= 0:
            end = place + len(word)
            if _is_whole(text, place, end):
                found.append((place, end))
            place = text.find(word, end)
    found.sort()
    return found


def word_places(text: str, rarity: Mapping[str, float]) -> list[tuple[int, int]]:
    """The same of each that has one of a question's words."""
    return places_of(read_text(text).best(rarity)[1], text)
