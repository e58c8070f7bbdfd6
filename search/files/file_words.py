"""The words of a whole file, for ranking files: those of its text, those of its comments, and the names it defines.

It reads any language that is written in lines of text: a name is defined by a keyword before it. Only where
:data:`_COMMENTS` says what a comment is are its words counted apart; elsewhere they are text.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

import Stemmer

from data_prep.languages.identifiers import split_identifier

LONGEST_WORD: Final = 100
"""Characters of the longest run of letters and digits that is read: longer ones are data."""
_RUN: Final = re.compile(r"\w+")
_DEFINED: Final = re.compile(
    r"(?:^|[^\w.])(?:def|class|interface|enum|struct|trait|record|func(?:[ \t]*\([^)\n]{0,200}\))?|function\*?"
    r"|type|const|let|var|namespace|module)[ \t]+([A-Za-z_$][\w$]*)"
)
_C_LIKE: Final = re.compile(r'"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?|(//[^\n]*|/\*.*?(?:\*/|\Z))', re.DOTALL)
_COMMENTS: Final[Mapping[str, re.Pattern[str]]] = {".java": _C_LIKE}
"""Suffix -> strings and, in its group, comments."""


@dataclass(frozen=True, slots=True)
class FileWords:
    """Stems and how often they occur, and the names that are defined."""

    text: Mapping[str, int] = field(default_factory=dict)
    comments: Mapping[str, int] = field(default_factory=dict)
    names: Sequence[str] = ()  # distinct, lower-case, sorted


def file_words(path: str, data: bytes) -> FileWords:
    """The words of a file; ``path`` says its language by its suffix."""
    text, comments = data.decode("utf-8", "replace"), ""
    if pattern := _COMMENTS.get(PurePosixPath(path).suffix):
        comments = "\n".join(match[1] for match in pattern.finditer(text) if match[1])
        text = pattern.sub(lambda match: " " if match[1] else match[0], text)
    names = {name.lower() for name in _DEFINED.findall(text) if len(name) <= LONGEST_WORD}
    return FileWords(_counted(text), _counted(comments), sorted(names))


def _counted(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for run, count in Counter(_RUN.findall(text)).items():
        if len(run) <= LONGEST_WORD:
            for stem in stems_of(run):
                found[stem] += count
    return found


@lru_cache(maxsize=1 << 16)
def stems_of(run: str) -> tuple[str, ...]:
    """The stems of the words of an identifier: ``readAllLines`` -> read, all, line."""
    return tuple(map(_stemmer(), split_identifier(run)))


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord
    return stem


def path_stems(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stems of a file's name without its suffixes, and those of its folders."""
    *folders, name = path.split("/")
    of_name = stems_of(_plain(name.lstrip(".").split(".")[0]))
    return of_name, tuple(stem for folder in folders for stem in stems_of(_plain(folder)))


def _plain(part: str) -> str:
    """A part of a path as one identifier."""
    return "_".join(run for run in _RUN.findall(part) if len(run) <= LONGEST_WORD)
