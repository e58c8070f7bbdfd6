"""What code has of a message or a route that is asked for.

A message stands in code letter by letter, whatever was put in at its placeholders; or in a catalogue, whose key code
has. The verb of a route, as in ``POST /orders``, stands in what is before a function's body, as ``@router.post`` or
``[HttpPost]``. Of a controller, whose path stands before the class, it is a method of that.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import dropwhile, groupby, pairwise
from typing import Final

from data_prep.languages.language import words
from search.engine.line_scores import read_text
from search.files.words import path_stems, stem_of
from search.index.code_index import UNIT_KINDS, WHOLE_FILE, Index

FEWEST: Final = 3
"""Words of a run, at least."""
_COMPARED: Final = 4000
"""Characters of a text that are read."""
_READ: Final = 100_000
"""The same where a line is looked for."""
_HALF: Final = 0.499
"""The share of a question that a line has at least to be shown for it."""
_WORD: Final = re.compile(r"[^\W_]+")
_PUT_IN: Final = 80
"""Characters that may stand in the text for words that a program put in."""
_DIGIT: Final = re.compile(r"\d")
_PLACEHOLDER: Final = re.compile(r"[\"'`%{$<~]|\\\(|\d")
"""What is where a program puts something in: the end of a string, or a sign in it; or a number, as printed."""
_JOINT: Final = re.compile(
    r"(?:(?<=[^\"'`\s])|(?<=\s))([\"'`])\s*(?:(?:\+\+?|\.\.?|&|<>|<<|\\)\s*)?[frbu]{0,2}\$?\1(?!\1)"
)
"""What is between the parts of a string that is written in several."""
_ENDED: Final = (":", "]")
"""What ends what a program prints before a message, such as the name of an error."""
_STATED: Final = re.compile(
    r"(?s)\A(?:.*[\s.\\:'\"(])?[\w$]*(?:Error|Exception|Fault|Failure|Warning|[Pp]anic)(?:\)?:|\)) (?=\S+\s+\S+\s+\S)"
)


def without_error(typed: str) -> str:
    """A message without the name of the error before it, and what stands before that."""
    return _STATED.sub("", typed)


def share_as_typed(typed: Sequence[str], text: str) -> float:
    """The share of a question's words in the best run of them that a text has; 0 if these are less than FEWEST.

    Words with digits may be what a program put in: they count for nothing, and stand for a placeholder. So do words
    that the text lacks, inside of a run that has two words one after the other. What ends with a colon or a bracket
    before the run is no part of the message.

    Args:
        typed: the lower-case words, with what is between blanks beside them.
        text: in any case, without line breaks.
    """
    text = _JOINT.sub("", text[:_COMPARED].lower())
    counted = [_DIGIT.search(word) is None for word in typed]
    plain = [counts and _stands(word, text) for counts, word in zip(counted, typed, strict=True)]
    best, end, start = 0.0, 0, 0
    for begin in range(len(typed)):
        start, end = begin if begin and typed[begin - 1].endswith(_ENDED) else start, max(end, begin)
        while end < len(typed) and _has(text, typed[begin : end + 1], plain[begin : end + 1]):
            end += 1
        places = [place for place in range(begin, end) if plain[place]]
        if len(places) >= FEWEST and any(plain[place + 1 : place + 2] == [True] for place in places[:-1]):
            others = sum(counted[start : places[0]]) + sum(counted[places[-1] + 1 :])
            best = max(best, len(places) / (len(places) + others))
    return best


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
    asked, lower = without_error(typed.strip()).lower().split(), read.lower()
    if len(asked) < FEWEST or len(lower) != len(read):
        return 0
    best, most = 0, _HALF
    for place in sorted(_lines_with_pairs(lower, asked)):
        lines = read_text(text, _READ)
        share = share_as_typed(asked, lines.lines[place]) if lines.is_code(place, sentence) else 0.0
        if share > most:
            best, most = place + 1, share
    return best


def _lines_with_pairs(text: str, asked: Sequence[str]) -> set[int]:
    """The lines of a text, from 0, where two words of a question that follow each other begin."""
    found: set[int] = set()
    for pair in {f"{first} {then}" for first, then in pairwise(asked)}:
        line, begin, place = 0, 0, text.find(pair)
        while place >= 0:
            line += text.count("\n", begin, place)
            found.add(line)
            begin, place = place, text.find(pair, place + 1)
    return found


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


def _parts(run: Sequence[str], plain: Sequence[bool]) -> Iterator[Iterator[tuple[str, bool]]]:
    return (own for is_plain, own in groupby(zip(run, plain, strict=True), lambda each: each[1]) if is_plain)


_OF_FORMS: Final = (
    "value preserve space xml string name data msgstr msgid plural item quantity source target type text id"
)
_FORMAT: Final = frozenset(map(stem_of, words(_OF_FORMS)))
"""What the form of a catalogue has around a key."""
_LONGEST: Final = 16
"""Words of a key, or of a text that is one."""
_ABOVE: Final = 100
"""Lines above a message that may have the keys around it."""
_OF_KEY: Final = 4
"""Words of such a line, at most."""
_APART: Final = (".po", ".resx", ".xlf")
"""The ends of catalogues that have a key in a line of its own, one or _BEFORE lines above its message."""
_BEFORE: Final = 2
_INNER: Final = frozenset(map(stem_of, words("state string en localizations variations plural one other")))
"""How lines between a key and its message begin in ``.xcstrings``; in Android's plurals by ``item``."""


def keyed(index: Index, file: int, line: int, naming: Callable[[Sequence[str]], list[int]]) -> list[int]:
    """The rows that have the key of a message.

    Args:
        index: of the rows.
        file: the catalogue.
        line: of the message.
        naming: gives the rows that have some stems one after the other; none if these are many.
    """
    found: dict[int, list[str]] = {}
    for number, stem in sorted(index.whole.words_of(file).items()):
        found.setdefault(index.whole.line(file, 2 * number), []).append(stem)
    path, written = index.files[file].path, found.get(line, [])
    own = _bare(written)[:_LONGEST]
    for length in range(len(own), 1, -1):
        if rows := naming(own[:length]):
            return rows
    above = [found[each] for each in range(line - 1, max(0, line - _ABOVE), -1) if each in found]
    between = _INNER if path.endswith(".xcstrings") else frozenset({"item"} & {*written[:1]})
    above = [*dropwhile(lambda key: key[0] in between, above)]
    for key in above[: 1 if between else _BEFORE] if between or path.endswith(_APART) else ():
        if rows := naming(_bare(_bare(key)[::-1])[::-1]):
            return rows
    heads = [*(key for key in above if len(key) <= _OF_KEY), path_stems(path)[0]]
    return next(filter(None, (naming([*key, *own[:1]]) for key in heads)), []) or naming(own[:1])


def _bare(key: Sequence[str]) -> list[str]:
    return [*dropwhile(_FORMAT.__contains__, key)]


ROUTE_WITH_VERB: Final = re.compile(r"(?i)\A(get|post|put|patch|delete|head|options|any)\s+(?=/\S*\Z)")
"""What stands before a route."""
_HEAD: Final = 400
"""Characters of a function in which its verb is."""
_MORE: Final = 3.0
"""What a row with the verb weighs over one without."""
_TYPE: Final = UNIT_KINDS.index("type")


def with_verb(index: Index, verb: str, rows: Mapping[int, float]) -> dict[int, float]:
    """Rows that have a route, those with the verb before the others, and those in a type which has the route.

    Args:
        index: of the rows.
        verb: such as POST.
        rows: what each weighs.
    """
    small, capital = verb.lower(), verb.capitalize()
    forms = rf"(?<![A-Za-z]){small}(?![a-z])", verb.upper(), rf"(?:@|Map|Http){capital}(?![a-z])", rf"@{capital}[A-Z]"
    written, found = re.compile("|".join(forms)), dict[int, float]()
    for row, weight in rows.items():
        for inner in _inside(index, row) if index.kinds[row] == _TYPE else (row,):
            if index.kinds[inner] not in (_TYPE, WHOLE_FILE) and written.search(index.text(inner).source[:_HEAD]):
                found[inner] = max(found.get(inner, 0.0), _MORE * weight)
    return {**{row: weight / _MORE for row, weight in rows.items()}, **found} if found else dict(rows)


def _inside(index: Index, row: int) -> list[int]:
    """The rows of what is in a type."""
    file, type_ = index.file_number(row), f"{index.names[row]}."
    return [each for each in range(*index.file_edges[file : file + 2].tolist()) if index.names[each].startswith(type_)]
