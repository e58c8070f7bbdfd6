"""Stack traces of JavaScript and TypeScript: of V8 (Node, Deno, Chrome), Firefox, Safari, Bun, and of test runners."""

import re
from typing import Final

from data_prep.traces.form import Frame, number, plain_path
from data_prep.traces.headed import Groups, HeadedForm

_PLACE: Final = re.compile(r"(?:address at )?(?P<path>.+?):(?P<line>\d+)(?::\d+)?")
_EVAL: Final = re.compile(r"\((?P<path>[^()]+?):(?P<line>\d+):\d+\)")
_NOWHERE: Final = (
    "<anonymous>",
    "native",
    "[native code]",
    "[wasm code]",
    "debugger eval code",
    "self-hosted",
    "unknown",
    "unknown location",
)
_PREFIX: Final = re.compile(r"(?:async\*?|new|get|set) |(?:Object|Module|exports|Function|global|this)\.")
_ACCESS: Final = re.compile(r"(?<=\.)(?:get|set|async) ")
_NAMELESS: Final = re.compile(r"[\w$]*\.?<(?:anonymous|instance_members_initializer|static_initializer|computed)>")
_CODE: Final = r"(?:\.[cm]?[jt]sx?|\.vue|\.svelte|\.astro|\.html?)\b"
_END: Final = r"(?:[\s{,\"'\]}\\]*|\s+\+\d+ms)"
"""What may follow a frame: what the braces of properties and strings are."""


def _frame(groups: Groups) -> Frame | None:
    name, place = groups.get("name", ""), groups["place"].strip()
    if place.startswith("eval at "):
        where = _EVAL.search(place)
    else:
        where = _PLACE.fullmatch(place.partition(" line ")[0] if " > eval" in place else place)
    if where is None or where["path"] in _NOWHERE:
        return Frame("", 0, _named(name)) if name and (where or place.startswith(_NOWHERE)) else None
    return Frame(plain_path(where["path"]), number(where["line"]), _named(name))


def _named(printed: str) -> str:
    """A name as units are named: Foo.constructor for new Foo, f for Object.f [as g], Foo.f for Foo.prototype.f/<."""
    name = printed.strip().partition(" [as ")[0].partition("/")[0].removeprefix("async ")
    if name.startswith("new "):
        return f"{name[4:]}.constructor"
    while found := _PREFIX.match(name):
        name = name[found.end() :]
    name = _ACCESS.sub("", name).replace(".prototype.", ".").lstrip("#").replace(".#", ".")
    return "" if _NAMELESS.fullmatch(name) or name.endswith(("<anonymous>", "(anonymous)", " code")) else name


_BUILT_IN: Final = r"(?:\[(?:native|wasm) code\]|(?:debugger eval code|self-hosted):\d+(?::\d+)?)"
_NAME: Final = r"(?:(?:new|async|get|set) )*[^\s/\\:]+(?: \[as [^\]]*\])? "
JAVASCRIPT: Final = HeadedForm(
    frames=(
        re.compile(rf"\W*at (?P<name>(?:(?! \().)+) \((?P<place>.*)\){_END}"),
        re.compile(rf"\W*at (?:async )?(?P<place>\S.*:\d+:\d+|\S*\.\w+:\d+){_END}"),
        re.compile(rf"\s*(?!at )(?P<name>{_NAME})\((?P<place>[^()]*:\d+:\d+|<anonymous>)\){_END}"),
        re.compile(r"\s*(?P<place>(?:file://|node:|/|[A-Za-z]:[\\/])\S*:\d+:\d+)"),
        re.compile(rf"\s*[❯›→] (?P<name>{_NAME})?(?P<place>\S.*:\d+:\d+){_END}"),
        re.compile(
            rf"\s*(?:[\w. ]+\*)?(?P<name>[^@\s]*|(?:[Gg]lobal|[Mm]odule|[Ee]val) code)@"
            rf"(?P<place>\S*?(?:://|{_CODE})[^@]*:\d+|{_BUILT_IN})"
        ),
        re.compile(rf"\s*(?P<name>[\w$.<>/*#]+ )(?P<place>[a-z-]+://\S+{_CODE}\S*:\d+)"),
        re.compile(rf"\s*(?P<name>\S+)\s+@\s+(?P<place>\S+{_CODE}\S*:\d+)"),
        re.compile(rf"\s*in (?P<name>\S+) \(at (?P<place>[^()]+{_CODE}:\d+)\)"),
    ),
    frame=_frame,
    error=re.compile(
        r"\s*(?P<relation>\[cause\]: |Caused by: )?(?:Uncaught )?(?:\(in promise\) )?\[?(?P<error>[A-Z][\w$]*)"
        r"(?: \[\w+\])?(?:: ?(?P<message>.*?))?(?:\](?: \{)?)?"
    ),
    looks=(
        r"at (?!\S+://[^/\s]+\W*$)\S(?:\((?:eval|address) at |(?!\Wat ).)*"
        r"(?:\.\w+:\d+|:\d+:\d+|:line \d+)\W*(?:$|\+\d+ms$)"
        r"|at \S[^()]{0,200} \((?:<anonymous>|native|index \d+)"
        rf"|❯ \S.*:\d+:\d+|(?:[Gg]lobal |[Mm]odule |[Ee]val )?[^\s@]{{0,200}}"
        rf"@(?:(?:[^\s@]{{1,1000}}{_CODE}|[a-z-]{{2,20}}://[^\s@]{{1,1000}}):\d+|{_BUILT_IN})"
        r"|[\w$.<>#]{1,100} \((?:<anonymous>|(?:\w+://|node:|/|[A-Za-z]:[\\/])[^()]{0,500}:\d+:\d+)\)"
        r"|(?:node:|file://)\S{1,1000}:\d+:\d+$"
        rf"|[\w$.<>/*#]{{1,200}} [a-z-]{{2,20}}://\S+{_CODE}\S*:\d+$|[^\s:@]{{1,100}}\s@\s\S+{_CODE}\S*:\d+$"
    ),
    relations={"[cause]:": "caused by", "Caused by:": "caused by", "Cause:": "caused by"},
    more=re.compile(r"\s*\.\.\. (\d+) lines matching cause stack trace.*"),
    starts=re.compile(r"\s*● (?P<message>)\S.*|(?P<said>The above error occurred in .*)"),
    skipped=re.compile(r"\s*at .*\(index \d+\)\W*"),
    members=re.compile(r"\s*\[errors\]: \[.*"),
    members_end=re.compile(r"\s*\],?"),
)
