"""Python's tracebacks as the interpreter prints them, with chained and grouped exceptions; also faulthandler's.

Marks before a frame, as loguru makes, and values below its code are ignored. Code is what is indented more than its
frame, so that the width of a margin does not matter.
"""

import re
from dataclasses import replace
from typing import Final

from data_prep.traces.trace import (
    MOST_TOLD,
    RECORD,
    STRONG,
    TOP,
    Frame,
    Relation,
    TracedError,
    number,
    plain_path,
    split_message,
)

HEADER: Final = "Traceback (most recent call last)"
FRAME: Final = re.compile(
    r'(?P<indent>\W{0,80})File "(?P<path>[^"]+)", line (?P<line>\d+)(?:,? in (?P<name>\S+)(?P<code>.*))?[\s"\',]*'
)
ERROR: Final = re.compile(r"[^\W\d]\w*(?:\.(?:\w+|<locals>))*(?::(?: .*)?)?")
STRONG_ERROR: Final = re.compile(rf"(?:\w+\.)*\w*{STRONG}(?:: .*|:)?")
_STATED: Final = re.compile(rf"(?:[^'\"(]*[\]\s])?(?P<error>(?:(?:\w+\.)*\w*{STRONG}|Fatal Python error)(?:: .*|:)?)")
"""An error above its frames, behind what a logger prints before it."""
_DEBUGGER: Final = re.compile(
    r"(?P<indent>\W{0,80}?)(?P<path>[\w~/.][^()]*\.pyx?)\((?P<line>\d+)\)(?P<name>[\w<>.]+)\(.*\)(?:->.*)?"
)
_DJANGO: Final = "Exception Type: ", "Exception Value: "
_REPEATED: Final = re.compile(r"\s*\[Previous line repeated (\d+) more times?\]")
_MARGIN: Final = re.compile(r"\s*[|+](?: |$)")
_RULE: Final = re.compile(r".*\+(?:-\+)?-{3,}(?P<member> \d+ | \.\.\. )?-*")
UNDERLINE: Final = re.compile(r"[\s~^]*")
_CHAINED: Final[dict[str, Relation]] = {
    "The above exception was the direct cause": "raised from",
    "During handling of the above exception,": "raised in handling",
}


class Reader:
    """The errors of the lines so far, and the frames of the one that is being read; as tracebacks are printed."""

    def __init__(self) -> None:
        self.errors: list[TracedError] = []
        self.relation: Relation = ""
        self.frames: list[Frame] = []
        self.read_lines: set[int] = set()
        self.place = 0  # the number of the line that is being read
        self._indent = 0  # of the last frame
        self.left_out = 0
        self._message = 0  # how many more lines may go on with the last message
        self._stated = ""  # the line with an error above the frames
        self._member = False  # whether the line begins a member of a group

    def read(self, line: str) -> None:
        """Read the next line."""
        if rule := _RULE.fullmatch(line):
            self.close("", "")
            self.relation, self._message, self._member = "grouped", 0, bool(rule["member"])
            return
        own = line
        while found := _MARGIN.match(own):
            own = own[found.end() :]
        text = own.strip()
        if self.chained(text) or self._without_frames(text):
            return
        if HEADER in text:
            self.close("", "")
            self._message = 0
        elif found := FRAME.fullmatch(own) or _DEBUGGER.fullmatch(own):
            self.frame(found["path"], found["line"], found["name"] or "", len(found["indent"]))
        elif found := _REPEATED.fullmatch(own):
            self.left_out += number(found[1])
        elif self.frames:
            self._after_a_frame(own, text)
        else:
            self.goes_on(text)

    def _without_frames(self, text: str) -> bool:
        """Whether a line is a member of a group that was never raised, which is added."""
        begins, self._member = self._member, False
        if not begins or HEADER in text or not ERROR.fullmatch(text):
            return False
        self.errors.append(TracedError(*split_message(text), (), self.relation))
        self.relation, self._message = "", MOST_TOLD
        return True

    def chained(self, text: str) -> bool:
        """Whether a line says how the next error comes from the last one."""
        relation: Relation = next((said for start, said in _CHAINED.items() if text.startswith(start)), "")
        if relation:
            self.close("", "")
            self.relation, self._message = relation, 0
        return bool(relation)

    def goes_on(self, text: str) -> None:
        """A line outside of frames: the last message may go on; else it may state the error of the next frames."""
        if not text or RECORD.match(text):
            self._message = 0
        if self._message:
            last = self.errors[-1]
            self.errors[-1] = replace(last, message=f"{last.message} {text.removeprefix(_DJANGO[1])}".strip())
            self._message -= 1
        elif text and "most recent call first" not in text:
            self._stated = found["error"] if (found := _STATED.fullmatch(text)) else ""

    def frame(self, path: str, line: str, name: str, indent: int = 0) -> None:
        """Add a frame."""
        named = "" if name.startswith("<") and name != TOP else name.rpartition("<locals>.")[2]
        self.frames.append(Frame(plain_path(path), number(line), named))
        self._indent, self._message = indent, 0
        self.read_lines.add(self.place)

    def code(self, text: str, line: str = "") -> None:
        """Add the code of the last frame, and its line if that was not known."""
        last = self.frames[-1]
        self.frames[-1] = replace(last, code=text.strip(), line=last.line or number(line))

    @property
    def last(self) -> Frame | None:
        """The last frame of the error that is being read."""
        return self.frames[-1] if self.frames else None

    def close(self, error: str, message: str) -> None:
        """End the error that is being read, if it has frames."""
        if self.frames:
            if not error and self._stated:
                error, message = split_message(self._stated)
            self.errors.append(TracedError(error, message, tuple(self.frames), self.relation, self.left_out))
            self.relation, self._message, self._stated = "", MOST_TOLD if error else 0, ""
        self.frames, self.left_out = [], 0

    def _after_a_frame(self, line: str, text: str) -> None:
        if not text or UNDERLINE.fullmatch(line):
            return
        if text.startswith(("-> ", _DJANGO[0])):
            self.code(text[3:]) if text[0] == "-" else self.close(text.split()[2], "")
            return
        indent, last = len(line) - len(line.lstrip()), self.frames[-1]
        if indent > self._indent or (indent == self._indent and not last.code and not STRONG_ERROR.fullmatch(text)):
            if not last.code:
                self.code(text)
        elif ERROR.fullmatch(text):
            self.close(*split_message(text))
