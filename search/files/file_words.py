"""The words of a whole file in their order, those of comments told apart, and the names that it defines.

It reads any language that is written in lines of text: a name is defined by a keyword before it. Where the comments
are is said by who has parsed the file; else their words are words of the text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from data_prep.languages.identifiers import LONGEST_WORD, split_identifier
from data_prep.languages.registry import languages
from search.files.word_stems import folded, stem_of, stems

_RUN: Final = re.compile(r"\w+")
_DEFINED: Final = re.compile(
    r"(?:^|[^\w.])(?:def|class|interface|enum|struct|trait|record|func(?:[ \t]*\([^)\n]{0,200}\))?|function\*?"
    r"|type|const|let|var|namespace|module)[ \t]+(?:self\.)?([A-Za-z_$][\w$]*)"
)


GATHERING: Final = frozenset(name for language in languages() for name in language.gathering_files)
"""Names of files that stand for their folders."""
MOST: Final = 65_535
"""Places of a stem in a file that are kept, the first ones."""
_ASKS: Final = re.compile(r"(?im)^[ \t]*(?:#|//|--|;|%)[ \t]*search[ \t]*:[ \t]*\S.*$")
"""A comment that is a question itself (search/cursor.py) answers none."""


@dataclass(frozen=True, slots=True)
class FileWords:
    """Stems and where they occur, and the names that are defined."""

    places: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Stem -> twice its number among all words of the file, from 0, and 1 more in comments; ascending."""
    line_ends: Sequence[int] = ()  # of each line: how many words there are up to its end
    names: Sequence[str] = ()  # distinct, lower-case, sorted
    defined: Sequence[str] = ()  # the same as they are written, in the order of the text; not stored

    @property
    def text(self) -> Mapping[str, int]:
        """How often each stem occurs outside of comments."""
        return {stem: count for stem, own in self.places.items() if (count := len(own) - sum(each & 1 for each in own))}

    @property
    def comments(self) -> Mapping[str, int]:
        """How often each stem occurs in comments."""
        return {stem: count for stem, own in self.places.items() if (count := sum(each & 1 for each in own))}


def file_words(data: bytes, spans: Sequence[tuple[int, int]] = ()) -> FileWords:
    """The words of a file.

    Args:
        data: its content.
        spans: start and end of its comments and docstrings in bytes, ascending; empty if they are not known.
    """
    places: dict[str, list[int]] = {}
    line_ends: list[int] = []
    code, place = [], 0
    for part, in_comment in _parts(data, spans):
        text = part.decode("utf-8", "replace")
        if in_comment:
            text = _ASKS.sub("", text)
        else:
            code.append(text)
        for number, line in enumerate(folded(text).split("\n")):
            if number:
                line_ends.append(place)
            for stem in _stems_in(line):
                if len(own := places.setdefault(stem, [])) < MOST:
                    own.append(2 * place + in_comment)
                place += 1
    names = _DEFINED.findall(" ".join(code))
    defined = list(dict.fromkeys(name for name in names if len(name) <= LONGEST_WORD))
    return FileWords(places, [*line_ends, place], sorted({name.lower() for name in defined}), defined)


def _stems_in(line: str) -> Iterator[str]:
    """The stems of the words of a line, but of data."""
    for run in _RUN.findall(line):
        if len(run) <= LONGEST_WORD or not run.isascii():
            yield from stems_of(run)


def _parts(data: bytes, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[bytes, bool]]:
    """The parts of a file in their order, and whether each is a comment."""
    place = 0
    for start, end in spans:
        if start >= place:
            yield data[place:start], False
            yield data[start:end], True
            place = end
    yield data[place:], False


@lru_cache(maxsize=1 << 16)
def stems_of(run: str) -> tuple[str, ...]:
    """The stems of the words of an identifier: ``readAllLines`` -> read, all, line."""
    words = split_identifier(run)
    if run.isascii():
        return tuple(map(stem_of, words))
    return tuple(stem for word in words for stem in stems(word))


def path_stems(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stems of a file's name without its last suffix, and those of its folders.

    A file that stands for its folder, such as ``index.ts``, is called as that.
    """
    *folders, name = path.split("/")
    stem = folders[-1] if folders and name in GATHERING else name.lstrip(".").rpartition(".")[0] or name
    of_name = stems_of(_plain(stem))
    return of_name, tuple(stem for folder in folders for stem in stems_of(_plain(folder)))


def _plain(part: str) -> str:
    """A part of a path as one identifier."""
    return "_".join(run for run in _RUN.findall(folded(part)) if len(run) <= LONGEST_WORD)
