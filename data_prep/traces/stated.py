"""How errors and their messages stand in lines, whatever the language is."""

import re
from typing import Final

from data_prep.traces.trace import STRONG

MESSAGE_LINES: Final = 10
"""Lines of a message that are read behind its first."""
NEXT_RECORD: Final = re.compile(
    r"\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d|\d{1,3}(?:\.\d{1,3}){3}\b)"
    r"|\W{0,3}(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL|NOTICE)\b(?!:? *$)|[-=*_⎯─\"'`#~]{3,}$"
)
"""The start of a line of a log, or a rule: neither goes on with a message."""
NAME: Final = re.compile(r"Error|Exception|Throwable|Failure|Panic|panic|fatal error|runtime")
"""What the name of an error has."""
STATED: Final = re.compile(
    rf"(?<![\w.$/\\'\"(-])(?P<error>(?:[\w$]+\.)*(?:[A-Z][\w$]*)?{STRONG})(?: \[\w+\])?(?:: ?(?P<message>.*)|\s*$)"
)
"""An error behind what a logger or a console prints before it."""
NOT_TOLD: Final = re.compile(r"\s*(?:(?:>\s*)?\d+\s*[|│]|[|│]|❯|[-=_⎯─~^]{3,}|[\])}]*\s*$)")
"""Lines behind a message that are none of it: code frames, rules."""
