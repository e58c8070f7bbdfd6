"""Java's stack traces, with causes and suppressed exceptions; also as loggers print them."""

import re
from collections.abc import Sequence
from typing import Final

from search.traces.trace import Frame, HeadedErrors, Relation, Trace

_FRAME: Final = re.compile(
    r"\s*at (?:[^\s()/]*/)*(?P<name>[\w$<>-]+(?:\.[\w$<>-]+)+)"
    r"\((?P<place>[\w$.-]+\.\w+(?::\d+)?|Native Method|Unknown Source|<generated>)\)(?: ~?\[.*\])?"
)
_PLACE: Final = re.compile(r"(?P<file>[\w$.-]+\.\w+)(?::(?P<line>\d+))?")
_MORE: Final = re.compile(r"\s*\.\.\. (\d+) (?:more|common frames omitted)")
_ERROR: Final = re.compile(
    r"\s*(?P<relation>Caused by: |Suppressed: |Wrapped by: )?(?:Exception in thread \".*\" )?"
    r"(?:\[CIRCULAR REFERENCE: ?)?(?P<error>(?:[\w$-]+\.)*[A-Z][\w$]*)(?:: ?(?P<message>.*))?"
)
_RELATIONS: Final[dict[str, Relation]] = {
    "Caused by: ": "caused by",
    "Suppressed: ": "suppressed",
    "Wrapped by: ": "raised from",
}
_LAMBDA: Final = re.compile(r"lambda\$(\w+)\$\d+")
_ANONYMOUS: Final = re.compile(r"\d+")


def read_errors(lines: Sequence[str]) -> Trace | None:
    """The errors of a text; the first frame is the innermost."""
    errors = HeadedErrors()
    for line in lines:
        if found := _FRAME.fullmatch(line):
            errors.frame(_frame(found["name"], found["place"]))
        elif found := _MORE.fullmatch(line):
            errors.more(int(found[1][:9]))
        elif found := _ERROR.fullmatch(line):
            errors.head(found["error"], found["message"] or "", _RELATIONS.get(found["relation"] or "", ""))
        else:
            errors.text(line)
    return errors.trace()


def _frame(dotted: str, place: str) -> Frame:
    """A frame of ``com.acme.Outer$Inner.method`` at ``Outer.java:12``, ``Native Method`` or ``Unknown Source``."""
    qualified, _, method = dotted.rpartition(".")
    package, _, types = qualified.rpartition(".")
    names = [part for part in types.split("$") if part and not _ANONYMOUS.fullmatch(part)]
    if found := _LAMBDA.fullmatch(method):
        method = found[1]
    if method in ("<init>", "new"):
        names = names[-2:] if _ANONYMOUS.fullmatch(types.rpartition("$")[2]) else [*names, *names[-1:]]
    elif method not in ("<clinit>", "static"):
        names.append(method)
    found = _PLACE.fullmatch(place)
    path = "/".join(filter(None, (*package.split("."), found["file"]))) if found else ""
    return Frame(path, int((found["line"] or "0")[:9]) if found else 0, ".".join(names), package=package)
