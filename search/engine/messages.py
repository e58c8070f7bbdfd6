"""What code has of a message that is asked for.

It stands in code letter by letter, whatever was put in at its placeholders. Routes are read so too.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby, islice, pairwise
from typing import Final

import numpy as np

from search.engine.file_ranking import is_common
from search.engine.keyed_messages import Passage
from search.engine.line_scores import lines_with, read_text
from search.engine.matching import FEWEST, FILE, LIGHT, LineOwners, linked, telling, tells
from search.engine.question import asked_words
from search.files.words import ASKING, pieces
from search.index.code_index import Index

_COMPARED: Final = 4000  # characters of a text that are read
_READ: Final = 100_000  # the same where a line is looked for
_HALF: Final = 0.499  # the share of a question that a line has at least to be shown for it
_WORD: Final = re.compile(r"[^\W_]+")
_PUT_IN: Final = 80  # characters that may stand in the text for words that a program put in
_DIGIT: Final = re.compile(r"\d")
_VALUE: Final = re.compile(r"\A[\w.-]*[^\W_][\\/@=][^\s]*|/.+|\w+(?:\.\w+)+|\w+::.*|([\"'`<\[(]).*[\"'`>\])]")
"""A word that may be what a program put in: a path, an address, a dotted name, what is in quotes or brackets."""
_PLACEHOLDER: Final = re.compile(r"[\"'`%{$<~]|\\\(|\d")
"""What is where a program puts something in: the end of a string, or a sign in it; or a number, as printed."""
_JOINT: Final = re.compile(
    r"(?:(?<=[^\"'`\s\\])|(?<=\s))([\"'`])\s*(?:(?:\+\+?|\.\.?|&|<>|<<|\\)\s*)?[frbu]{0,2}\$?\1(?!\1)"
)
"""What is between the parts of a string that is written in several."""
_PUT: Final = re.compile(r"[$#]\{(?!\w*:?[-=?+])[^{}\n]{0,200}\}")
"""What a program puts in, which may have texts of its own; no variable of a shell with a text in its place."""
_NAME: Final = re.compile(r"[\w.:$#@]+")
NEGATED: Final = re.compile(r"(?<=n)['’](?=t\b)")
"""What words of code end at, in *can't*."""
AS_TYPED: Final = 3.0
"""What code weighs that has most of a question letter by letter, so that no catalogue is looked into."""
HAS: Final = 0.6
"""The share of a question that code has as typed which has no three of its telling words one after the other."""
_PLACED: Final = 0.9  # the same where only the places of words are known
_IN_CATALOGUE: Final = 0.75  # the same of a catalogue
_QUOTED: Final = 0.4  # of the weight of a part's words, that such code has by their places
_APART: Final = 0.45  # what a placeholder takes away there
_READ_QUOTES: Final = 12  # such places of a part that are read
_MOST_PARTS: Final = 3
_MOST_WORDS: Final = 64  # of a part that are looked for
_MARGIN: Final = re.compile(r"\s*\\?\n\s*(?:[|*>] ?)?")
"""What is between the lines of a text in several lines."""
_SAID: Final = re.compile(
    r"[:.!\"'`]|(?i:\b(?:no|not|cannot|fail(?:ed|ure|s)?|unable|must|invalid|missing|(?:un)?expected|already"
    r"|should|error|unknown|(?:un)?supported|denied|illegal|wrong|only|could|was|were|is|are|has|have|been)\b)"
)
"""What a message has, and few questions: a sign of a sentence, a word that says what is so."""
_CAPITAL: Final = re.compile(r"\W*[A-Z]")  # what a message begins with, and names do
_BEFORE_MESSAGE: Final = frozenset(":]")
"""What ends what a program prints before a message, such as the name of an error."""
_AFTER: Final = {":": 0.1, ".": 0.5}
"""What ends a part of a message -> what each word behind it counts against it: a program may have put them in."""
_GOES_ON: Final = re.compile(r"\s*[frbu$]{0,2}[\"'`]")
"""How a line begins that may go on with the text of the one above."""
_BLANKS: Final = re.compile(r"(?:\\[nrt]|\s)+")
_STATED: Final = re.compile(
    r"(?s)\A(?:.*[\s.\\:'\"(])?[\w$]*(?:Error|Exception|Fault|Failure|Warning|[Pp]anic)(?:\)?:|\)) (?=\S+\s+\S+\s+\S)"
)


def without_error(typed: str) -> str:
    """A message without the name of the error before it, and what stands before that."""
    return _STATED.sub("", typed)


def is_value(word: str) -> bool:
    """Whether a word of a message may be what a program put in."""
    return bool(_DIGIT.search(word) or _VALUE.fullmatch(word.rstrip(".,;:!?")))


def share_as_typed(typed: Sequence[str], text: str) -> float:
    """The share of a question's words in the best run of them that a text has; 0 if these are less than FEWEST.

    Words with digits may be what a program put in: they count for nothing, and stand for a placeholder. So do paths and
    words in quotes that the text lacks. Other words that it lacks stand for one too, inside of a run that has two words
    one after the other. No part of the message is what ends with a colon or a bracket before the run. What follows
    it behind a colon or a sentence counts less. What is no name and has no blanks, as a route, is there or not.

    Args:
        typed: the lower-case words, with what is between blanks beside them.
        text: in any case, without line breaks.
    """
    text = _JOINT.sub("", _PUT.sub("{}", text[:_COMPARED].lower()))
    if len(typed) == 1:
        return float(not _NAME.fullmatch(typed[0]) and _stands(typed[0], text))
    ends = [word[-1:] for word in typed]
    if sum((word[:-1] if end in _AFTER else word) in text for word, end in zip(typed, ends, strict=True)) < FEWEST:
        return 0.0  # as most texts, which need not be read more closely
    text = _BLANKS.sub(" ", text)
    typed = [word[:-1] if word.endswith((":", ".")) and not _stands(word, text) else word for word in typed]
    plain = [_DIGIT.search(word) is None and _stands(word, text) for word in typed]
    counted = [stands or not is_value(word) for stands, word in zip(plain, typed, strict=True)]
    best, end, start = 0.0, 0, 0
    for begin in range(len(typed)):
        is_begun = begin and ends[begin - 1] in _BEFORE_MESSAGE
        start, end = begin if is_begun else start, max(end, begin)
        while end < len(typed) and _has(text, typed[begin : end + 1], plain[begin : end + 1]):
            end += 1
        places = [place for place in range(begin, end) if plain[place]]
        if len(places) >= FEWEST and _is_run(typed, plain, places):
            others = float(sum(counted[start : places[0]]))
            for place in range(places[-1], len(typed)):
                if ends[place] in _AFTER:
                    others += _AFTER[ends[place]] * sum(counted[place + 1 :])
                    break
                others += counted[place + 1 : place + 2] == [True]
            best = max(best, len(places) / (len(places) + others))
    return best


def verbatim(index: Index, typed: Sequence[str], passage: Passage, row: int) -> float:
    """The share of a question's words that the lines of a passage have as typed."""
    text, whole = index.text(row), index.whole
    first, last = (whole.line(passage.file, place) - text.start_line for place in (passage.first, passage.last))
    lines = text.source.split("\n")
    first = max(0, first)
    first -= first > 0 and lines[first : first + 1] != [] and _GOES_ON.match(lines[first]) is not None
    return share_as_typed(typed, _MARGIN.sub(" ", "\n".join(lines[first : last + 1])))


def quoting(index: Index, owners: LineOwners, typed: str) -> Iterator[tuple[Passage, int, float]]:
    """Passages of code, or of catalogues, that have most of a message as it is typed, their rows, and what share.

    All of its words but one may be common, and what may be a value is not looked for. Its parts between colons, which
    may be several messages, are looked for one by one. Of what the index has no text the share is that of the places.

    Args:
        index: of the rows.
        owners: of the lines of its files.
        typed: the message.
    """
    lower = typed.lower().split()
    if not may_be_message(typed, lower):
        return
    for part in _between_colons(typed.split()):
        for passage, share in _likely(index, part):
            row = owners.at(passage.file, index.whole.line(passage.file, passage.last))
            if row < 0:
                continue
            if index.files[passage.file].catalogue == "texts":
                least = _IN_CATALOGUE
            elif _has_line(index, row, index.whole.line(passage.file, passage.last)):
                share, least = verbatim(index, lower, passage, row), HAS
            else:  # a name may have all words but common ones
                least = _PLACED if any(map(is_common, lower)) else 2.0
            if share >= least:
                yield passage, row, share


def may_be_message(typed: str, lower: Sequence[str]) -> bool:
    """Whether a question may be a message whose telling words alone do not find it; ``lower``: its words."""
    if len(lower) < FEWEST:
        return False
    if ":" in typed or any(map(is_value, lower)):
        return True
    common = sum(is_common(word.strip(".,;!?")) for word in lower)
    is_said = common > 0 and _SAID.search(typed) is not None
    return lower[0] not in ASKING and (is_said or (common > 1 and _CAPITAL.match(typed) is not None))


def _between_colons(typed: Sequence[str]) -> Sequence[Sequence[str]]:
    """The parts of a message that are long enough to be looked for; all of it if none is."""
    parts = [list[str]()]
    for word in typed:
        parts[-1].append(word)
        parts += [[]] if word.endswith(":") else []
    return [part for part in parts if len(part) >= FEWEST][:_MOST_PARTS] or [typed]


def _likely(index: Index, typed: Sequence[str]) -> Iterator[tuple[Passage, float]]:
    """The passages that have most words of a part of a message, and the share of its words that they have."""
    read = (("0",) if is_value(word) else asked_words(NEGATED.sub(" ", word)) for word in typed)
    words = [piece for word in chain.from_iterable(read) for piece in pieces(word)]
    told, _ = telling(index, words[:_MOST_WORDS], comments=False, light=True)
    total = sum(LIGHT if is_common(word) else 1.0 for word in words if tells(word) or is_common(word))
    if not any(each.weight > LIGHT for each in told):
        return
    keys, chains = linked(told, _APART)
    kept = np.flatnonzero((chains.lengths >= FEWEST) & (chains.weights >= _QUOTED * total))
    order = kept[(-chains.weights[kept]).argsort(kind="stable")]
    begun = dict[int, tuple[int, float]]()  # where a passage begins -> the last word of the best one, and its weight
    found = (each.tolist() for each in (keys[chains.firsts[order]], keys[order], chains.weights[order]))
    for first, last, weight in zip(*found, strict=True):
        begun.setdefault(first, (last, weight))
    for first, (last, weight) in islice(begun.items(), _READ_QUOTES):
        start, end = (int(each % FILE) << 1 for each in (first, last))
        yield Passage(weight / total, 0.0, int(first // FILE), start, end, False), weight / total


def _has_line(index: Index, row: int, line: int) -> bool:
    """Whether the index has the text of a line of a row: of long types and files it has the first lines."""
    text = index.text(row)
    return line - text.start_line <= text.source.count("\n")


def line_of(text: str, typed: str, *, quoted: bool = False, sentence: str = "") -> int:
    """The line of a text, from 1, that has most of a question in its order; 0 if none has half of it.

    Args:
        text: of a declaration or a file.
        typed: the question; a message without the name of its error.
        quoted: whether it is a text in quotes: then the first line that has all of it, or where that begins.
        sentence: of its documentation, which is shown beside the line.
    """
    read = text[:_READ]
    if quoted:
        parts = [*map(re.escape, typed.split())], [*map(re.escape, _WORD.findall(typed))]
        forms = (joint.join(own) for joint, own in zip((r"\s+", r"[\W_]*"), parts, strict=True) if own)
        found = next(filter(None, (re.search(form, read, re.IGNORECASE) for form in forms)), None)
        return read.count("\n", 0, found.start()) + 1 if found else 0
    asked, pairs = _asked(typed)
    lines = read_text(text, _READ) if pairs else None
    if not lines or len(lines.lower) != len(lines.text):
        return 0
    best, most = 0, _HALF
    for place in sorted(lines_with(pairs, lines.lower)):
        share = share_as_typed(asked, lines.lines[place]) if lines.is_code(place, sentence) else 0.0
        if share > most:
            best, most = place + 1, share
    return best


@lru_cache(maxsize=16)  # asked for each hit
def _asked(typed: str) -> tuple[Sequence[str], Collection[str]]:
    """The words of a question without the name of an error, and two that follow each other; none of a short one."""
    words = without_error(typed.strip()).lower().split()
    return words, {f"{first} {then}" for first, then in pairwise(words)} if len(words) >= FEWEST else ()


def _stands(word: str, text: str) -> bool:
    """Whether a text has a word that is no part of a longer one."""
    place = text.find(word)
    while place >= 0:
        around = text[max(0, place - 1) : place], text[place + len(word) : place + len(word) + 1]
        if not any(each.isalnum() or each == "_" for each in around):
            return True
        place = text.find(word, place + 1)
    return False


def _has(text: str, run: Sequence[str], plain: Sequence[bool]) -> bool:
    """Whether a text has the ``plain`` words of a run, with placeholders in the place of the others."""
    parts = [" ".join(word for word, _ in own) for own in _parts(run, plain)]
    place = text.find(parts[0]) if parts else 0
    while place >= 0 and parts:
        end = place + len(parts[0])
        for part in parts[1:]:
            then = text.find(part, end, end + _PUT_IN + len(part))
            if then < 0 or not _PLACEHOLDER.search(text, end, then):
                break
            end = then + len(part)
        else:
            return True
        place = text.find(parts[0], place + 1)
    return not parts


def _is_run(typed: Sequence[str], plain: Sequence[bool], places: Sequence[int]) -> bool:
    """Whether two words of a run follow each other, or it is all of a question in which only numbers are between."""
    if any(map(plain.__getitem__, (place + 1 for place in places[:-1]))):
        return True
    return all(plain[place] or _DIGIT.search(word) for place, word in enumerate(typed))


def _parts(run: Sequence[str], plain: Sequence[bool]) -> Iterator[Iterator[tuple[str, bool]]]:
    return (own for is_plain, own in groupby(zip(run, plain, strict=True), lambda each: each[1]) if is_plain)
