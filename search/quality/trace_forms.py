"""Stack traces in the form of each language: calls of a code base as its programs would print them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from search.files.languages import language_name

INNERMOST_LAST: Final = ("python",)
"""Languages whose traces end with the innermost frame."""
_FOLDER: Final = "/srv/app"


@dataclass(frozen=True, slots=True)
class Call:
    """A frame to be printed."""

    row: int
    path: str  # in the index
    line: int  # from 1
    name: str  # with its types
    code: str
    package: str = ""  # of languages of the JVM

    @property
    def place(self) -> str:
        """Its path on the machine that printed it."""
        return f"{_FOLDER}/{self.path}"

    @property
    def parts(self) -> tuple[str, str]:
        """Its types, dotted, and its name, without what no trace has."""
        owner, _, name = re.sub(r"[^\w.?!=$]+", "", self.name).rpartition(".")
        return owner, name


@dataclass(frozen=True, slots=True)
class TraceForm:
    """How a language prints a trace."""

    text: str  # around its frames
    frame: Callable[[int, Call], str]  # from the number of a frame, 1 for that which the library's frame is called in
    library: str  # the frame of a library, which is the innermost
    moves_names: bool = False  # whether a frame names what is called there, which is the frame before it


def printed(calls: Sequence[Call]) -> str:
    """The text of a trace of calls, the innermost first, with a frame of the library inside it."""
    language = language_name(calls[0].path)
    form = FORMS[language]
    frames = [form.library, *(form.frame(number, call) for number, call in enumerate(calls, start=1))]
    if form.moves_names:
        names = [form.library.rpartition(" ")[2], *(frame.rpartition(": ")[2] for frame in frames[1:])]
        frames = [form.library.rpartition(" ")[0]] + [
            f"{frame.rpartition(': ')[0]}: {name}" for frame, name in zip(frames[1:], names, strict=False)
        ]
        frames.insert(1, "Stack trace:")
        called = form.frame(len(calls), calls[-1]).rpartition(": ")[2]
        frames += [f"#{len(calls)} {_FOLDER}/public/index.php(3): {called}", f"#{len(calls) + 1} {{main}}"]
    return form.text.replace("FRAMES", "\n".join(frames[::-1] if language in INNERMOST_LAST else frames))


def _java(_: int, call: Call) -> str:
    owner, method = call.parts
    file = call.path.rpartition("/")[2]
    method = "<init>" if owner.rpartition(".")[2] == method else method
    owner = owner or (file.partition(".")[0] + "Kt" if file.endswith(".kt") else "")
    qualified = ".".join(filter(None, (call.package, owner.replace(".", "$"), method)))
    return f"\tat {qualified}({file}:{call.line})"


def _javascript(_: int, call: Call) -> str:
    owner, last = (call.name.rpartition(".")[place] for place in (0, 2))
    name = f"new {owner}" if last == "constructor" else call.name
    return f"    at {name} ({call.place}:{call.line}:5)"


def _go(_: int, call: Call) -> str:
    owner, method = call.parts
    name = f"(*{owner}).{method}" if owner else method
    package = f"example.com/app/{call.path}".rpartition("/")[0]
    return f"{package}.{name}(0xc000010000)\n\t{call.place}:{call.line} +0x1d"


def _rust(number: int, call: Call) -> str:
    name = "::".join(filter(None, (*call.parts[0].split("."), call.parts[1])))
    return f"{number:4}: app::{name}\n             at {call.place}:{call.line}:9"


def _php(number: int, call: Call) -> str:
    owner, name = call.parts
    called = f"App\\{owner}->{name}()" if owner else f"{name}()"
    return f"#{number - 1} {call.place}({call.line}): {called}"


def _ruby(_: int, call: Call) -> str:
    owner, name = call.parts
    return f"\tfrom {call.place}:{call.line}:in '{owner.replace('.', '::')}{'#' if owner else 'Object#'}{name}'"


def _csharp(_: int, call: Call) -> str:
    owner, name = call.parts
    name = ".ctor" if owner.rpartition(".")[2] == name else name
    return f"   at App.{owner}.{name}(String value) in {call.place}:line {call.line}"


def _native(number: int, call: Call) -> str:
    name = "::".join(filter(None, (*call.parts[0].split("."), call.parts[1])))
    return f"#{number}  0x000055555555513d in {name} (value=1) at {call.place}:{call.line}"


def _swift(number: int, call: Call) -> str:
    name = ".".join(filter(None, call.parts))
    return f"    frame #{number}: 0x0000000100003f00 app`{name}() at {call.place}:{call.line}:5"


def _elixir(_: int, call: Call) -> str:
    return f"    (app 0.1.0) {call.path}:{call.line}: {'.'.join(filter(None, call.parts))}/1"


_JVM: Final = TraceForm(
    "java.lang.IllegalStateException: failed\nFRAMES",
    _java,
    "\tat java.base/java.util.Objects.requireNonNull(Objects.java:233)",
)
_SCRIPT: Final = TraceForm("TypeError: failed\nFRAMES", _javascript, "    at node:internal/errors:405:5")
_C: Final = TraceForm(
    "Program received signal SIGABRT, Aborted.\nFRAMES",
    _native,
    "#0  0x00007ffff7a42387 in raise (sig=6) at /build/glibc/raise.c:51",
)
FORMS: Final[Mapping[str, TraceForm]] = {
    "python": TraceForm(
        "Traceback (most recent call last):\nFRAMES\nRuntimeError: failed",
        lambda _, call: f'  File "{call.place}", line {call.line}, in {call.parts[1]}\n    {call.code}',
        '  File "/usr/lib/python3.11/decimal.py", line 1734, in __library__\n    raise error(explanation)',
    ),
    "java": _JVM,
    "kotlin": _JVM,
    "scala": _JVM,
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "go": TraceForm(
        "panic: failed\n\ngoroutine 1 [running]:\nFRAMES",
        _go,
        "panic({0x5a1e60, 0x6b8d20})\n\t/usr/local/go/src/runtime/panic.go:884 +0x212",
    ),
    "rust": TraceForm(
        "Error: failed\n\nStack backtrace:\nFRAMES",
        _rust,
        "   0: core::result::unwrap_failed\n             at /rustc/90c5/library/core/src/result.rs:1785:5",
    ),
    "php": TraceForm(
        "PHP Fatal error:  FRAMES",
        _php,
        "Uncaught RuntimeException: failed in /usr/share/php/Library/Check.php:233 Library\\Check->fail()",
        moves_names=True,
    ),
    "ruby": TraceForm("FRAMES", _ruby, "/usr/lib/ruby/3.4.0/json/common.rb:216:in 'JSON.parse': failed (RuntimeError)"),
    "csharp": TraceForm(
        "Unhandled exception. System.InvalidOperationException: failed\nFRAMES",
        _csharp,
        "   at System.ThrowHelper.Throw(String value) in /_/src/libraries/System/ThrowHelper.cs:line 30",
    ),
    "c": _C,
    "cpp": _C,
    "swift": TraceForm(
        "* thread #1, stop reason = Fatal error: failed\nFRAMES",
        _swift,
        "    frame #0: 0x00000001a0b0 libswiftCore.dylib`_assertionFailure() at /swift/stdlib/Assert.swift:144:5",
    ),
    "lua": TraceForm(
        "lua: failed\nstack traceback:\nFRAMES",
        lambda _, call: f"\t{call.place}:{call.line}: in function '{call.parts[1]}'",
        "\t/usr/share/lua/5.1/library.lua:12: in function 'check'",
    ),
    "elixir": TraceForm(
        "** (RuntimeError) failed\nFRAMES", _elixir, "    (elixir 1.15.0) lib/base.ex:12: Base.decode/1"
    ),
    "zig": TraceForm(
        "thread 4211 panic: failed\nFRAMES",
        lambda _, call: f"{call.place}:{call.line}:5: 0x1034a2 in {call.parts[1]} (app)\n    {call.code}\n    ^",
        "/usr/lib/zig/std/debug.zig:412:14: 0x1034a2 in assert (app)\n    if (!ok) unreachable;\n    ^",
    ),
}
"""Language -> how it prints traces."""
