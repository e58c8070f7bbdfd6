"""Which files and functions of a corpus are left out, and the reason: rows K-2 and K-5 to K-7 of Scotch's data set.

Departures: a path or name is that of a test by its words, not by its letters (``latest`` is none); the documentation is
counted up to its first tag, so that a comment of tags alone is short.
"""

import re
from collections.abc import Callable
from typing import Final

from data_prep.languages.comments import summary
from data_prep.languages.identifiers import split_identifier
from data_prep.languages.language import FoundFunction, Language
from data_prep.pairs.filters import GENERATED_HEADER

LARGEST_FILE: Final = 2 << 20
"""Maximum size of a file in bytes."""
_LONGEST_LINE: Final = 5_000  # bytes; minified code has longer ones
_MEAN_LINE: Final = 200  # bytes
_HEADER_BYTES: Final = 4 << 10
_MOST_DOC: Final = 20_000  # characters of documentation

_VENDORED: Final = frozenset((
    "vendor", "vendors", "vendored", "_vendor", "_vendored", "third_party", "third-party", "thirdparty", "3rdparty",
    "node_modules", "bower_components", "jspm_packages", "site-packages", "extern", "externals", "godeps", "_workspace",
))  # fmt: skip
_TEST_WORD: Final = re.compile(r"(?:unit|doc|e2e|sub)?tests?(?:ing|er|ers|case|cases|data|util|utils|suite|kit|lib)?")


def path_reason(path: str, language: Language, *, published: bool = False) -> str:
    """Why a file is left out by its path, of a repository or of a ``published`` package; "" if it is not."""
    folders = path.lower().split("/")[:-1]
    if not _VENDORED.isdisjoint(folders):
        return "copy of another project"
    if any(_TEST_WORD.fullmatch(word) or word in language.test_words for word in _words(path)):
        return "test"
    if path.endswith(language.declaration_suffixes):
        return "declarations only"
    built = not published and not language.built_folders.isdisjoint(folders)  # a package may have nothing else
    return "minified or built" if built or language.is_minified(path) else ""


def _words(path: str) -> list[str]:
    """The words of a path's folders and name, the suffix aside."""
    stem = path.rpartition(".")[0] if "." in path.rpartition("/")[2] else path
    return [word for part in stem.split("/") for word in split_identifier(part)]


def text_reason(data: bytes) -> str:
    """Why a file is left out by its content; "" if it is not."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return "not UTF-8"
    if b"\0" in data:
        return "not text"
    lines = data.count(b"\n") + 1
    if len(data) > _MEAN_LINE * lines or max(map(len, data.split(b"\n"))) > _LONGEST_LINE:
        return "minified or data"
    return ""


def is_generated(data: bytes, code_start: int) -> bool:
    """Whether the comments before the first code say that a program wrote the file."""
    return GENERATED_HEADER.search(data[: min(code_start, _HEADER_BYTES)]) is not None


def _undocumented(found: FoundFunction, *_: object) -> bool:
    return not found.doc


def _constructor(found: FoundFunction, *_: object) -> bool:
    return found.kind == "constructor"


def _common_name(found: FoundFunction, language: Language, _: int) -> bool:
    return found.name in language.common_names


def _test(found: FoundFunction, *_: object) -> bool:
    return any(map(_TEST_WORD.fullmatch, split_identifier(found.name)))


def _single_line(_: FoundFunction, __: Language, lines: int) -> bool:
    return lines < 2


def _stub(found: FoundFunction, *_: object) -> bool:
    return found.is_stub


def _short(found: FoundFunction, *_: object) -> bool:
    return len(summary(found.doc).split()) < 3 or len(found.query.split()) < 3


def _long(found: FoundFunction, *_: object) -> bool:
    return len(found.doc) > _MOST_DOC


def _not_english(found: FoundFunction, *_: object) -> bool:
    return not found.doc.isascii() and any(letter.isalpha() and not letter.isascii() for letter in found.doc)


UNDOCUMENTED: Final = "no documentation"
IDENTICAL: Final = "identical functions in its file"

FUNCTION_FILTERS: Final[dict[str, Callable[[FoundFunction, Language, int], bool]]] = {
    UNDOCUMENTED: _undocumented,
    "constructor": _constructor,
    "method of every class": _common_name,
    "name of a test": _test,
    "single line": _single_line,
    "empty body": _stub,
    "short documentation": _short,
    "documentation too long": _long,
    "letters outside of English": _not_english,
}
"""Reasons to leave out a function; it is counted under the first that applies. Lines are those of its code."""


def function_reason(found: FoundFunction, language: Language, lines: int) -> str:
    """The first of FUNCTION_FILTERS that applies; "" if none does."""
    return next((reason for reason, holds in FUNCTION_FILTERS.items() if holds(found, language, lines)), "")
