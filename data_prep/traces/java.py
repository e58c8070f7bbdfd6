"""Java's stack traces, with causes and suppressed exceptions; also as loggers and other virtual machines print them.

Kotlin and Scala have the same, with names of what their compilers make.
"""

import re
from typing import Final

from data_prep.traces.headed import Groups, HeadedForm
from data_prep.traces.trace import Frame, number

_PLACE: Final = re.compile(r"(?:[\w.]+@[\w.+-]+/)?(?:(?P<file>[\w$.-]+\.\w+)|(?P<said>[^:]*))(?::(?P<line>\d+).*)?")
_LAMBDA: Final = re.compile(r"(?:lambda|\$anonfun)\$([^\W\d]\w*?)(?:\$[\w$]*)?")
_SUFFIX: Final = re.compile(r"(?<=\w)(?:\$lambda[\w$-]*|\$default|\$suspendImpl|-[\w$]{7})$")
_ANONYMOUS: Final = re.compile(r"\d+|lambda.*|inlined|Lambda.*")
_MADE: Final = re.compile(r"\$\$(?:Lambda|FastClassBy|EnhancerBy|Proxy)|\$Proxy\d|^jdk\.internal\.reflect\.Generated")
"""In the names of types that have no source."""
_OTHERS: Final = re.compile(r"\.(?:kts?|scala|sc)(?::\d+|$)")
_IN_OTHERS: Final = re.compile(r"\d+|Companion|lambda.*|Lambda.*|anonfun|inlined|DefaultImpls|package")
_CALLED: Final = ("invoke", "invokeSuspend", "apply", "resumeWith", "emit", "collect", "run", "call", "applyOrElse")
"""The methods of what a lambda is made into."""
_LIBRARIES: Final = ("kotlin.", "kotlinx.", "scala.")
"""Whose files are in the folders of their packages."""


def _frame(groups: Groups) -> Frame:
    """A frame of ``com.acme.Outer$Inner.method`` at ``Outer.java:12``, ``Native Method``, or whatever is printed."""
    dotted, place = groups["name"], groups["place"]
    qualified, _, method = dotted.rpartition(".")
    package, _, types = qualified.rpartition(".")
    made = _MADE.search(qualified)
    if _OTHERS.search(place):
        return _other_frame(package, types, method, place)
    names = [part for part in types.partition("$$")[0].split("$") if part and not _ANONYMOUS.fullmatch(part)]
    found = _PLACE.fullmatch(place)
    file, line = (found["file"], number(found["line"])) if found else ("", 0)
    if not file and not made and names and (line or not place.endswith("Native Method")):
        file = f"{names[0]}.java"  # what is printed for it names no file
    path = "/".join(filter(None, (*package.split("."), file))) if file else ""
    return Frame(path, line, ".".join(_named(names, types, method)), package=package)


def _other_frame(package: str, types: str, method: str, place: str) -> Frame:
    """A frame of Kotlin or Scala: their files may be in any folder, their functions outside of types."""
    found = _PLACE.fullmatch(place)
    file, line = (found["file"] or "", number(found["line"])) if found else ("", 0)
    parts = [
        part for part in re.split(r"\$+", types.partition("$$inlined")[0]) if part and not _IN_OTHERS.fullmatch(part)
    ]
    if parts and (parts[0].endswith("Kt") or parts[0].endswith("package")):
        parts = parts[1:]
    name = _named(parts, types, method.replace("$mcV$sp", ""))
    inside = method in _CALLED and re.search(r"\$\d|\$anonfun|\$lambda", types)
    folders = f"{package.replace('.', '/')}/" if file and f"{package}.".startswith(_LIBRARIES) else ""
    return Frame(f"{folders}{file}", line, ".".join(name[:-1] if inside else name), package=package)


def _named(names: list[str], types: str, method: str) -> list[str]:
    """The parts of a method's name as units are named: a constructor has the name of its type."""
    found = _LAMBDA.fullmatch(method)
    method = found[1] if found else _SUFFIX.sub("", method)
    if method in ("<init>", "new"):
        return names[-2:] if _ANONYMOUS.fullmatch(types.rpartition("$")[2]) else [*names, *names[-1:]]
    if method in ("<clinit>", "static"):
        return names
    return [*names, method]


JAVA: Final = HeadedForm(
    frames=(
        r"\W*at (?:[^\s()/]*/)*(?P<name>(?!\d)[\w$<>-]+(?:(?:\.|(?<=\d)/)[\w$<>-]+(?: [\w$<>,'!-]+)*)+)"
        r"\((?P<place>[^()\s]+|[^()]*:\d+|(?:[\w.]+@[\w.+-]+/)?(?:[A-Z][\w.]* ?){2,})\)"
        r"(?! in )(?:[\s~\[{<\\\"'(,].*)?",
    ),
    frame=_frame,
    error=r"\s*(?P<relation>Caused by: |Suppressed: |Wrapped by: )?(?:Exception in thread \".*\" )?"
    r"(?:\[CIRCULAR REFERENCE: ?)?(?P<error>(?:[\w$-]+\.)*[A-Z][\w$]*)(?:: ?(?P<message>.*))?",
    looks=r"at (?:[^\s()/]{0,200}/)*[\w$<>.-]{1,300}\.[\w$<>. /-]{1,200}\([^()]{0,300}\)",
    relations={"Caused by:": "caused by", "Suppressed:": "suppressed", "Wrapped by:": "raised from"},
    starts=r'"(?P<message>[^"]*)" (?:#\d+ |daemon |prio=).*',
    more=r"\s*\.\.\. (\d+) (?:more|common frames omitted|frames? (?:truncated|omitted|excluded)).*",
)
