"""How much of a question each line of a text says, and where its words are: for the lines that an answer shows."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final

from search.engine.question import asked_words
from search.files.words import terms_of
from search.retrieval.word_index import Bm25Index

_PARAMETER: Final = 0.5
"""How much the words of a line of parameters count."""
_COMMENT: Final = 0.5
"""How much those of a comment or of documentation count."""
_COMMENTS: Final = ("//", "/*", "*", "#")
_QUOTES: Final = ('"""', "'''")
_MOST_WORDS: Final = 0.8
"""Share of the words of a line that a sentence has which the line repeats."""
_LIST: Final = "all any can do does from how i its my one some we what when where which who why you"
_LITTLE: Final = frozenset(_LIST.split())
"""Words of sentences that say little, though few identifiers have them."""
_WORD: Final = re.compile(r"\w+(?:['’]\w+)*")
_BLANKS: Final = {code: " " for code in range(128) if not re.match(r"[\w']", chr(code))}
"""What is between words, as blanks."""
_SHORT_WORD: Final = 40
"""Letters of a word up to which it is kept for other texts."""
_MANY: Final = 1 << 15


def said_by_lines(text: str, rarity: Mapping[str, float], sentence: str = "") -> dict[int, float]:
    """How much of a question lines of a declaration or file say, by the question's words that are in them.

    A parameter says less than what is done with it, a comment less than code. A line that repeats the ``sentence``,
    which is shown beside them, says nothing.

    Returns:
        Each line that has a word of the question, from 0.
    """
    read = _read(text)
    found: dict[int, float] = {}
    for stem, weight in rarity.items():
        for place in read.having(stem):
            found[place] = found.get(place, 0.0) + weight
    return {place: said * read.share(place, sentence) for place, said in found.items()}


def line_scores(text: str, rarity: Mapping[str, float], sentence: str = "") -> list[float]:
    """The same of each line; 0 of one that has none of the words."""
    scores = [0.0] * len(lines_of(text))
    for place, said in said_by_lines(text, rarity, sentence).items():
        scores[place] = said
    return scores


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


class _Read:
    """What is known of a text whatever the question is."""

    def __init__(self, text: str) -> None:
        self.text, self.lines = text, text.split("\n")
        self._all = _words_in(text)
        self._words: dict[int, list[str]] = {}
        self._telling: dict[str, set[str]] = {}
        self._having: dict[str, list[int]] = {}
        self._shares: dict[tuple[int, str], float] = {}
        if len(_met[0].words) > _MANY:
            _met[0] = _Met()
        self._met, self._others = _met[0], _met[0].add(self._all)

    def telling(self, stem: str) -> set[str]:
        """The words that have a stem."""
        if stem not in self._telling:
            words = self._all.intersection(self._met.by_stem.get(stem, ()))
            self._telling[stem] = words.union(self._others.get(stem, ()))
        return self._telling[stem]

    def having(self, stem: str) -> Sequence[int]:
        """The lines, from 0, with a word that has this stem."""
        if stem not in self._having:
            words = self.telling(stem)
            lines = sorted(_lines_with(words, self.text)) if words else ()
            self._having[stem] = [place for place in lines if not words.isdisjoint(self.words(place))]
        return self._having[stem]

    def share(self, place: int, sentence: str) -> float:
        """What the words of a line count beside a sentence that is shown."""
        if (place, sentence) not in self._shares:
            comment = place in self.quoted or self.lines[place].lstrip().startswith(_COMMENTS)
            share = (_COMMENT if comment else 1.0) * (_PARAMETER if 0 < place <= self.parameters else 1.0)
            self._shares[place, sentence] = 0.0 if _repeats(self.words(place), sentence) else share
        return self._shares[place, sentence]

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


_SHORT: Final = 8_000
"""Characters of a text up to which many are kept."""
_short, _long = lru_cache(maxsize=2048)(_Read), lru_cache(maxsize=64)(_Read)


def _read(text: str) -> _Read:
    """What is known of a hit, which is often one of another question too."""
    return (_short if len(text) <= _SHORT else _long)(text)


def lines_of(text: str) -> Sequence[str]:
    """The lines of a text whose lines are scored."""
    return _read(text).lines


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


def _repeats(words: Sequence[str], sentence: str) -> bool:
    """Whether a line says hardly more than a sentence."""
    shown = frozenset(_WORD.findall(sentence))
    return bool(shown) and len(words) > 2 and len(shown.intersection(words)) >= _MOST_WORDS * len({*words})


def rarities(words: Sequence[str], lexical: Bm25Index) -> dict[str, float]:
    """The stem of each word of a question -> how much it says: the logarithm of how few rows have it.

    One that none has says most: it may stand in a text.
    """
    telling = [word for word in words if word not in _LITTLE] or words
    found = {stem: lexical.holders(stem) for stem in terms_of(telling)} if telling else {}
    return {stem: math.log1p(lexical.size / max(1, holders)) for stem, holders in found.items()}


def telling_words(text: str, rarity: Mapping[str, float]) -> set[str]:
    """The words of a text that have one of a question's words."""
    return set[str]().union(*map(_read(text).telling, rarity))


def places_of(words: Collection[str], text: str, start: int = 0) -> list[tuple[int, int]]:
    """Start and end of each identifier or word of a text that is among some; ``start``: where the text begins."""
    return [(start + found.start(), start + found.end()) for found in _WORD.finditer(text) if found[0] in words]


def word_places(text: str, rarity: Mapping[str, float]) -> list[tuple[int, int]]:
    """The same of each that has one of a question's words."""
    return places_of(telling, text) if (telling := telling_words(text, rarity)) else []
