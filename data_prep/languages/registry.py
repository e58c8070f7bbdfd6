"""The languages whose functions can be extracted. A new one needs a file in this folder and a line here."""

from functools import lru_cache
from pathlib import PurePosixPath
from pkgutil import resolve_name
from typing import Final

from data_prep.errors import UserError
from data_prep.languages.source_language import SourceLanguage

LANGUAGES: Final[dict[str, str]] = {
    "python": "data_prep.languages.python:LANGUAGE",
    "javascript": "data_prep.languages.javascript:LANGUAGE",
    "typescript": "data_prep.languages.typescript:LANGUAGE",
    "java": "data_prep.languages.java.functions:LANGUAGE",
    "go": "data_prep.languages.go:LANGUAGE",
}
"""Name -> its SourceLanguage."""


def language(name: str) -> SourceLanguage:
    """The language ``name``.

    Raises:
        UserError: there is no such language.
    """
    if name not in LANGUAGES:
        raise UserError(f"there is no language {name!r}; there are {', '.join(LANGUAGES)}")
    found: SourceLanguage = resolve_name(LANGUAGES[name])
    return found


def language_of(path: str) -> SourceLanguage | None:
    """The language of a file, by the suffix of its name; None if it has none of them."""
    return _by_suffix().get(PurePosixPath(path).suffix)


@lru_cache(maxsize=1)
def _by_suffix() -> dict[str, SourceLanguage]:
    return {suffix: found for found in map(language, LANGUAGES) for suffix in found.suffixes}
