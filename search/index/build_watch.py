"""Who is told what is read of a folder while its index is being made, and what is read first."""

from collections.abc import Sequence
from functools import cache
from typing import Final, Protocol, runtime_checkable

from search.engine.question import asked_words
from search.files.tree import Found, is_test
from search.files.word_stems import terms_of
from search.index.read_part import Part

_LARGE: Final = 200_000
"""Bytes from which on a file is more likely generated than looked for."""


@runtime_checkable
class Watch(Protocol):
    """Who is told what is read."""

    chunk: int
    """Files that are read together."""
    asked: str
    """What is waited for: a question, or the path of a file."""

    def begin(self, files: int) -> None:
        """So many files will be read."""

    def take(self, part: Part) -> None:
        """These were read."""


def likely_first(found: Sequence[Found], asked: str = "") -> list[Found]:
    """Files that are likely to be wanted first: those whose paths have all the words that are ``asked`` for.

    Then sources come before tests, paths with more of the words before others, large files after them, and those near
    the top before deep ones.
    """
    wanted = frozenset(terms_of(asked_words(asked)))

    @cache
    def words(part: str) -> frozenset[str]:
        return wanted.intersection(terms_of(asked_words(part)))

    def place(file: Found) -> tuple[bool, bool, int, bool, int, str]:
        has = len(frozenset[str]().union(*map(words, file.path.split("/")))) if wanted else 0
        some = not has or has < len(wanted)
        return some, is_test(file.path), -has, file.size > _LARGE, file.path.count("/"), file.path

    return sorted(found, key=place)
