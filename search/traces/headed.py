"""Stack traces that state an error before its frames, of which the first is the innermost: Java, JavaScript, Go."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from search.traces.trace import Frame, Relation, Trace, TracedError, plain_path

_ERROR: Final = re.compile(r"Error|Exception|Throwable|Failure|Panic")
_MESSAGE_LINES: Final = 10


class HeadedErrors:
    """The errors of the lines so far."""

    def __init__(self) -> None:
        self._errors: list[TracedError] = []
        self._head: TracedError | None = None
        self._told: list[str] = []  # lines of the message behind the first
        self._frames: list[Frame] = []
        self._left_out = 0

    def frame(self, frame: Frame) -> None:
        """Add a frame to the error that was stated last."""
        self._frames.append(frame)

    def more(self, count: int) -> None:
        """Add frames that are only counted."""
        self._left_out += count if self._head or self._frames else 0

    def head(self, error: str, message: str, relation: Relation) -> None:
        """Begin an error; a line that is not as certainly one as that before it is a part of its message."""
        self._close()
        if self._head is None or relation or _ERROR.search(error) or not _ERROR.search(self._head.error):
            self._head, self._told = TracedError(error, message, (), relation), []
        else:
            self.text(f"{error}: {message}")

    def text(self, line: str) -> None:
        """Another line: behind a head, it goes on with the message."""
        if self._head and not self._frames and line.strip() and len(self._told) < _MESSAGE_LINES:
            self._told.append(line.strip())

    def trace(self) -> Trace | None:
        """The trace, if there was a frame."""
        self._close()
        if not any(error.frames for error in self._errors):
            return None
        return Trace("", (replace(self._errors[0], relation=""), *self._errors[1:]), innermost_last=False)

    def _close(self) -> None:
        if self._frames or self._left_out:
            head = self._head or TracedError("", "", ())
            message = " ".join(filter(None, (head.message, *self._told)))
            self._errors.append(replace(head, message=message, frames=tuple(self._frames), left_out=self._left_out))
            self._head, self._told, self._frames, self._left_out = None, [], [], 0


_JAVA_FRAME: Final = re.compile(
    r"\s*at (?:[^\s()/]*/)*(?P<name>[\w$<>-]+(?:\.[\w$<>-]+)+)"
    r"\((?P<place>[\w$.-]+\.\w+(?::\d+)?|Native Method|Unknown Source|<generated>)\)(?: ~?\[.*\])?"
)
_JAVA_PLACE: Final = re.compile(r"(?P<file>[\w$.-]+\.\w+)(?::(?P<line>\d+))?")
_JAVA_MORE: Final = re.compile(r"\s*\.\.\. (\d+) (?:more|common frames omitted)")
_JAVA_ERROR: Final = re.compile(
    r"\s*(?P<relation>Caused by: |Suppressed: |Wrapped by: )?(?:Exception in thread \".*\" )?"
    r"(?:\[CIRCULAR REFERENCE: ?)?(?P<error>(?:[\w$-]+\.)*[A-Z][\w$]*)(?:: ?(?P<message>.*))?"
)
_JAVA_RELATIONS: Final[dict[str, Relation]] = {
    "Caused by: ": "caused by",
    "Suppressed: ": "suppressed",
    "Wrapped by: ": "raised from",
}
_JAVA_LAMBDA: Final = re.compile(r"lambda\$(\w+)\$\d+")
_JAVA_ANONYMOUS: Final = re.compile(r"\d+")


def read_java(lines: Sequence[str]) -> Trace | None:
    """Java's stack traces, with causes and suppressed exceptions; also as loggers print them."""
    errors = HeadedErrors()
    for line in lines:
        if found := _JAVA_FRAME.fullmatch(line):
            errors.frame(_java_frame(found["name"], found["place"]))
        elif found := _JAVA_MORE.fullmatch(line):
            errors.more(int(found[1][:9]))
        elif found := _JAVA_ERROR.fullmatch(line):
            errors.head(found["error"], found["message"] or "", _JAVA_RELATIONS.get(found["relation"] or "", ""))
        else:
            errors.text(line)
    return errors.trace()


def _java_frame(dotted: str, place: str) -> Frame:
    """A frame of ``com.acme.Outer$Inner.method`` at ``Outer.java:12``, ``Native Method`` or ``Unknown Source``."""
    qualified, _, method = dotted.rpartition(".")
    package, _, types = qualified.rpartition(".")
    names = [part for part in types.split("$") if part and not _JAVA_ANONYMOUS.fullmatch(part)]
    if found := _JAVA_LAMBDA.fullmatch(method):
        method = found[1]
    if method in ("<init>", "new"):
        names = names[-2:] if _JAVA_ANONYMOUS.fullmatch(types.rpartition("$")[2]) else [*names, *names[-1:]]
    elif method not in ("<clinit>", "static"):
        names.append(method)
    found = _JAVA_PLACE.fullmatch(place)
    path = "/".join(filter(None, (*package.split("."), found["file"]))) if found else ""
    return Frame(path, int((found["line"] or "0")[:9]) if found else 0, ".".join(names), package=package)


_V8: Final = re.compile(
    r"\s*at (?:(?P<name>[^()\s][^()]*?) \((?P<inner>[^()]*|eval at .*)\)|(?:async )?(?P<path>\S.*?))(?P<opens> \{)?"
)
_JS_PLACE: Final = re.compile(r"(?P<path>.+?):(?P<line>\d+):\d+")
_FIREFOX: Final = re.compile(
    r"(?:\w+\*)?(?P<name>[^@\s]*)@(?P<path>\S*?(?:://|\.[cm]?[jt]sx?\b|\.vue\b)\S*?):(?P<line>\d+)(?::\d+)?"
)
_JS_ERROR: Final = re.compile(
    r"\s*(?P<cause>\[cause\]: )?(?:Uncaught )?(?:\(in promise\) )?(?P<error>[A-Z][\w$]*)"
    r"(?: \[\w+\])?(?:: ?(?P<message>.*))?"
)
_JS_PREFIX: Final = re.compile(r"(?:async |new |Object\.|Module\.|exports\.|Function\.|global\.|this\.)+")
_JS_NAMELESS: Final = re.compile(r"[\w$]*\.?<(?:anonymous|instance_members_initializer|static_initializer|computed)>")


def read_javascript(lines: Sequence[str]) -> Trace | None:
    """Stack traces of JavaScript and TypeScript, as V8 (Node, Chrome), Firefox and Safari print them."""
    errors = HeadedErrors()
    for line in lines:
        if frame := _js_frame(line):
            errors.frame(frame)
        elif found := _JS_ERROR.fullmatch(line):
            errors.head(found["error"], found["message"] or "", "caused by" if found["cause"] else "")
        else:
            errors.text(line)
    return errors.trace()


def _js_frame(line: str) -> Frame | None:
    """The frame of a line; None if it is no frame."""
    if found := _V8.fullmatch(line):
        place = found["inner"] if found["name"] else found["path"]
        where = _JS_PLACE.fullmatch(place)
        if where is None:
            return Frame("", 0, _js_name(found["name"])) if found["name"] and place.startswith("<") else None
        return Frame(plain_path(where["path"]), int(where["line"][:9]), _js_name(found["name"] or ""))
    if found := _FIREFOX.fullmatch(line):
        return Frame(plain_path(found["path"]), int(found["line"][:9]), _js_name(found["name"]))
    return None


def _js_name(printed: str) -> str:
    """A name as units are named: Foo.constructor for new Foo, f for Object.f [as g], Foo.f for Foo.prototype.f/<."""
    name = printed.partition(" [as ")[0].partition("/")[0]
    if name.startswith("new "):
        return f"{name[4:]}.constructor"
    name = _JS_PREFIX.sub("", name, count=1).replace(".prototype.", ".").lstrip("#").replace(".#", ".")
    return "" if _JS_NAMELESS.fullmatch(name) or name.endswith("<anonymous>") else name


_GO_ERROR: Final = re.compile(r"\s*(?P<error>panic|fatal error|runtime): (?P<message>.*)")
_GOROUTINE: Final = re.compile(r"\s*goroutine \d+(?: .*)?\[(?P<state>[^\]]*)\]:")
_GO_CALL: Final = re.compile(
    r"\s*(?:created by )?(?P<name>[^\s()]+(?:\.\(\*?[\w\[\].]+\)[^\s()]*)?)(?:\((?!\*).*\)| in goroutine \d+)?"
)
_GO_PLACE: Final = re.compile(r"\s+(?P<path>\S.*\.(?:go|s)):(?P<line>\d+)(?: \+0x[0-9a-f]+)?(?: .*)?")
_GO_ELIDED: Final = re.compile(r"\s*\.\.\.(\d+|additional) frames elided\.\.\.")
_GO_CLOSURE: Final = re.compile(r"(?:\.func\d+|\.gowrap\d+|\.\d+|-fm|-range\d+)+$")


def read_go(lines: Sequence[str]) -> Trace | None:
    """Go's panics and fatal errors: the first goroutine has the error, each other one is printed with its state."""
    errors, call, stated, begun = HeadedErrors(), "", False, False  # call: the function that a place may follow
    for line in lines:
        if found := _GOROUTINE.fullmatch(line):
            call = ""
            if begun:
                errors.head("goroutine", found["state"], "grouped")
        elif not stated and (found := _GO_ERROR.fullmatch(line)):
            errors.head(found["error"], found["message"], "")
            stated = True
        elif found := _GO_ELIDED.fullmatch(line):
            errors.more(int(found[1][:9]) if found[1].isdigit() else 1)
        elif call and (found := _GO_PLACE.fullmatch(line)):
            errors.frame(_go_frame(call, found["path"], int(found["line"][:9])))
            call, begun = "", True
        elif found := _GO_CALL.fullmatch(line):
            call = found["name"]
    return errors.trace()


def _go_frame(call: str, path: str, line: int) -> Frame:
    """The frame of ``example.com/app/web.(*Server).Start.func1``."""
    folder, slash, rest = call.rpartition("/")
    package, _, name = rest.partition(".")
    name = _GO_CLOSURE.sub("", name.replace("(*", "").replace(")", "").replace("glob.", "").replace("[...]", ""))
    return Frame(plain_path(path), line, name.strip("."), package=f"{folder}{slash}{package}")
