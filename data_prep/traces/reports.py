"""What compilers, linters and test runners print: each place of a file with a message is an error of one frame.

One expression reads the places of all of them, in files of the known languages. It has a severity or a message behind
it, or a mark before it. Where there is a stack trace too, that is read in their place.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from data_prep.languages.registry import languages
from data_prep.traces.trace import Frame, Reading, TracedError, number, plain_path

_ENDS: Final = "|".join(re.escape(end) for each in languages() for end in (*each.suffixes, *each.other_suffixes))
_PATH: Final = rf"(?<![\w./\\@~$-])(?:file://)?(?:/?[A-Za-z]:)?(?!//)[\w./\\@~$][^\s:]{{0,300}}(?:{_ENDS})"
_ABOVE: Final = r"\s*(?:[A-Za-z]:)?[/\\][^\s:][^:]{0,200} (?=[^\s:]*[/\\])"
"""What is before the last blank of an absolute path at the start of a line; what follows it is enough."""
_LINE: Final = r":\d+(?::\d+)?|:\(\.\w[^()\s]{0,80}\)"
"""Also the part of an object file that linkers print in place of a line."""
_AT: Final = rf"(?:{_LINE}|: ?[\[(]\d+, ?\d+[\])]|\(\d+(?:,\d+){{0,3}}\)|::[\w:]+| line \d+(?=:$))"
"""``:12:5``, ``: (12, 5)``, ``(12,5)``; the name of a test; what shellcheck prints."""
_SEVERITY: Final = (
    r"(?i:(?:fatal |syntax |internal compiler )?error|warning|note|remark|info(?:rmation)?|hint|style|failed|failure)"
    r"(?:\[\w+\])?(?!\w)"
)
_STATED: Final = rf"(?::| -)? ?(?:{_SEVERITY})"
_TITLE: Final = r"(?:[A-Z]\w|\w{1,40}/\w)"
"""What begins a message that is not set apart from a line and column, and no sentence: ``Undefined``, ``lint/x``."""
_MARK: Final = (
    r"(?:-->|[└╰╭┌][─-]{0,9}\[?|(?<!\S)(?:[ewi]|vet):|(?<!\S)\S{0,80}\bl?ld[\w.-]{0,20}:|\[(?i:error|warn(?:ing)?)\]"
    r"|-- .{0,60}(?:Error|Warning):|>>> referenced by|issue at|^\s*(?:In file included)? from"
    rf"|^\s*{_SEVERITY}(?: in |: (?:\w+ - )?)(?=\S+:\d+:\d)|^\s*Location: "
    r"|^In(?= \S+ line )|^(?:FAILED|ERROR)(?= \S+::)"
    r"|[^\s#]{1,100}#\w{1,100} \[) ?"
)
"""What stands before a place that may have anything behind it."""
_REPORT: Final = re.compile(rf"(?P<mark>{_MARK}|)(?P<path>{_PATH})(?P<at>{_AT})(?P<behind>.*)")
_BEHIND: Final = re.compile(rf"(?::| -)? ?(?P<error>{_SEVERITY})[:\]]* ?(?P<message>.*)")
_HEAD: Final = re.compile(rf"\s*(?P<error>{_SEVERITY})?:? ?(?P<message>.*)")
_LISTED: Final = re.compile(rf"\s*(?P<at>\d+):\d+\s+(?P<error>{_SEVERITY}):?\s+(?P<message>.*)")
"""A line of a list below the path of its file, as of ESLint."""
_FILE: Final = re.compile(rf"(?:\s*|{_ABOVE})(?P<path>{_PATH})")
_FUNCTION: Final = re.compile(
    r".*\b[Ii]n (?:[a-z]+ ){0,2}(?:function|constructor) [`'‘\"](?P<name>[^'’\"]+).*|.*\bAt (?:top level|global scope):"
)


class Reports:
    """The places that a text names."""

    looks: Final = rf"{_MARK}{_PATH}{_AT}|(?<![:\d])\d{{1,7}}:\d{{1,7}} {{2,80}}(?i:error|warning)\b"
    at_path: Final = rf"(?:{_ENDS})(?:{_AT}{_STATED}(?: \w+)?(?::|$)|:\d+:\d+(?:: \S| {_TITLE}))"
    near: Final = (
        rf"^(?:\s*|{_ABOVE}){_PATH}(?:{_AT}{_STATED}|(?:{_LINE}): {{1,2}}\S|:\d+:\d+ {_TITLE})"
        rf"|^\s*\d+:\d+\s+(?:{_SEVERITY})"
    )

    def read(self, lines: Sequence[str]) -> Reading | None:
        """The errors of lines that have no prefix; None if there is no place."""
        reader = _Reader()
        read = {place for place, line in enumerate(lines) if reader.is_place(line)}
        return Reading(reader.errors, innermost_last=False, lines=read) if reader.errors else None


class _Reader:
    """The errors of the lines so far."""

    def __init__(self) -> None:
        self.errors: list[TracedError] = []
        self._outer: list[Frame] = []  # where a file is included, whose error follows
        self._function = self._file = ""  # which the next places are in
        self._said = ""  # the last line, if it is no place

    def is_place(self, line: str) -> bool:
        """Add the error of a line, or what it says of others; returns whether it has a place."""
        found = _REPORT.search(line)
        if found and _is_report(found, line[: found.start()]):
            self._add(found, found["path"])
        elif self._file and (found := _LISTED.fullmatch(line)):
            self._add(found, self._file, found)
        else:
            self._read_text(line)
            return False
        return True

    def _add(self, found: re.Match[str], path: str, said: re.Match[str] | None = None) -> None:
        at, mark = found["at"], found.groupdict().get("mark") or ""
        printed = at.strip(":") if at.startswith("::") else self._function
        name = printed.partition("(")[0].rpartition(" ")[2].replace("::", ".")
        line = re.split(r"\D+", at.lstrip(": ([").removeprefix("line "))[0]
        frame = Frame(plain_path(path).removeprefix("./"), number(line), name)
        if mark.strip().endswith("from"):
            self._outer.append(frame)
            return
        if not said:
            told = self._said if re.search("[>─]", mark) else found["behind"].strip("]: -─")
            said = _BEHIND.fullmatch(found["behind"]) or _HEAD.fullmatch(told)
        assert said
        self.errors.append(TracedError(said["error"] or "", said["message"].strip(), (frame, *self._outer)))
        self._outer = []

    def _read_text(self, line: str) -> None:
        text = line.strip(" |│")
        if found := _FUNCTION.fullmatch(text):
            self._function = found["name"] or ""
        elif self.errors and text.strip("^~ ") and not re.search(r"[a-z]{2}", (last := self.errors[-1]).message):
            self.errors[-1] = replace(last, message=f"{last.message} {text}".strip())
        self._file = found["path"] if (found := _FILE.fullmatch(line)) else self._file if text else ""
        self._said = text


def _is_report(found: re.Match[str], before: str) -> bool:
    """Whether a place has a mark, a message behind it at the start of its line, or a severity."""
    if (above := re.match(_ABOVE, found.string)) and above.end() == found.start():
        before = ""
    stated = _BEHIND.fullmatch(found["behind"]) and re.fullmatch(r"\s*|.*[:\]>]\s?", before)
    is_told = not before.strip() and re.match(rf":\d+:\d+ {_TITLE}|:.*?: {{1,2}}\S", found["at"] + found["behind"][:80])
    return bool(found["mark"] or stated or is_told)


REPORTS: Final = Reports()
