"""Stack traces of compiled languages other than Java: Rust, C and C++, C#, Swift, Zig, Haskell, Go."""

import re
from dataclasses import replace
from typing import Final

from data_prep.traces.headed import Groups, HeadedForm
from data_prep.traces.trace import TOP, Frame, number, placed, plain_path

_COLUMN: Final = r"(?::\d+)?"


def _dotted(groups: Groups) -> Frame:
    """A frame whose name is that of units, but for ``::`` between its parts."""
    return placed(groups, groups.get("name", "").replace("::", ".").strip(". "))


_RUST_HASH: Final = re.compile(r"(?:::h[0-9a-f]{16}|\[[0-9a-f]{16}\])(?=$|::)")
_ANGLES: Final = re.compile(r"<(?P<inside>[^<>]*)>")
_DEEPEST: Final = 20
"""Brackets in one another that are read."""


def _rust(groups: Groups) -> Frame | None:
    """A frame of ``<shop::cart::Good as shop::Priced>::price``: of a type, or a function of a module."""
    if not groups.get("call") and not groups["path"].endswith(".rs"):
        return None
    name = _RUST_HASH.sub("", groups["call"].replace("->", ""))
    for _ in range(_DEEPEST):
        if (found := _ANGLES.search(name)) is None:
            break
        inside = found["inside"].partition(" as ")[0].rpartition(" for ")[2].lstrip("&*").removeprefix("dyn ")
        owns = found.start() == 0 or name[: found.start()].endswith("_") or found["inside"].startswith("impl ")
        name = f"{name[: found.start()]}{inside if owns else ''}{name[found.end() :]}"
    parts = [part for part in re.split(r"::", name) if re.fullmatch(r"(?:r#)?\w+", part)]
    first = next((place for place, part in enumerate(parts) if part[0].isupper()), len(parts) - 1)
    module = ".".join(parts[:first])
    return placed(groups, ".".join(parts[first:]) if parts else "", module)


RUST: Final = HeadedForm(
    frames=(
        rf"\s*at (?P<path>\S.*?\.\w+):(?P<line>\d+){_COLUMN}",
        rf"\s*(?:Location:)?\s*(?P<path>[^\s:']+\.rs):(?P<line>\d+){_COLUMN}",
    ),
    frame=_rust,
    error=r"(?:.*\s)??(?:The application (?=panicked))?(?P<error>error(?:\[E\d+\])?|warning|Error|panic)"
    r"(?:ked \(crashed\)\.)?(?:: ?(?P<message>.*))?",
    places=(
        rf".*?(?P<error>panic)ked at (?P<path>[^'\s].*?\.rs):(?P<line>\d+){_COLUMN}:?",
        rf".*?(?P<error>panic)ked at '(?P<message>.*)', (?P<path>.+?\.rs):(?P<line>\d+){_COLUMN}",
    ),
    place_repeats=True,
    looks=r"at (?:[A-Za-z]:)?[^\s:]{1,300}\.rs:\d+"
    r"|(?:thread '.*)?panicked at \S.*\.rs:\d+|Location: \S+\.rs:\d+",
    at_path=r"\.rs:\d+(?::\d+)?$",
    call=r"\s*\d+: +(?:0x[0-9a-f]+ - )?(?P<name>\S.*)",
    message_end=r"\s*(?:[Ss]tack backtrace:|note: .*|Location:?.*|[━ ]*(?:BACKTRACE|SPANTRACE).*)",
)

_ARGUMENTS: Final = re.compile(r"\([^()]*\)(?: const\b)?(?: \[clone [^\]]*\])?")
_NATIVE_PATH: Final = r"(?P<path>[^\s():][^():]*\.\w+)"


def _c(groups: Groups) -> Frame:
    """A frame of ``int shop::Cart<int>::total(int) const``."""
    name = groups.get("name", "").replace("(anonymous namespace)::", "").replace("operator()", "")
    for _ in range(_DEEPEST):
        name, times = _ANGLES.subn("", name)
        if not times:
            break
    for _ in range(_DEEPEST):
        name, times = _ARGUMENTS.subn("", name)
        if not times:
            break
    name = re.sub(r"::\{lambda.*|::\$_\d+.*", "", name)
    parts = name.strip().rpartition(" ")[2] if "operator" not in name else name
    return _dotted({**groups, "name": parts})


C: Final = HeadedForm(
    frames=(
        r"[\s*]*(?:frame )?#\d+:? +(?:0x[0-9a-f]+ )?(?:in )?(?:[^\s`()]+`)?"
        rf"(?P<name>\S.*?) ?\(.*\) at {_NATIVE_PATH}:(?P<line>\d+){_COLUMN}(?:\s.*)?",
        r"\s*#\d+ 0x[0-9a-f]+ in (?P<name>\S.*?) (?P<path>(?:[A-Za-z]:)?[^\s():]+\.\w+):"
        rf"(?P<line>\d+){_COLUMN}(?: .*)?",
        r"\s*#\d+ (?P<name>\S.*?) (?P<path>/[^\s():]+\.\w+):(?P<line>\d+)(?::\d+)? \(\S+\+0x[0-9a-f]+\).*",
        r"\W*(?:\d+\W+)?(?:at|by) 0x[0-9A-F]+: (?P<name>\S.*?) \((?P<path>[^()]*):(?P<line>\d+)\)",
    ),
    frame=_c,
    error=r".*?(?:(?:ERROR|WARNING): \w+Sanitizer: |received signal |throwing an instance of '|stop reason = )"
    r"(?P<error>[^\s,']+(?: leaks| race)?)(?:[,']? ?(?P<message>.*))?",
    places=(
        r"(?:[^\s:]+: )?(?P<path>[^\s:][^:]*\.\w+):(?P<line>\d+): (?P<name>[^:]+(?:::[^:]+)*): "
        r"(?P<error>Assertion) (?P<message>.*failed\.?)",
        r"(?P<error>Assertion) failed: (?P<message>.*), file (?P<path>\S.*\.\w+), line (?P<line>\d+)",
        rf"(?P<path>[^\s:]+\.\w+):(?P<line>\d+){_COLUMN}: (?P<error>runtime error): (?P<message>.*)",
    ),
    kinds={"Assertion": "assertion"},
    looks=(
        r"(?:frame )?#\d{1,4}:? .{1,300} (?:at )?[^\s():]{1,300}\.\w{1,5}:\d+"
        r"|(?:at|by) 0x[0-9A-F]+: .{1,300}\([^\s()]+:\d+\)"
        r"|Assertion failed: .{1,500}, file .{1,300}\.[chm]\w{0,2}, line \d+"
    ),
    at_path=r"\.(?:[chm]\w{0,2}|[ch]\+\+|cu):\d+:(?:\d+: runtime error:| .{1,300}: Assertion )",
    skipped=r"(?:Thread .* hit )?(?:Temporary )?[Bb]reakpoint \d+, .*",
    message_end=r"\s*#\d+ .*",
    starts=r"(?P<message>(?:previously )?(?:allocated|freed) by thread .*?|(?:Previous )?(?:[Rr]ead|[Ww]rite) of size "
    r".*?|Invalid (?:read|write) of size \d+|Conditional jump .*|.*: Process terminating with .*?):?",
)

_MADE: Final = re.compile(r"<(?P<name>\w*)>(?:[bgd]__|k__|i__|\$)(?:\w*\|[\d_]+|\w*)")
_LOCAL: Final = re.compile(r"<\w*>g__(?P<name>\w+)\|[\d_]+")
_ARITY: Final = re.compile(r"`\d+|\[[^\[\]]*\]")


def _csharp(groups: Groups) -> Frame:
    """A frame of ``Shop.Cart.<>c__DisplayClass3_0.<Total>b__0``, in its method."""
    name = groups["name"].replace("+", ".").replace(":", ".").replace("..ctor", ".!ctor").replace("..cctor", ".!cctor")
    name = _ARITY.sub("", _MADE.sub(lambda made: made["name"], _LOCAL.sub(lambda local: local["name"], name)))
    if "<Main>$" in groups["name"] or name.endswith("Main$"):
        return placed(groups, TOP)
    parts = [part for part in name.split(".") if part and not part.startswith("<>")]
    if parts and parts[-1] == "MoveNext" and "__" in groups["name"]:
        parts.pop()
    if parts and parts[-1] in ("!ctor", "!cctor"):
        parts[-1] = parts[-2] if len(parts) > 1 else ""
    elif parts:
        parts[-1] = re.sub(r"^(?:[gs]et|add|remove)_(?=\w)", "", parts[-1])
    return placed(groups, ".".join(parts))


_WORD: Final = r"[^\W\d_]{1,10}"
"""What stands for *at*, *in* and *line* in other languages than English: *bei*, *à*, *en*, *w*."""

CSHARP: Final = HeadedForm(
    frames=(
        r"\W*at (?P<name>[^\s()]+\.[^\s()]+) ?\((?P<arguments>[^():]*)\)(?: \[0x[0-9a-f]+\])?"
        r"(?: in (?P<path>.+?):(?:line )?(?P<line>\d+))?(?:<---)?[\s\"',]*",
        r"\s*(?P<name>[^\s()]+) ?\((?P<arguments>[^()]*)\) \(at (?P<path>[^()]+\.cs):(?P<line>\d+)\)",
        r"(?:.*\s)?(?P<path>[^\s()]+\.\w+)\((?P<line>\d+),\d+\): at (?P<name>[^\s()]+)\((?P<arguments>[^():]*)\)",
        rf"\s*{_WORD}:? (?P<name>[^\s()]+\.[^\s()]+)\((?P<arguments>[^():]*)\)"
        rf" {_WORD}:? (?P<path>.+?\.\w+):{_WORD} (?P<line>\d+)\.?",
    ),
    frame=_csharp,
    error=r"\s*(?P<relation>---> )?(?:\(Inner Exception #\d+\) )?(?:Unhandled [Ee]xception[.:] )?"
    r"(?P<error>(?:\w+[.+])*\w*(?:Exception|Error))(?: \(\w+\))?(?:: ?(?P<message>.*))?",
    looks=(
        r"(?=[\w<])[^\s()]{1,300} ?\([^()]{0,300}\) \(at [^()]+\.cs:\d+\)"
        r"|(?=[\w/\\.])[^\s()]{1,300}\(\d+,\d+\): at \S"
        r"|at [^\s()]{1,500} ?\([^():]{0,1000}\)(?: \[0x[0-9a-f]+\])? in .{1,1000}:(?:line )?\d+"
        r"|at [^\s()]{1,500}\((?:[^\s(),:]+ [^\s(),:]+(?:, )?)+\)"
        rf"|{_WORD}:? [^\s()]{{1,500}}\([^():]{{0,1000}}\) {_WORD}:? .{{1,1000}}\.\w+:{_WORD} \d+\.?$"
    ),
    relations={"--->": "caused by"},
    inner_end=r"\s*--- End of inner exception stack trace ---.*",
)

_SWIFT_KINDS: Final = r"(?P<error>Fatal error|Precondition failed|Assertion failed)"


def _swift(groups: Groups) -> Frame:
    """A frame of ``Shop.Cart.total(rates:)``; a fatal error has the module for the folders."""
    name = groups.get("name", "").partition("(")[0].rpartition(" in ")[2].rpartition(" ")[2]
    found = placed(groups, name)
    is_module = found.path.count("/") == 1 and found.path[0] != "/"
    return replace(found, path=found.path.rpartition("/")[2]) if is_module else found


SWIFT: Final = HeadedForm(
    frames=(
        r"[\s*]*(?:frame )?#?\d+:? .*?(?:0x[0-9a-f]+ )(?:in )?(?:[^\s`]+`)?(?P<name>\S.*?)"
        rf"(?: \+ \d+ in \S+)? at (?P<path>\S.*\.swift):(?P<line>\d+){_COLUMN}",
        r"\s*\d+ +\S+ .*?0x[0-9a-f]+ (?P<name>\S.*?) \+ \d+ \((?P<path>[^()]+\.swift):(?P<line>\d+)\)",
    ),
    frame=_swift,
    places=(
        rf"(?:.*\s)?(?P<path>[^\s:]+\.swift):(?P<line>\d+): {_SWIFT_KINDS}(?:: (?P<message>.*))?",
        rf".*?{_SWIFT_KINDS}(?:: (?P<message>.*?))?: file (?P<path>.+?\.swift), line (?P<line>\d+)",
    ),
    place_repeats=True,
    looks=(
        r"(?:Fatal error|Precondition failed|Assertion failed): .*\.swift, line \d+"
        r"|(?:frame )?#?\d{1,4}:? .{1,200}?0x[0-9a-f]+ .*\.swift:\d+"
    ),
    at_path=r"\.swift:\d+: (?:Fatal|Precondition|Assertion)",
)

ZIG: Final = HeadedForm(
    frames=(r"\s*(?P<path>\S.*\.zig):(?P<line>\d+):\d+: 0x[0-9a-f]+ in (?P<name>\S+) \([^()]*\)(?:\s.*)?",),
    frame=_dotted,
    error=r"(?:.*\s)?(?:thread \d+ )?(?P<error>panic|error): (?P<message>.*)",
    looks=r"(?!)",
    at_path=r"\.zig:\d+:\d+: 0x[0-9a-f]+ in",
)

HASKELL: Final = HeadedForm(
    frames=(r"\W*(?P<name>\S+), called at (?P<path>\S.*\.l?hs):(?P<line>\d+):\d+ in \S+",),
    frame=_dotted,
    places=(r"(?:[\w.-]+: )?(?P<path>[^\s:]+\.l?hs):\(?(?P<line>\d+)[:,]\d+\)?-\(?[\d,]+\)?: (?P<message>.*)",),
    named_by_next=True,
    looks=r"[^\s,]{1,100}, called at \S.*hs:\d+",
    at_path=r"\.l?hs:\(?\d+[:,]\d+\)?-\(?[\d,]+\)?: ",
    starts=r"(?:[\w.-]+: )?(?P<message>\S.*)",
    message_end=r"\s*(?:CallStack|HasCallStack backtrace).*",
)

_CLOSURE: Final = re.compile(r"(?:\.func\d+|\.gowrap\d+|\.deferwrap\d+|\.\d+|-fm|-range\d+)+$")
_TYPES: Final = re.compile(r"\[[^\[\]]*\]")


def _go(groups: Groups) -> Frame | None:
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
        r"\s*(?P<path>\S.*\.go):(?P<line>\d+) \((?P<address>0x[0-9a-f]+)\)",
        r"\s*(?P<address>Error Trace:|[ \t]{16,})\s*(?P<path>\S.*\.go):(?P<line>\d+)",
        r"\s+(?P<path>\S.*\.(?:go|s)):(?P<line>\d+)(?: \+0x[0-9a-f]+)?(?: .*)?",
    ),
    frame=_go,
    error=r"(?!\s*\t\s*panic: )(?:.*?\s)??"
    r"(?P<error>panic|fatal error|runtime(?: error)?)(?: serving \S+| recovered)?:(?: |$)(?P<message>.*)",
    looks=r"goroutine \d+ [^\[\n]{0,80}\[[^\]]{1,80}\]:",
    at_path=r"\.(?:go|s):\d+(?: \+0x| \(0x|\s*$)",
    more=r"\s*\.\.\.(\d+|additional) frames elided\.\.\.",
    kinds={"runtime error": "panic"},
    call=r"\s*(?:created by )?(?P<name>[^\s()]+(?:\.\(\*?[\w\[\].]+\)[^\s()]*)?)(?:\((?!\*).*\)| in goroutine \d+)?",
    behind=r"\t(?P<name>[^\s:]+): (?P<code>.*)",
    starts=r"(?i)(?P<message>(?:Previous )?(?:read|write|atomic \w+) at 0x.* by .*):",
    part=r"\s*goroutine \d+(?: .*)?\[([^\]]*)\]:",
)
