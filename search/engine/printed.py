"""A question without what a terminal or a logger has put around a message that was pasted.

Before a message stand times, levels, and names of threads, hosts and loggers, in any order: what is one of these only
by its place is taken away beside a time or a level alone. Records in the form of logfmt or JSON have it in a field.
"""

import json
import re
from typing import Final

from data_prep.languages.registry import language_of
from search.engine.matching import FEWEST
from search.engine.messages import without_error

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
