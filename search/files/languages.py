"""The languages by file suffix. A new language is a module and one line here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from pkgutil import resolve_name
from typing import Final

from data_prep.records import JavaFile, Pair


@dataclass(frozen=True, slots=True)
class Unit:
    """A method or type, with the first sentence of its comment as its query."""

    pair: Pair
    asks: bool  # whether that sentence can serve as a question, by the rules of data_prep.pairs.filters


@dataclass(frozen=True, slots=True)
class Units:
    """The methods and types of a file."""

    units: Sequence[Unit]
    left_out: str = ""  # which part of it was not read, in a sentence; "" if all was


_TEXT: Final = (".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go")
_WHOLE: Final = "search.files.text_file:read_text"
LANGUAGES: Final[Mapping[str, str]] = {
    ".java": "search.files.java:read_java",
    **dict.fromkeys(_TEXT, _WHOLE),
}
"""Suffix of a file's name -> function that finds its methods and types, or takes it as a whole."""


def is_whole_file(path: str) -> bool:
    """Whether a file is taken as a whole."""
    return LANGUAGES.get(PurePosixPath(path).suffix) == _WHOLE


def read_file(file: JavaFile) -> Units:
    """The methods and types of a file in one of :data:`LANGUAGES`.

    Raises:
        ValueError: the file cannot be parsed.
    """
    read: Callable[[JavaFile], Units] = resolve_name(LANGUAGES[PurePosixPath(file.path).suffix])
    return read(file)
