"""The terms that a text is ranked by, and the words of a whole file: their places and its names.

A term is the stem of a word. Chinese, Japanese, Korean (whose particles are written together with their words), Thai,
Lao, Khmer, Burmese and Tibetan, without blanks between words, are cut into overlapping pairs of letters. Other scripts
have a stemmer of their own where there is one. Latin letters lose their accents, others the marks that are optional.

Any file is read that is written in lines of text: a name is defined by a keyword before it. Where the comments are is
said by who has parsed it; else their words are words of the text.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import Final

import numpy as np
import Stemmer

from data_prep.languages.identifiers import LONGEST_WORD, compiled_later, kept_if_short, split_identifier
from data_prep.languages.registry import languages
from data_prep.store.arrays import Ragged, edges

_LIST: Final = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
will with
"""
STOP_WORDS: Final = frozenset(_LIST.split())
"""Common English words that BM25 leaves out of queries: Lucene's list, as bm25s has it, whose import takes long."""
ASKING: Final = frozenset(("how", "what", "where", "which", "when", "why", "does", "do"))
"""Words that begin a question and say nothing about its subject."""
_BREAKING: Final = """
after are as at be before between by do does from in into is like not of on such than that through to via was were when
whether which while with without
"""
BREAKS: Final = frozenset(_BREAKING.split())
"""Words behind which a question says more of its subject."""
_EXPLAINING: Final = """
across also another around been between both during either functionality given has have instead internally internals its
just may mechanism more most must otherwise our provide provided provides should so some than them use used uses using
various via was we were whether while within work working works would you your
"""
SELDOM: Final = frozenset(_EXPLAINING.split())
"""Words by which people explain: the files that they mean seldom have them."""
_TALKING: Final = """
all am any anyone anything been being can could did doing done explain from had he help her here him his i im is like
made make makes me mean means mine my need needs one ones other others own please see shall she show something tell
thing things those too until want wants way ways who whom whose why
"""
SAYS_NOTHING: Final = SELDOM.union(_TALKING.split())
"""Words of which alone no question is made, though each may be a name."""
_UNBROKEN: Final = (
    "\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua000-\ua4cf\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Ranges of letters that are cut into pairs."""
_PART: Final = compiled_later(f"([{_UNBROKEN}]+)|[^{_UNBROKEN}]+")
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


_RUN: Final = re.compile(r"\w+")
_LINE_END: Final = "\0"
_PART_END: Final = "\1"
_READ: Final = re.sub(rb"[^\w\n\x01\x80-\xff]", b" ", bytes(range(256)))
"""What each byte of a text is read as."""
_NO_WORD: Final = re.compile(r"[^\x00-\x7f\w]+")
_WHOLE: Final = r"(?<![\w.].)"  # behind its first letter: what begins with it is no part of a longer name
_KEYWORDS: Final = r"""
def class interface enum struct trait record func(?:[\x20\t]*\([^)\n]{0,200}\))? function\*? type const let var
namespace module
"""
_DEFINED: Final = re.compile(
    f"(?:{'|'.join(each[0] + _WHOLE + each[1:] for each in _KEYWORDS.split())})"
    r"[ \t]+(?:self\.)?([A-Za-z_$][\w$]*)"
)
"""A keyword and a name; the keyword's first letter comes first, which is faster to look for."""


GATHERING: Final = frozenset(name for language in languages() for name in language.gathering_files)
"""Names of files that stand for their folders."""
MOST: Final = 65_535
"""Places of a stem in a file that are kept, the first ones."""
_ASKS: Final = re.compile(r"(?im)^[ \t]*(?:#|//|--|;|%)[ \t]*search[ \t]*:[ \t]*\S.*$")
"""A comment that is a question itself (search/cursor.py) answers none."""


@dataclass(frozen=True, eq=False, slots=True)
class FileWords:
    """Stems and where they occur, and the names that are defined."""

    stems: Mapping[str, int] = field(default_factory=dict)
    """Distinct stem -> its number, from 0, by where it is first."""
    places: Ragged = field(default_factory=lambda: Ragged.of(()))
    """Of each stem: twice its number among all words of the file, from 0, and 1 more in comments; ascending."""
    line_ends: Sequence[int] = ()  # of each line: how many words there are up to its end
    names: Sequence[str] = ()  # distinct, lower-case, sorted
    defined: Sequence[str] = ()  # the same as they are written, in the order of the text; not stored


def file_words(data: bytes, spans: Sequence[tuple[int, int]] = ()) -> FileWords:
    """The words of a file.

    Args:
        data: its content.
        spans: start and end of its comments and docstrings in bytes, ascending; empty if they are not known.
    """
    code, read = [], []
    for part, in_comment in _parts(data.replace(_PART_END.encode(), b" "), spans):
        text = part.decode("utf-8", "replace")
        if not in_comment:
            code.append(text)
        read.append(folded(_ASKS.sub("", text) if in_comment else text))
    numbers = defaultdict[str, int](count(2).__next__, {_LINE_END: 0, _PART_END: 1})
    whole = _runs(_PART_END.join(read))
    runs = np.fromiter(map(numbers.__getitem__, whole), np.int64, len(whole))
    stems = defaultdict[str, int](count().__next__)
    found = [stems_of(run) if len(run) <= LONGEST_WORD or not run.isascii() else () for run in numbers]  # data has none
    words = Ragged.of(found, stems).take(runs)
    line_ends = [*words.offsets[1:][runs == 0].tolist(), len(words.values)]
    in_comments = np.repeat(np.cumsum(runs == 1) & 1, words.lengths)
    order = np.argsort(words.values.astype(np.uint16) if len(stems) <= MOST else words.values, kind="stable")
    values = (2 * order + in_comments[order]).astype(np.int32)
    places = Ragged(values, edges(np.bincount(words.values, minlength=len(stems)))).cut(MOST)
    names = _DEFINED.findall(" ".join(code))
    defined = list(dict.fromkeys(name for name in names if len(name) <= LONGEST_WORD))
    return FileWords({**stems}, places, line_ends, sorted({name.lower() for name in defined}), defined)


def _runs(text: str) -> list[str]:
    """The runs of letters, digits and underscores of a text, and the ends of its lines and parts."""
    plain = text.encode().translate(_READ).decode()
    if not plain.isascii():
        plain = _NO_WORD.sub(" ", plain)
    return plain.replace("\n", f" {_LINE_END} ").replace(_PART_END, f" {_PART_END} ").split()


def _parts(data: bytes, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[bytes, bool]]:
    """The parts of a file in their order, and whether each is a comment."""
    place = 0
    for start, end in spans:
        if start >= place:
            yield data[place:start], False
            yield data[start:end], True
            place = end
    yield data[place:], False


@lru_cache(maxsize=1 << 16)
def stems_of(run: str) -> tuple[str, ...]:
    """The stems of the words of an identifier: ``readAllLines`` -> read, all, line."""
    words = split_identifier(run)
    if run.isascii():
        return tuple(map(stem_of, words))
    return tuple(stem for word in words for stem in stems(word))


def path_stems(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stems of a file's name without its last suffix, and those of its folders.

    A file that stands for its folder, such as ``index.ts``, is called as that.
    """
    *folders, name = path.split("/")
    stem = folders[-1] if folders and name in GATHERING else name.lstrip(".").rpartition(".")[0] or name
    return _stems_of_part(stem), tuple(stem for folder in folders for stem in _stems_of_part(folder))


@lru_cache(maxsize=1 << 12)
def _stems_of_part(part: str) -> tuple[str, ...]:
    """The stems of a part of a path, read as one identifier."""
    return stems_of("_".join(run for run in _RUN.findall(folded(part)) if len(run) <= LONGEST_WORD))


_DOERS: Final = ("er", "or")
_DOUBLED: Final = frozenset("bdgmnprt")
"""Letters that are written twice before an ending, as in *logger*."""
_OF_DOER: Final = 5
"""Letters of a word for what does something, at least."""
_ROOT: Final = 3
"""The same of what its ending is taken from."""
_ENDS: Final = """
ud/us id/is and/ans end/ens mit/miss vert/vers scrib/script eiv/ept duc/duct olv/olut fin/finit pos/posit fi/f pli/plic
ist/istr ist/istri istr/istri ov/overi iv/iveri yz/ysi par/parison
"""
_TURNED: Final = tuple(pair.split("/") for pair in _ENDS.split())
"""Ends of the stems of verbs and of their nouns, which stemming leaves apart: *exclude* and *exclusion*."""


def family(stem: str) -> set[str]:
    """The stems of what is done, what does it and what it is: ``pars`` and ``parser``, ``divid`` and ``divis``."""
    turned = {
        stem.removesuffix(end) + other
        for pair in _TURNED
        for end, other in (pair, pair[::-1])
        if len(stem) > _ROOT and stem.endswith(end)
    }
    return (_doers(stem) | turned) - {stem}


def _doers(stem: str) -> set[str]:
    root = stem
    if len(root) >= _OF_DOER and root.endswith(_DOERS):
        root = root[:-2]
        root = root[:-1] if root[-1] == root[-2] and root[-1] in _DOUBLED and len(root) > _ROOT else root  # logg
    root = root.removesuffix("e") if len(root) > _ROOT else root
    if not root.isascii() or len(root) < _ROOT:
        return set()
    doubled = [root + root[-1]] if root[-1] in _DOUBLED else []
    return {root, f"{root}e", *(begin + end for begin in (root, *doubled) for end in _DOERS), *doubled}
