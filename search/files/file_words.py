"""The words of a whole file, for ranking files: those of its text, those of its comments, and the names it defines.

It reads any language that is written in lines of text: a name is defined by a keyword before it. Where the comments
are is said by who has parsed the file; else their words are counted as text.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from data_prep.languages.identifiers import LONGEST_WORD, split_identifier
from search.files.word_stems import folded, stem_of, stems

_RUN: Final = re.compile(r"\w+")
_DEFINED: Final = re.compile(
    r"(?:^|[^\w.])(?:def|class|interface|enum|struct|trait|record|func(?:[ \t]*\([^)\n]{0,200}\))?|function\*?"
    r"|type|const|let|var|namespace|module)[ \t]+(?:self\.)?([A-Za-z_$][\w$]*)"
)


@dataclass(frozen=True, slots=True)
class FileWords:
    """Stems and how often they occur, and the names that are defined."""

    text: Mapping[str, int] = field(default_factory=dict)
    comments: Mapping[str, int] = field(default_factory=dict)
    names: Sequence[str] = ()  # distinct, lower-case, sorted
    defined: Sequence[str] = ()  # the same as they are written, in the order of the text; not stored


def file_words(data: bytes, spans: Sequence[tuple[int, int]] = ()) -> FileWords:
    """The words of a file.

    Args:
        data: its content.
        spans: start and end of its comments and docstrings in bytes, ascending; empty if they are not known.
    """
    text, comments = _apart(data, spans)
    defined = list(dict.fromkeys(name for name in _DEFINED.findall(text) if len(name) <= LONGEST_WORD))
    return FileWords(_counted(text), _counted(comments), sorted({name.lower() for name in defined}), defined)


def _apart(data: bytes, spans: Sequence[tuple[int, int]]) -> tuple[str, str]:
    """The text outside of comments, and the comments."""
    code, comments, place = [], [], 0
    for start, end in spans:
        if start >= place:
            code.append(data[place:start])
            comments.append(data[start:end])
            place = end
    code.append(data[place:])
    return b" ".join(code).decode("utf-8", "replace"), b"\n".join(comments).decode("utf-8", "replace")


def _counted(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for run, count in Counter(_RUN.findall(folded(text))).items():
        if len(run) <= LONGEST_WORD or not run.isascii():
            for stem in stems_of(run):
                found[stem] = found.get(stem, 0) + count
    return found


@lru_cache(maxsize=1 << 16)
def stems_of(run: str) -> tuple[str, ...]:
    """The stems of the words of an identifier: ``readAllLines`` -> read, all, line."""
    words = split_identifier(run)
    if run.isascii():
        return tuple(map(stem_of, words))
    return tuple(stem for word in words for stem in stems(word))


def path_stems(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stems of a file's name without its suffixes, and those of its folders."""
    *folders, name = path.split("/")
    of_name = stems_of(_plain(name.lstrip(".").split(".")[0]))
    return of_name, tuple(stem for folder in folders for stem in stems_of(_plain(folder)))


def _plain(part: str) -> str:
    """A part of a path as one identifier."""
    return "_".join(run for run in _RUN.findall(folded(part)) if len(run) <= LONGEST_WORD)
