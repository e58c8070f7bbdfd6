"""The languages and documents that are indexed, by file suffix, and patterns of paths. Light to import."""

import fnmatch
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from pkgutil import resolve_name
from typing import Final

from data_prep.errors import UserError
from data_prep.languages.language import Language
from data_prep.languages.registry import LANGUAGES as SOURCES
from data_prep.languages.registry import language_called, language_of, language_of_script, languages
from data_prep.records import Pair, SourceFile
from search.files.words import FileWords

WHOLE_ALONE: Final = "found as a whole file, its functions are not read"
"""The end of what is left out of a file that no parser has read, or may read again."""
_DOCUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "markdown": (".md", ".markdown"),
    "restructuredtext": (".rst",),
    "text": (".txt",),
    "toml": (".toml",),
    "yaml": (".yaml", ".yml"),
    "json": (".json",),
    "properties": (".properties",),
    "gradle": (".gradle",),
    "xml": (".xml",),
    "sql": (".sql",),
}
"""Name -> suffixes of texts and configuration, which are indexed if asked for, as whole files."""
LANGUAGES: Final[Mapping[str, str]] = {
    suffix: each.reader for each in languages() for suffix in (*each.suffixes, *each.other_suffixes)
}
"""Suffix of a file's name -> function that finds its units."""
DOCUMENTS: Final[Mapping[str, str]] = dict.fromkeys(
    chain.from_iterable(_DOCUMENTS.values()), "search.files.units:read_document"
)
"""The same for texts and configuration."""
_KIND: Final = {suffix: name for name, suffixes in _DOCUMENTS.items() for suffix in suffixes}
_START: Final = 1 << 16
"""Bytes of a file by which two languages of one suffix are told apart."""
_SHOWN: Final = 8
LONGEST_PATTERN: Final = 500
"""Maximum number of characters."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A method, function, type or constant, or a whole file, with the first sentence of its comment as its query."""

    pair: Pair
    asks: bool  # whether that sentence can serve as a question, by the rules of data_prep.pipeline.filters


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a file."""

    units: Sequence[Unit]
    left_out: str = ""  # which part of it was not read, in a sentence; "" if all was
    words: FileWords | None = None  # of the whole file, if reading it has counted them
    language: str = ""  # of its code, if reading it has told it


def language_names() -> list[str]:
    """The languages of source files."""
    return sorted(SOURCES)


def indexed_suffixes(*, documents: bool) -> Sequence[str]:
    """The suffixes of files that are indexed: those of source files, and if asked for those of documents."""
    return (*LANGUAGES, *(DOCUMENTS if documents else ()))


def known_suffixes() -> str:
    """Suffixes of some languages, and how many others there are, for a message."""
    shown = [f"*{each.suffixes[0]}" for each in languages()[:_SHOWN]]
    return f"{', '.join(shown)} and of {len(languages()) - _SHOWN} other languages"


def language_name(path: str) -> str:
    """The language of a file by the suffix of its name, such as python; "" if it has none that is indexed."""
    found = language_of(path)
    return found.name if found else _KIND.get(PurePosixPath(path).suffix, "")


def chosen_languages(typed: str) -> frozenset[str]:
    """The languages in ``python,c++,markdown``, as people call them; none for "".

    Raises:
        UserError: one of them is neither a language nor a kind of document.
    """
    known = [*language_names(), *sorted(_DOCUMENTS)]
    names = frozenset(language_called(name.strip().lower()) for name in typed.split(",") if typed.strip())
    if unknown := sorted(names.difference(known)):
        raise UserError(f"expected languages among {', '.join(known)}, got {unknown[0]!r}")
    return names


def read_file(file: SourceFile) -> Units:
    """The units of a file whose name has one of :func:`indexed_suffixes`, or of a script.

    Raises:
        UserError: the file cannot be parsed, or is no script of a language that is read any more.
    """
    place = LANGUAGES.get(suffix := PurePosixPath(file.path).suffix) or DOCUMENTS.get(suffix)
    if place is None:
        place = language_of_file(file.path, file.data).reader
    read: Callable[[SourceFile], Units] = resolve_name(place)
    return read(file)


def language_of_file(path: str, data: bytes) -> Language:
    """The language of a source file, by the suffix of its name or else by the first line of a script.

    Raises:
        UserError: it has neither.
    """
    suffix = PurePosixPath(path).suffix
    sharing = [each for each in languages() if suffix in each.shared_suffixes]
    start = data[:_START].decode("utf-8", "replace") if sharing else ""
    found = next((each for each in sharing if re.search(each.is_shared, start)), None)
    found = found or language_of(path) or language_of_script(data)
    if found is None:
        raise UserError(f"{path} is of no language whose functions are read")
    return found


def language_inside(path: str, data: bytes) -> str:
    """The language of a file's content, where its name has none or another one: of a script, of a C++ header ``.h``.

    Raises:
        UserError: it has none.
    """
    named = language_name(path)
    inside = named if named in _DOCUMENTS else language_of_file(path, data).name
    return "" if inside == named else inside


def path_matcher(pattern: str) -> Callable[[str], bool]:
    """What tells whether a path matches; fnmatch itself would keep every pattern that anyone has asked for.

    Raises:
        UserError: it is too long.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise UserError(f"path has at most {LONGEST_PATTERN} characters, this one has {len(pattern):,}")
    match = re.compile(fnmatch.translate(pattern)).match
    return lambda path: match(path) is not None
