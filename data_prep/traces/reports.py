"""What compilers, linters and test runners print: each place of a file with a message is an error of one frame.

One expression reads the places of all of them, in files of the known languages. It has a severity or a message behind
it, or a mark before it. Where there is a stack trace too, that is read in their place.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from data_prep.languages.registry import languages
from data_prep.traces.compiled import C
from data_prep.traces.headed import Groups
from data_prep.traces.trace import Frame, Reading, TracedError

_ENDS: Final = "|".join(re.escape(end) for each in languages() for end in (*each.suffixes, *each.other_suffixes))
_PATH: Final = rf"(?<![\w./\\@~$-])(?:file://)?(?:/?[A-Za-z]:)?(?!//)[\w./\\@~$][^\s:]{{0,300}}(?:{_ENDS})"
_LINE: Final = r":\d+(?::\d+)?|:\(\.\w[^()\s]{0,80}\)"
"""Also the part of an object file that linkers print in place of a line."""
_AT: Final = rf"(?:{_LINE}|: ?[\[(]\d+, ?\d+[\])]|\(\d+(?:,\d+){{0,3}}\)|::[\w:]+| line \d+(?=:$))"
"""``:12:5``, ``: (12, 5)``, ``(12,5)``; the name of a test; what shellcheck prints."""
_SEVERITY: Final = (
    r"(?i:(?:fatal |syntax |internal compiler )?error|warning|note|remark|info(?:rmation)?|hint|style|failed|failure)"
    r"(?:\[\w+\])?(?!\w)"
)
_STATED: Final = rf"(?::| -)? ?(?:{_SEVERITY})"
_MARK: Final = (
    r"(?:-->|[└╰╭┌][─-]{0,9}\[?|(?<!\S)(?:[ewi]|vet):|(?<!\S)\S{0,80}\bl?ld[\w.-]{0,20}:|\[(?i:error|warn(?:ing)?)\]"
    r"|-- .{0,60}(?:Error|Warning):|>>> referenced by|issue at|^\s*(?:In file included)? from|^In|^FAILED|^ERROR"
    r"|[^\s#]{1,100}#\w{1,100} \[) ?"
)
"""What stands before a place that may have anything behind it."""
_REPORT: Final = re.compile(rf"(?P<before>(?P<mark>{_MARK})|)(?P<path>{_PATH})(?P<at>{_AT})(?P<behind>.*)")
_BEHIND: Final = re.compile(rf"(?::| -)? ?(?P<error>{_SEVERITY})[:\]]* ?(?P<message>.*)")
_LISTED: Final = re.compile(rf"\s*(?P<line>\d+):\d+\s+(?P<error>{_SEVERITY}):?\s+(?P<message>.*)")
"""A line of a list below the path of its file, as of ESLint."""
_FILE: Final = re.compile(rf"\s*(?P<path>{_PATH})")
_FUNCTION: Final = re.compile(
    r".*\b(?:[Ii]n (?:[a-z]+ ){0,2}(?:function|constructor|destructor) [`'‘\"](?P<name>[^'’\"]+).*"
    r"|At (?:top level|global scope):)"
)
_HEAD: Final = re.compile(rf"\s*(?P<error>{_SEVERITY})?:? ?(?P<message>.*)")
_NUMBER: Final = re.compile(r"[: (\[line]*(\d+).*")
_CARETS: Final = re.compile(r"(?:\[\w+\])?[\s|│]*[~^][~^ -]*(?P<message>.*)")
_NUMBERED: Final = re.compile(r"(?:\[\w+\])?\s*(?:\d+\s*[|│ ]\s*)?")


class Reports:
    """The places that a text names."""

    looks: Final = rf"{_MARK}{_PATH}{_AT}"
    at_path: Final = rf"(?:{_ENDS})(?:{_AT}{_STATED}(?: \w+)?(?::|$)|:\d+:\d+: \S)"
    near: Final = rf"^\s*{_PATH}(?:{_AT}{_STATED}|(?:{_LINE}): \S)|^\s*\d+:\d+\s+(?:{_SEVERITY})"

    def read(self, lines: Sequence[str]) -> Reading | None:
        """The errors of lines that have no prefix; None if there is no place."""
        reader = _Reader()
        for place, line in enumerate(lines):
            if reader.is_place(line):
                reader.read.add(place)
            else:
                reader.text(line)
        return reader.reading()


class _Reader:
    """The errors of the lines so far."""

    def __init__(self) -> None:
        self.read: set[int] = set()
        self.errors: list[TracedError] = []
        self._outer: list[Frame] = []  # where a file is included, whose error follows
        self._function = ""  # that the next places are in
        self._file = ""  # whose lines may follow
        self._said = ""  # the last line that is no place

    def is_place(self, line: str) -> bool:
        """Add the error of a line, if it has a place."""
        if found := _REPORT.search(line):
            return self._is_placed(found, line[: found.start()])
        if not (self._file and (found := _LISTED.fullmatch(line))):
            return False
        self._add(_frame({**found.groupdict(), "path": self._file}), found)
        return True

    def _is_placed(self, found: re.Match[str], before: str) -> bool:
        mark, at, behind = found["mark"] or "", found["at"], found["behind"]
        stated = _BEHIND.fullmatch(behind)
        is_told = re.match(r": \S", behind) and at[0] == ":" and not before.strip()
        if not (mark or is_told or (stated and re.fullmatch(r"\s*|.*[:\]>]\s?", before))):
            return False
        line, name = _NUMBER.fullmatch(at), at if at.startswith("::") else self._function
        frame = _frame({"path": found["path"], "line": line[1] if line else "", "name": name})
        if mark.strip().endswith("from"):
            self._outer.append(frame)
        else:
            told = self._said if re.search("[>─]", mark) else behind.strip("]: -─")
            self._add(frame, stated or _HEAD.fullmatch(told))
        return True

    def _add(self, frame: Frame, said: re.Match[str] | None) -> None:
        error, message = (said["error"] or "", said["message"].strip()) if said else ("", "")
        self.errors.append(TracedError(error, message, (frame, *self._outer)))
        self._outer = []

    def text(self, line: str) -> None:
        """Another line: it names what places are in, or goes on with an error."""
        if found := _FUNCTION.fullmatch(line):
            self._function = found["name"] or ""
        elif found := _FILE.fullmatch(line):
            self._file = found["path"]
        elif self.errors and line.strip():
            self._goes_on(line)
        else:
            self._file = ""
        self._said = line.strip()

    def _goes_on(self, line: str) -> None:
        """Add a message to an error that has none yet, or the code that carets are below."""
        last = self.errors[-1]
        if found := _CARETS.fullmatch(line):
            first, *others = last.frames
            told = found["message"] if last.message == self._said else last.message
            code = first.code or _NUMBERED.sub("", self._said, count=1)
            self.errors[-1] = replace(last, message=told, frames=(replace(first, code=code), *others))
        elif not re.search(r"[a-z]{2}", last.message):
            self.errors[-1] = replace(last, message=f"{last.message} {line.strip(' |│')}".strip())

    def reading(self) -> Reading | None:
        """The errors, if there is one."""
        if self._outer:
            self.errors.append(TracedError("", "", tuple(self._outer)))
        return Reading(self.errors, innermost_last=False, lines=self.read) if self.errors else None


def _frame(groups: Groups) -> Frame:
    frame = C.frame(groups)
    assert frame  # whatever the groups are
    return frame


REPORTS: Final = Reports()
