"""Stack traces of scripts other than Python's: PHP, Ruby, Elixir, Lua, Bash, R, and JavaScript with TypeScript.

The last are those of V8 (Node, Deno, Chrome), Firefox, Safari, Bun, and of test runners.
"""

import re
from typing import Final

from data_prep.traces.headed import Groups, HeadedForm
from data_prep.traces.trace import STRONG, TOP, Frame, number, placed, plain_path

_CLOSURE_OF: Final = re.compile(r"\{closure:(?P<name>.*?)(?:\(\))?:\d+\}")


def _php(groups: Groups) -> Frame:
    r"""A frame that calls ``Shop\Cart->total``; the last, ``{main}``, says that the one before is at the top."""
    name = _CLOSURE_OF.sub(lambda found: found["name"], groups.get("name", ""))
    if name.startswith("{main}"):
        return Frame("", 0, TOP)
    if "{closure" in name:
        return placed(groups, "")
    return placed(groups, re.sub(r"->|::|\\+", ".", name.partition("@anonymous")[0]).strip("."))


_PHP_PLACE: Final = r"(?P<path>(?:[A-Za-z]:)?[^:()]*\.\w+)(?:\(\d+\) : eval\(\)'d code)?"
PHP: Final = HeadedForm(
    frames=(
        rf"\W*?#\d+ (?:{_PHP_PLACE}\((?P<line>\d+)\)|\[internal function\]): (?P<name>[^\s(]*)(?:\(.*)?",
        r"\W*?#\d+ (?P<name>\{main\}).*",
        r"\s*(?P<path>(?:/|[A-Za-z]:\\)\S.*\.php):(?P<line>\d+)",
        rf"(?:PHP)?\s+\d+\.(?: +[\d.]+ +\d+)? +(?P<name>[^\s(]+)\(.*\) +{_PHP_PLACE}:(?P<line>\d+)",
    ),
    frame=_php,
    error=r".*?(?:Uncaught |exception ')?(?P<error>(?:\w+\\)*[A-Z]\w*(?:Error|Exception)): (?P<message>.*)",
    places=(
        r".*\bUncaught exception '(?P<error>[\w\\]+)' with message '(?P<message>.*)'"
        rf" in {_PHP_PLACE}:(?P<line>\d+)",
        r"(?:.*\bUncaught |(?P<relation>Next )|(?:.*: )?"
        r"(?=(?:\w+\\)+\w+: |\w*(?:Error|Exception)\b))(?P<error>[\w\\]+)(?:: "
        rf"(?P<message>.*))? in {_PHP_PLACE}:(?P<line>\d+)",
        r"(?:.*?PHP )?(?:.*\s)?(?P<error>Warning|Notice|Deprecated|(?:Fatal|Parse"
        r"|Recoverable fatal) error|Strict Standards)"
        rf":\s+(?!Uncaught)(?P<message>.*) in {_PHP_PLACE}(?: on line |:)(?P<line>\d+).*",
        r".*?(?P<relation>\[previous exception\] )?\[object\] \((?P<error>[\w\\]+)\(code: [^)]*\): "
        rf"(?P<message>.*) at {_PHP_PLACE}:(?P<line>\d+)\)?.*",
    ),
    named_by_next=True,
    relations={"Next": "raised from", "[previous exception]": "caused by"},
    skipped=r"\s*thrown in .* on line \d+",
    outermost_first=r"(?:PHP Stack trace|Call Stack):",
    message_end=r"\W*(?:Stack trace:|\[stacktrace\])",
    looks=(
        r"#\d{1,4} (?:[^\s(][^(]{0,1000}\.\w{1,5}\(\d+\)(?: : eval\(\)'d code)?: |\[internal function\]: |\{main\})"
        r"|(?:PHP )?(?:Warning|Notice|Deprecated|(?:Fatal|Parse) error): .*\.\w{1,5}(?: on line |:)\d+"
        r"|Next \S+.* in \S.*:\d+$"
        r"|\d{1,4}\.(?: +[\d.]+ +\d+)? +[^\s(]{1,300}\(.*\) +\S+\.\w{1,5}:\d+|thrown in \S+ on line \d+"
        r"|\[object\] \(\S+\(code: "
    ),
    at_path=r"\.php:\d+$",
)

_BLOCK: Final = re.compile(r"(?:block|rescue|ensure|each)(?: \(\d+ levels\))? in ")
_RUBY_TOP: Final = ("<main>", "<top (required)>", "<compiled>")
_RUBY_PLACE: Final = r"(?P<path>(?:[A-Za-z]:)?[^\s:#][^:]*?):(?P<line>\d+)"


def _ruby(groups: Groups) -> Frame:
    """A frame in ``block (2 levels) in Shop::Cart#total``."""
    name = groups.get("name", "")
    while found := _BLOCK.match(name):
        name = name[found.end() :]
    if name in _RUBY_TOP:
        return placed(groups, "" if name != groups["name"] else TOP)
    name = re.sub(r"<(?:class|module):(.*)>", r"\1", name)
    return placed(groups, re.sub(r"::|#", ".", name).strip(".") if "<" not in name[:-1] else name.rpartition("#")[2])


RUBY: Final = HeadedForm(
    frames=(
        rf"\W*(?:\d+: )?from {_RUBY_PLACE}(?::in [`'](?P<name>.*)')?",
        rf"\W*?(?!from ){_RUBY_PLACE}:in [`'](?P<name>[^`']*)'(?:\s.*)?[\s\"',]*",
        r"\s*# (?P<path>[^\s:]+\.\w+):(?P<line>\d+)",
    ),
    frame=_ruby,
    error=rf"(?P<relation>Caused by )?(?P<error>(?:[A-Z]\w*::)+[A-Z]\w*|\w*{STRONG})(?:: | \((?=.*\):$)|:$)"
    r"(?P<message>.*?)(?:\):)?",
    places=(
        rf"{_RUBY_PLACE}:in [`'](?P<name>[^`']*)': (?P<message>.*) \((?P<error>[A-Z][\w:]*)\)",
        rf"{_RUBY_PLACE}: (?P<message>.*) \((?P<error>[A-Z]\w*(?:::\w+)*)\)",
    ),
    follows="caused by",
    relations={"Caused by": "caused by"},
    more=r"\s*\.\.\. (\d+) levels\.\.\.",
    outermost_first=r"Traceback \(most recent call last\):",
    looks=r"(?:\d+: )?from [^\s:][^:]{0,300}:\d+:in [`']|# [^\s:]{1,300}:\d+(?::in [`']|$)",
    at_path=r":\d+:in [`']|\.rb:\d+: .*\([A-Z][\w:]*\)$",
)

_ELIXIR_NAME: Final = re.compile(r"/\d+(?:-.*|$)|\(.*")


def _elixir(groups: Groups) -> Frame:
    """A frame of ``anonymous fn/2 in Shop.Cart.total/1``."""
    name = groups.get("name", "").rpartition(" in ")[2]
    return placed(groups, _ELIXIR_NAME.sub("", name.replace('"', "")).lstrip(":").replace(".-", ".").strip("."))


ELIXIR: Final = HeadedForm(
    frames=(
        r"(?!.*\*\* \()\W*?(?:\((?P<app>[\w.]+)(?: [\w.+-]+)?\) )?(?P<path>[^\s:()]+\.(?:exs?|erl|l?eex|heex)):"
        r"(?P<line>\d+):(?:\d+:)? (?P<name>.*)",
    ),
    frame=_elixir,
    error=r".*?\*\* \((?P<error>[\w.]+)\) ?(?P<message>.*)",
    places=(
        r".*?\*\* \((?P<error>CompileError|SyntaxError|TokenMissingError|MismatchedDelimiterError)\)"
        r" (?P<path>[^\s:]+\.exs?):(?P<line>\d+):(?:\d+:)? ?(?P<message>.*)",
    ),
    looks=r"\([\w.]+(?: [\w.+-]+)?\) [^\s:()]{1,300}\.(?:exs?|erl|l?eex|heex):\d+: \S",
    at_path=r"\.(?:exs?|erl|l?eex|heex):\d+:(?:\d+:)? \S",
    message_end=r"\s*(?:code: .*|:?[\w.]+\.[\w!?]+(?:\(.*\)|/\d+)|stacktrace:|The following arguments .*|State: .*)",
)


def _lua(groups: Groups) -> Frame | None:
    """A frame in ``method 'total'`` or in ``function 'cart.checkout'``."""
    if groups.get("kind") == "main chunk":
        return placed(groups, TOP)
    name = groups.get("name", "").strip("'`<>?")
    if groups.get("path", "").startswith("..."):
        groups = {**groups, "path": groups["path"].partition("/")[2] or groups["path"]}  # its start is left out
    name = "" if re.search(r"[/\\]|:\d+$", name) else name.replace(":", ".").removeprefix("_G.")
    return placed(groups, name) if name or groups.get("path") else None


_LUA_PLACE: Final = r"(?P<path>(?:[A-Za-z]:)?[^\s:][^:]*\.lua):(?P<line>\d+):"
_LUA_NAME: Final = (
    r"in (?P<kind>main chunk|function|method|local|upvalue|field|global|metamethod|\?)(?: (?P<name>\S+))?.*"
)
LUA: Final = HeadedForm(
    frames=(rf"\W*?{_LUA_PLACE} {_LUA_NAME}", rf"\s*\[C\]: {_LUA_NAME}"),
    frame=_lua,
    places=(
        rf"(?:[^\s:/]*lua[^\s:/]*: |.*\b[Ee]rror\b.*?[: ]\s*)?{_LUA_PLACE}\s+(?!in (?:main chunk"
        r"|function|method|local|upvalue|field))(?P<message>.*)",
    ),
    place_repeats=True,
    more=r"\s*\.\.\.\s*\(skipping (\d+) levels\)",
    looks=r"(?!)",
    at_path=r"\.lua:\d+: \S",
    message_end=r"\s*stack traceback:",
)

_SAID: Final = (
    "command not found|unbound variable|Permission denied|No such file or directory|syntax error|Is a directory"
    "|unexpected|cannot execute|not a valid identifier|readonly variable|parameter null or not set|bad substitution"
    "|division by 0|numeric argument required|unary operator expected|integer expression expected"
)
"""What bash says, for scripts whose name has no suffix."""
BASH: Final = HeadedForm(
    frames=(),
    frame=lambda groups: placed(groups, ""),
    places=(
        r"(?:.*\s)?(?P<path>[^\s:]+\.(?:(?:ba|z|k)?sh|bats)): (?:line )?(?P<line>\d+): (?P<message>.*)",
        rf"(?:.*\s)?(?P<path>[^\s:]+): line (?P<line>\d+): (?P<message>.*(?:{_SAID}).*)",
    ),
    looks=r"(?!)",
    at_path=rf"(?:\.(?:ba|z|k)?sh|\.bats): (?:line )?\d+: |: line \d+: .*(?:{_SAID})",
)


def _r(groups: Groups) -> Frame | None:
    """A frame that calls a function."""
    name = re.sub(r"[$@]", ".", groups.get("name", "").rpartition(":")[2])
    return placed(groups, name) if name or groups.get("path") else None


_R_PLACE: Final = r"(?P<path>(?:[A-Za-z]:)?[^\s#:]+\.[Rr])(?:#|:)(?P<line>\d+)(?::\d+)?"
R: Final = HeadedForm(
    frames=(
        rf"\s*\d+: (?P<name>[\w.:$@]+)\(.*\) at {_R_PLACE}",
        rf"\s*\d+\. [^\w`]*(?:global |base |[\w.]+:::?)?`?(?P<name>[\w.$@]+)`?\(.*\) at {_R_PLACE}",
        rf"\s*\d+(?:: |\. ).* at {_R_PLACE}",
        r"\s*\d+: (?P<name>[\w.:$@]+)\(.*\)",
    ),
    frame=_r,
    error=r"(?P<error>Error)(?: in [^:]+?)?(?: ?:) ?(?P<message>.*)",
    places=(
        rf"(?P<error>Error) in .*\(from {_R_PLACE}\) ?: ?(?P<message>.*)",
        r"(?P<error>Error) in `?(?P<name>[\w.:$@]+)`?\(.*?\)`? ?: ?(?P<message>.*)",
    ),
    named_by_next=True,
    placed_first=True,
    turned=r"\s*Backtrace:",
    message_end=r"\s*(?:Calls:.*|Execution halted|Backtrace:|Traceback:?|> trace.*|In addition: .*)",
    looks=r"\d{1,4}[:.] .{1,1000} at \S+\.[Rr][#:]\d+(?::\d+)?$|Error in .{1,500}\(from \S+\.[Rr]#\d+\)"
    r"|Error in `?[\w.:$@]{1,200}`?\(.{0,500}?\)`? ?:|> traceback\(\)|Calls:",
)

_JS_PLACE: Final = re.compile(r"(?:address at )?(?P<path>.+?):(?P<line>\d+)(?::\d+)?")
_EVAL: Final = re.compile(r"\((?P<path>[^()]+?):(?P<line>\d+):\d+\)")
_NOWHERE: Final = (
    "<anonymous>", "native", "[native code]", "[wasm code]", "debugger eval code", "self-hosted", "unknown",
    "unknown location",
)  # fmt: skip
_PREFIX: Final = re.compile(r"(?:async\*?|new|get|set) |(?:Object|Module|exports|Function|global|this)\.")
_ACCESS: Final = re.compile(r"(?<=\.)(?:get|set|async) ")
_NAMELESS: Final = re.compile(r"[\w$]*\.?<(?:anonymous|instance_members_initializer|static_initializer|computed)>")
_CODE: Final = r"(?:\.[cm]?[jt]sx?|\.vue|\.svelte|\.astro|\.html?)\b"
_END: Final = r"(?:[\s{,\"'\]}\\]*|\s+\+\d+ms)"
"""What may follow a frame: what the braces of properties and strings are."""


def _javascript(groups: Groups) -> Frame | None:
    name, place = groups.get("name", ""), groups["place"].strip()
    if place.startswith("eval at "):
        where = _EVAL.search(place)
    else:
        where = _JS_PLACE.fullmatch(place.partition(" line ")[0] if " > eval" in place else place)
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
        rf"\W*at (?P<name>(?:(?! \().)+) \((?P<place>.*)\){_END}",
        rf"\W*at (?:async )?(?P<place>\S.*:\d+:\d+|\S*\.\w+:\d+){_END}",
        rf"\s*(?!at )(?P<name>{_NAME})\((?P<place>[^()]*:\d+:\d+|<anonymous>)\){_END}",
        r"\s*(?P<place>(?:file://|node:|/|[A-Za-z]:[\\/])\S*:\d+:\d+)",
        rf"\s*[❯›→] (?P<name>{_NAME})?(?P<place>\S.*:\d+:\d+){_END}",
        rf"\s*(?:[\w. ]+\*)?(?P<name>[^@\s]*|(?:[Gg]lobal|[Mm]odule|[Ee]val) code)@"
        rf"(?P<place>\S*?(?:://|{_CODE})[^@]*:\d+|{_BUILT_IN})",
        rf"\s*(?P<name>[\w$.<>/*#]+ )(?P<place>[a-z-]+://\S+{_CODE}\S*:\d+)",
        rf"\s*(?P<name>\S+)\s+@\s+(?P<place>\S+{_CODE}\S*:\d+)",
        rf"\s*in (?P<name>\S+) \(at (?P<place>[^()]+{_CODE}:\d+)\)",
    ),
    frame=_javascript,
    error=r"\s*(?P<relation>\[cause\]: |Caused by: )?(?:Uncaught )?(?:\(in promise\) )?\[?(?P<error>[A-Z][\w$]*)"
    r"(?: \[\w+\])?(?:: ?(?P<message>.*?))?(?:\](?: \{)?)?",
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
    more=r"\s*\.\.\. (\d+) lines matching cause stack trace.*",
    starts=r"\s*● (?P<message>)\S.*|(?P<said>The above error occurred in .*)",
    skipped=r"\s*at .*\(index \d+\)\W*",
    members=r"\s*\[errors\]: \[.*",
    members_end=r"\s*\],?",
)
