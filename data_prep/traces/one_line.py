"""The lines of a trace that is all in one: a browser's field for one line, or a log, has taken its line breaks away."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

_CALL: Final = r"(?:async |new )?[^\s()]{1,300}(?: \[as \S{1,100}\])?"
_ARGUMENTS: Final = r"\((?:[^()]|\([^()]{0,100}\)){0,300}\)"
_FRAMES: Final = (
    rf"at {_CALL}(?: ?\((?:[^()\s]{{1,300}}:\d+|Native Method|Unknown Source|<anonymous>|native)\)"
    r"|\([^()]{0,300}\)(?: in \S.{0,300}?:line \d+)?(?:\s|$))",
    r'File "[^"]{1,300}", line \d',
    r"(?:(?<!\d: )|\d+: )from [^\s:]{1,300}:\d+:in [`']|(?<!from )[^\s:]{1,300}\.rb:\d+:in [`']",
    r"#\d{1,4} {1,80}(?:\S{1,300}\(\d+\): |\{main\}|\[internal function\]|0x[0-9a-f]+ in "
    rf"|\S{{1,300}} {_ARGUMENTS} at \S{{1,300}}:\d)",
    r"(?:created by )?[^\s()]{1,300}(?:\(\*?[\w.]{1,100}\)[^\s()]{0,300})?"
    rf"(?:{_ARGUMENTS}| in goroutine \d+)\s{{1,80}}\S{{1,300}}\.go:\d",
    r"\d{1,4}: {1,80}\S.{0,300}? at \S{1,300}\.rs:\d",
    r"at (?:async )?(?:node:\S{1,300}|\S{1,300}\.(?:rs|[cm]?[jt]sx?|vue|svelte|html?)(?:\?\S{1,300})?):\d",
    r"\d{1,4} {1,80}0x[0-9a-f]+ \S.{0,300}? at \S{1,300}\.swift:\d",
    r"(?:\([\w.]{1,100}(?: [\w.+-]{1,100})?\) |(?<!\) ))[^\s:()]{1,300}\.(?:exs?|erl|l?eex):\d+: ",
    r"(?:\S{1,300}\.lua:\d+|\[C\]): in ",
    r"\S{1,300}, called at \S{1,300}:\d",
    r"\S{1,300}\.zig:\d+:\d+: 0x",
    r"[^\s@]{0,300}@\S{1,300}:\d+:\d+(?:\s|$)",
    r"\d{1,4}: \S.{0,300}? at \S{1,300}\.[rR]#\d",
)
"""What begins a frame of a trace that is all in one line."""
_BESIDE: Final = (
    r"Caused by: |\[cause\]: |\.\.\. \d+ (?:more|lines)|--- End of |Node\.js v\d|Stack trace:|goroutine \d+ \[|Next "
    r"|stack (?:backtrace|traceback):|thrown in \S+ on line \d|note: (?:run with|Some details) |Thread \d+ crashed"
    r"|exit status \d|\S{1,300}\.(?:go|s):\d+(?: \+0x|\s|$)|The above exception was |During handling of the above "
    r"|Traceback |CallStack "
)
"""What else begins a line of such a trace."""
_IN_LINE: Final = re.compile(rf"(?<=\s)(?<!panicked\s)(?<!called\s)(?=\S)(?=(?P<frame>{'|'.join(_FRAMES)})|{_BESIDE})")
_SIGNS: Final = (
    "at ", 'File "', "from ", "#", ".go:", ".rb:", ".exs:", ".ex:", ".lua:", ".zig:", "@", ".R#", ".swift:"
)  # fmt: skip
_ERROR_IN_LINE: Final = re.compile(
    r"(File .* in \S+ .*?) (?=(?:\w+\.)*\w+(?:Error|Exception)(?:: |$))|(.*panicked at \S+\.rs:\d+:\d+:) "
)
_CODE: Final = re.compile(r'(File "[^"]{1,300}", line \d+, in \S+) +(?=\S)')
_SEVERAL: Final = 2


def apart(line: str) -> Sequence[str]:
    """The lines of a trace whose line breaks are lost; another line as it is."""
    if max(map(line.count, _SIGNS)) < _SEVERAL:
        return (line,)
    places = [*_IN_LINE.finditer(line)]
    if sum(found["frame"] is not None for found in places) < _SEVERAL:
        return (line,)
    edges = [0, *(found.start() for found in places), len(line)]
    parts = (f"{'  ' if start else ''}{line[start:end].rstrip()}" for start, end in pairwise(edges))
    lines = (_CODE.sub(r"\1\n    ", _ERROR_IN_LINE.sub(r"\1\2\n", each)) for each in parts)
    return [part for each in lines for part in each.split("\n")]


def with_lines(typed: str) -> str:
    """A text with the line breaks that a trace in it has lost."""
    return typed if "\n" in typed else "\n".join(apart(typed))
