"""The terms that a word is ranked by: its stem, and where a script has no blanks between words, its pairs of letters.

A question and an index are cut in the same way. Chinese, Japanese, Korean (whose particles are written together with
their words), Thai, Lao, Khmer, Burmese and Tibetan are cut into overlapping pairs. Other scripts have a stemmer of
their own where there is one. Latin letters lose their accents, other letters the marks that are optional.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import Stemmer

from data_prep.languages.identifiers import kept_if_short

_LIST: Final = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
will with
"""
STOP_WORDS: Final = frozenset(_LIST.split())
"""Common English words that BM25 leaves out of queries: Lucene's list, as bm25s has it, whose import takes long."""
_UNBROKEN: Final = (
    "\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua000-\ua4cf\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Ranges of letters that are cut into pairs."""
_PART: Final = re.compile(f"([{_UNBROKEN}]+)|[^{_UNBROKEN}]+")
_STEMMERS: Final = (
    (re.compile("[\u0400-\u052f]"), "russian"),
    (re.compile("[\u0370-\u03ff]"), "greek"),
    (re.compile("[\u0600-\u06ff]"), "arabic"),
    (re.compile("[\u0900-\u097f]"), "hindi"),
    (re.compile("[\u0b80-\u0bff]"), "tamil"),
    (re.compile("[\u0530-\u058f]"), "armenian"),
)
"""What a word has a letter of -> the language whose stemmer reads its script; else English."""
_PLAIN: Final = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "Æ": "AE",
    "Œ": "OE", "Ø": "O", "Ł": "L", "Đ": "D", "ё": "е", "Ё": "Е", "’": "'",
}  # fmt: skip
"""Letters without accents that Unicode does not take apart."""
_KEPT_MARKS: Final = re.compile("[\u3099\u309a]")  # of Japanese: another letter without them


class _Folded(dict[int, str]):
    """The code of a character -> what it is read as; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if letter in _PLAIN:
            plain = _PLAIN[letter]
        elif unicodedata.category(letter).startswith("M") and not _KEPT_MARKS.match(letter):
            plain = ""
        elif code > 0x7F and unicodedata.name(letter, "").startswith("LATIN"):
            plain = "".join(each for each in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(each))
        else:
            plain = letter
        if code < 0x3000:  # scripts of few letters
            self[code] = plain
        return plain


_FOLDED: Final = _Folded()


def folded(text: str) -> str:
    """A text as its words are read: composed, half-width and full-width letters alike, without accents."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_FOLDED)


def pieces(word: str) -> tuple[str, ...]:
    """A word, or of a script without blanks its pairs of letters: ``calc消費税`` -> calc, 消費, 費税."""
    if word.isascii():
        return (word,)
    found: list[str] = []
    for part in _PART.finditer(folded(word)):
        run = part[0]
        if part[1] and len(run) > 2:
            found += (run[place : place + 2] for place in range(len(run) - 1))
        else:
            found.append(run)
    return tuple(found)


def stems(word: str) -> tuple[str, ...]:
    """The stems of the pieces of a lower-case word."""
    if word.isascii():
        return (stem_of(word),)
    return tuple(map(stem_of, pieces(word)))


def terms_of(words: Sequence[str]) -> list[str]:
    """The distinct stems of a query without stop words, or of all its words if all are stop words."""
    wanted = [word for word in words if word not in STOP_WORDS] or words
    return list(dict.fromkeys(stem for word in wanted for stem in stems(word)))


@kept_if_short(40, 1 << 15)
def stem_of(piece: str) -> str:
    """The stem of a piece, by the language that its script stands for."""
    if piece.isascii():
        return _stemmer("english")(piece)
    return _stemmer(next((name for letters, name in _STEMMERS if letters.search(piece)), "english"))(piece)


@lru_cache
def _stemmer(language: str) -> Callable[[str], str]:
    stem: Callable[[str], str] = Stemmer.Stemmer(language).stemWord
    return stem
