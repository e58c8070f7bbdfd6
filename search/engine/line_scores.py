"""How much of a question each line of a text says, and where its words are: for the lines that an answer shows."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final

from search.engine.question import asked_words
from search.retrieval.bm25_index import Bm25Index, terms_of

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


def line_scores(text: str, rarity: Mapping[str, float], sentence: str = "") -> list[float]:
    """How much of a question each line of a declaration or file says, by the question's words that are in it.

    A parameter says less than what is done with it, a comment less than code. A line that repeats the ``sentence``,
    which is shown beside them, says nothing.
    """
    read = _read(text)
    found: dict[int, float] = {}
    for stem, weight in rarity.items():
        for place in read.having(stem):
            found[place] = found.get(place, 0.0) + weight
    scores = [0.0] * len(read.lines)
    shown = frozenset(_WORD.findall(sentence)) if found else frozenset()
    for place, said in found.items():
        if not _repeats(read.words(place), shown):
            is_comment = place in read.quoted or read.lines[place].lstrip().startswith(_COMMENTS)
            said *= _COMMENT if is_comment else 1.0
            scores[place] = said * _PARAMETER if 0 < place <= read.parameters else said
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


def _repeats(words: Sequence[str], sentence: frozenset[str]) -> bool:
    """Whether a line says hardly more than a sentence."""
    return bool(sentence) and len(words) > 2 and len(sentence.intersection(words)) >= _MOST_WORDS * len({*words})


def rarities(words: Sequence[str], lexical: Bm25Index) -> dict[str, float]:
    """The stem of each word of a question -> how much it says: the logarithm of how few rows have it.

    One that none has says most: it may stand in a text.
    """
    telling = [word for word in words if word not in _LITTLE] or words
    found = {stem: lexical.holders(stem) for stem in terms_of(telling)} if telling else {}
    return {stem: math.log1p(lexical.size / max(1, holders)) for stem, holders in found.items()}


def word_places(text: str, rarity: Mapping[str, float], within: str = "") -> list[tuple[int, int]]:
    """Start and end of each identifier or word of a text that has one of a question's words.

    ``within``: a text that has been scored and has all of the words; "": none has.
    """
    telling = _read(within or text).telling(rarity)
    return [found.span() for found in _WORD.finditer(text) if found[0] in telling] if telling else []


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
