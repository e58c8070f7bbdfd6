"""Stack traces of JavaScript and TypeScript, as V8 (Node, Chrome), Firefox and Safari print them."""

import re
from collections.abc import Sequence
from typing import Final

from search.traces.trace import Frame, HeadedErrors, Trace, plain_path

_V8: Final = re.compile(
    r"\s*at (?:(?P<name>[^()\s][^()]*?) \((?P<inner>[^()]*|eval at .*)\)|(?:async )?(?P<path>\S.*?))(?P<opens> \{)?"
)
_PLACE: Final = re.compile(r"(?P<path>.+?):(?P<line>\d+):\d+")
_FIREFOX: Final = re.compile(
    r"(?:\w+\*)?(?P<name>[^@\s]*)@(?P<path>\S*?(?:://|\.[cm]?[jt]sx?\b|\.vue\b)\S*?):(?P<line>\d+)(?::\d+)?"
)
_ERROR: Final = re.compile(
    r"\s*(?P<cause>\[cause\]: )?(?:Uncaught )?(?:\(in promise\) )?(?P<error>[A-Z][\w$]*)"
    r"(?: \[\w+\])?(?:: ?(?P<message>.*))?"
)
_PREFIX: Final = re.compile(r"(?:async |new |Object\.|Module\.|exports\.|Function\.|global\.|this\.)+")
_NAMELESS: Final = re.compile(r"[\w$]*\.?<(?:anonymous|instance_members_initializer|static_initializer|computed)>")


def read_errors(lines: Sequence[str]) -> Trace | None:
    """The errors of a text; the first frame is the innermost."""
    errors = HeadedErrors()
    for line in lines:
        if frame := _frame(line):
            errors.frame(frame)
        elif found := _ERROR.fullmatch(line):
            errors.head(found["error"], found["message"] or "", "caused by" if found["cause"] else "")
        else:
            errors.text(line)
    return errors.trace()


def _frame(line: str) -> Frame | None:
    """The frame of a line; None if it is no frame."""
    if found := _V8.fullmatch(line):
        place = found["inner"] if found["name"] else found["path"]
        where = _PLACE.fullmatch(place)
        if where is None:
            return Frame("", 0, _name(found["name"])) if found["name"] and place.startswith("<") else None
        return Frame(plain_path(where["path"]), int(where["line"][:9]), _name(found["name"] or ""))
    if found := _FIREFOX.fullmatch(line):
        return Frame(plain_path(found["path"]), int(found["line"][:9]), _name(found["name"]))
    return None


def _name(printed: str) -> str:
    """A name as units are named: Foo.constructor for new Foo, f for Object.f [as g], Foo.f for Foo.prototype.f/<."""
    name = printed.partition(" [as ")[0].partition("/")[0]
    if name.startswith("new "):
        return f"{name[4:]}.constructor"
    name = _PREFIX.sub("", name, count=1).replace(".prototype.", ".").lstrip("#").replace(".#", ".")
    return "" if _NAMELESS.fullmatch(name) or name.endswith("<anonymous>") else name
