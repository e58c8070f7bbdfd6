"""Whose a method or function is where its name stands, as far as the text of the file tells.

It is told by the name before its dot: that is the type or module itself, is called like it, or is given such a value in
the file. A name without a dot is told by what the file imports, and by the type that surrounds it. Nothing is inferred
from other files.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from data_prep.languages.registry import languages
from search.usages.occurrences import Occurrence
from search.usages.using_file import UsingFile

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
