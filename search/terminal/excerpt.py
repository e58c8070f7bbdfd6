"""The lines of a hit that match a question best, as they stand in its file, for a terminal."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from search.engine.preview import indentation, rarities, word_places
from search.engine.question import asked_words
from search.engine.show import body
from search.index.code_index import Index
from search.retrieval.bm25_index import terms_of

LINES: Final = 3
"""Lines that are shown of a hit."""
_LONGEST: Final = 4000
"""Characters of a line whose words are read."""
_START: Final = 3
"""Characters of a word without which a line does not have it, whatever its ending."""
_COMMENT: Final = 0.5
"""Share that counts of a line of a comment or of documentation."""
_COMMENTS: Final = ("//", "/*", "*", "#")
_QUOTES: Final = ('"""', "'''")
_WORD: Final = re.compile(r"\w+")
_MOST_WORDS: Final = 0.8
"""Share of the words of a line that a sentence has which the line repeats."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file."""

    number: int  # from 1
    text: str
    best: bool = False  # whether it matches best
    match: int = 0  # where in the text the first word of the question is; 0 if there is none


class Matching:
    """How much of a question the lines have; rare words count more, and most those that only text has."""

    def __init__(self, index: Index, question: str) -> None:
        """``question``: without filters; "" or anything without words: every line has as much."""
        words = asked_words(question)
        unknown = dict.fromkeys(terms_of(words) if words else (), math.log1p(len(index)))
        self._rarity = unknown | rarities(words, index.lexical)
        self._starts = tuple({term[:_START] for term in self._rarity})

    def score(self, line: str) -> float:
        """How much the distinct words of the question in a line say."""
        lower = line[:_LONGEST].lower()
        if not any(start in lower for start in self._starts):
            return 0.0
        words = asked_words(line[:_LONGEST])
        return sum(self._rarity.get(term, 0.0) for term in terms_of(words)) if words else 0.0

    def place(self, line: str) -> int:
        """Where the first word of the question is in a line; 0 if there is none."""
        return next((start for start, _ in word_places(line[:_LONGEST], self._rarity)), 0)


def unit_lines(index: Index, row: int, matching: Matching) -> list[Line]:
    """Lines of a function, type or constant around the one that matches best, without its head if it has a body."""
    text = index.text(row)
    own = text.source.split("\n")
    count = _body_lines(text.source, text.path)
    first = len(own) - count if count else 0
    if first == 0:
        other = next(filter(str.strip, own[1:]), "")
        own[0] = other[: indentation(text.source, text.path, index.names[row])] + own[0]
    lines = [Line(text.start_line + place, own[place]) for place in range(first, len(own))]
    return around(lines, matching, text.query_text)


def around(lines: Sequence[Line], matching: Matching, documentation: str = "") -> list[Line]:
    """The line that matches best, marked, and those beside it that say something.

    Args:
        lines: of a unit or a file.
        matching: the question.
        documentation: the sentence that is shown anyway, whose lines are left out.
    """
    sentence = frozenset(_WORD.findall(documentation))
    scored = [(line, matching.score(line.text) * share) for line, share in zip(lines, _shares(lines), strict=True)]
    scored = [each for each in scored if any(map(str.isalnum, each[0].text))]
    scored = [each for each in scored if not _repeats(each[0].text, sentence)] or scored
    scores = [score for _, score in scored]
    best = scores.index(max(scores)) if any(scores) else 0
    first = max(0, min(best - LINES // 2, len(scored) - LINES))
    return [
        Line(line.number, line.text.rstrip(), first + place == best and any(scores), matching.place(line.text))
        for place, (line, _) in enumerate(scored[first : first + LINES])
    ]


def _shares(lines: Sequence[Line]) -> Iterator[float]:
    """How much each line counts: comments and documentation less than code."""
    quoted = ""
    for line in lines:
        text = line.text.strip()
        begins = next((each for each in _QUOTES if text.lstrip("rR").startswith(each)), "")
        yield _COMMENT if quoted or begins or text.startswith(_COMMENTS) else 1.0
        if quoted and quoted in text:
            quoted = ""
        elif begins and not quoted and text.count(begins) == 1:
            quoted = begins


def _repeats(line: str, sentence: frozenset[str]) -> bool:
    """Whether a line says hardly more than a sentence."""
    words = _WORD.findall(line)
    return len(words) > 2 and len(sentence.intersection(words)) >= _MOST_WORDS * len({*words})


def _body_lines(source: str, path: str) -> int:
    """The number of lines behind the head of a declaration; 0 if its body begins on the line of its head."""
    rest = body(source, path)
    before = source[: len(source) - len(rest)]
    return rest.count("\n") + 1 if rest.strip() and source.endswith(rest) and before.endswith("\n") else 0
