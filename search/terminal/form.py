"""The form of answers in a terminal: options of all, colours, and lines as wide as it, whatever characters are in them.

Light to import, for the help.
"""

import os
import shutil
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from data_prep.errors import UserError, check_bounds, one_line, whole

BOLD, DIM, GREEN, CYAN = "1", "2", "32", "36"
Paint = Callable[[str, str], str]
"""Makes a text printable, in a colour."""
_IN_A_PIPE: Final = 110
"""Cells of a line where there is no terminal."""
_LEAST: Final = 40
_MOST: Final = 160
_CUT: Final = "..."
_TAB: Final = 4


def painter() -> Paint:
    """What makes text printable, and colours it on a terminal that has colours, unless ``NO_COLOR`` is set."""
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        return lambda code, text: f"\x1b[{code}m{one_line(text)}\x1b[0m"
    return lambda _, text: one_line(text)


def line_width() -> int:
    """Cells of a line: those of the terminal, within reason, or as many as fit most."""
    if not sys.stdout.isatty():
        return _IN_A_PIPE
    return max(_LEAST, min(shutil.get_terminal_size((80, 24)).columns, _MOST))


def cells(text: str) -> int:
    """How many cells of a terminal a text takes: two for a wide character, none for one above another."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def cut(text: str, width: int, seen: int = 0) -> str:
    """A text on one line of at most ``width`` cells, printable, with tabs as spaces.

    ``seen``: where in the text something is that has to be seen: what is before it is cut then, if need be.
    """
    plain = one_line(text.replace("\t", " " * _TAB))
    if cells(plain) <= width:
        return plain
    seen += (_TAB - 1) * text.count("\t", 0, seen)
    if seen > width - 2 * len(_CUT):
        return _CUT + cut(plain[seen - width // 3 :], width - len(_CUT))
    left, end = width - len(_CUT), 0
    while end < len(plain) and (left := left - _cells_of(plain[end])) >= 0:
        end += 1
    return plain[:end].rstrip() + _CUT


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Options of ``search`` and ``related``."""

    top: int = 10
    """Number of hits."""
    path: str = ""
    """Folder, file or pattern that the paths of hits must match, such as src/ or src/*; empty: all. As filters in the
    question: path:src/ type:class|function|method|constant|test|file lang:python test:no|only|yes ext:py, each but
    test also with a minus."""
    language: str = ""
    """Languages that hits must be in, such as python,go; empty: all, with --at that of its file."""
    changed: bool = False
    """Only files that git calls changed: modified, added or untracked."""
    json: bool = False
    """Print one JSON object."""
    files: bool = False
    """Print the path of each file with an answer, the best first, one on a line."""
    vimgrep: bool = False
    """Print path:line:column:text for each hit, for an editor's list of places."""
    explain: bool = False
    """Show scores, licences and where copies are; for a question also what each of its words is aligned with, and which
    stage determined a hit's rank."""
    nearest: str = ""
    """How the vectors beside an index are searched: exact, faiss, a file NAME.db or the URI of a Milvus; none: not at
    all; empty: exact or, from 250,000 rows on if it is installed, faiss."""

    def __post_init__(self) -> None:
        check_bounds(self, {"top": whole(1, 100_000)})
        forms = [name for name in ("json", "files", "vimgrep") if getattr(self, name)]
        if len(forms) > 1:
            raise UserError(f"--{forms[0]} and --{forms[1]} are two forms of one answer: leave one out")
        if self.language:
            from search.files.languages import chosen_languages

            chosen_languages(self.language)
