"""Who calls or mentions a name: its places in the files of an index, by name and not by type.

The files that may have it are those with all of its words, and in these each place is looked at. What a parser has seen
as a call (the field ``api`` of the index) is one without brackets too.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.store.arrays import Bool
from data_prep.store.split import PairText
from search.engine.engine import Engine
from search.engine.filters import Question, read_question
from search.engine.near_words import MOST
from search.engine.occurrences import UNBRACKETED, Kind, Occurrence, bracketless
from search.engine.question import QueryError, dotted_name, words_of
from search.engine.using_file import UsingFile, Whose
from search.files.words import folded, stems_of

USUAL: Final = 50
"""Usages that are shown where nothing else is said."""
_DEFINITIONS: Final = 20
"""Definitions that are shown."""
_DASHED: Final = re.compile(r"\A[^\W\d]\w*(?:-\w+)+\Z")
"""A name of shells."""
_USES: Final[Collection[Kind]] = ("call", "import", "mention")


@dataclass(frozen=True, slots=True)
class UsedIn:
    """A file and the usages in it."""

    place: int  # in the index's files
    row: int  # its first
    test: bool
    around: Callable[[int], int | None]  # the row of the function or type at a line; None: it is at the top level
    usages: Sequence[Occurrence]


@dataclass(frozen=True, slots=True)
class Usages:
    """Who uses a name."""

    name: str  # as it is looked for, with the type or module before it
    definitions: Sequence[int] = ()  # rows
    files: Sequence[UsedIn] = ()  # tests last, those with most calls first
    defined: int = 0  # how many definitions there are
    in_text: int = 0  # places in comments and strings, which are not usages
    owner: str = ""  # by which usages are told apart
    untold: int = 0  # places left out, since the text does not tell whether they are the owner's
    others: int = 0  # places left out that are of others
    nearest: Sequence[str] = field(default_factory=list)  # names that exist, if there is nothing
    hidden: bool = False  # whether only files have it that are not asked for
    is_untold: bool = False  # whether the text does not tell whether the usages are the owner's

    @property
    def is_there(self) -> bool:
        """Whether there is a definition or usage."""
        return bool(self.files or self.definitions)

    @property
    def calls(self) -> int:
        """How many usages are calls."""
        return sum(map(_calls, self.files))

    @property
    def count(self) -> int:
        """How many usages there are."""
        return sum(len(file.usages) for file in self.files)

    def first(self, top: int) -> list[UsedIn]:
        """The files with the first ``top`` usages, and these alone: calls before others, and all before tests."""
        every = [
            (file.test, each.kind != "call", place) for place, file in enumerate(self.files) for each in file.usages
        ]
        counts = Counter((place, other) for _, other, place in sorted(every)[:top])
        found = []
        for place, file in enumerate(self.files):
            calls = [each for each in file.usages if each.kind == "call"][: counts[place, False]]
            others = [each for each in file.usages if each.kind != "call"][: counts[place, True]]
            found.append(replace(file, usages=sorted((*calls, *others), key=lambda each: each.place)))
        return [file for file in found if file.usages]


def find_usages(
    engine: Engine,
    typed: str,
    root: Path | None,
    *,
    path: str = "",
    languages: Collection[str] = (),
    files: Collection[str] | None = None,
) -> Usages:
    """The usages of a name.

    Args:
        engine: over the index.
        typed: a name, perhaps with the type or module that has it, and filters.
        root: the indexed folder, whose files are read; None: not known, so that only functions are looked at.
        path: as for :meth:`Engine.search`.
        languages: as there.
        files: as there.

    Raises:
        QueryError: it is no name, or its filters leave nothing.
        ValueError: ``path`` is too long.
    """
    asked = read_question(typed, engine.index)
    if any(each.name == "type" for each in asked.filters):
        raise QueryError("type: says what a hit is, which a usage is not: leave it out")
    name = _name_in(asked)
    rows = engine.allowed(path, languages, files) & asked.rows(engine.index)
    return _Search(engine, root, name, rows).found()


def _name_in(asked: Question) -> str:
    """The name that is asked for.

    Raises:
        QueryError: there is none.
    """
    words_of(asked.text)
    if not (name := dotted_name(asked.text) or "".join(_DASHED.findall(asked.text.strip()))):
        raise QueryError(f"expected one name, such as Type.method, not {asked.text.strip()[:60]!r}")
    return name


class _Search:
    """One search for a name."""

    def __init__(self, engine: Engine, root: Path | None, name: str, allowed: Bool[np.ndarray, " rows"]) -> None:
        self._index, self._root, self._dotted = engine.index, root, name
        before, _, self._name = name.rpartition(".")
        self._owner = before.rpartition(".")[2]
        self._is_part, self._allowed = not allowed.all(), self._index.files_with(allowed)
        self._named, self._every = engine.names.definitions(name), engine.names.definitions(self._name)
        self._names = engine.names

    def found(self) -> Usages:
        """What there is."""
        defined = [row for row in self._named if self._allowed[self._index.file_number(row)]]
        used = [(file, self._used(file, defined)) for file in self._files(self._allowed)]
        texts = sum(each.kind == "text" for _, own in used for each in own)
        some = any(each.kind in _USES for _, own in used for each in own)
        kinds: Collection[Kind] = _USES if some or defined else ("text", "definition")
        used = [(file, [each for each in own if each.kind in kinds]) for file, own in used]
        told = _Narrowed(used) if not self._owner else self._narrowed(used, known=bool(defined))
        files = [self._used_in(file, own) for file, own in told.kept if own]
        files.sort(key=lambda each: (each.test, -_calls(each), each.place))
        found = Usages(
            self._dotted, defined[:_DEFINITIONS], files, len(defined), texts if some or defined else 0, self._owner,
            told.untold, told.others, is_untold=told.is_untold,
        )  # fmt: skip
        return found if files or defined else self._nothing(found)

    def _nothing(self, found: Usages) -> Usages:
        """What is said if there is nothing: that other files have it, or what is called like it."""
        everywhere = np.ones(len(self._allowed), np.bool_)
        if self._is_part and (self._named or any(each.places(self._name) for each in self._files(everywhere))):
            return replace(found, hidden=True)
        near = self._names.near(self._dotted) or [self._index.names[row] for row in self._every if self._owner]
        return replace(found, nearest=list(dict.fromkeys(near))[:MOST])

    def _files(self, allowed: Bool[np.ndarray, " files"]) -> Iterator[UsingFile]:
        """Those of some files that have all words of the name."""
        found = allowed.copy()
        for stem in stems_of(folded(self._name)):
            _, files, counts = self._index.whole.postings((stem,))
            has = np.zeros(len(found), np.bool_)
            has[files[(counts["text"] > 0) | (counts["comments"] > 0)]] = True
            found &= has
        return (UsingFile(self._index, place, self._root) for place in np.flatnonzero(found).tolist())

    def _used(self, file: UsingFile, defined: Sequence[int]) -> list[Occurrence]:
        """The places in a file but those of the definitions."""
        places = [
            each
            for before, each in pairwise((None, *file.places(self._name)))
            if each and not (before and each.kind == before.kind == "import" and each.line == before.line)
        ]
        heads = {self._head(row, places) for row in defined if row in file.rows} if places else set()
        own = [each for each in places if each not in heads]
        if own and file.language in UNBRACKETED:
            seen = [self._index.split.text(row) for row in sorted(self._called.intersection(file.rows))]
            own = [_as_called(each, self._name, file.language, seen) for each in own]
        return own

    def _head(self, row: int, places: Sequence[Occurrence]) -> Occurrence | None:
        """The place that is the name in the declaration of a row."""
        text = self._index.split.text(row)
        own = [each for each in places if text.start_line <= each.line <= text.end_line and each.kind != "text"]
        plain = [each for each in own if not each.text.lstrip().startswith(("@", "#["))] or own
        return next((each for each in own if each.kind == "definition"), plain[0] if plain else None)

    @cached_property
    def _called(self) -> frozenset[int]:
        """The rows in which a parser has seen a call of the name; none, if several indexes are asked together."""
        lists, lexicon = self._index.split.words.get("api"), self._index.split.lexicon
        if lists is None or self._name not in lexicon:
            return frozenset()
        places = np.flatnonzero(lists.values == lexicon.index(self._name))
        return frozenset((np.searchsorted(lists.offsets, places, side="right") - 1).tolist())

    def _narrowed(self, used: Sequence[tuple[UsingFile, list[Occurrence]]], *, known: bool) -> "_Narrowed":
        """The usages of the owner's name; if it is ``known`` and has none that are told, those that may be."""
        names = self._index.names
        types = {name.rpartition(".")[0].rpartition(".")[2] for name in (names[row] for row in self._every)} - {""}
        is_type = self._names.is_type(self._owner)
        whose = Whose(self._name, self._owner, is_type, frozenset(types - {self._owner}), lru_cache(self._names.above))
        told = [(file, each, self._tells(whose, file, each)) for file, own in used for each in own]
        wanted = any(tells for *_, tells in told) or not known
        kept = {id(each) for _, each, tells in told if tells or (tells is None and not wanted)}
        return _Narrowed(
            [(file, [each for each in own if id(each) in kept]) for file, own in used],
            sum(tells is None for *_, tells in told) if wanted else 0,
            sum(tells is False for *_, tells in told),
            bool(kept) and not wanted,
        )

    def _tells(self, whose: Whose, file: UsingFile, each: Occurrence) -> bool | None:
        around = lambda: "" if (row := file.around(each.line)) is None else self._index.names[row]  # noqa: E731
        return whose.tells(file, each, around)

    def _used_in(self, file: UsingFile, own: Sequence[Occurrence]) -> UsedIn:
        return UsedIn(file.place, file.rows[0], self._index.files[file.place].test, file.around, own)


@dataclass(frozen=True, slots=True)
class _Narrowed:
    """Usages, and how many were left out."""

    kept: Sequence[tuple[UsingFile, Sequence[Occurrence]]]
    untold: int = 0
    others: int = 0
    is_untold: bool = False  # whether none is known to be the owner's


def _as_called(each: Occurrence, name: str, language: str, seen: Sequence[PairText]) -> Occurrence:
    """A place, as a call if a parser has seen one in the function around it."""
    if each.kind != "mention" or not bracketless(each, name, language):
        return each
    inside = any(text.start_line <= each.line <= text.end_line for text in seen)
    return replace(each, kind="call") if inside else each


def _calls(file: UsedIn) -> int:
    return sum(each.kind == "call" for each in file.usages)
