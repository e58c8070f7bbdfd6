"""Names that stand in texts, whether or not a parser knows what defines them: a macro may, or another package.

Also which functions take the parameters that are typed behind a name, or as many: ``Shop.handle/2`` of Elixir.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, product
from pathlib import Path
from typing import Final

import numpy as np

from search.engine.near_words import NearNames
from search.engine.path_reading import STUBS
from search.engine.question import asked_words
from search.files.words import stem_of, stems_of, terms_of
from search.index.code_index import ABSTRACT, CONSTANT, UNIT_KINDS, Index, text_at

_READ: Final = 200
"""Rows whose text is read for names."""
_FILES: Final = 20
"""Files that are read for names."""
_MEANINGS: Final = 9
"""Words that a name may have been meant to have, taken together."""
_EDITS: Final = 2
"""Letters by which the lengths of near names may differ."""
_TYPE: Final = UNIT_KINDS.index("type")


def rows_with(index: Index, typed: str) -> list[int]:
    """The rows whose text has a name that is no part of a longer one, as it is typed."""
    files = np.ones(len(index.files), np.bool_)
    for stem in terms_of(asked_words(typed)):
        has = np.zeros(len(files), np.bool_)
        has[index.whole.having(stem)] = True
        files &= has
    rows = [row for place in np.flatnonzero(files).tolist() for row in index.rows_of(place)]
    written, stored = rf"(?<![\w$-]){re.escape(typed)}(?![\w$])", json.dumps(typed)[1:-1].encode()
    return [row for row in rows if index.split.has(row, stored) and re.search(written, index.split.text(row).source)]


def is_written(index: Index, name: str, stems: Sequence[str], running: Sequence[int], root: Path | None) -> bool:
    """Whether a text has a name that is no part of a longer one, ignoring case.

    Args:
        index: of the texts.
        name: as it is typed.
        stems: of its words.
        running: the rows that have its words one after the other.
        root: the indexed folder; None: not known.
    """
    rows: set[int] = set()
    for place, stem in enumerate(sorted(stems, key=index.lexical.holders)):
        own = index.lexical.postings(stem)[0].tolist()
        rows = {*own} if place == 0 else rows.intersection(own)
    written, plain = rf"(?<!\w)(?<!\w\$){re.escape(name)}(?![\w$])", name.lower()
    texts = chain((index.text(row).source for row in sorted(rows)[:_READ]), _whole_texts(index, running, root))
    having = (each for each in texts if plain in each.lower() or not (name.isascii() and each.isascii()))
    return any(re.search(written, each, re.IGNORECASE) for each in having)


def _whole_texts(index: Index, rows: Iterable[int], root: Path | None) -> Iterator[str]:
    """The texts of the first _FILES files that are among some rows as a whole, of which the index has the beginning."""
    for row in islice(filter(index.is_whole_file, rows), _FILES):
        yield text_at(index, index.file_number(row), root) or index.text(row).source


def near_written(index: Index, name: str, words: NearNames, stems: NearNames, root: Path | None) -> list[str]:
    """Names that are nearest to one that nothing has, of the texts that have words near to its own.

    Args:
        index: of the texts.
        name: without dots, of several words.
        words: those of the index's rows.
        stems: those of its files.
        root: the indexed folder; None: not known.
    """
    meant: list[list[str]] = []
    for word in asked_words(name):
        own = stem_of(word)
        is_there = index.lexical.holders(own) or len(index.whole.having(own))
        meant.append([own] if is_there else [*dict.fromkeys((*map(stem_of, words.near(word)), *stems.near(own)))])
    rows: dict[int, None] = {}
    for each in islice(product(*meant) if meant else (), _MEANINGS):
        rows |= dict.fromkeys(islice(_having(index, each), _READ))
    texts = chain((index.text(row).source for row in [*rows][: 2 * _READ]), _whole_texts(index, rows, root))
    as_long = re.compile(rf"\b[^\W\d]\w{{{max(2, len(name) - _EDITS - 1)},{len(name) + _EDITS - 1}}}\b")
    return NearNames(chain.from_iterable(map(as_long.findall, texts))).near(name)


def _having(index: Index, stems: Sequence[str]) -> Iterator[int]:
    """The rows that have some stems, at least one, and then all of the files that do."""
    yield from sorted(set.intersection(*({*index.lexical.postings(stem)[0].tolist()} for stem in stems)))
    for file in sorted(set.intersection(*({*index.whole.having(stem).tolist()} for stem in stems))):
        yield from index.rows_of(file)


_SPACES: Final = frozenset(map(stem_of, ("namespace", "package", "module", "mod", "defmodule")))
"""The keywords before what a file, or a part of it, declares to be in."""
_BEHIND: Final = 6
"""Words behind such a keyword that may be a part of the name."""


def declares(index: Index, file: int, wanted: Sequence[str]) -> bool:
    """Whether a file declares a namespace, package or module with all of the ``wanted`` names; False if there is none.

    Args:
        index: of the file.
        file: its number.
        wanted: in lower case.
    """
    words = index.whole.words_of(file) if wanted else {}
    begun = [place for place, stem in words.items() if stem in _SPACES]
    spaces = {words.get(place + ahead, "") for place in begun for ahead in range(1, _BEHIND + 1)}
    return bool(begun) and all(spaces.issuperset(stems_of(each)) for each in wanted)


def declaring(index: Index, rows: Iterable[int], member: str, root: Path | None) -> list[int]:
    """The types that declare what is no row itself, such as a field, a constant or one of an enumeration.

    Args:
        index: of the rows.
        rows: the types, the best ones first.
        member: the name, in any case.
        root: the indexed folder, for languages of whose types the index has the heads alone; None: not known.
    """
    types = islice((row for row in rows if index.kinds[row] == _TYPE), _FILES)
    return [row for row in types if declares_member(_whole_type(index, row, root), member)]


def _whole_type(index: Index, row: int, root: Path | None) -> str:
    text = index.text(row)
    if text.source.count("\n") >= text.end_line - text.start_line:
        return text.source
    lines = text_at(index, index.file_number(row), root).split("\n")[text.start_line - 1 : text.end_line]
    return "\n".join(lines) or text.source


def declares_member(source: str, member: str) -> bool:
    """Whether the text of a type declares a member: with its type before or behind it, a keyword, or none of these."""
    behind = rf"{_BEHIND_MEMBER}|[({{]" if _OF_CASES.search(source[:_OF_HEAD]) else _BEHIND_MEMBER
    ends = re.compile(rf"(?<!\w){re.escape(member)}(?:(?P<of>[ \t]+[\w.*\[\]]+[ \t]*$)|\s*(?:{behind}))", re.I | re.M)
    return any(
        (_FIRST_MEMBER if at["of"] else _BEFORE_MEMBER).search(source, max(0, at.start() - _OF_HEAD), at.start())
        for at in islice(ends.finditer(source), _MENTIONED)
    )


_BEHIND_MEMBER: Final = r"\)\s*\(|(?:\[[^\]\n]{0,99}\])?\s*(?:[=,:;}|]|\)\s*[;{},]|$)"
"""What follows the name of a member where it is declared."""
_BEFORE_MEMBER: Final = re.compile(
    r"(?:^|[{,;|(])[ \t]*(?:[\w:.$]{1,80}(?:<[^;{}()\n]{0,150}>)?[ \t?*&\[\]]+){0,6}\(?[:*&$]*\Z", re.M
)
"""What is before it: keywords, a type."""
_FIRST_MEMBER: Final = re.compile(r"^[ \t]*(?:\w{1,80},[ \t]*){0,9}\Z", re.M)
"""What is before it in a line that ends with its type."""
_MENTIONED: Final = 200
"""Places of a name in a type that are looked at."""
_OF_CASES: Final = re.compile(r"\b(?:enum|data|union|sealed)\b")
"""What says that a type has cases, which may take values."""
_OF_HEAD: Final = 200
"""Characters of a type in which that is said."""
_BODILESS: Final = frozenset(("typescript", "javascript"))
"""Languages in which what has no body is no ``abstract``."""
_OVERLOAD: Final = re.compile(r"@(?:[\w.]+\.)?overload\b")
_EMPTY: Final = re.compile(r"(?::|\"\"\"|''')\s*(?:\.\.\.|pass|raise NotImplementedError(?:\([^\n]*\))?)\s*\Z")
_TAIL: Final = 200
"""Characters of the end of a function that tell whether it is empty."""


def is_defined(index: Index, row: int) -> bool:
    """Whether a row has more than the head of a function, which another one defines."""
    file, kind = index.file(row), int(index.kinds[row])
    if kind == ABSTRACT or file.path.endswith(STUBS):
        return False
    if file.language == "python":
        source = index.text(row).source
        return not _OVERLOAD.match(source) and (kind == _TYPE or not _EMPTY.search(source[-_TAIL:]))
    return not (
        file.language in _BODILESS
        and kind not in (CONSTANT, _TYPE)
        and "{" not in (source := index.text(row).source)
        and "=" not in source
    )


_HEAD: Final = 1000
"""Characters of a function in which its parameters are."""
_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")


def takes(index: Index, row: int, typed: str) -> float:
    """How well a function's parameters fit those that are typed behind its name: 0.5 well, 0.2 by their number, 0 not.

    Args:
        index: of the row.
        row: of the function.
        typed: types, or types and names, with commas between.
    """
    last = index.names[row].rpartition(".")[2]
    head = re.search(rf"{re.escape(last)}\s*(?:<[^()]*>)?\s*\(([^()]*)\)", index.text(row).source[:_HEAD])
    own, wanted = (_parameters(each) for each in (head[1] if head else "", typed))
    if len(own) != len(wanted):
        return 0.0
    return (
        0.5 if all(each[-1] in there or {*each} <= {*there} for each, there in zip(wanted, own, strict=True)) else 0.2
    )


def _parameters(text: str) -> list[list[str]]:
    """The words of each parameter."""
    return [words for each in text.lower().split(",") if (words := _IDENTIFIER.findall(each))]


_ARITY: Final = re.compile(r"(?:&|fun\s+)?(?:Elixir\.)?((?:\w+[.:])*[a-z_]\w*[?!]?)/(\d{1,3})")
_DEFINED: Final = re.compile(r"(?m)^[ \t]*(?:@\w*callback|def\w*)[ \t]+([\w?!]+)(\()?")
_LONGEST: Final = 2000
"""Characters of the parameters of a function."""


def of_arity(index: Index, query: str, called: Callable[[str], Mapping[int, float]]) -> Mapping[int, float]:
    """The functions that a question means by name and arity, and how good a reading each is; none if it is no such.

    Args:
        index: of the functions.
        query: the question.
        called: what has a dotted name.
    """
    asked = _ARITY.fullmatch(query.strip())
    if asked is None:
        return {}
    found = called(asked[1].replace(":", "."))
    rows = [row for row in found if index.file(row).language == "elixir"]
    fits = {row: takes_as_many(index.text(row).source, int(asked[2])) for row in rows}
    return {row: found[row] + fit for row, fit in fits.items() if fit}


def takes_as_many(source: str, wanted: int) -> float:
    """Whether a function can be called with so many arguments, by its text: 1, 0.5 if by defaults, or 0."""
    head = _DEFINED.search(source)
    if head is None or head[2] is None:
        return float(head is not None and wanted == 0)
    depth, commas, defaults, is_empty = 0, 0, 0, True
    for place in range(head.end(), min(len(source), head.end() + _LONGEST)):
        sign = source[place]
        if sign == ")" and not depth:
            break
        depth += (sign in "([{") - (sign in ")]}")
        commas += sign == "," and not depth
        defaults += source.startswith("\\\\", place)
        is_empty &= sign.isspace()
    most = 0 if is_empty else commas + 1
    return float(wanted == most) or 0.5 * (most - defaults <= wanted < most)
