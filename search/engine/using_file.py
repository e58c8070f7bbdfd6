"""A file in which a name is looked for: its text, functions, imports and types of values; and whose the name is there.

It is told by the name before its dot: that is the type or module itself, is called like it, or is given such a value in
the file. A name without a dot is told by what the file imports, and by the type that surrounds it. Nothing is inferred
from other files.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Final

from data_prep.languages.registry import LANGUAGES, languages
from data_prep.languages.registry import language as language_named
from search.engine.occurrences import Occurrence, occurrences
from search.engine.path_reading import GATHERING
from search.index.code_index import CONSTANT, WHOLE_FILE, Index, text_or_units

_GIVEN: Final = re.compile(
    r"(?:\s*:\s*|\s*:?=\s*|\s*<-\s*| \*?)(?:new\s+|await\s+|mut\s+|const\s+|try\s+|Optional\[|[&*\"'])*"
    r"(?P<from>(?:[a-z_$][\w$]*+(?:\.|::|\\))*+)(?:[\w$]+(?:\.|::|\\))*?"
    r"(?P<type>[A-Za-z_]\w*)(?=\s*(?P<next>[({<,)\];=|\"'.\n]|:(?!:[A-Z])|\Z))"
)
"""What is behind a name that is given a type or a value."""
_TYPED: Final = re.compile(r"(?P<type>[A-Za-z_]\w*)(?:<[^<>\n]*+>)?(?:\[\])*[?!]?[ \t*&]+\Z")
_ENTERED: Final = re.compile(r"(?P<type>[A-Za-z_]\w*)\([^()\n]*\)\s+as\s+\Z")
_IMPORT: Final = re.compile(
    r"(?m)^[ \t]*(?:pub\s+)?"
    r"(?:import|from|use|using|require|alias|#[ \t]*include|export|(?:const|let|var|local)\b(?=[^\n]*\brequire\b))"
    r"\b[^\n;({]*+(?:\([^()]*+\)|\{[^{}]*+\})?[^\n;]*+"
)
_MAKER: Final = re.compile("New[A-Z]")
"""A function that makes what it is called by, as ``NewServer`` of Go."""
_CAPITAL_FUNCTIONS: Final = ("go", "csharp")
"""Languages in which a name with a capital before brackets need be no type."""
_BEFORE: Final = (" ", "*", "&")
_FOLLOWS: Final = re.compile(r"\s*[=;,):{]")
"""What stands around a name behind its type."""
_SEEN: Final = 120
"""Characters around a name that tell its type."""


class UsingFile:
    """A file in which a name may be."""

    def __init__(self, index: Index, place: int, root: Path | None) -> None:
        """The file at a ``place`` of the index of ``root``; one that is not as it was indexed has its functions."""
        self._index, self.place = index, place
        file = index.files[place]
        self.path, self.language = file.path, file.language
        self.text = text_or_units(index, place, root)
        self._types: dict[str, list[tuple[int, str, bool]]] = {}  # of values whose types were asked for

    @cached_property
    def imports(self) -> Sequence[tuple[str, frozenset[str]]]:
        """Its imports, and the words of each."""
        found = (match[0] for match in _IMPORT.finditer(self.text))
        return [(each, frozenset(re.findall(r"[\w$]+", each))) for each in found]

    @cached_property
    def module_names(self) -> frozenset[str]:
        """What the file may be called as a module: its name, and that of its folder, which a package in Go is."""
        path = PurePosixPath(self.path)
        stem = path.name.split(".")[0]
        gathers = self.language in ("go", "java") or stem in GATHERING
        return frozenset((stem, path.parent.name) if gathers else (stem,))

    def types_of(self, name: str) -> Sequence[tuple[int, str, bool]]:
        """Where a name is given a type or a new object of it, which, and whether that is a type for certain."""
        if name not in self._types:
            called = self.language not in _CAPITAL_FUNCTIONS
            found = _types(self.text, name)
            self._types[name] = [(at, kind, kind[0].isupper() and (called or not made)) for at, kind, made in found]
        return self._types[name]

    @property
    def rows(self) -> range:
        """Its rows."""
        return self._index.rows_of(self.place)

    def places(self, name: str) -> list[Occurrence]:
        """Where a name stands in it."""
        if name not in self.text:
            return []
        language = language_named(self.language) if self.language in LANGUAGES else None
        return [*occurrences(self.text, name, language, plain=self.path.endswith(".ipynb"))]

    def around(self, line: int) -> int | None:
        """The row of the innermost function or type at a line."""
        found = [(end - start, -row) for row, start, end in self._units if start <= line <= end]
        return -min(found)[1] if found else None

    @cached_property
    def _units(self) -> list[tuple[int, int, int]]:
        """Row, first and last line of each function and type."""
        inner = [row for row in self.rows if self._index.kinds[row] not in (WHOLE_FILE, CONSTANT)]
        return [(row, text.start_line, text.end_line) for row in inner for text in (self._index.split.text(row),)]


def _types(text: str, name: str) -> Iterator[tuple[int, str, bool]]:
    """Where a name is given a type or a new object of it, which, and whether it is what a call without `new` gives."""
    for match in re.compile(re.escape(name) + r"(?![\w$])").finditer(text):
        start = match.start()
        if start and (text[start - 1].isalnum() or text[start - 1] in "_$."):
            continue
        after, before = text[match.end() : match.end() + _SEEN], ""
        if text[start - 1 : start] in _BEFORE:
            before = text[max(0, start - _SEEN) : start]
        if before.endswith("as ") and (entered := _ENTERED.search(before)):
            yield start, entered["type"], True
        elif before and _FOLLOWS.match(after) and (typed := _TYPED.search(before)) and typed["type"][:1].isupper():
            yield start, typed["type"], False
        elif (given := _GIVEN.match(after)) and (
            given["type"][0].isupper() or (given["next"] in "({" and not given["from"])
        ):
            called, kind = given["next"] == "(" and "new " not in given[0], given["type"]
            made = called and bool(_MAKER.match(kind))
            yield start, kind[3:] if made else kind, called and not made


_SELVES: Final = frozenset(name for each in languages() for name in each.self_names) | {
    "super",
    "parent",
    "static",
    "@",
}
_RELATIVE: Final = re.compile(r"\bfrom\s+\.|['\"]\.\.?/|\b(?:crate|super|self)::")
"""What an import from near the file itself has."""
_IMPLICIT: Final = frozenset(("java", "csharp", "cpp", "kotlin", "scala", "swift", "ruby", "elixir", "zig"))
"""Languages in which a method is called without its object inside of its type."""


@dataclass(frozen=True, slots=True)
class Whose:
    """A type or module, and a name of it."""

    name: str
    owner: str  # the last part before the name
    is_type: bool  # whether it is a type
    others: frozenset[str] = frozenset()  # what else has the name
    above: Callable[[str], frozenset[str]] = lambda _: frozenset()  # what a type extends, in lower case

    def tells(self, file: UsingFile, found: Occurrence, around: Callable[[], str]) -> bool | None:
        """Whether a place is one of the owner's name; None: the text does not tell.

        Args:
            file: of the place.
            found: the place.
            around: gives the dotted name of what surrounds it, "" at the top level.
        """
        receiver = found.receiver
        if receiver is None:
            return self._alone(file, found, around)
        if receiver.lstrip("$") in _SELVES:
            outer = _owners(around())
            return True if any(map(self._has, outer)) else False if not self.others.isdisjoint(outer[-1:]) else None
        if _alike(receiver, self.owner):
            return True
        told = self._given(file, receiver, found.place) if receiver else None
        return False if told is None and any(_alike(receiver, each) for each in self.others) else told

    def _has(self, kind: str) -> bool:
        """Whether a type has the owner's name: it is the owner, or extends it and has none of its own."""
        if kind == self.owner or not self.is_type or kind in self.others:
            return kind == self.owner
        return self.owner.lower() in self.above(kind)

    def _alone(self, file: UsingFile, found: Occurrence, around: Callable[[], str]) -> bool | None:
        """Of a place without a dot before it."""
        if found.kind == "import":
            return self._imported(file, found.text, re.findall(r"[\w$]+", found.text))
        for text, words in file.imports:
            if self.name in words:
                return self._imported(file, text, words)
        if file.language in _IMPLICIT and self.is_type and any(map(self._has, _owners(around()))):
            return True
        if self.owner in file.module_names and not self.is_type:
            return True
        return False if self.is_type and found.kind == "call" else None

    def _imported(self, file: UsingFile, text: str, words: Collection[str]) -> bool | None:
        """Of a name that an import has: one of where the file itself is may be in any module around it."""
        if self.owner in words:
            return True
        return (True if self.owner in file.path.split("/") else None) if _RELATIVE.search(text) else False

    def _given(self, file: UsingFile, receiver: str, place: int) -> bool | None:
        """Of a place behind a name: that of an import, or of a value whose type is written before."""
        for text, words in file.imports:
            if receiver in words and _is_renamed(text, self.owner, receiver):
                return True
        told: bool | None = None
        for at, kind, is_type in file.types_of(receiver):
            if at > place and told is not None:
                break
            told = True if self._has(kind) else False if is_type and self.is_type else None
        return told


def _owners(around: str) -> list[str]:
    """The types that a dotted name is in; of a type itself its own."""
    return around.split(".")[:-1] or [around] * bool(around)


@lru_cache(maxsize=1 << 12)
def _alike(receiver: str, owner: str) -> bool:
    """Whether a value is called like its type: ``session``, ``_session`` or ``mySession`` of ``Session``."""
    plain, wanted = receiver.strip("_$@").replace("_", "").lower(), owner.strip("_$").replace("_", "").lower()
    return plain == wanted


@lru_cache(maxsize=1 << 12)
def _is_renamed(text: str, owner: str, name: str) -> bool:
    """Whether an import calls ``owner`` by another ``name``."""
    one, other = re.escape(owner), re.escape(name)
    ends = rf"(?:[^'\"\n]*[/.])?{one}(?:\.\w+)?['\"]"
    return bool(
        re.search(
            rf"\b{one}\s+(?:as|=>)\s+{other}\b|\bas\s+{other}\s+from\s+['\"]{ends}|\b{other}\s+from\s+['\"]{ends}"
            rf"|\b{other}\s+['\"]{ends}|\b{other}\s*=\s*require\s*\(?\s*['\"]{ends}|\b{other}\s*=\s*[\w.]*\b{one}\b",
            text,
        )
    )
