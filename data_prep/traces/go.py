"""Go's panics and fatal errors: the first goroutine has the error, each other one is printed with its state.

Also errors that carry a stack (``%+v``), and panics that a server recovered from.
"""

import re
from typing import Final

from data_prep.traces.form import Frame, number, plain_path
from data_prep.traces.headed import Groups, HeadedForm

_CLOSURE: Final = re.compile(r"(?:\.func\d+|\.gowrap\d+|\.deferwrap\d+|\.\d+|-fm|-range\d+)+$")
_TYPES: Final = re.compile(r"\[[^\[\]]*\]")


def _frame(groups: Groups) -> Frame | None:
    """The frame of ``example.com/app/web.(*Server).Start.func1`` at a place."""
    call = "" if groups.get("address") else groups["call"]
    if not call and not groups.get("address"):
        return None
    folder, slash, rest = call.rpartition("/")
    package, _, name = rest.partition(".") if not rest.startswith("(") else ("", "", rest)
    package, name = ("", package) if not name else (package, name)
    name = _TYPES.sub("", name).replace("(*", "").replace(")", "").replace("(", "").replace("glob.", "")
    name = _CLOSURE.sub("", name).strip(".")
    return Frame(plain_path(groups["path"]), number(groups["line"]), name, package=f"{folder}{slash}{package}")


GO: Final = HeadedForm(
    frames=(
        re.compile(r"\s*(?P<path>\S.*\.go):(?P<line>\d+) \((?P<address>0x[0-9a-f]+)\)"),
        re.compile(r"\s*(?P<address>Error Trace:|[ \t]{16,})\s*(?P<path>\S.*\.go):(?P<line>\d+)"),
        re.compile(r"\s+(?P<path>\S.*\.(?:go|s)):(?P<line>\d+)(?: \+0x[0-9a-f]+)?(?: .*)?"),
    ),
    frame=_frame,
    error=re.compile(
        r"(?!\s*\t\s*panic: )(?:.*?\s)??"
        r"(?P<error>panic|fatal error|runtime(?: error)?)(?: serving \S+| recovered)?:(?: |$)(?P<message>.*)"
    ),
    looks=r"goroutine \d+ [^\[\n]{0,80}\[[^\]]{1,80}\]:",
    at_path=r"\.(?:go|s):\d+(?: \+0x| \(0x|\s*$)",
    more=re.compile(r"\s*\.\.\.(\d+|additional) frames elided\.\.\."),
    kinds={"runtime error": "panic"},
    call=re.compile(
        r"\s*(?:created by )?(?P<name>[^\s()]+(?:\.\(\*?[\w\[\].]+\)[^\s()]*)?)(?:\((?!\*).*\)| in goroutine \d+)?"
    ),
    behind=re.compile(r"\t(?P<name>[^\s:]+): (?P<code>.*)"),
    starts=re.compile(r"(?P<message>(?:Previous )?(?:read|write|atomic \w+) at 0x.* by .*):", re.IGNORECASE),
    part=re.compile(r"\s*goroutine \d+(?: .*)?\[([^\]]*)\]:"),
)
