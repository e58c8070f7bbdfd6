"""Other forms of a question's words: of *müşteriler*, which no file has, that may be *müşteri*.

Each word that no file has is put in the form that begins most like it, where the question is not plain English: where
it has letters of another alphabet or with accents, or where no file has any of its words. What begins alike in English
is mostly another word.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import takewhile
from operator import eq
from typing import Final

from data_prep.languages.identifiers import LONGEST_WORD
from search.engine.file_ranking import stemmed
from search.engine.question import asked_words, is_named
from search.files.words import folded, stem_of, stems

_WORD: Final = re.compile(r"(?<![\w.])[^\W\d_]{4,}(?![\w.])")
_ROUTE: Final = re.compile(r"(?:[A-Za-z]+\s+)?(?:https?://[^\s/]+)?/(?:\S*/)?[a-z_-]{3,}\S*", re.IGNORECASE)
"""A route: behind its parts in words, numbers are values."""
_NUMBER: Final = re.compile(r"(?<=[a-z_-]{3})/\d+(?=/|\?|\Z|\s)")
_ALIKE: Final = 0.55
"""The share of the longer word that two forms begin with."""
_SHORTEST: Final = 4
"""Letters that they begin with, in other alphabets than the Latin one fewer by one."""


def in_known_forms(text: str, terms: Sequence[Sequence[str]], has: Callable[[str], bool]) -> str:
    """A question with the forms of its words that files have.

    Args:
        text: the question.
        terms: the stems of the files, sorted, in one or more lists.
        has: whether a file has a stem.
    """
    if _ROUTE.fullmatch(text.strip()):
        return _NUMBER.sub("", text)
    stems_asked = stemmed(asked_words(text))
    if is_named(text) or (text.isascii() and (len(stems_asked) == 1 or any(map(has, stems_asked.values())))):
        return text
    return _WORD.sub(lambda found: _form(found[0], terms, has), text)


def _form(typed: str, terms: Sequence[Sequence[str]], has: Callable[[str], bool]) -> str:
    """A word, or the stem in its place."""
    word = folded(typed).lower()
    own = stems(word)
    if len(own) != 1 or len(word) > LONGEST_WORD or has(own[0]):
        return typed
    first = word[: _SHORTEST - (not word.isascii())]
    best, alike = typed, _ALIKE
    for each in terms:
        for other in each[bisect_left(each, first) : bisect_left(each, first + "\U0010ffff")]:
            same = sum(takewhile(bool, map(eq, word, other)))
            share = same / max(len(own[0]), len(other))
            if share >= alike and has(stem_of(other)):
                best, alike = other, share
    return best
