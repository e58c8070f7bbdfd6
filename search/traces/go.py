"""Go's panics and fatal errors, with the traces of their goroutines."""

import re
from collections.abc import Sequence
from typing import Final

from search.traces.trace import Frame, Relation, Trace, TracedError, plain_path

_ERROR: Final = re.compile(r"\s*(?P<error>panic|fatal error|runtime): (?P<message>.*)")
_GOROUTINE: Final = re.compile(r"\s*goroutine \d+(?: .*)?\[(?P<state>[^\]]*)\]:")
_CALL: Final = re.compile(
    r"\s*(?:created by )?(?P<name>[^\s()]+(?:\.\(\*?[\w\[\].]+\)[^\s()]*)?)(?:\((?!\*).*\)| in goroutine \d+)?"
)
_PLACE: Final = re.compile(r"\s+(?P<path>\S.*\.(?:go|s)):(?P<line>\d+)(?: \+0x[0-9a-f]+)?(?: .*)?")
_ELIDED: Final = re.compile(r"\s*\.\.\.(\d+|additional) frames elided\.\.\.")
_CLOSURE: Final = re.compile(r"(?:\.func\d+|\.gowrap\d+|\.\d+|-fm|-range\d+)+$")


class _Reader:
    """The goroutines of the lines so far."""

    def __init__(self) -> None:
        self.errors: list[TracedError] = []
        self._error, self._message, self._state = "", "", ""
        self._call = ""  # the function that a place may follow
        self._frames: list[Frame] = []
        self._left_out = 0

    def read(self, line: str) -> None:
        """Read the next line."""
        if found := _GOROUTINE.fullmatch(line):
            self.close()
            self._state, self._call = found["state"], ""
        elif found := _ERROR.fullmatch(line):
            if not self._error:
                self._error, self._message = found["error"], found["message"]
        elif found := _ELIDED.fullmatch(line):
            self._left_out += int(found[1][:9]) if found[1].isdigit() else 1
        else:
            self._read_frame(line)

    def _read_frame(self, line: str) -> None:
        if (found := _PLACE.fullmatch(line)) and self._call:
            self._frames.append(_frame(self._call, found["path"], int(found["line"][:9])))
            self._call = ""
        elif found := _CALL.fullmatch(line):
            self._call = found["name"]

    def close(self) -> None:
        """End the goroutine that is being read, if it has frames: the first has the error."""
        if self._frames:
            error, message = ("goroutine", self._state) if self.errors else (self._error, self._message)
            relation: Relation = "grouped" if self.errors else ""
            self.errors.append(TracedError(error, message, tuple(self._frames), relation, self._left_out))
        self._frames, self._left_out = [], 0


def read_errors(lines: Sequence[str]) -> Trace | None:
    """The error and each goroutine's trace; the first frame is the innermost."""
    reader = _Reader()
    for line in lines:
        reader.read(line)
    reader.close()
    return Trace("", tuple(reader.errors), innermost_last=False) if reader.errors else None


def _frame(call: str, path: str, line: int) -> Frame:
    """The frame of ``example.com/app/web.(*Server).Start.func1``."""
    folder, slash, rest = call.rpartition("/")
    package, _, name = rest.partition(".")
    name = _CLOSURE.sub("", name.replace("(*", "").replace(")", "").replace("glob.", "").replace("[...]", ""))
    return Frame(plain_path(path), line, name.strip("."), package=f"{folder}{slash}{package}")
