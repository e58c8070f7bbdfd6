"""What is near to a word that no file has: names by edit distance, and other forms of *müşteriler*, as *müşteri*.

Letters that changed places count once. A word is put in the form that begins most like it.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice, product, takewhile
from operator import eq
from typing import Final

import numpy as np

from data_prep.languages.identifiers import LONGEST_WORD
from data_prep.store.arrays import Int64, UInt64
from search.files.words import folded, stem_of, stems

LONGEST: Final = 60
"""Characters of a name that is compared; longer ones are near to nothing."""
MOST: Final = 3
"""Names that are told."""
_COMPARED: Final = 60
"""Names whose distance is computed, those that share most letters and pairs of them."""
_PER_EDIT: Final = 6
"""Pairs of letters that one edit can take away or add: two letters that change places touch three before and after."""
_SHORT: Final = 7
"""Letters below which a name may have one edit, from its second letter on."""
_VERY_SHORT: Final = 5
_BITS: Final = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))
_END: Final = ord("\n")


class NearNames:
    """Names, and which of them are near to another.

    Each name has 64 bits, which say what pairs of letters it has. Only names whose bits differ little are compared.
    """

    def __init__(self, names: Iterable[str]) -> None:
        """``names``: in any case; what is longer than LONGEST characters is left out."""
        self._names = [name for name in dict.fromkeys(names) if 1 < len(name) <= LONGEST and "\n" not in name]
        self._near = lru_cache(maxsize=256)(self._near_to)

    def near(self, name: str) -> list[str]:
        """At most MOST names, nearest first, within one edit of a short name, or two of one of 7 letters or more.

        A short name is near only to those that begin alike (:func:`_begin_alike`).
        """
        return [*self._near(name)] if 3 <= len(name) <= LONGEST and self._names else []

    def _near_to(self, name: str) -> Sequence[str]:
        wanted, most = name.lower(), 1 if (short := len(name) < _SHORT) else 2
        differ = np.bitwise_count(self._bits ^ _bits([wanted])[0])
        close = np.flatnonzero((abs(self._lengths - len(name)) <= most) & (differ <= _PER_EDIT * most))
        changed = np.bitwise_count(self._letters[close] ^ _letters([wanted])[0])
        close, changed = close[changed <= 2 * most], changed[changed <= 2 * most]  # an edit changes two at most
        close = close[np.argsort(differ[close] + 3 * changed, kind="stable")[:_COMPARED]]
        names = [self._names[place] for place in close.tolist()]
        found = [(distance(wanted, each.lower(), most), each) for each in names]
        return [each for far, each in sorted(found) if far <= most and (not short or _begin_alike(wanted, each))][:MOST]

    @cached_property
    def _lengths(self) -> Int64[np.ndarray, " names"]:
        return np.fromiter(map(len, self._names), np.int64, len(self._names))

    @cached_property
    def _letters(self) -> UInt64[np.ndarray, " names"]:
        return _letters(self._names)

    @cached_property
    def _bits(self) -> UInt64[np.ndarray, " names"]:
        return _bits(self._names)


def _begin_alike(wanted: str, name: str) -> bool:
    """Whether a short word may be a misspelt ``name``, which many words differ from by one letter.

    The first letters are the same, or those of both exchanged. Below _VERY_SHORT letters none is replaced by another.
    """
    other = name.lower()
    begins = wanted[0] == other[0] or wanted[1::-1] == other[:2]
    return begins and (len(wanted) >= _VERY_SHORT or len(wanted) != len(other) or sorted(wanted) == sorted(other))


def _bits(names: Sequence[str]) -> UInt64[np.ndarray, " names"]:
    """Which pairs of letters each name has, by a hash of 64 values; a letter alone has none."""
    text = "\n".join(("", *names, "")).lower()
    letters = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
    first, second = letters[:-1], letters[1:]
    pairs = _BITS[(first * np.uint8(31) + second * np.uint8(7)) & np.uint8(63)]
    ends = first == _END
    pairs[ends | (second == _END)] = 0
    starts = np.flatnonzero(ends)
    return np.bitwise_or.reduceat(pairs, starts)


def _letters(names: Sequence[str]) -> UInt64[np.ndarray, " names"]:
    """Which letters each name has, by the last bits of their codes."""
    codes = np.frombuffer("\n".join(("", *names)).lower().encode("utf-32-le", "replace"), np.uint32)
    return np.bitwise_or.reduceat(_BITS[codes & 63], np.flatnonzero(codes == _END))


def distance(one: str, other: str, most: int) -> int:
    """The least number of letters put in, left out, replaced or exchanged with the next; above ``most``: most + 1."""
    far, count = most + 1, len(other)
    before: list[int] = []
    last = [*range(count + 1)]
    for row, letter in enumerate(one, start=1):
        now = [row, *(far,) * count]
        for place in range(max(1, row - most), min(count, row + most) + 1):  # beyond, all are far
            cost = min(last[place] + 1, now[place - 1] + 1, last[place - 1] + (letter != other[place - 1]))
            if row > 1 < place and letter == other[place - 2] and one[row - 2] == other[place - 1]:
                cost = min(cost, before[place - 2] + 1)
            now[place] = cost
        if min(now) > most and min(last) > most:
            return far
        before, last = last, now
    return min(last[-1], far)


def with_near_suffix(typed: str, paths: Sequence[str]) -> list[int]:
    """The places of ``paths`` that end as a typed one but for a misspelt suffix, nearest first; all in lower case."""
    begin, _, suffix = f"/{typed}".rpartition(".")
    if not begin.strip("/") or not suffix.isalnum() or " " in begin:
        return []
    most, found = 1 + (len(suffix) >= _LONG_SUFFIX), list[tuple[int, int]]()
    for place, path in enumerate(paths):
        stem, _, own = path.rpartition(".")
        if stem.endswith(begin) and abs(len(own) - len(suffix)) <= most:
            found.append((distance(suffix, own, most), place))
    return [place for far, place in sorted(found) if far <= most]


_LONG_SUFFIX: Final = 4
"""Letters of a suffix that may have two edits."""
_WORD: Final = re.compile(r"(?<![\w.])[^\W\d_]{4,}(?![\w.])")
_ALIKE: Final = 0.55
"""The share of the longer word that two forms begin with."""
_SHORTEST: Final = 4
_SURE: Final = 5
"""Letters that they begin with, and from which on one is surely a form of the other; in other alphabets than the Latin
one fewer by one."""
_TYPED: Final = re.compile(r"[\w\u0300-\u036f]+")
"""A word, whose accents may stand apart."""


def in_known_forms(
    text: str,
    terms: Sequence[Sequence[str]],
    has: Callable[[str], bool],
    near: Callable[[str], Sequence[str]] | None = None,
) -> str:
    """A question with the forms of its words that files have.

    Args:
        text: the question.
        terms: the stems of the files, sorted, in one or more lists.
        has: whether a file has a stem.
        near: the words of files near to a word, by which one that may be misspelt is left as it is; None: none is.
    """

    def form(found: re.Match[str]) -> str:
        other = _form(found[0], terms, has)
        word = folded(found[0]).lower()
        return found[0] if near and other != found[0] and _may_be_misspelt(word, other, near(word)) else other

    return _WORD.sub(form, text)


def _may_be_misspelt(word: str, form: str, others: Sequence[str]) -> bool:
    """Whether a word is hardly another ``form``: what it shares with that is short, or it differs before its end.

    Args:
        word: in lower case, without accents.
        form: the stem that it begins like.
        others: words near to it.
    """
    if _HEBREW.fullmatch(word) and word[-_ROOT:] == form[-_ROOT:]:
        return False
    if shared_start(word, form) < _SURE - (not word.isascii()):
        return True
    same = [other for other in map(str.lower, others) if other.startswith(form)]
    return any(_differs_inside(word, other) for other in same) and not any(map(word.startswith, same))


def _differs_inside(word: str, other: str) -> bool:
    """Whether two near words differ by more than their endings: these have a letter in common."""
    same = shared_start(word, other)
    return not {*word[same:]}.isdisjoint(other[same:])


def shared_start(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of letters that two words begin with alike, or of parts that two paths do."""
    return sum(takewhile(bool, map(eq, one, other)))


_UMLAUT: Final = re.compile("[aou]e|aa", re.IGNORECASE)
"""Two letters that are typed for one with a mark: ä, ö, ü, å; this one is read as the first letter."""
SPELT: Final = re.compile(f"{_UMLAUT.pattern}|ss", re.IGNORECASE)
"""The same, or ss for ß, which is read as that, but by the stemmer of another language."""
_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_MOST_SPELT: Final = 3  # of a word


def with_umlauts(text: str, has: Callable[[str], bool], terms: Sequence[Sequence[str]] = ()) -> str:
    """A question with one letter for the two of an umlaut, where only so a file has a word: *groesse* for *größe*.

    Args:
        text: the question.
        has: whether a file has a stem.
        terms: the stems of the files, as in :func:`in_known_forms`, if other forms of a word count too.
    """

    def written(found: re.Match[str]) -> str:
        word = found[0]
        if len(word) < _SHORTEST or not SPELT.search(word) or has(stem_of(word.lower())):
            return word
        if not (others := [*_umlauts(word)]):
            form = _form(word.lower(), terms, has)
            return form if form.startswith(word[:-2].lower()) and has(stem_of(form)) else word
        known = next((other for other in others if has(stem_of(other.lower()))), "")
        form = "" if known else _form(others[0].lower(), terms, has)
        return known or (form if shared_start(form, others[0].lower()) >= _SHORTEST and has(form) else word)

    return _PART.sub(written, text)


def _umlauts(word: str) -> Iterator[str]:
    """A word with one letter for each pair of letters of an umlaut, then for some of them."""
    pairs = [found.start() for found in _UMLAUT.finditer(word)][:_MOST_SPELT]
    for kept in islice(product((False, True), repeat=len(pairs)), 2 ** len(pairs) - 1):
        gone = {pair + 1 for pair, is_kept in zip(pairs, kept, strict=True) if not is_kept}
        yield "".join(letter for place, letter in enumerate(word) if place not in gone)


def _form(typed: str, terms: Sequence[Sequence[str]], has: Callable[[str], bool]) -> str:
    """A word, or the stem in its place."""
    word = folded(typed).lower()
    own = stems(word)
    if len(own) != 1 or len(word) > LONGEST_WORD or has(own[0]):
        return typed
    if _HEBREW.fullmatch(word) and (other := _with_other_prefix(word, has)):
        return other
    first = word[: _SHORTEST - (not word.isascii())]
    best, alike = typed, _ALIKE
    for each in terms:
        for other in each[bisect_left(each, first) : bisect_left(each, first + "\U0010ffff")]:
            share = shared_start(word, other) / max(len(own[0]), len(other))
            if share >= alike and has(stem_of(other)):
                best, alike = other, share
    return best


_HEBREW: Final = re.compile("[\u05d0-\u05ea]{3,}")
_ROOT: Final = 3
"""Letters of a Hebrew word that its prefixes leave, at least."""
_PREFIXES: Final = ("ה", "ב", "ל", "מ", "ש", "כ", "ו", "וה", "שה", "מה", "וב", "ול", "ומ", "וש", "כש", "לכ")
"""Articles and prepositions that Hebrew writes together with the word behind them."""


def _with_other_prefix(word: str, has: Callable[[str], bool]) -> str:
    """A Hebrew word that a file has with another prefix, or without one; "" if none has."""
    bare = [
        word,
        *(word.removeprefix(each) for each in _PREFIXES if word.startswith(each) and len(word) >= len(each) + _ROOT),
    ]
    return next((other for root in bare for before in ("", *_PREFIXES) if has(stem_of(other := before + root))), "")


def as_typed(word: str, query: str) -> str:
    """A word of a question, or of an identifier in it, as it is typed; else as it is."""
    for found in _TYPED.findall(query):
        written = unicodedata.normalize("NFC", found)
        place = (plain := folded(written).lower()).find(word)
        if place >= 0 and (len(plain) == len(written) or plain == word):
            return written[place : place + len(word)] if len(plain) == len(written) else written
    return word


def joined(words: Sequence[str]) -> list[str]:
    """Words, of which those that overlap in scripts without blanks are one."""
    found: list[str] = []
    for word in words:
        if found and not word.isascii() and len(word) > 1 and found[-1].endswith(word[:-1]):
            found[-1] += word[-1]
        else:
            found.append(word)
    return found
