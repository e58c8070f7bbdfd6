"""What a question that is one name means: rows of an index, the best reading first.

A name is written in many ways: ``Type.method``, ``Type#method``, ``Type::method``, ``method()``, ``pkg.Type.method``,
``func (*T) Name``, ``@decorator``, ``--option``, ``ENVIRONMENT_VARIABLE``, ``some.config-key``, or the path of a file.
It is read as a file or what is called so; else as a text that functions have; else as what is called nearly so.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import Final

from search.engine.file_places import SHOWS
from search.engine.near_words import MOST, NearNames, distance
from search.engine.path_reading import PathReader
from search.engine.question import Names, RankingSettings, Spelt, asked_words, dotted_name, is_named, unmarked
from search.engine.written_names import declares, declaring, is_defined, near_written, of_arity, rows_with, takes
from search.files.words import stem_of, terms_of
from search.index.code_index import CONSTANT, UNIT_KINDS, WHOLE_FILE, Index

_TYPE, _CONSTRUCTOR = UNIT_KINDS.index("type"), UNIT_KINDS.index("constructor")
_READ: Final = 400  # rows whose text is read for one name
_STEP: Final = 20.0  # what one better reading adds to a score: more than scores of rows differ by
_NOT_OWN: Final = re.compile(rf"(?:^|[/_.-])(?:{SHOWS}|docs?)(?=[/_.-])", re.IGNORECASE)
"""What marks paths of code that only shows or stands for other code."""
_HIGHEST: Final = 3  # steps up from a type to those that it extends
_HEAD: Final = 400
"""Characters of the head of a type, which end as _HEAD_ENDS says."""
_HEAD_ENDS: Final = re.compile(r"\{|:[ \t]*(?:\n|\Z)|;")
_WORD: Final = re.compile(r"[^\W\d]\w*")
_SHORT, _LONG = 3, 6
"""Letters from which on the name of a type may have one edit, and above which two."""
_LITERAL: Final = re.compile(r"--?[A-Za-z][\w-]*|[A-Z][A-Z\d]*(?:_[A-Z\d]+)+|[A-Za-z_]\w*(?:[.-]\w+)+")
"""An option, a variable of the environment or a key of a configuration rather than words."""
_WORDS: Final = re.compile(r"[A-Za-z]+(?:[ \t]+[A-Za-z]+){1,4}")
_IN_WORDS: Final = 3.0
"""Added to the score of what is called by all words of a question in their order: ``load_item`` of ``load item``."""
_LINE: Final = re.compile(r"(?:[:#(]|:\[)L?\d|\bline \d", re.IGNORECASE)
"""What every question has that is a line of a file."""
_GIVEN: Final = re.compile(r"\w\(\s*([^()\s][^()]*)\)\s*;?\Z")
"""The parameters behind a name, which tell overloads apart."""
_OPERATOR: Final = re.compile(r"((?:\w+(?:::|\.))*)(operator) ?([^\w\s.:]{1,3})")
"""An operator of a type, such as ``Matrix::operator()``."""
_VARIABLE: Final = re.compile(r"\A(?:\$\{?([A-Z_\d]+)\}?|%([A-Z_\d]+)%)\Z")
"""A variable of the environment as shells have it."""
_OWN, _EXACT, _CODE, _DEFINED, _OUTER, _FUNCTION = 32, 16, 8, 4, 2, 1
"""What makes a reading better: it has all that is before the name, is written so, is neither of a test nor old, has a
body, is no member, is no constant."""
_MADE: Final = 4.0  # what makes a constructor with the typed parameters better than its class
_MARKED: Final = 3.5
"""What makes it worse: its name is marked as internal, and the question's is not."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a name means."""

    rows: Mapping[int, float] = field(default_factory=dict)  # -> how good a reading each is
    is_near: bool = False  # whether nothing is called so, and these are called nearly so
    beyond: str = ""  # why these are not at the line that is asked for; "" if they are, or none is
    missing: str = ""  # the path of a line that is asked for, or an operator, if nothing has it


class NameReader(Names):
    """Reads names by the names, paths and texts of an index."""

    def __init__(self, index: Index) -> None:
        """``index``: of the rows."""
        super().__init__(index.names)
        self._index, self.paths = index, PathReader(index)
        self.read = lru_cache(maxsize=16)(self._read)
        """What a question means as one name; None: it is none, or nothing is called like it."""

    def called(self, query: str, ranking: RankingSettings) -> Spelt:
        """As :meth:`Names.spelt`: what is called so, and the rows of the files that are named among other words."""
        mentioned = self.paths.mentioned(query)
        found = super().spelt(mentioned.rest, ranking)
        if _WORDS.fullmatch(query.strip()):
            words = query.lower().split()
            own = {row: _IN_WORDS for key in ("".join(words), "_".join(words)) for row in self._by_last.get(key, ())}
            found = replace(found, own={**own, **found.own})
        gains = (mentioned.others, ranking.mention_boost), (mentioned.files, ranking.exact_name_boost)
        rows = {row: gain for files, gain in gains for file in files for row in self._index.rows_of(file)}
        return replace(found, inside={**found.inside, **rows}) if rows else found

    def spelt(self, query: str, ranking: RankingSettings) -> Spelt:
        """As :meth:`Names.spelt`, with the best reading of a question that is one name."""
        found = self.called(query, ranking)
        if not ranking.exact_name_boost or (reading := self.read(query)) is None:
            return found
        levels = {good: level for level, good in enumerate(sorted({*reading.rows.values()}))}
        own = {row: ranking.exact_name_boost + _STEP * (1 + levels[good]) for row, good in reading.rows.items()}
        return replace(found, own={**found.own, **own}, rest=query if reading.is_near else found.rest)

    def definitions(self, name: str) -> list[int]:
        """The rows that a dotted name is of, the best reading first; in other capitals only if none is written so.

        What a type inherits is its own.
        """
        found = {row: good for row, good in self._called(name).items() if self._index.kinds[row] != WHOLE_FILE}
        exact = {row: good for row, good in found.items() if self._is_written(row, name)} or found
        return sorted(exact, key=lambda row: (-exact[row], row))

    def _read(self, query: str) -> Reading | None:
        if _LINE.search(query) and (place := self._at_line(query)):
            return place
        if "/" in query and (rows := of_arity(self._index, query, self._called)):
            return Reading(rows)
        text, name = _VARIABLE.sub(r"\1\2", query.strip()), dotted_name(query)
        found = _OPERATOR.fullmatch(text)
        if found:
            name = f"{(found[1] or '').replace('::', '.')}{found[2]}{found[3]}"
        literal = text if _LITERAL.fullmatch(text) else name if is_named(name) else ""
        rows = self._of_path(text) or (self._called(name) if name else {})
        rows = rows if any(map(self._owner, rows)) else self.declaring(name, exactly=bool(rows)) or rows
        rows = rows or (self._of_path(name.replace(".", "/")) if "." in name else {})
        if rows and (given := _GIVEN.search(text)):
            fits = {row: takes(self._index, row, given[1]) for row in rows}
            made = {row: _MADE * (fit >= 0.5 and self._index.kinds[row] == _CONSTRUCTOR) for row, fit in fits.items()}
            rows = {row: good + fits[row] + made[row] for row, good in rows.items()}
        if rows := rows or (self._holding(literal) if literal else {}):
            return Reading(rows)
        near = self._whole(self.paths.near_files(text)) or (self._near(name) if name else {})
        return Reading(near, is_near=True, missing=text if found else "") if near or found else None

    def _at_line(self, query: str) -> Reading | None:
        """The rows at a line of a file, if a question is one."""
        from search.engine.asked_places import rows_at

        found = rows_at(self._index, self.paths, query)
        return Reading(found.rows, bool(found.missing), found.beyond, found.missing) if found else None

    def _called(self, name: str) -> dict[int, float]:
        """The rows with a dotted name, ignoring case: with all that is before it, or in a module that is called so."""
        *before, last = name.split(".")
        rows = self._by_last.get(unmarked(last.lower()), ())[: 4 * _READ]
        fits = {row: self._fit(row, before) for row in rows if not (before and self._index.is_whole_file(row))}
        if before and not any(fits.values()):
            above = self.above(before[-1])
            fits |= {row: float(self._owner(row) in above) for row in fits if self._owners[row]}
        if before and before[-1][0].islower() and last[0].isupper() and not any(fits.values()):  # a package, no folder
            fits = {row: float(self._index.kinds[row] == _TYPE) for row in fits}
        if before and max(fits.values(), default=2.0) < 2:
            fits |= {row: fit for row in islice(fits, _READ) if (fit := self._in_space(row, before))}
        best = max(fits.values(), default=0.0)
        return {row: _OWN * fit + self._standing(row, name) for row, fit in fits.items() if fit and fit > best - 1}

    def declaring(self, name: str, *, exactly: bool = False) -> dict[int, float]:
        """The types, perhaps only those called so, that declare what has no row, such as ``Kind.Frozen``."""
        owner, _, last = dotted_name(name).rpartition(".")
        rows = declaring(self._index, self.definitions(owner), last, self.paths.folder) if owner else ()
        return {row: self._standing(row, owner) for row in rows if not exactly or self._is_written(row, owner)}

    def is_type(self, name: str) -> bool:
        """Whether a type is called so."""
        return any(self._index.kinds[row] == _TYPE for row in self._by_last.get(unmarked(name.lower()), ()))

    def above(self, name: str) -> frozenset[str]:
        """What the heads of the types of a name mention, and of these, up to _HIGHEST: the types that they extend."""
        found, new = {name.lower()}, {name.lower()}
        for _ in range(_HIGHEST):
            called = [row for each in new for row in self._by_last.get(unmarked(each), ())]
            rows = [row for row in called if self._index.kinds[row] == _TYPE]
            heads = (_HEAD_ENDS.split(self._index.text(row).source[:_HEAD], 1)[0] for row in rows[:_READ])
            words = {word.lower() for head in heads for word in _WORD.findall(head)}
            new = words - found
            found |= new
        return frozenset(found)

    def _fit(self, row: int, before: Sequence[str]) -> float:
        """How well a row fits what stands before its name: 0 not at all, 1 by nothing, more by types and folders."""
        if not before:
            return 1.0
        owners = self._names[row].lower().split(".")[:-1]
        wanted = [each.lower() for each in before]
        own = 0
        while own < min(len(owners), len(wanted)) and owners[-1 - own] == wanted[-1 - own]:
            own += 1
        rest = wanted[: len(wanted) - own]
        if owners and not own:
            return 0.0
        parts = self._index.file(row).path.lower().split("/")
        parts[-1] = parts[-1].split(".")[0]
        folders = iter(parts)
        if all(each in folders for each in rest):  # in this order
            return 3.0 if own else 2.0
        return 1.0 if own else 0.0

    def _in_space(self, row: int, before: Sequence[str]) -> float:
        """How well a row fits whose file declares the namespace or package that stands before its name; 0 if not."""
        owners = self._names[row].lower().split(".")[:-1]
        wanted = [each.lower() for each in before]
        rest = wanted[: len(wanted) - len(owners)] if owners == wanted[len(wanted) - len(owners) :] else []
        is_type = self._index.kinds[row] == _TYPE
        return (3.0 if owners or is_type else 2.0) * declares(self._index, self._index.file_number(row), rest)

    def _standing(self, row: int, name: str) -> float:
        """What makes a row the better reading of its name."""
        file, kind = self._index.file(row), int(self._index.kinds[row])
        if kind == WHOLE_FILE:
            return 0.0 if file.test else 1.0
        own, last = (each.rpartition(".")[2] for each in (self._names[row], name))
        good = _EXACT * (unmarked(own) == unmarked(last)) - _MARKED * (own.lower() != last.lower())
        good += _FUNCTION * (kind != CONSTANT) + _CODE * self._is_own(row) + _DEFINED * is_defined(self._index, row)
        return good + _OUTER * ("." not in self._names[row] or kind == _TYPE)

    def _is_own(self, row: int) -> bool:
        """Whether a row is of no test, nor of what is old, or only shows or stands for other code."""
        number = self._index.file_number(row)
        file = self._index.files[number]
        return not file.test and number not in self._index.old and _NOT_OWN.search(file.path) is None

    def _current(self, rows: Sequence[int], called: Sequence[int], query: str) -> Sequence[int]:
        if not self._index.old:
            return rows
        asked = frozenset(terms_of(asked_words(query)))

        def is_current(row: int) -> bool:
            return not asked.isdisjoint(meant) if (meant := self._index.old.get(self._index.file_number(row))) else True

        return [*filter(is_current, rows)] if any(map(is_current, (*rows, *called))) else rows

    def _is_written(self, row: int, name: str) -> bool:
        """Whether the last part of a row's name is written as that of ``name``."""
        return self._names[row].rpartition(".")[2] == name.rpartition(".")[2]

    def _of_path(self, typed: str) -> dict[int, float]:
        """The whole files of a path, or that gather its folder, unless it is a route without its last value."""
        is_route = typed.startswith("/") and typed.endswith("/") and not typed.startswith(str(self.paths.folder))
        return {} if is_route else self._whole(self.paths.files(typed))

    def _whole(self, files: Mapping[int, float]) -> dict[int, float]:
        """The rows of whole files; of one that has none, as most of Java, that of its first type."""
        kinds, found = self._index.kinds, dict[int, float]()
        for place, fit in files.items():
            rows = self._index.rows_of(place)
            rows = rows[:1] if rows and self._index.is_whole_file(rows[0]) else rows
            found |= dict.fromkeys(islice((row for row in rows if kinds[row] in (WHOLE_FILE, _TYPE)), 1), fit)
        return found

    def _near(self, name: str) -> dict[int, float]:
        """The rows that are called nearly so; if the name exists, those of what is called nearly as its owner."""
        owner, _, last = name.rpartition(".")
        if owner and (rows := self._by_last.get(unmarked(last.lower()))):
            wanted = owner.rpartition(".")[2].lower()
            most = 0 if len(wanted) < _SHORT else 1 + (len(wanted) > _LONG)
            far = {row: distance(wanted, self._owner(row), most) for row in rows if self._owners[row]}
            return {row: self._standing(row, name) - _OWN * edits for row, edits in far.items() if edits <= most}
        found: dict[int, float] = {}
        stem = "" if is_named(last) else stem_of(last.lower())
        is_word = stem != "" and len(self._index.whole.having(stem)) > 0  # what texts have is not misspelt
        near = (each for each in self.near_names.near(last) if not is_word or stem_of(each.lower()) == stem)
        for place, each in enumerate(near):
            for row in self._by_last.get(unmarked(each.lower()), ())[:_READ]:
                fits = bool(owner) and self._owner(row) == owner.rpartition(".")[2].lower()
                found.setdefault(row, _OWN * (fits - place) + self._standing(row, each))
        return found

    def _owner(self, row: int) -> str:
        return self._owners[row].rpartition(".")[2].lower()

    def near(self, name: str) -> list[str]:
        """Names that exist and are nearest to one that does not, which may be that of a file."""
        if found := self.paths.misspelt(name):
            return found
        owner, _, last = dotted_name(name).rpartition(".")
        if owner and unmarked(last.lower()) in self._by_last and (reading := self.read(name)) and reading.is_near:
            best = sorted(reading.rows, key=lambda row: -reading.rows[row])
            return list(dict.fromkeys(self._names[row] for row in best))[:MOST]
        alone = last or name
        found = self.near_names.near(alone)
        if found or not is_named(alone):
            return found
        return near_written(self._index, alone, self.near_words, self._near_stems, self.paths.folder)

    @cached_property
    def near_names(self) -> NearNames:
        """The last parts of all names."""
        return NearNames(name.rpartition(".")[2] for name in self._names)

    @cached_property
    def near_words(self) -> NearNames:
        """The words of the rows."""
        return NearNames(word.lower() for word in self._index.lexicon if word.isalnum())

    @cached_property
    def _near_stems(self) -> NearNames:
        """The stems of the words of the files."""
        return NearNames(chain.from_iterable(self._index.whole.term_lists))

    def _holding(self, typed: str) -> dict[int, float]:
        """The functions and types whose text has a name as it is typed."""
        rows = [row for row in rows_with(self._index, typed) if self._index.kinds[row] != WHOLE_FILE][:_READ]
        types = self._index.kinds == _TYPE
        return {row: float(_CODE * self._is_own(row) + _DEFINED * (not types[row])) for row in rows}
