"""What a stack trace has, and what a reader of a language's traces promises.

A form is a record: :class:`data_prep.traces.headed.HeadedForm` for languages that state an error before its frames. It
is named by ``traces`` of the language (:mod:`data_prep.languages`). Here too: a file and a line as a person types them.
"""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, NamedTuple, Protocol, runtime_checkable
from urllib.parse import unquote

Relation = Literal["", "caused by", "suppressed", "raised from", "raised in handling", "grouped"]
"""What an error is to the one printed before it: its cause; suppressed by it; raised from it; raised while it was
handled; of the same group. "" for the first."""
TOP: Final = "<module>"
"""The name of a frame that is known to be at the top level of its file."""
MESSAGE_LINES: Final = 10
"""Lines of a message that are read behind its first."""
STRONG: Final = r"(?:Error|Exception|Throwable|Failure|Fault|Rejection|Panic|Warning|Interrupt|Exit|Iteration|Timeout)"
"""What the names of errors end in, where nothing else says that it is one."""
NEXT_RECORD: Final = re.compile(
    r"\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d|\d{1,3}(?:\.\d{1,3}){3}\b)"
    r"|\W{0,3}(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL|NOTICE)\b(?!:? *$)|[-=*_⎯─\"'`#~]{3,}$"
)
"""The start of a line of a log, or a rule: neither goes on with a message."""
_ADDRESS: Final = re.compile(r"[A-Za-z][\w+.-]*://[^/]*(/.*)")
_LINE: Final = re.compile(
    r":L?(\d{1,9})(?:[:,-].*)?"  # file.py:12, :12:5, :12-20, :12: a message
    r"|\((\d{1,9})(?:[ ]?[,:;-][ ]?\d{1,9})*\)(?:[ ]?:.*)?"  # file.ts(12,5): a message
    r"|#L?(\d{1,9})(?:C\d{1,9})?(?:-L?\d{1,9}(?:C\d{1,9})?)?:?",  # file.go#L12-L20
    re.ASCII | re.DOTALL,
)
_LONGEST_PLACE: Final = 1 << 12
_PLACES: Final = 4
"""Meanings of a place that are tried."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A call in a trace."""

    path: str  # of its file as printed, "/"-separated, or made from its package; "" if it is not stated
    line: int  # from 1; 0 if it is not stated
    name: str  # as units are named, ``Client.send``; TOP; "" for functions without a name
    code: str = ""  # the line of code that is printed with it
    package: str = ""  # before the name, where the language prints it


@dataclass(frozen=True, slots=True)
class TracedError:
    """An error and its frames."""

    error: str  # its type as printed, "" if it is not stated
    message: str
    frames: Sequence[Frame]
    relation: Relation = ""
    left_out: int = 0  # frames that the trace itself only counts, such as "... 12 more"


class Reading(NamedTuple):
    """What a form finds in lines."""

    errors: Sequence[TracedError]
    innermost_last: bool  # whether the last frame of an error is where it was raised
    lines: AbstractSet[int]  # the numbers of those that were read as frames, or as what is none for a reason

    @property
    def frames(self) -> int:
        """How many frames there are."""
        return sum(len(error.frames) for error in self.errors)


@runtime_checkable
class TraceForm(Protocol):
    """How a language prints stack traces."""

    @property
    def looks(self) -> str:
        """Regular expression of what a line with a frame begins with, behind what prefix it may have."""

    @property
    def at_path(self) -> str:
        """What follows the path that it begins with, from the suffix on."""

    @property
    def near(self) -> str:
        """The same for what only some part of a line has."""

    def read(self, lines: Sequence[str]) -> Reading | None:
        """The errors of lines that have no prefix any more; None if there is no frame."""


def begins(forms: Iterable[TraceForm]) -> str:
    """Regular expression of what lines with frames of any of these forms begin with."""
    some = [*forms]
    looks = "|".join(dict.fromkeys(form.looks for form in some))
    at_path = "|".join(dict.fromkeys(form.at_path for form in some))
    return rf"(?<![\w./\\$-])(?:{looks}|(?:[A-Za-z]:)?[^\s:]{{1,300}}(?:{at_path}))"


def plain_path(path: str) -> str:
    """A path of a trace without the scheme, host and query of an address, with "/" between folders."""
    if found := _ADDRESS.fullmatch(path):
        path = unquote(re.split(r"[?#]", found[1], maxsplit=1)[0])
    return path.replace("\\", "/")


def number(digits: str | None) -> int:
    """A line or a count of a text, which may have any number of digits; none is 0."""
    return int((digits or "0")[:9])


def split_message(text: str) -> tuple[str, str]:
    """The type and the message of ``TypeError: x is not a function``."""
    error, _, message = text.partition(": ")
    return error.rstrip(":").strip(), message.strip()


def named_places(typed: str) -> list[tuple[str, int]]:
    """The files and lines that a place may mean, the shortest path first; none if it names no line.

    Behind the path is ``:LINE``, ``#LLINE`` or ``(LINE)``, with or without a column, a last line and, behind another
    colon, text.
    """
    plain = typed_path(typed)
    starts = (match.start() for match in re.finditer(r"[:(#]", plain[:_LONGEST_PLACE]))
    found = ((plain[:start].rstrip(), _LINE.fullmatch(plain, start)) for start in starts)
    lines = ((path, int(next(filter(None, line.groups())))) for path, line in found if path and line)
    return [*islice(lines, _PLACES)]


def typed_path(typed: str) -> str:
    """A path without blanks around it, of an address of a file."""
    typed = typed.strip()
    if not typed.startswith("file://"):
        return typed
    path = unquote(typed.removeprefix("file://").removeprefix("localhost"))
    return path[1:] if re.match(r"/[A-Za-z]:[/\\]", path) else path
