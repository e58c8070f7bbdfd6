"""A stack trace in a text: its errors, and the frames of each in the order in which they are printed.

A format is a module with one function, which reads the lines of a text, and which its language names. What is around a
trace, such as a log, is skipped. Nothing of it is run or opened.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Final, Literal

from data_prep.languages.registry import languages

Relation = Literal["", "caused by", "suppressed", "raised from", "raised in handling", "grouped"]
"""What an error is to the one printed before it: its cause; suppressed by it; raised from it; raised while it was
handled; of the same group. "" for the first."""
TOP: Final = "<module>"
"""The name of a frame that is known to be at the top level of its file."""
MOST_FRAMES: Final = 1000
"""Maximum frames of a trace, half from each end."""
_ERROR: Final = re.compile(r"Error|Exception|Throwable|Failure|Panic")
_MESSAGE_LINES: Final = 10
_LONGEST_LINE: Final = 2000  # characters
_ADDRESS: Final = re.compile(r"[A-Za-z][\w+.-]*://[^/]*(/.*)")
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


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


@dataclass(frozen=True, slots=True)
class Trace:
    """The errors of a text, as printed."""

    language: str
    errors: Sequence[TracedError]
    innermost_last: bool  # whether the last frame of an error is where it was raised

    @property
    def frames(self) -> list[Frame]:
        """All frames, as printed."""
        return [frame for error in self.errors for frame in error.frames]


def read_trace(text: str) -> Trace | None:
    """The trace in a text, in the format by which most frames are found; None if there is no frame."""
    lines = [line[:_LONGEST_LINE].rstrip() for line in _COLOUR.sub("", text).splitlines()]
    best: Trace | None = None
    for language in languages():
        found: Trace | None = resolve_name(language.traces)(lines) if language.traces else None
        if found and (best is None or len(found.frames) > len(best.frames)):
            best = replace(found, language=language.name)
    return _shortened(best) if best else None


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


class HeadedErrors:
    """The errors of lines in which each error is stated before its frames, the innermost of which is the first."""

    def __init__(self) -> None:
        self._errors: list[TracedError] = []
        self._head: TracedError | None = None
        self._told: list[str] = []  # lines of the message behind the first
        self._frames: list[Frame] = []
        self._left_out = 0

    def frame(self, frame: Frame) -> None:
        """Add a frame to the error that was stated last."""
        self._frames.append(frame)

    def more(self, count: int) -> None:
        """Add frames that are only counted."""
        self._left_out += count if self._head or self._frames else 0

    def head(self, error: str, message: str, relation: Relation) -> None:
        """Begin an error; a line that is not as certainly one as that before it is a part of its message."""
        self._close()
        if self._head is None or relation or _ERROR.search(error) or not _ERROR.search(self._head.error):
            self._head, self._told = TracedError(error, message, (), relation), []
        else:
            self.text(f"{error}: {message}")

    def text(self, line: str) -> None:
        """Another line: behind a head, it goes on with the message."""
        if self._head and not self._frames and line.strip() and len(self._told) < _MESSAGE_LINES:
            self._told.append(line.strip())

    def trace(self) -> Trace | None:
        """The trace, if there was a frame."""
        self._close()
        if not any(error.frames for error in self._errors):
            return None
        return Trace("", (replace(self._errors[0], relation=""), *self._errors[1:]), innermost_last=False)

    def _close(self) -> None:
        if self._frames or self._left_out:
            head = self._head or TracedError("", "", ())
            message = " ".join(filter(None, (head.message, *self._told)))
            self._errors.append(replace(head, message=message, frames=tuple(self._frames), left_out=self._left_out))
            self._head, self._told, self._frames, self._left_out = None, [], [], 0


def plain_path(path: str) -> str:
    """A path of a trace without the scheme, host and query of an address, with "/" between folders."""
    if found := _ADDRESS.fullmatch(path):
        path = re.split(r"[?#]", found[1], maxsplit=1)[0]
    return path.replace("\\", "/")


def split_message(text: str) -> tuple[str, str]:
    """The type and the message of ``TypeError: x is not a function``."""
    error, _, message = text.partition(": ")
    return error.rstrip(":").strip(), message.strip()
