"""The languages and documents that are indexed, by file suffix, whole files as units, and patterns of paths.

Light to import.
"""

import fnmatch
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import PurePosixPath
from typing import Final

from data_prep.errors import UserError, meant
from data_prep.languages.identifiers import LONGEST_WORD, split_identifier
from data_prep.languages.language import Language, resolved
from data_prep.languages.registry import LANGUAGES as SOURCES
from data_prep.languages.registry import language_called, language_of, language_of_name, language_of_script, languages
from data_prep.records import Method, Pair, SourceFile
from search.files.generations import is_catalogue
from search.files.words import FileWords, file_words

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
    "gettext": (".po",),
    "strings": (".strings", ".resx", ".arb", ".ftl", ".xlf", ".xcstrings"),
}
"""Name -> suffixes of texts and configuration, which are indexed if asked for, as whole files."""
LANGUAGES: Final = dict[str, str]()
for _each in languages():
    LANGUAGES.update(dict.fromkeys((*_each.suffixes, *_each.other_suffixes), _each.reader))
"""Suffix of a file's name -> function that finds its units."""
DOCUMENTS: Final[Mapping[str, str]] = dict.fromkeys(
    chain.from_iterable(_DOCUMENTS.values()), f"{__name__}:read_document"
)
"""The same for texts and configuration."""
_START: Final = 1 << 16
"""Bytes of a file by which two languages of one suffix are told apart."""
_TOLD: Final = 8
SHOWN: Final = 40
"""Lines of a file, type or constant that its unit shows."""
_IN_COMMENT: Final = re.compile(r"\s*(?:#|//|/?\*|$)")
STATES_LICENCE: Final = re.compile(r"copyright|licen[cs]e|spdx", re.IGNORECASE)
LARGEST: Final = 128 << 10
"""Bytes of the longest document but catalogues: longer ones are data, such as lists of the versions of packages."""
_LARGEST_CATALOGUE: Final = 1 << 20
LONGEST_PATTERN: Final = 500
"""Maximum number of characters."""
_ESCAPED: Final = re.compile(rb"(?:\\[uU](?!000|202)[0-9a-fA-F]{4})+")


@dataclass(slots=True, unsafe_hash=True)
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
    shown = [f"*{each.suffixes[0]}" for each in languages()[:_TOLD]]
    return f"{', '.join(shown)} and of {len(languages()) - _TOLD} other languages"


def language_name(path: str) -> str:
    """The language of a file by the suffix of its name, such as python; "" if it has none that is indexed."""
    if found := language_of(path):
        return found.name
    suffix = PurePosixPath(path).suffix
    return next((name for name, suffixes in _DOCUMENTS.items() if suffix in suffixes), "")


def chosen_languages(typed: str) -> frozenset[str]:
    """The languages in ``python,c++,markdown``, as people call them; none for "".

    Raises:
        UserError: one of them is neither a language nor a kind of document.
    """
    known = [*language_names(), *sorted(_DOCUMENTS)]
    names = frozenset(language_called(name.strip().lower()) for name in typed.split(",") if typed.strip())
    if unknown := sorted(names.difference(known)):
        raise UserError(f"expected languages among {', '.join(known)}, got {unknown[0]!r}{meant(unknown[0], known)}")
    return names


def read_file(file: SourceFile) -> Units:
    """The units of a file whose name has one of :func:`indexed_suffixes`, or of a script.

    Raises:
        UserError: the file cannot be parsed, or is no script of a language that is read any more.
    """
    place = LANGUAGES.get(suffix := PurePosixPath(file.path).suffix) or DOCUMENTS.get(suffix)
    if place is None:
        place = language_of_file(file.path, file.data).reader
    read: Callable[[SourceFile], Units] = resolved(place)
    return read(file)


def whole_file(file: SourceFile, data: bytes, words: FileWords) -> list[Unit]:
    """A file as one unit with the words of its name and of the names that it defines; nothing if it is empty.

    Args:
        file: its origin and path.
        data: its content.
        words: those of its content.
    """
    from data_prep.languages.fields import LONGEST  # what nobody needs who asks a question

    text = data.decode("utf-8", "replace")
    lines = text.splitlines()
    if not text.strip():
        return []
    name = file.path.rpartition("/")[2].split(".")[0]
    defined = dict.fromkeys(word for each in words.defined for word in split_identifier(each))
    fields = {
        "name": split_identifier(name[:LONGEST_WORD])[:LONGEST],
        "tokens": tuple(word for word in defined if len(word) > 1)[:LONGEST],
        "api": (),
    }
    start = _after_licence(lines)
    source = "\n".join(lines[start : start + SHOWN]).strip()
    method = Method(file.origin, file.path, 1, max(1, len(lines)), "", name, "file", source, "", fields)
    return [Unit(Pair(method, "", ()), asks=False)]


def unparsed(file: SourceFile, reason: str) -> Units:
    """A file that is found as a whole alone, for a ``reason``."""
    words = file_words(file.data)
    return Units(whole_file(file, file.data, words), f"{reason}: {WHOLE_ALONE}", words)


def _after_licence(lines: Sequence[str]) -> int:
    """Where the file begins behind the comment that states its licence, up to its blank line; 0 if it has none."""
    start = stated = 0
    for place, line in enumerate(lines):
        if not _IN_COMMENT.match(line):
            break
        stated |= bool(STATES_LICENCE.search(line))
        if not line.strip():
            start, stated = (place + 1, 0) if stated else (start, 0)
    return place if stated else start


def read_document(file: SourceFile) -> Units:
    """A document, which defines no names, whatever words are in its text.

    Raises:
        UserError: it is longer than ``LARGEST``.
    """
    is_one = is_catalogue(file.path)
    most = _LARGEST_CATALOGUE if is_one else LARGEST
    if len(file.data) > most:
        raise UserError(f"a document longer than {most >> 10} KiB")
    data = _ESCAPED.sub(_written_out, file.data) if is_one else file.data
    words = replace(file_words(data), names=(), defined=())
    return Units(whole_file(file, file.data, words), words=words)


def _written_out(escaped: re.Match[bytes]) -> bytes:
    """The letters of hexadecimal numbers."""
    digits = re.sub(rb"\\[uU]", b"", escaped[0]).decode()
    return bytes.fromhex(digits).decode("utf-16-be", "replace").encode()


def language_of_file(path: str, data: bytes) -> Language:
    """The language of a source file, by the suffix of its name or else by the first line of a script.

    Raises:
        UserError: it has neither.
    """
    suffix = PurePosixPath(path).suffix
    sharing = _sharing(suffix)
    start = data[:_START].decode("utf-8", "replace") if sharing else ""
    found = next((each for each in sharing if re.search(each.is_shared, start)), None)
    found = found or language_of(path) or language_of_name(path) or language_of_script(data)
    if found is None:
        raise UserError(f"{path} is of no language whose functions are read")
    return found


@lru_cache
def _sharing(suffix: str) -> Sequence[Language]:
    return [each for each in languages() if suffix in each.shared_suffixes]


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
