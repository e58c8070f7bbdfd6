"""The form of Python's stack traces: those of the interpreter, and as IPython, pytest and rich print them.

The last frame is the innermost, except in those of faulthandler. Each way of printing them is a reader; that which
finds most frames counts.
"""

import re
from collections.abc import Sequence
from typing import Final

from data_prep.traces.trace import Reading, number, split_message
from data_prep.traces.tracebacks import ERROR, FRAME, HEADER, STRONG_ERROR, UNDERLINE, Reader

_IPYTHON: Final = re.compile(
    r"(?:File )?"
    r"(?P<path>(?:~|/|[A-Za-z]:\\|\.{0,2}[\w<])[^:(\"]*?)(?::(?P<line>\d+))?,? in (?P<name><?[\w.]+>?[\w.<>]*)(?:\(.*)?"
)
_CELL: Final = re.compile(r"(?:Cell )?In(?:put In)? ?\[\d+\], (?:line (?P<line>\d+)|in .*)")
_ARROW: Final = re.compile(r"-+> ?(?P<line>\d+) ?(?P<code>.*)")


class IPythonReader(Reader):
    """The tracebacks of notebooks: an arrow is before the line of each frame."""

    def read(self, line: str) -> None:
        """Read the next line."""
        line = line if self.last and line[:4] == "    " else line.strip()
        if self.chained(line) or HEADER in line:
            return
        if found := _IPYTHON.fullmatch(line):
            self.frame(found["path"], found["line"] or "0", found["name"])
        elif found := _CELL.fullmatch(line):
            self.frame("", found["line"] or "0", "<cell>")
        elif self.last and (found := _ARROW.match(line)):
            self.code(found["code"], found["line"])
        elif self.last and line[:4] == "    " and not self.last.code and not line.lstrip()[:1].isdigit():
            self.code(line)  # of a frame without an arrow
        elif self.last and line[:1] not in ("", " ", "-", ".") and ERROR.fullmatch(line):
            self.close(*split_message(line))
        elif not self.last:
            self.goes_on(line.strip())


_PYTEST: Final = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?[^\s:\"][^:\"]*\.pyx?|<frozen [\w.]+>):(?P<line>\d+): ?"
    r"(?:in (?P<name>\S+)|(?P<error>[\w.<>]*)(?:: (?P<message>.*))?)"
)
_DEFINED: Final = re.compile(r"[ >]+(?:async )?def (\w+)\(.*")
_FAILED: Final = re.compile(r"E   +(?P<text>\S.*)")


class PytestReader(Reader):
    """The failures of pytest: code before the place of its frame (``>``), or behind it in short tracebacks."""

    def __init__(self) -> None:
        super().__init__()
        self._told = ""  # the first line of a failure
        self._marked = ""  # the code of the frame whose place follows
        self._function = ""  # the function that this code is shown in
        self._quoted = False  # whether the last frame is one in the text of a failure

    def read(self, line: str) -> None:
        """Read the next line."""
        if found := _FAILED.fullmatch(line):
            self._failure(found["text"])
            return
        if self.last and self._told and not self._marked:
            self._end("")
        if line[:3] in ("===", "___"):
            self.close("", "")
            self._function = ""
        elif not self._is_frame(line):
            self._code_of(line)

    def _is_frame(self, line: str) -> bool:
        """Add the frame of a line that states its place, and with which an error may end."""
        if (found := _PYTEST.fullmatch(line)) and self._is_place(found["error"] or "", found["message"] or ""):
            self.frame(found["path"], found["line"], found["name"] or (self._function if self._marked else ""))
            self.code(self._marked)
            self._marked, self._function, self._quoted = "", "", False
            if found["error"]:
                self._told = self._told or ": ".join(filter(None, (found["error"], found["message"])))
                self._end(found["error"])
            return True
        return False

    def _code_of(self, line: str) -> None:
        """Code of the last frame, or of the next one."""
        if line.startswith(">"):
            self._marked = line[1:].strip()
        elif found := _DEFINED.fullmatch(line):
            self._function = self._function or found[1]
        elif line.startswith("    ") and self.last and not self.last.code:
            self.code(line)
        elif self.chained(line.strip()):
            self._marked = ""

    def close(self, error: str, message: str) -> None:
        """End the error that is being read, with what pytest says of it if it is not known."""
        if not error and self._told:
            error, message = split_message(self._told)
        self._told = ""
        super().close(error, message)

    def _is_place(self, error: str, message: str) -> bool:
        """Whether a line with a place is no warning: it has no message, or that of the error."""
        return not message or self._told.startswith(error) or error.endswith(("Error", "Exception"))

    def _failure(self, text: str) -> None:
        if not self._told and (found := FRAME.fullmatch(text)):
            self.frame(found["path"], found["line"], found["name"] or "")
            self._quoted = True
        elif self._quoted and self.last and not self.last.code:
            self.code(text)
        elif not UNDERLINE.fullmatch(text):
            self._told = self._told or text

    def _end(self, named: str) -> None:
        """End an error that has the name that a place states, or that its text begins with."""
        error, message = split_message(self._told) if ERROR.fullmatch(self._told) else ("", self._told)
        if named and error.rpartition(".")[2] != named.rpartition(".")[2] and not STRONG_ERROR.fullmatch(error):
            error, message = named, self._told
        if not error and self._told.startswith("assert"):
            error = "AssertionError"
        self.close(error, message)


_SIDES: Final = "│┃║|"
_RICH: Final = re.compile(r"(?P<path>\S.*?):(?P<line>\d+)(?P<in> in (?P<name>\S+))?")
_HIDDEN: Final = re.compile(r"\.\.\. (\d+) frames hidden \.\.\.")
_POINTER: Final = re.compile(r"[❱>] *(?P<line>\d+) (?P<code>.*)")


class RichReader(Reader):
    """The panels of rich and typer, whose long paths are wrapped."""

    def __init__(self) -> None:
        super().__init__()
        self._begun = ""  # the start of a frame, which may go on in the next line
        self._start = 0  # the line where it starts
        self._open = False  # whether a frame may begin
        self._full = False  # whether the last line fills its panel, so that a word may go on in the next one

    def read(self, line: str) -> None:
        """Read the next line."""
        text, inside = line.strip(), False
        while len(text) > 1 and text[0] in _SIDES and text[-1] in _SIDES:
            text, inside = text[1:-1], True
            full, text = not text.endswith("  "), text.strip()
        if inside and (text or not self._begun):
            self._in_panel(text, full)
        elif inside or text[:1] in ("╭", "┌", "+", "╰", "└"):
            self._frame_of(self._begun, nameless=True)
            self._begun, self._open = "", True
            if "Sub-exception" in text:
                self.close("", "")
                self.relation = "grouped"
        elif self.frames and not self.chained(text) and ERROR.fullmatch(text):
            self.close(*split_message(text))
        elif not self.frames and not self.chained(text):
            self.goes_on(text)

    def close(self, error: str, message: str) -> None:
        """End the error that is being read, whose last frame may have lost its function."""
        begun, self._begun = self._begun, ""
        self._frame_of(begun, nameless=True)
        super().close(error, message)

    def _in_panel(self, text: str, full: bool) -> None:
        if found := _HIDDEN.fullmatch(text):
            self.left_out += number(found[1])
        elif not text or text[0] in "╭╰":
            self._begun, self._open = "", True
        elif self.frames and (found := _POINTER.fullmatch(text)):
            self.code(found["code"].replace("│", " ").partition("  ╭")[0].partition("  ╰")[0], found["line"])
            self._begun, self._open = "", False
        elif self._open:
            if not (self._full or f"{text} ".startswith("in ")) and self._frame_of(self._begun, nameless=True):
                self._begun, self._open = "", False  # a file that could not be parsed has no function
                return
            self._start = self._start if self._begun else self.place
            cut = self._full and not self._begun.endswith(" in") and not text.startswith("in ")
            joined = f"{self._begun}{'' if cut else ' '}{text}".strip()
            self._begun, self._full = ("", False) if self._frame_of(joined) else (joined, full)
            self._open = bool(self._begun) and len(joined) < 1000
            if self.frames and STRONG_ERROR.fullmatch(text):
                self.close(*split_message(text))

    def _frame_of(self, text: str, *, nameless: bool = False) -> bool:
        found = _RICH.fullmatch(text)
        if not found or not (found["in"] or nameless):
            return False
        self.frame(found["path"], found["line"], found["name"] or "")
        self.read_lines.update(range(self._start, self.place))
        return True


class _Tracebacks:
    """The form of Python."""

    looks = (
        r'File "[^"]{1,1000}", line \d|'
        r"(?<!\S)(?:(?:[A-Za-z]:)?[^\s:]{1,1000}\.pyx?|<frozen [\w.]+>):\d+: in \S"
    )
    at_path = r"(?!)"
    near = (
        r"\.pyx?:\d+(?:: ?(?:in \S+|[\w.<>]*)$|: [\w.]*(?:Error|Exception|<locals>[\w.]*): |,? in \S)"
        r"|\.pyx?\(\d+\)[\w<]|│.*\.pyx?:\d+(?: in)? +│$|Cell In ?\[\d+\], line \d"
    )

    def read(self, lines: Sequence[str]) -> Reading | None:
        """The errors of lines that have no prefix; None if there is no frame."""
        text = "\n".join(lines)
        kinds = {
            Reader: 'File "' in text or ".py(" in text,
            IPythonReader: HEADER in text,
            PytestReader: ".py" in text,
            RichReader: any(f"{side}\n" in f"{text}\n" for side in _SIDES),
        }
        readings = [_read(kind(), lines) for kind, possible in kinds.items() if possible]
        best = max(readings, key=lambda reading: reading.frames, default=None)
        if best is None or not best.frames:
            return None
        return best._replace(innermost_last="most recent call first" not in text or HEADER in text)


def _read(reader: Reader, lines: Sequence[str]) -> Reading:
    for reader.place, line in enumerate(lines):
        reader.read(line)
    reader.close("", "")
    summary = {place for place, line in enumerate(lines) if line.startswith(("FAILED ", "ERROR "))}  # of pytest
    return Reading(tuple(reader.errors), innermost_last=True, lines=reader.read_lines | summary)


PYTHON: Final = _Tracebacks()
