"""Which functions serve a route: by the texts of the files that have its words, and by the paths of files.

A router may be mounted in another file, as in ``app.use("/zoo", require("./zoo"))``: its routes then begin so. Some
frameworks have the route in the path of a file, as ``app/api/users/[id]/route.ts``. Of a route the end alone may be
known. A part in brackets or behind a colon stands for any value.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import numpy as np

from search.engine.near_words import shared_start
from search.engine.question import asked_words
from search.engine.route_texts import Declared, Parts, Routes, parts_of, routes_of
from search.files.words import stem_of, terms_of
from search.index.code_index import CONSTANT, UNIT_KINDS, WHOLE_FILE, Index, text_or_units
from search.retrieval.word_index import idf

if TYPE_CHECKING:
    from search.engine.matching import LineOwners
    from search.engine.name_reading import NameReader

_FILES: Final = 30
"""Files that are read, and as many that they mount."""
_READ: Final = 100_000
"""Characters of each."""
_DEEPEST: Final = 3
"""Files that are mounted in each other."""
_ROUTING: Final = tuple(map(stem_of, ("router", "route", "controller", "blueprint", "mount", "post", "delete")))
"""Stems of words that files with routes have."""
_VALUE: Final = re.compile(r"[:{<\[$*(]|\w*\{|\.\.\.")
"""What begins a part that stands for any value."""
_REST: Final = re.compile(r"\*|\[\[?\.\.\.|\{\*|\{\w+:?\.\*|<path:|\*\w+")
"""The same for any values."""
_LITERAL: Final = re.compile(r"=>|\bfunction\b|\bfunc\s*\(|\bfn\s*\(|\|[^|\n]*\||\bdo\b|\A\)?\s*\{", re.M)
"""What a handler has that is written where the route is."""
_CONTROLLED: Final = re.compile(
    r"(?:(?P<of>[A-Za-z]\w*)Controller(?:::class)?)?[\s,@#:.'\"]+(?P<name>\w+)['\"]?\s*\]?\s*\Z"
)
_TO: Final = re.compile(r"['\"](?:/?\w+/)*(?P<of>\w+)#(?P<name>\w+)['\"]")
_NAME: Final = re.compile(r"(?<![\"'`/\w$.:])[A-Za-z_$][\w$]*(?:(?:\.|::)[\w$]+)*(?![\w\"'`/]|\s*[:=])")
_TYPE: Final = UNIT_KINDS.index("type")
_OF_FILE: Final = re.compile(
    r"(?:^|/)(?:app|pages|routes|server)/(?P<path>(?:.+/)?[^/]+?)(?:\.(?P<verb>get|post|put|patch|delete))?"
    r"\.(?:[cm]?[jt]sx?|vue|svelte|astro)\Z"
)
"""A file whose path may be a route."""
_NO_PART: Final = re.compile(r"\(.*\)|@\w+|index|route|page|_index|\+(?:page|server|layout)(?:\.server)?")
"""What is no part of the route there."""
_LEFT, _EATEN = 0.3, 0.3
"""What a route loses for each part that only the question has, and for a word in the place of a value."""
_WHOLE: Final = 0.5
"""What it gains if the question has all of it."""
_UNKNOWN: Final = 0.5
"""What it loses if nothing is known to serve it."""
_LONGEST: Final = 20
"""Parts of a route: one of more is like none, and of a question the first are looked at."""


class RouteTable:
    """Finds what serves routes."""

    def __init__(self, index: Index, names: "NameReader", owners: "LineOwners") -> None:
        """``index``: of the files; ``names`` and ``owners``: of its rows."""
        self._index, self._names, self._owners = index, names, owners
        self._asked: Parts = ()
        self._routes = lru_cache(maxsize=4 * _FILES)(self._routes_of)  # for one route
        self._text = lru_cache(maxsize=4 * _FILES)(self._text_of)

    def serving(self, verb: str, path: str) -> list[int]:
        """The rows that serve a route the best, none if no route is like it.

        Args:
            verb: in capitals; "": any.
            path: of the route, with a slash at its end in place of a value there.
        """
        asked = self._asked = (*parts_of(path), *[":"] * path.endswith("/"))[:_LONGEST]
        found: dict[int, float] = {}
        for row, own, score in [*self._declared(asked), *self._of_paths(asked, verb)]:
            fits = score + 0.05 * (own == (verb or "GET")) - 2 * bool(verb and own and own != verb)
            found[row] = max(fits, found.get(row, 0.0))
        best = max(found.values(), default=0.0)
        return [row for row, fits in found.items() if fits > max(0.0, best - 0.01)]

    def _declared(self, asked: Parts) -> Iterator[tuple[int, str, float]]:
        """The rows of routes that are like one, with their verbs and how well they fit."""
        files = self._files(asked)
        begins = self._begins(files)
        for file in [*begins]:
            for route in self._routes(file).declared:
                score = max(_fit((*before, *route.parts), asked) for before in begins[file])
                if score > 0 and (served := self._served(file, route)):
                    row, known = served
                    yield row, route.verb, score - _UNKNOWN * (not known)

    def _files(self, asked: Parts) -> list[int]:
        """The files that have most of the words of a route."""
        weights = np.zeros(len(self._index.files))
        told = {*terms_of(asked_words(" ".join(part for part in asked if not _VALUE.match(part))))}
        for stem in [*told, *_ROUTING]:
            having = self._index.whole.having(stem)
            having = having if stem in told else having[weights[having] > 0]
            weights[having] += idf(np.array([len(having)]), len(weights))[0] if len(having) else 0.0
        tests = np.array([file.test or not file.units for file in self._index.files])
        weights[tests] = 0.0
        best = (-weights).argsort(kind="stable")[:_FILES]
        return [file for file in best.tolist() if weights[file] > 0]

    def _routes_of(self, file: int) -> Routes:
        return routes_of(self._text(file)[:_READ], self._asked)

    def _text_of(self, file: int) -> str:
        """The text of a file, or what the index has of it."""
        return text_or_units(self._index, file, self._names.paths.folder, whole=True)

    def _begins(self, files: Sequence[int]) -> dict[int, list[Parts]]:
        """What the routes of files begin with, and of those that they mount."""
        begins: dict[int, list[Parts]] = {file: [] for file in files}
        mounts = [(file, parts, name) for file in files for parts, name in self._routes(file).mounted]
        for _ in range(_DEEPEST):
            new = []
            for file, parts, name in islice(mounts, _FILES):
                target = self._target(file, name)
                if target is not None:
                    here = [(*before, *parts) for before in begins.get(file) or [()]]
                    is_new = target not in begins
                    begins[target] = [*dict.fromkeys([*begins.get(target, []), *here])]
                    new += [(target, *mount) for mount in self._routes(target).mounted] if is_new else []
            mounts = [*mounts, *new] if new else mounts
        return {file: before or [()] for file, before in begins.items()}

    def _target(self, file: int, name: str) -> int | None:
        """The file whose routes are mounted by a name, of which those nearest to where that is written come first."""
        text, first = self._text(file), re.findall(r"\w+", re.sub(r"\b(?:require|import)\b", "", name))
        lines = re.findall(r"^.*\b(?:require|import|from|use|mod)\b.*$", text, re.M) if first else []
        told = {*first[:-1]} or {*first}
        words = {
            *first,
            *(word for line in lines if told & {*re.findall(r"\w+", line)} for word in re.findall(r"\w+", line)),
        }
        own, best = PurePosixPath(self._index.files[file].path), (-1, 0)
        for number, path, called in self._modules:
            if called & words and number != file and path.suffix == own.suffix:
                best = max(best, (shared_start(own.parts[:-1], path.parts[:-1]), -number))
        return -best[1] if best[0] >= 0 else None

    @cached_property
    def _modules(self) -> list[tuple[int, PurePosixPath, set[str]]]:
        """The files with units, their paths, and what they are imported by."""
        files = ((number, PurePosixPath(each.path)) for number, each in enumerate(self._index.files) if each.units)
        gathering = ("index", "__init__", "mod", "routes", "router")
        return [
            (number, path, {path.parent.name if path.stem in gathering else path.stem, path.stem.split(".")[0]})
            for number, path in files
        ]

    def _served(self, file: int, route: Declared) -> tuple[int, bool] | None:
        """The row that serves a route, and whether it is known to."""
        if route.annotated and (row := self._behind(file, route.line)) is not None:
            return row, True
        here = self._owners.at(file, route.line)
        if route.action:
            kind, action = route.action.split(" ")
            own = re.search(r"(\w+)Controller\b", route.given)
            rows = self._called(file, f"{own[1] if own else kind.title().replace('_', '')}Controller.{action}")
            return (rows, True) if rows is not None else None
        if _LITERAL.search(route.given):
            return (here, True) if here >= 0 else None
        for name in _handlers(route.given):
            if (row := self._called(file, name)) is not None:
                return row, True
        return (here, False) if here >= 0 else None

    def _behind(self, file: int, line: int) -> int | None:
        """The first function behind a line, or around it if its annotations are a part of it."""
        rows = self._index.rows_of(file)
        lines = {
            row: self._index.split.lines(row)
            for row in rows
            if self._index.kinds[row] not in (WHOLE_FILE, _TYPE, CONSTANT)
        }
        behind = [(begin, end - begin, row) for row, (begin, end) in lines.items() if end >= line and begin >= line - 9]
        behind = [each for each in behind if each[0] >= line or self._owners.at(file, line) == each[2]]
        return min(behind)[2] if behind else None

    def _called(self, file: int, name: str) -> int | None:
        """The function that a name means in a file: one there, or nearest to it."""
        dotted = name.replace("::", ".")
        rows = self._names.definitions(dotted) or self._names.definitions(".".join(dotted.split(".")[-1:]))
        rows = [row for row in rows if self._index.kinds[row] not in (WHOLE_FILE, CONSTANT, _TYPE)]
        own = PurePosixPath(self._index.files[file].path)
        rows = [row for row in rows if PurePosixPath(self._index.file(row).path).suffix == own.suffix]
        near = {row: shared_start(own.parts, PurePosixPath(self._index.file(row).path).parts) for row in rows}
        return max(rows, key=lambda row: (near[row], -rows.index(row)), default=None)

    def _of_paths(self, asked: Parts, verb: str) -> Iterator[tuple[int, str, float]]:
        """As :meth:`_declared`, of files whose paths are like the route."""
        for number, file in enumerate(self._index.files):
            if file.test or not file.units or (found := _OF_FILE.search(file.path)) is None:
                continue
            parts = tuple(part for part in found["path"].split("/") if not _NO_PART.fullmatch(part))
            if parts and (score := _fit(parts, asked)) > 0:
                rows = self._index.rows_of(number)
                own = {row: self._index.names[row].upper() for row in rows}
                of_verb = [row for row in rows if own[row] == (verb or "GET")]
                plain = next(
                    (row for row in rows if self._index.kinds[row] not in (WHOLE_FILE, CONSTANT, _TYPE)), rows[0]
                )
                row = next(iter(of_verb), plain)
                stated = (found["verb"] or own[row]).upper()
                yield row, stated if stated in ("GET", "POST", "PUT", "PATCH", "DELETE") else "", score


def _handlers(given: str) -> Iterator[str]:
    """The names of what may serve a route by what is given to it, the likeliest first."""
    if found := _TO.search(given):
        yield f"{found['of'].title().replace('_', '')}Controller.{found['name']}"
    elif (found := _CONTROLLED.search(given)) and found["of"]:
        yield f"{found['of']}Controller.{found['name']}"
    yield from reversed([each[0].removesuffix("::class") for each in _NAME.finditer(given)])


def _fit(route: Parts, asked: Parts) -> float:
    """How well a route is like one that is asked for, which may begin earlier or later; not at all: 0 or less."""
    if len(route) > _LONGEST:
        return 0.0
    whole = _along(route, asked) + _WHOLE
    begun = (_along(route, asked[first:]) - _LEFT * first for first in range(1, len(asked)))
    ended = (_along(route[first:], asked) - _EATEN * first for first in range(1, len(route)))
    return max(whole, *begun, *ended, 0.0)


@lru_cache(maxsize=4096)  # of two routes of values the same ends are met again and again
def _along(route: Parts, asked: Parts) -> float:
    """The parts that are the same from the start to the end, less what a value stands for; -9: it is another one.

    A value inside the question is not there.
    """
    if not route:
        return -9.0 * bool(asked)
    if _REST.match(route[0]):
        return -_EATEN * len(asked)
    if not _VALUE.match(route[0]):
        same = bool(asked) and route[0].lower() == asked[0].lower()
        return 1.0 + _along(route[1:], asked[1:]) if same else -9.0
    skipped = _along(route[1:], asked) if len(route) > 1 else -9.0
    taken = _along(route[1:], asked[1:]) - _EATEN * (not _VALUE.match(asked[0])) if asked else -9.0
    return max(skipped, taken)
