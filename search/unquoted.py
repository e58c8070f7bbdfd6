"""Words behind ``search`` that are no question in quotes and a folder: what their last one is meant as."""

import os
import re
from collections.abc import Sequence
from shlex import quote
from typing import Final

from data_prep.errors import UserError
from data_prep.files.access import named_path
from search.options import EXPECTED

_PATH: Final = re.compile(r"\.{1,2}|(?:\.{1,2}|~[^/]*)/.*|.*/", re.DOTALL)
_OF_ROUTE: Final = re.compile("get|post|put|patch|delete|head|options|any|trace|connect", re.IGNORECASE)
"""What stands before a route."""
_ROUTE: Final = re.compile("(?:route|endpoint|ur[il]|handler|request|api|path)s?", re.IGNORECASE)
"""What a question has that asks for one."""
_ASKED: Final = re.compile(
    r"[^\W\d][\w$]*(?:(?:\.|::|#)[\w$]+)*"
    r"|(?!(?:async|class|const|def|export|fn|for|from|fun|func|function|if|import|let|package|private|public|return|static"
    r"|using|var|while)\b)[^\W\d][\w'’-]*(?:,? [\w'’-]+){2,}[?.!]?"
)
"""A name, or three words and more that begin no code."""
_VALUES: Final = re.compile(r"[{}<>:*?&=$#]")
"""What a route may have, and a folder seldom."""


def check_no_folder(words: Sequence[str], *, quoted: bool) -> None:
    """Refuse a last word that is meant as a folder and is none.

    Args:
        words: two or more, of which the last is no folder.
        quoted: whether one before it has several words, as a question in quotes has.

    Raises:
        UserError: it is meant so, or is below a folder that may not be looked into.
    """
    from search.engine.filters import begins_with_filter

    *before, last = words
    if closed := _closed_above(last):
        raise UserError(f"there is no permission to look into {closed}, where the folder {last} would be")
    if not begins_with_filter(last) and ((quoted and len(words) == 2) or _means_folder(last, before)):
        if os.path.isfile(os.path.expanduser(last)):  # noqa: PTH111, PTH113
            raise UserError(f"{last} is a file: {_of_file(os.path.expanduser(last))} asks it alone")  # noqa: PTH111
        raise UserError(f"there is no folder {last}: {EXPECTED}, and quote a question of several words")


def hint(first: str, before: Sequence[str], last: str) -> str:
    """What else the words could mean: a file at the end, or a folder before the question."""
    if os.path.isfile(last):  # noqa: PTH113
        return f"; to ask that file alone: {_of_file(last)}"
    if os.path.isdir(first):  # noqa: PTH112
        rest = " ".join([*before[1:], last])
        return f'; to ask that folder: bash run.sh search "{rest}" {quote(first)}'
    return ""


def _of_file(path: str) -> str:
    """The command that asks one file."""
    folder, name = os.path.split(path)
    return f'bash run.sh search "QUESTION" {quote(folder or ".")} --path={quote(name)}'


def _means_folder(word: str, before: Sequence[str]) -> bool:
    """Whether a word that is no folder is meant as one: it begins at the top, and is no route of the question."""
    if _PATH.fullmatch(word):
        return True
    if not word.startswith("/") or _VALUES.search(word):
        return False
    above = os.path.dirname(word)  # noqa: PTH120 - of a text that need not be a path
    if above != "/" and os.path.isdir(above):  # noqa: PTH112
        return True
    is_route = _OF_ROUTE.fullmatch(before[-1]) or any(map(_ROUTE.fullmatch, before))
    return not (is_route or _has_index(word))


def _has_index(route: str) -> bool:
    """Whether there is an index that would answer, and it has the words of a route one after the other."""
    from search.opening import indexed_above

    if not (found := indexed_above(named_path("."))):
        return False
    from search.engine.engine import Engine
    from search.engine.question import asked_words
    from search.index.index_file import UnusableIndexError, open_index

    try:
        engine = Engine(open_index(found[1]), None)
    except UnusableIndexError:
        return False
    return bool(engine.search(f'"{route}"', top=1)) if asked_words(route) else False


def _closed_above(path: str) -> str:
    """The folder above a path that may not be looked into; "" if there is none."""
    whole = os.path.expanduser(path)  # noqa: PTH111 - which knows no error
    parts = whole.split("/")
    for end in range(1, len(parts)):
        above = "/".join(parts[:end])
        if above and os.path.isdir(above) and not os.access(above, os.X_OK):  # noqa: PTH112
            return above
    return ""


def asks(text: str) -> bool:
    """Whether a text on standard input is one line that asks: a name, words, an error's message, or a logger's line."""
    from data_prep.traces.trace import read_trace
    from search.engine.printed import is_message

    line = text.strip()
    if "\n" in line or "except " in line or read_trace(line):
        return False
    return bool(_ASKED.fullmatch(line)) or is_message(line)
