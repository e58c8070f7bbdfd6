"""A cursor in a file, ``FILE:LINE``: what is asked there, under which text, and in which language.

The text above is read as the contexts that models were trained with: comments, docstrings and blank lines are removed
by the parser of the language, which also reads text that is not complete; of a word that occurs more than once the
last occurrence counts. Nothing is left of a text that says nothing.
"""

import os
import re
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from data_prep.errors import UserError, shown
from data_prep.files.access import named_path, read_regular, reason
from data_prep.languages.registry import language as language_named
from data_prep.pipeline.contexts import context_words
from data_prep.worker_pool import CALLS
from data_prep.worker_process import EndedByItemError
from search.files.embedded import embedded
from search.files.encodings import text_of
from search.files.languages import LANGUAGES, known_suffixes, language_names, language_of_file
from search.index.frame_locator import named_places

LONGEST: Final = 1 << 16
"""Characters of a text; more are the nearest of a longer one."""
WORDS: Final = 1000
"""Distinct words of it, the nearest."""
_LARGEST: Final = 16 << 20
"""Bytes of the largest file that is read."""


def query_of(line: str, language: str) -> str:
    """The query of a line that is a comment whose text begins with ``search:``; "" for any other line.

    Case and spaces do not matter. A comment after code is no such line, nor is one without a query.

    Args:
        line: as it is in the file, with or without its end.
        language: one of those that are indexed.

    Raises:
        UserError: there is no such language.
    """
    mark = language_named(language).comment_mark
    match = re.fullmatch(rf"[ \t]*(?:{mark})[ \t]*search[ \t]*:[ \t]*(\S.*)", line.rstrip(), re.IGNORECASE)
    return match[1] if match else ""


def example(language: str) -> str:
    """Such a comment."""
    return f"{language_named(language).line_comment} search: retry with backoff"


def words_above(text: str, language: str) -> tuple[str, ...]:
    """The distinct words of the identifiers of ``text``, lower-case, nearest last.

    Text that costs a parser too much is read without one: the words of comments count too.

    Args:
        text: from the start of a file, or from somewhere in it, to the line before the cursor.
        language: its language.

    Raises:
        UserError: there is no such language.
        ChildProcessError: no process could be started that parses.
    """
    if language not in language_names():
        raise UserError(f"there is no language {language!r}; there are {', '.join(language_names())}")
    text = nearest(text)
    with suppress(EndedByItemError):
        text = CALLS.call("data_prep.pipeline.extraction:plain_code", text, language)
    return context_words(text, WORDS)


def nearest(text: str) -> str:
    """The last LONGEST characters of ``text``, from the beginning of a line."""
    if len(text) <= LONGEST:
        return text
    end = text[-LONGEST:]
    return end[end.find("\n") + 1 :]


@dataclass(frozen=True, slots=True)
class Cursor:
    """A question at a place."""

    file: Path
    language: str
    query: str
    context: Sequence[str]  # the words above the line, nearest last


def cursor_at(typed: str, query: str = "") -> Cursor:
    """The question at ``FILE:LINE``: ``query``, or that of the comment on the line, under the lines before it.

    The file is read as it is for an index, in whatever encoding; a script has the language of its first line. The line
    after the last one is a place too.

    Raises:
        UserError: there is no such file or line, its language is not known, or there is no query.
    """
    places = [(named_path(name), line) for name, line in named_places(typed)]
    if not places:
        raise UserError(f"--at takes FILE:LINE, such as src/store.py:12, not {shown(typed)}")
    path, line = next((each for each in places if os.path.isfile(each[0])), places[0])  # noqa: PTH113 - knows no error
    lines, language = _lines(path)
    if not 1 <= line <= len(lines) + 1:
        raise UserError(f"{path} has the lines 1 to {len(lines)}, not {line}")
    place = _code_at(path.name, lines, line, language)
    asked = query or query_of(place.text, place.language)
    if not asked or not (query or _is_comment("\n".join(place.lines), place.name, place.line)):
        raise UserError(f"line {line} of {path} is no comment like `{example(language)}`: write one, or give a query")
    above = words_above("\n".join(place.lines[: place.line - 1]), place.language)
    return Cursor(path, place.language, asked, above)


class _Place(NamedTuple):
    """A line of code."""

    name: str  # of the file, whose suffix says how it is parsed
    lines: Sequence[str]
    line: int  # from 1
    text: str  # of the line
    language: str


def _code_at(name: str, lines: Sequence[str], line: int, language: str) -> _Place:
    """A place in a file, by the code inside of it: of a notebook, in its cells."""
    with suppress(UserError):  # no notebook
        found = embedded(name, "\n".join(lines).encode("utf-8", "replace"))
        if found is not None:
            lines, language = found.data.decode("utf-8", "replace").split("\n"), found.language or language
        if found is not None and found.cells is not None:
            places, name = found.cells.lines, f"{name}{language_named(language).suffixes[0]}"
            number = bisect_left(places, line)
            is_code = number < len(places) and places[number] == line
            return _Place(name, lines, number + 1, lines[number] if is_code else "", language)
    return _Place(name, lines, line, lines[line - 1] if line <= len(lines) else "", language)


def _is_comment(text: str, name: str, line: int) -> bool:
    """Whether a line that looks like a comment is one, not part of a string; it is if no parser can tell."""
    with suppress(EndedByItemError, UserError):
        return bool(CALLS.call("data_prep.pipeline.extraction:begins_comment", text, name, line))
    return True


def _lines(path: Path) -> tuple[list[str], str]:
    """The lines of a file, and its language."""
    other = UserError(f"--at takes a source file ({known_suffixes()}), not {path}")
    try:
        data, _ = read_regular(path, _LARGEST + 1, follow=True)
    except OSError as error:
        if path.suffix.lower() not in LANGUAGES:
            raise other from error
        raise UserError(f"--at names {path}, which cannot be read: {reason(error)}") from error
    if len(data) > _LARGEST:
        raise UserError(f"--at takes a file of at most {_LARGEST >> 20} MiB, and {path} is larger")
    try:
        data = text_of(data).data
        language = language_of_file(path.name, data).name
    except UserError as error:
        raise other from error
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines, language
