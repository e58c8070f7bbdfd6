"""A cursor in a file, ``FILE:LINE``: what is asked there, under which text, and in which language."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data_prep.bounds import shown
from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from data_prep.files.reading import read_regular, reason
from search.cursor.above import words_above
from search.cursor.trigger import example, query_of
from search.files.languages import LANGUAGES, language_name

_LARGEST: Final = 16 << 20
"""Bytes of the largest file that is read."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A question at a place."""

    file: Path
    language: str
    query: str
    context: Sequence[str]  # the words above the line, nearest last


def cursor_at(typed: str, query: str = "") -> Cursor:
    """The question at ``FILE:LINE``: ``query``, or that of the comment on the line, under the lines before it.

    Bytes that are not UTF-8 are replaced. The line after the last one is a place too.

    Raises:
        UserError: there is no such file or line, its language is not known, or there is no query.
    """
    name, _, number = typed.rpartition(":")
    if not name or not (number.isascii() and number.isdigit()) or len(number) > 9:
        raise UserError(f"--at takes FILE:LINE, such as src/store.py:12, not {shown(typed)}")
    path, line = named_path(name), int(number)
    language = language_name(path.name)
    if path.suffix not in LANGUAGES:
        raise UserError(f"--at takes a source file ({', '.join(f'*{end}' for end in LANGUAGES)}), not {path}")
    lines = _lines(path)
    if not 1 <= line <= len(lines) + 1:
        raise UserError(f"{path} has the lines 1 to {len(lines)}, not {line}")
    asked = query or query_of(lines[line - 1] if line <= len(lines) else "", language)
    if not asked:
        raise UserError(f"line {line} of {path} is no comment like `{example(language)}`: write one, or give a query")
    return Cursor(path, language, asked, words_above("\n".join(lines[: line - 1]), language))


def _lines(path: Path) -> list[str]:
    try:
        data, _ = read_regular(path, _LARGEST + 1, follow=True)
    except OSError as error:
        raise UserError(f"--at names {path}, which cannot be read: {reason(error)}") from error
    if len(data) > _LARGEST:
        raise UserError(f"--at takes a file of at most {_LARGEST >> 20} MiB, and {path} is larger")
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines
