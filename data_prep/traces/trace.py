"""A stack trace in a text: its errors and the frames of each, as they are printed; and what a language's form promises.

What is around a trace, such as a log, is skipped: only lines near those that look like frames are read. Each language's
form reads them, and that which finds most frames counts. Lines that look like frames and that it did not read are
counted, so that no answer looks more complete than it is. Nothing of a text is run or opened.

A form is a record: :class:`data_prep.traces.headed.HeadedForm` for languages that state an error before its frames. It
is named by ``traces`` of the language (:mod:`data_prep.languages`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache
from pkgutil import resolve_name
from typing import Final, Literal, NamedTuple, Protocol, runtime_checkable
from urllib.parse import unquote

from data_prep.languages.registry import language_of, languages
from data_prep.traces.one_line import apart, with_lines
from data_prep.traces.written_out import as_shown, plain_lines, without_colours, without_prefixes

Relation = Literal["", "caused by", "suppressed", "raised from", "raised in handling", "grouped"]
"""What an error is to the one printed before it: its cause; suppressed by it; raised from it; raised while it was
handled; of the same group. "" for the first."""
TOP: Final = "<module>"
"""The name of a frame that is known to be at the top level of its file."""
STRONG: Final = r"(?:Error|Exception|Throwable|Failure|Fault|Rejection|Panic|Warning|Interrupt|Exit|Iteration|Timeout)"
"""What the names of errors end in, where nothing else says that it is one."""
MOST_TOLD: Final = 10
"""Lines of a message that are read behind its first."""
RECORD: Final = re.compile(
    r"\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d|\d{1,3}(?:\.\d{1,3}){3}\b)"
    r"|\W{0,3}(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL|NOTICE)\b(?!:? *$)|[-=*_⎯─\"'`#~]{3,}$"
)
"""The start of a line of a log, or a rule: neither goes on with a message."""
_ADDRESS: Final = re.compile(r"[A-Za-z][\w+.-]*://[^/]*(/.*)")


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
    first = r"(?:[\w./\\$<>(\[{\"'+,=|%-]|[@~](?=[\w/]))"  # not each of many signs, from which all is tried to no avail
    return rf"(?<![\w./\\$-])(?:{looks}|(?:[A-Za-z]:)?(?={first})[^\s:]{{1,300}}(?:{at_path}))"


def plain_path(path: str) -> str:
    """A path of a trace without the scheme, host and query of an address, with "/" between folders."""
    if found := _ADDRESS.fullmatch(path):
        path = unquote(re.split(r"[?#]", found[1], maxsplit=1)[0])
    return path.replace("\\", "/")


def number(digits: str | None) -> int:
    """A line or a count of a text, which may have any number of digits; none is 0."""
    return int((digits or "0")[:9])


def placed(groups: Mapping[str, str], name: str, package: str = "") -> Frame:
    """The frame of a function at the place that the groups ``path`` and ``line`` state."""
    return Frame(plain_path(groups.get("path", "")).removeprefix("./"), number(groups.get("line")), name, "", package)


def split_message(text: str) -> tuple[str, str]:
    """The type and the message of ``TypeError: x is not a function``."""
    error, _, message = text.partition(": ")
    return error.rstrip(":").strip(), message.strip()


MOST_FRAMES: Final = 1000
"""Maximum frames of a trace, half from each end."""
_LONGEST_LINE: Final = 2000  # characters
_NEAR: Final = 40
"""Lines before and behind one that looks like a frame that may belong to its trace."""
_SIGNS: Final = (
    "at ", "File ", ".py", ".go:", ".s:", "goroutine ", "Cell In", "@", "❯", "Traceback", "#", "://", ":in ", " in ",
    " (/", "node:", " (<an", ":\\", " on line ", ": line ", "[object]", "main}", "error:", "by 0x", "Assertion", ".rb:",
    "sh: ", ".rs:", ".ex", ".erl:", "eex:", ".lua:", ".swift", ".zig:", "hs:", ".php", ".R#", ".r#", "Error in",
    "> tr", "Calls:",
)  # fmt: skip
"""One of these is in each line that looks like a frame."""
_HINT: Final = re.compile(r"\.[\w+]{1,8}(?:::|:? ?[(\[]|:| line )[\d.\w]|\d:\d+\s+(?i:error|warning)")
"""The same for what is no trace, but names places."""
_REPORTS: Final = "data_prep.traces.reports:REPORTS"
"""The form of these."""
_OTHERS: Final = r"at \S+\.p[lm] line \d+|#\d{1,4} +\S.* \([\w:./-]+\.dart:\d+"
"""What lines with frames have in languages that are not read: Perl and Dart."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The errors of a text, as printed."""

    language: str
    errors: Sequence[TracedError]
    innermost_last: bool  # whether the last frame of an error is where it was raised
    unread: int = 0  # lines that look like frames and are none of these

    @property
    def frames(self) -> list[Frame]:
        """All frames, as printed."""
        return [frame for error in self.errors for frame in error.frames]


def read_trace(text: str) -> Trace | None:
    """The trace in a text, in the form by which most frames are found; None if there is no frame."""
    best: Trace | None = None
    most = 0
    for lines in _lines_of(text):
        readings = {name: found for name, form in _forms().items() if (found := form.read(lines))}
        if len(readings) > 1:
            readings.pop(_REPORTS, None)
        like = _like_frames(lines).union(*(found.lines for found in readings.values()))
        for name, found in readings.items():
            own = _own_frames(name, found)
            if best is None or sum(own.values()) > most:
                most = sum(own.values())
                language = max(own, key=lambda each: own[each])
                best = Trace(language, found.errors, found.innermost_last, len(like - found.lines))
    return _shortened(best) if best else None


def trace_in(question: str) -> str:
    """The lines of a question that is a trace, also if its line breaks are lost; "" of any other."""
    lines = with_lines(question)
    return lines if "\n" in lines and read_trace(lines) else ""


def _own_frames(form: str, found: Reading) -> dict[str, int]:
    """How many frames each language of a form has: those in files of other forms' languages are none."""
    own = dict.fromkeys((each.name for each in languages() if form in (each.traces, _REPORTS)), 0)
    first = next(iter(own))
    for frame in (frame for error in found.errors for frame in error.frames):
        language = language_of(frame.path)
        if form == _REPORTS and language:
            own[language.name] += 1
        elif language is None or language.traces in ("", form):
            own[language.name if language and language.traces else first] += 1
    return own


def plain_text(text: str) -> str:
    """A text as its trace is read: without colours and the prefixes of a log, with what is escaped written out."""
    if not _has_sign(text):
        return without_colours(text)
    shown = next((each for each in as_shown(text) if any(map(_looks_at, each.splitlines()))), text)
    return "\n".join(without_prefixes([*plain_lines(shown, _looks_at)], _starts()))


def frames_like(text: str) -> int:
    """How many lines of a text without a trace that can be read look like frames."""
    return max((len(_like_frames(lines)) for lines in _lines_of(text)), default=0)


def _lines_of(text: str) -> Iterator[list[str]]:
    """The lines near frames, without their prefixes: of a page as it is shown, and of the text as it is."""
    for shown in as_shown(text) if _has_sign(text) else ():
        parts = (part for line in plain_lines(shown, _looks_at) for part in apart(line))
        lines = [part[:_LONGEST_LINE].rstrip() for part in parts]
        if near := _near_frames(lines):
            yield without_prefixes(near, _starts())


def _near_frames(lines: Sequence[str]) -> list[str]:
    """The lines that may belong to a trace, with a blank one where others were between them."""
    kept: list[str] = []
    end = 0  # of what is kept
    for place in (place for place, line in enumerate(lines) if _looks_at(line)):
        if place + _NEAR < end:
            continue
        start = max(end, place - _NEAR)
        kept += [""] if start > end else []
        end = min(len(lines), place + 2 * _NEAR)
        kept += lines[start:end]
    return kept


def _looks_at(line: str) -> bool:
    """Whether a line looks like a frame, or begins a traceback."""
    return _has_sign(line) and bool(_frames().search(line) or "Traceback (most" in line)


def _like_frames(lines: Sequence[str]) -> set[int]:
    """The numbers of lines that look like frames."""
    return {place for place, line in enumerate(lines) if _has_sign(line) and _frames().search(line)}


def _has_sign(line: str) -> bool:
    return any(sign in line for sign in _SIGNS) or _HINT.search(line) is not None


@cache
def _starts() -> re.Pattern[str]:
    """What a line with a frame begins with, or one that begins a traceback, in any language."""
    return re.compile(rf"(?:Exception Group )?Traceback \(most recent call last\)|{_begins()}")


@cache
def _begins() -> str:
    return begins(_forms().values())


@cache
def _frames() -> re.Pattern[str]:
    near = "|".join(dict.fromkeys(form.near for form in _forms().values()))
    return re.compile(f"{_begins()}|{near}|{_OTHERS}")


@cache
def _forms() -> dict[str, TraceForm]:
    names = dict.fromkeys([*(each.traces for each in languages() if each.traces), _REPORTS])
    return {name: resolve_name(name) for name in names}


def _shortened(trace: Trace) -> Trace:
    """The trace without the middle frames of errors that have more than their share."""
    most = max(2, MOST_FRAMES // len(trace.errors))
    errors = []
    for error in trace.errors[:MOST_FRAMES]:
        frames, over = error.frames, max(0, len(error.frames) - most)
        if over:
            frames = [*frames[: most // 2], *frames[len(frames) - (most - most // 2) :]]
        errors.append(replace(error, frames=tuple(frames), left_out=error.left_out + over))
    return replace(trace, errors=tuple(errors))
