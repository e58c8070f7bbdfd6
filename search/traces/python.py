"""Python's tracebacks, with chained and grouped exceptions, and those of faulthandler, IPython and pytest."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from search.traces.trace import TOP, Frame, Relation, Trace, TracedError, plain_path, split_message

_HEADER: Final = "Traceback (most recent call last)"
_FRAME: Final = re.compile(r'\s*File "(?P<path>[^"]+)", line (?P<line>\d+)(?:,? in (?P<name>\S.*))?')
_IPYTHON: Final = re.compile(
    r"(?:File )?(?P<path>(?:~|/|[A-Za-z]:\\|\.{0,2}[\w<])[^:(]*?)(?::(?P<line>\d+))?,? in (?P<name><?[\w.]+>?)(?:\(.*)?"
)
_IPYTHON_CELL: Final = re.compile(r"(?:Cell )?In(?:put In)? ?\[\d+\], (?:line \d+|in .*)")
_IPYTHON_CODE: Final = re.compile(r"-+> ?(?P<line>\d+) ?(?P<code>.*)")
_PYTEST: Final = re.compile(r"(?P<path>[^\s:]+\.py):(?P<line>\d+): ?(?:in (?P<name>\S+)|(?P<error>[\w.]*))")
_PYTEST_ERROR: Final = re.compile(r"E   +(?P<text>\S.*)")
_REPEATED: Final = re.compile(r"\s*\[Previous line repeated (\d+) more times?\]")
_MARGIN: Final = re.compile(r"\s*[|+] ")
_RULE: Final = re.compile(r"\s*\+(?:-\+)?-{3,}(?: \d+ | \.\.\. )?-*")
_UNDERLINE: Final = re.compile(r"[\s~^]*")
_ERROR: Final = re.compile(r"[A-Za-z_][\w.]*(?:: .*|:)?")
_CHAINED: Final[dict[str, Relation]] = {
    "The above exception was the direct cause of the following exception:": "raised from",
    "During handling of the above exception, another exception occurred:": "raised in handling",
}


class _Reader:
    """The errors of the lines so far, and the frames of the one that is being read."""

    def __init__(self) -> None:
        self.errors: list[TracedError] = []
        self.relation: Relation = ""
        self._frames: list[Frame] = []
        self._left_out = 0
        self._message = False  # whether lines may go on with the last message

    def read(self, line: str) -> None:
        """Read the next line, without the margin of a group."""
        text = line.strip()
        if text in _CHAINED:
            self.close("", "")
            self.relation, self._message = _CHAINED[text], False
        elif _HEADER in text:
            self._message = False
        elif found := _FRAME.fullmatch(line):
            self.frame(found["path"], found["line"], found["name"] or "")
        elif found := _REPEATED.fullmatch(line):
            self._left_out += int(found[1][:9])
        elif self._frames:
            self._after_a_frame(line, text)
        elif not text:
            self._message = False
        elif self._message:
            last = self.errors[-1]
            self.errors[-1] = replace(last, message=f"{last.message} {text}".strip())

    def frame(self, path: str, line: str, name: str) -> None:
        """Add a frame."""
        named = "" if name.startswith("<") and name != TOP else name.rpartition("<locals>.")[2]
        self._frames.append(Frame(plain_path(path), int(line[:9]), named))
        self._message = False

    def code(self, text: str, line: str = "") -> None:
        """Add the code of the last frame, and its line if that was not known."""
        last = self._frames[-1]
        self._frames[-1] = replace(last, code=text.strip(), line=last.line or int(line[:9] or 0))

    @property
    def last(self) -> Frame | None:
        """The last frame of the error that is being read."""
        return self._frames[-1] if self._frames else None

    def close(self, error: str, message: str) -> None:
        """End the error that is being read, if it has frames."""
        if self._frames:
            self.errors.append(TracedError(error, message, tuple(self._frames), self.relation, self._left_out))
            self.relation, self._message = "", bool(error)
        self._frames, self._left_out = [], 0

    def trace(self) -> Trace | None:
        """The errors, of which the last frame is the innermost; None if there are none."""
        self.close("", "")
        return Trace("", tuple(self.errors), innermost_last=True) if self.errors else None

    def _after_a_frame(self, line: str, text: str) -> None:
        if not text or _UNDERLINE.fullmatch(line):
            return
        if line[0] in " \t":
            if not self._frames[-1].code:
                self.code(text)
        elif _ERROR.fullmatch(line):
            self.close(*split_message(line))


def read_errors(lines: Sequence[str]) -> Trace | None:
    """The errors of a text; the last frame is the innermost, except in those of faulthandler."""
    reader, first = _Reader(), "most recent call first"
    for line in _without_prefix(lines):
        own = line
        if _RULE.fullmatch(line):
            reader.close("", "")
            reader.relation = "grouped"
            continue
        while found := _MARGIN.match(own):
            own = own[found.end() :]
        reader.read(own)
    if (trace := reader.trace()) is None:
        return _of_ipython(lines) or _of_pytest(lines)
    is_first = any(first in line for line in lines) and not any(_HEADER in line for line in lines)
    return replace(trace, innermost_last=not is_first)


def _without_prefix(lines: Sequence[str]) -> list[str]:
    """The lines without what stands before the first line of a traceback, such as the name of a service."""
    header = next((line for line in lines if _HEADER in line), "")
    prefix = header.partition(_HEADER)[0]
    if prefix.strip() and not prefix.rstrip().endswith(("|", ":", "]", ">")):
        return [*lines]  # of a group, or the error that IPython's begin with
    return [line.removeprefix(prefix).removeprefix(prefix.rstrip()) for line in lines]


def _of_ipython(lines: Sequence[str]) -> Trace | None:
    reader = _Reader()
    if not any(_HEADER in line for line in lines):
        return None
    for line in lines:
        if line.strip() in _CHAINED:
            reader.read(line)
        elif found := _IPYTHON.fullmatch(line):
            reader.frame(found["path"], found["line"] or "0", found["name"])
        elif _IPYTHON_CELL.fullmatch(line):
            reader.frame("", "0", "<cell>")
        elif reader.last and (found := _IPYTHON_CODE.match(line)):
            reader.code(found["code"], found["line"])
        elif reader.last and line[:1] not in ("", " ", "-", ".") and _ERROR.fullmatch(line) and _HEADER not in line:
            reader.close(*split_message(line))
    return reader.trace()


def _of_pytest(lines: Sequence[str]) -> Trace | None:
    """The failures of pytest: code before the place of its frame (``>``), or behind it in short tracebacks."""
    reader, error, code = _Reader(), "", ""
    for line in lines:
        if found := _PYTEST.fullmatch(line):
            reader.frame(found["path"], found["line"], found["name"] or "")
            reader.code(code)
            code = ""
            if found["error"]:
                reader.close(*(split_message(error) if ": " in error else (found["error"], error)))
                error = ""
        elif found := _PYTEST_ERROR.fullmatch(line):
            error = error or found["text"]
        elif line.startswith(">"):
            code = line[1:].strip()
        elif line.startswith("    ") and reader.last and not reader.last.code:
            reader.code(line)
    reader.close(*split_message(error))
    return reader.trace()
