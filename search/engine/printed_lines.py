"""Lines that programs print, as questions: the message of one without what is around it, and the place that one names.

Before a message stand times, levels, and names of threads, hosts and loggers, in any order: what is one of these only
by its place is taken away beside a time or a level alone. Records in the form of logfmt or JSON have it in a field.

A place is a line of a file, such as ``context.go:120`` or ``context.go line 120``: what is asked for is the innermost
row there, with the comment above it; a file as a whole, or else the nearest row, where none is. A message may be behind
it, and words before. Where no file is called so, it is that line of those that are called nearly so. And the paths of
files as they are typed above the indexed folder.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from data_prep.languages.registry import language_of
from search.engine.matching import FEWEST, LineOwners
from search.engine.messages import without_error
from search.index.code_index import Index
from search.index.frame_locator import named_places, typed_path

if TYPE_CHECKING:
    from search.engine.path_reading import PathReader

_COLOURS: Final = re.compile(
    r"(?:\x1b|\^\[|␛|\\(?:e|033|x1b|u001b))\[[\d;]*[A-Za-z]|\[\d{1,3}(?:;\d{1,3})*m", re.IGNORECASE
)
"""Also those whose first character is lost or written out."""
_DAY: Final = r"(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d-\d\d(?= \d\d:)|[A-Z][a-z]{2} {1,2}\d{1,2})"
_TIME: Final = rf"(?:{_DAY}[T ,]*)?\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:\s?(?:Z\b|UTC\b|[+-]\d\d:?\d\d\b))?|{_DAY}(?=\W)"
_LEVEL: Final = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|CRITICAL|FATAL|SEVERE|PANIC)"
_COLOURED: Final = re.compile(rf"\x1b\[[\d;]*m\s*({_LEVEL})\s*:?\s*\x1b\[[\d;]*m")
_NAME: Final = r"[\w$-]*(?:(?:[./]|::)[\w$-]+)+(?::\w+)*"
"""Of a logger, or a place."""
_TOLD: Final = re.compile(
    rf"[\[(<] *(?:[\d:.]+ +)?(?i:{_LEVEL}|WRN|INF|DBG|FTL) *[\])>]:?"
    rf"|[\[(<]?(?:[IWEFD]\d{{4}} |[IWEFD], +\[)?(?:{_TIME})(?: +#?\d+)?[\])>]?"
    rf"|(?:\w+\.)?{_LEVEL}(?: *[:|!]+(?!:)| (?= *(?:[\[(|-]|{_NAME} *(?: -|:))))"
    r"|(?:npm|yarn) (?:ERR!|error|WARN)"
    r"|(?:fatal )?(?:error|warning|fatal|panic)(?:\[\w+\])?: |[VDIWEF]/[\w.-]+\( *\d+\):"
)
"""A time, or a level that is not a word of a message."""
_OTHER: Final = re.compile(
    rf"{_LEVEL}\b|\[[^\]]{{0,40}}\]|\(\s*\d+\)|#?\d+(?=\s)|[-|:>]+(?=\s|$)|[\w.$/-]+\[\d+\]:?|[VDIWEF] [\w.-]+ *:"
    rf"|{_NAME}[\]:]?(?=\s*(?:[:|]| -)|(?<=[:\]])\s)|(?<=:)\w+:(?=\S)"
    r"|[\w.-]+(?= +[\w./-]+\[\d+\]:)|\w[\w-]*(?= +(?:\||-{1,2}) )"
)
"""What else stands there: the name of a thread, a host, a process, a logger, what separates them."""
_PLACE: Final = re.compile(
    r"[\[(]?(?P<path>[^\s:\[\]()]+\.\w+)(?:(?P<column>:\d+:\d+|[(\[]\d+, ?\d+)|:\d+(?P<message>: )?|(?<=\w):(?= ))"
)
"""A line of a file as compilers print it, which is asked for too; also a file with folders alone."""
_FIELDS: Final = re.compile(
    r"(?:\A|\s)(?P<name>msg|message|error|err)=(?:\"(?P<quoted>(?:[^\"\\]|\\.|\"(?!\s*\Z|\s+[\w.]+=))*)|(?P<plain>\S+))"
)
_RECORD: Final = re.compile(r"(?:\A|\s)(?:level|lvl|severity|time|ts|t)=\S")
_IN_RECORD: Final = ("msg", "message", "log", "textPayload", "error", "err")


def message_in(typed: str) -> str:
    """The message that a printed line has; the line itself if nothing is around it, or nothing else is in it."""
    text = _COLOURS.sub("", _COLOURED.sub(r"\1: ", typed)).strip()
    found = _of_record(text) or _behind(text)
    return found if re.search(r"[^\W\d_]{2}", found) else text


def is_message(text: str) -> bool:
    """Whether a text is one line with a message behind the name of an error, or what a logger prints."""
    if "\n" in text or "except " in text:
        return False
    found = message_in(text)
    return without_error(text) != text or (found != text and len(found.split()) >= FEWEST)


def _behind(text: str) -> str:
    """A line without times, levels and names before its message, and without a logger's place."""
    place, told, timed = 0, False, False
    while found := _TOLD.match(text, place) or _OTHER.match(text, place):
        if not found[0] or _is_place(text, place, timed=timed):
            break
        told |= found.re is _TOLD
        timed |= ":" in found[0].strip(": ")
        place = len(text) - len(text[found.end() :].lstrip())
    return text[place:] if told else text


def _is_place(text: str, start: int, *, timed: bool) -> bool:
    """Whether a line of a file is at a place of a line, and no logger's: none behind a time has a column."""
    if not (found := _PLACE.match(text, start)) or (timed and not found["column"]):
        return False
    is_source = language_of(found["path"]) is not None and (found[0][-1] != ":" or "/" in found["path"])
    return is_source or bool(found["message"])


def _of_record(text: str) -> str:
    """The message of a record in one line; "" if it is none."""
    if text.startswith("{"):
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            return ""
        return next((record[name] for name in _IN_RECORD if isinstance(record.get(name), str)), "")
    if not _RECORD.search(text):
        return ""
    fields = {each["name"]: each["quoted"] or each["plain"] or "" for each in _FIELDS.finditer(text)}
    return next((fields[name] for name in _IN_RECORD if fields.get(name)), "").replace('\\"', '"')


_OF_FILE: Final = re.compile(r"\s*lines?\s+(\d{1,9})\s+(?:of|in)\s+(\S+)\s*", re.IGNORECASE)
_INSIDE: Final = re.compile(
    r"(?:^|(?<=[\s\"'`(\[<>])|(?<=\s[A-Za-z]:)|(?<=file://))([^\s\"'`()\[\]<>:]+\.\w+)"
    r"(?::(?: ?[(\[])?|#L|\(|:? ?(?:on )?line | (?=\d{1,9}:\d{1,9} (?:error|[Ww]arning)))(\d{1,9})(?!\w)"
)
"""The same behind other words, and as compilers, linters and test runners print it."""
_MOST_INSIDE: Final = 4
"""Of these, how many are read."""
_BEHIND_LINE: Final = re.compile(r"[:\s]\s*(?!(?:at|on|in|lines?)\b)[^\W\d]{2}", re.IGNORECASE)
"""What is behind a line if it has a message, as compilers print it: the other hits are of its words."""


class AtLine(NamedTuple):
    """What is at a line of a file."""

    rows: Mapping[int, float]  # -> how good each is
    beyond: str = ""  # why these are not at it, if no such file has as many lines
    missing: str = ""  # the path, if no file has it and these are of files that are called nearly so


def rows_at(index: Index, paths: "PathReader", typed: str) -> AtLine | None:
    """What is at the line of a file that a question is, or that it has before a message; None: it has no such line.

    Args:
        index: of the rows.
        paths: reads its paths.
        typed: the question.
    """
    near: AtLine | None = None
    for path, line, has_message in _places(typed):
        known = paths.files(path)
        if files := known or paths.near_files(path):
            lengths = {file: _lines(index, file) for file in files}
            there = {file: fit for file, fit in files.items() if line <= lengths[file]}
            rows = {_row(index, file, line): fit for file, fit in (there or files).items()}
            if known and (there or not has_message):
                best = max(files, key=lambda file: files[file])
                return AtLine(rows, "" if there else f"{index.files[best].path} has {lengths[best]:,} lines")
            near = near or (None if known else AtLine(rows, missing=path))
    return near


def _places(typed: str) -> Iterator[tuple[str, int, bool]]:
    """The files and lines that a question may mean, and whether a message is behind them."""
    plain = typed.strip().strip("`'")
    if found := _OF_FILE.fullmatch(plain):
        yield found[2].strip("\"'`"), int(found[1]), False
    for path, line in named_places(plain.strip('"')):
        yield path.strip("\"'` "), line, _BEHIND_LINE.search(plain[len(path) :]) is not None
    for inside in islice(_INSIDE.finditer(plain), _MOST_INSIDE):
        yield inside[1], int(inside[2]), True


def _lines(index: Index, file: int) -> int:
    """How many lines a file has; what is behind its last line break is one if it has code."""
    code = index.whole.lines_of_code(file)
    return max(0, len(code) - 2) + bool(code[-2:-1].any())


def _row(index: Index, file: int, line: int) -> int:
    """The row of a line of a file, or the nearest one."""
    if (row := LineOwners(index).at(file, line)) >= 0:
        return row
    rows = index.rows_of(file)
    if index.is_whole_file(rows[0]):
        return rows[0]
    texts = {row: index.split.text(row) for row in rows}
    return min(texts, key=lambda row: max(texts[row].start_line - line, line - texts[row].end_line))


def path_inside(typed: str, folder: Path, here: Path | None) -> str:
    """The path inside of a folder of a path that begins above it; "" if it does not lie in it.

    Args:
        typed: absolute, relative to ``here``, or with the name of the folder in front.
        folder: absolute.
        here: absolute; None: what begins with ``./`` or ``../`` lies nowhere.
    """
    plain = os.path.expanduser(typed_path(typed)).replace("\\", "/")  # noqa: PTH111 - which knows no error
    if not plain.startswith(("/", "./", "../")):
        return plain.removeprefix(f"{folder.name}/") if plain.startswith(f"{folder.name}/") else ""
    if "\0" in plain or not (here or plain.startswith("/")):
        return ""
    whole = os.path.normpath(os.path.join(here or "", plain))  # noqa: PTH118
    links = os.path.realpath(os.path.dirname(whole)), os.path.basename(whole)  # noqa: PTH119, PTH120
    for above, each in ((str(folder), whole), (os.path.realpath(folder), os.path.join(*links))):  # noqa: PTH118
        if each.startswith(f"{above.rstrip('/')}/"):
            return each[len(above.rstrip("/")) + 1 :]
    return ""
