"""The languages by file suffix. A new language is a module and one line here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from pkgutil import resolve_name
from typing import Final

from data_prep.records import JavaFile, Pair
from search.files.file_words import FileWords


@dataclass(frozen=True, slots=True)
class Unit:
    """A method, function or type, or a whole file, with the first sentence of its comment as its query."""

    pair: Pair
    asks: bool  # whether that sentence can serve as a question, by the rules of data_prep.pairs.filters


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a file."""

    units: Sequence[Unit]
    left_out: str = ""  # which part of it was not read, in a sentence; "" if all was
    words: FileWords | None = None  # of the whole file, if reading it has counted them


_SUFFIXES: Final[Mapping[str, tuple[str, ...]]] = {
    "java": (".java",),
    "python": (".py",),
    "javascript": (".js", ".mjs", ".cjs", ".jsx"),
    "typescript": (".ts", ".mts", ".cts", ".tsx"),
    "go": (".go",),
}
"""Language -> its suffixes, as :mod:`data_prep.languages.registry` has them, which imports the parsers."""
_WITH_FILE: Final = "search.files.functions:read_functions"
LANGUAGES: Final[Mapping[str, str]] = {
    ".java": "search.files.java:read_java",
    **dict.fromkeys((end for name in _SUFFIXES if name != "java" for end in _SUFFIXES[name]), _WITH_FILE),
}
"""Suffix of a file's name -> function that finds its units."""
_NAMES: Final = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes}


def language_names() -> list[str]:
    """The languages of files that are indexed."""
    return sorted(_SUFFIXES)


def language_name(path: str) -> str:
    """The language of a file by the suffix of its name, such as python; "" if it has none of :data:`LANGUAGES`."""
    return _NAMES.get(PurePosixPath(path).suffix, "")


def chosen_languages(typed: str) -> frozenset[str]:
    """The languages in ``python,go``; none for "".

    Raises:
        ValueError: one of them is not indexed.
    """
    names = frozenset(name.strip().lower() for name in typed.split(",")) if typed.strip() else frozenset()
    if unknown := sorted(names.difference(language_names())):
        raise ValueError(f"expected languages among {', '.join(language_names())}, got {unknown[0]!r}")
    return names


def has_whole_file(path: str) -> bool:
    """Whether the first unit of a file, if it has any, is the file as a whole."""
    return LANGUAGES.get(PurePosixPath(path).suffix) == _WITH_FILE


def read_file(file: JavaFile) -> Units:
    """The units of a file in one of :data:`LANGUAGES`.

    Raises:
        ValueError: the file cannot be parsed.
    """
    read: Callable[[JavaFile], Units] = resolve_name(LANGUAGES[PurePosixPath(file.path).suffix])
    return read(file)
