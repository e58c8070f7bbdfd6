"""The lines of a trace that is all in one: a browser's field for one line, or a log, has taken its line breaks away."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

_CALL: Final = r"(?:async |new )?[^\s()]{1,300}(?: \[as \S{1,100}\])?"
_ARGUMENTS: Final = r"\((?:[^()]|\([^()]{0,100}\)){0,300}\)"
_GO_CALL: Final = (
    r"(?<!created by )(?:created by )?(?!\S{1,300}\.go\s)(?=\S{0,300}\.)[^\s():]{1,300}"
    r"(?:\(\*?[\w.\[\]]{1,100}\)[^\s():]{1,300})?"
)
"""A function as Go's errors print it, without its arguments."""
_OF_BROWSER: Final = (
    r"(?<![Gg]lobal )(?<![Mm]odule )(?<![Ee]val )(?:(?:[Gg]lobal|[Mm]odule|[Ee]val) code|[^\s@]{0,300})@"
)
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
    rf"{_OF_BROWSER}(?:\S{{1,300}}:\d+:\d+|\[native code\])(?:\s|$)",
    rf"{_GO_CALL}\s{{1,80}}\S{{1,300}}\.(?:go|s):\d+(?:\s|$)",
    r"\d{1,4}: \S.{0,300}? at \S{1,300}\.[rR]#\d",
    r"[^\s:]{1,300}: line \d{1,7}: \S",
    r"(?:==\d{1,9}== |(?<!== ))(?:at|by) 0x[0-9A-Fa-f]+: \S",
    r"[^\s:]{1,300}\.py:\d{1,7}: (?:in \S|[A-Z]\w{1,100}(?:\s|$))",
)
"""What begins a frame of a trace that is all in one line."""
_BESIDE: Final = (
    r"Caused by: |\[cause\]: |\.\.\. \d+ (?:more|lines)|--- End of |Node\.js v\d|Stack trace:|goroutine \d+ \[|Next "
    r"|stack (?:backtrace|traceback):|thrown in \S+ on line \d|note: (?:run with|Some details) |Thread \d+ crashed"
    r"|exit status \d|\S{1,300}\.(?:go|s):\d+(?: \+0x|\s|$)|The above exception was |During handling of the above "
    r"|Traceback |CallStack |\[native code\]|(?:> |(?<!> ))\d{1,5} \| |● |Test Suites: \d"
    r"|E {1,9}(?:\w{1,80}(?:Error|Exception|Warning)\b|assert )"
)
"""What else begins a line of such a trace."""
_IN_LINE: Final = re.compile(
    rf"(?:(?<=\s)|\A)(?<!panicked\s)(?<!called\s)(?=\S)(?=(?P<frame>{'|'.join(_FRAMES)})|{_BESIDE})"
)
_SIGNS: Final = (
    "at ", 'File "', "from ", "#", ".go:", ".rb:", ".exs:", ".ex:", ".lua:", ".zig:", "@", ".R#", ".swift:",
    ": line ", "0x", ".py:",
)  # fmt: skip
_BUILT_IN: Final = r"(?:Stop\w*Iteration|KeyboardInterrupt|(?:System|Generator)Exit|\w*Warning|\w*ExceptionGroup)"
_BEFORE: Final = "raise return yield except case in if elif else while and or not is as await from with import del"
"""Words of code that a type follows, and no error."""
_PYTHON_ERROR: Final = (
    r"(?:(?:\w+\.)*\w+(?:Error|Exception)(?:: |$)"
    rf"|(?<=[\w)\]}}>\"'] ){''.join(rf'(?<!{chr(92)}b{word} )' for word in _BEFORE.split())}"
    rf"(?:(?:[^\W\d]\w*\.)+_?[A-Z]\w*|{_BUILT_IN})(?:: |$))"
)
_ERROR_IN_LINE: Final = re.compile(
    rf'(File "[^"]{{1,300}}", line \d+, in \S+(?: .*?)?) (?={_PYTHON_ERROR})'
    r"|(.*panicked at \S+\.rs:\d+:\d+:) "
    r"|(\W*● .*?) (?=(?:[A-Z]\w*\.)*\w*(?:Error|Exception): |expect\()"
)
_CODE: Final = re.compile(r'(File "[^"]{1,300}", line \d+, in \S+|^\s*[^\s:]{1,300}\.py:\d+: in \S+) +(?=\S)')
_BEHIND: Final = re.compile(r"(\s*at [^()]*\([^()]*:\d+:\d+\)|\s*\S+\.(?:go|s):\d+) (?=[^\s+])")
"""A frame that other text follows."""
_OF_VALGRIND: Final = re.compile(r"(==\d{1,9}==)\s+")
_UNINDENTED: Final = re.compile(r"[^\s:]{1,300}\.py:\d|E |==\d")
_OF_PYTEST: Final = re.compile(r"\AE +")
_SEVERAL: Final = 2
_ALONE: Final = (
    r"at (?:async |new )?[^\s()]{1,300}(?: \[as \S{1,100}\])? \([^()\s]{1,300}:\d+:\d+\)",
    rf"{_OF_BROWSER}[a-z-]{{2,20}}://\S{{1,300}}:\d+:\d+(?!\S)",
    r"at (?:[\w$]{1,100}\.){1,30}[\w$<>]{1,100}\([\w$]{1,100}\.(?:java|kt|scala|groovy):\d+\)",
    rf"{_GO_CALL}(?:{_ARGUMENTS})?(?P<gap>\s{{1,80}})(?:[A-Za-z]:)?/\S{{1,300}}\.go:\d+(?: \+0x[0-9a-f]+)?(?!\S)",
    r'File "[^"]{1,300}", line \d+, in \S+',
    r"(?:FAILED|ERROR) [^\s:]{1,300}\.py::\w\S{0,300}",
)
"""Frames that are no other text, even where there is one alone."""
_LONGEST: Final = 2000  # characters in which a frame is looked for
_ONE: Final = re.compile(rf"(?<!\S)(?:{'|'.join(_ALONE)})")


_R_NAME: Final = r"[^\s>-][^\s]{0,200}"
_CALLS: Final = re.compile(
    rf"(?P<before>(?:\S.{{0,1000}}?\s)?)\s*Calls: (?P<names>{_R_NAME}(?: (?:->|\.\.\.) {_R_NAME})+)"
    r"(?P<behind>(?:\s.*)?)"
)
"""The calls that R prints below an error, the outermost first."""


_LISTED: Final = re.compile(r"(?:(?<=\s)|\A)(\d{1,3}): (?=[\w.:$@]{1,200}\()")
"""A call in R's list of them, which has numbers down to 1."""
_OF_LIST: Final = ("Error", "traceback()", "stop(")


def _listed(line: str) -> Sequence[str]:
    """The lines of a list of R's calls that has no files; nothing if it is none."""
    if not any(map(line.__contains__, _OF_LIST)):
        return ()
    found = [*_LISTED.finditer(line)]
    numbers = [int(each[1]) for each in found]
    if len(found) < _SEVERAL or numbers != [*range(len(found), 0, -1)]:
        return ()
    edges = [each.start() for each in found]
    before = line[: edges[0]].removesuffix("> traceback() ").strip()
    calls = [line[start:end].strip() for start, end in zip(edges, [*edges[1:], len(line)], strict=True)]
    return [*filter(None, [before]), "> traceback()", *calls]


def apart(line: str) -> Sequence[str]:
    """The lines of a trace whose line breaks are lost, and those of R's calls; another line as it is."""
    if "Calls: " in line and (calls := _CALLS.fullmatch(line[:_LONGEST])):
        names = ["stop", *re.split(" -> | \\.\\.\\. ", calls["names"])[::-1]]
        frames = [f"{len(names) - number}: {name}()" for number, name in enumerate(names)]
        return [each.strip() for each in (calls["before"], "Calls:", *frames, calls["behind"]) if each.strip()]
    if "1: " in line and (listed := _listed(line[:_LONGEST])):
        return listed
    if max(map(line.count, _SIGNS)) < _SEVERAL:
        return (line,)
    line = _OF_VALGRIND.sub(r"\1 ", line) if "==" in line else line
    places = [*_IN_LINE.finditer(line)]
    if sum(found["frame"] is not None for found in places) < _SEVERAL:
        return (line,)
    edges = sorted({0, *(found.start() for found in places), len(line)})
    indents = ["" if not start or _UNINDENTED.match(line, start) else "  " for start in edges]
    pairs = zip(indents, pairwise(edges), strict=False)
    parts = (f"{indent}{line[start:end].rstrip()}" for indent, (start, end) in pairs)
    first, *others = parts
    return [part for each in (" ".join(first.split()), *others) for part in _inside(each)]


def _inside(part: str) -> Sequence[str]:
    """The lines of a part: an error below what is told of its place, code below its frame, what follows a frame."""
    part = " ".join(part.split()) if part.lstrip().startswith("●") else part
    part = _OF_PYTEST.sub("E   ", part)
    lines = _CODE.sub(r"\1\n    ", _ERROR_IN_LINE.sub(r"\1\2\3\n", part))
    return _BEHIND.sub(r"\1\n", lines, count=1).split("\n")


def with_lines(typed: str) -> str:
    """A text with the line breaks that a trace in it has lost; one of a frame alone ends with one."""
    lines = [typed] if "\n" in typed else apart(typed)
    if len(lines) > 1 or "\n" in typed or not (found := _ONE.search(typed[:_LONGEST])):
        return "\n".join(lines)
    gap = found.span("gap")
    frame = found[0] if gap[0] < 0 else f"{typed[found.start() : gap[0]]}\n\t{typed[gap[1] : found.end()]}"
    before, behind = typed[: found.start()].rstrip(), typed[found.end() :].strip()
    told = [behind]
    if behind and frame.startswith("File "):
        frame, *told = _inside(f"{frame} {behind}")
    return "\n".join([*(_inside(before) if before else ()), frame, *told])
