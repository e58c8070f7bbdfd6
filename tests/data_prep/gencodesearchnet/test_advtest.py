"""AdvTest's names: by hand, against the bytecode of what they replace, and on real functions."""

import ast
import dis
import gzip
import json
import types
import warnings
from collections.abc import Iterator
from itertools import islice

import pytest

from data_prep.gencodesearchnet.advtest import advtest_drops, code_tokens, renamed
from tests.data_prep.gencodesearchnet.shared_data import shared

CASES = {
    "arguments of every kind, then variables": (
        "def total(a, /, b: int = LIMIT, *rest, c=0, **named) -> int:\n    d = a.b + b\n"
        "    return f(d, rest, c, named)",
        "def Func(arg_0, /, arg_1: int = LIMIT, *arg_2, arg_3=0, **arg_4) -> int:\n"
        "    arg_5 = arg_0.b + arg_1\n    return f(arg_5, arg_2, arg_3, arg_4)",
    ),
    "itself, its decorator, strings and comments": (
        '@total.setter\ndef total(self, n):\n    """total of n"""\n    x = "n"  # n of x\n'
        "    return total(self.n, n - 1) if x else self.total",
        '@total.setter\ndef Func(arg_0, arg_1):\n    """total of n"""\n    arg_2 = "n"  # n of x\n'
        "    return Func(arg_0.n, arg_1 - 1) if arg_2 else arg_0.total",
    ),
    "globals, builtins and imports": (
        "def f(x):\n    global state\n    import numpy as np, os.path\n    from re import sub\n"
        "    state = len(x) + np.sum(x) + os.name\n    return sub(state)",
        "def Func(arg_0):\n    global state\n    import numpy as np, os.path\n    from re import sub\n"
        "    state = len(arg_0) + np.sum(arg_0) + os.name\n    return sub(state)",
    ),
    "an imported name that is its own": (
        "def f(x):\n    from m import f\n    return f(x)",
        "def Func(arg_0):\n    from m import f\n    return f(arg_0)",
    ),
    "a global that is itself": (
        "def f(f2):\n    global g, f\n    f = g(f2)\n    def h():\n        global f2\n        return f2, f",
        "def Func(arg_0):\n    global g, Func\n    Func = g(arg_0)\n"
        "    def arg_1():\n        global f2\n        return f2, Func",
    ),
    "every way to bind": (
        "def f(s):\n    for i, (j, *k) in s: pass\n    with s as w, s as (v, u): pass\n    try: pass\n"
        "    except (s, E) as e: del e\n    if (y := 1): z: int\n    t += 1\n    import m\n"
        "    s[i].k, s.x = 1, 2",
        "def Func(arg_0):\n    for arg_1, (arg_2, *arg_3) in arg_0: pass\n"
        "    with arg_0 as arg_4, arg_0 as (arg_5, arg_6): pass\n    try: pass\n"
        "    except (arg_0, E) as arg_7: del arg_7\n    if (arg_8 := 1): arg_9: int\n    arg_10 += 1\n"
        "    import m\n    arg_0[arg_1].k, arg_0.x = 1, 2",
    ),
    "patterns": (
        "def f(s):\n    match s:\n        case {'s': a, **r}: pass\n"
        "        case [P(a=1, b=b), *c] as d: pass\n        case Q.s | _: pass",
        "def Func(arg_0):\n    match arg_0:\n        case {'s': arg_1, **arg_2}: pass\n"
        "        case [P(a=1, b=arg_3), *arg_4] as arg_5: pass\n        case Q.s | _: pass",
    ),
    "nested functions": (
        "def f(x):\n    n = 0\n    def step(y, x=x):\n        nonlocal n\n        n += y\n"
        "        return step(x) + f(y)\n    return lambda z: step(z, x)",
        "def Func(arg_0):\n    arg_1 = 0\n    def arg_2(arg_3, arg_0=arg_0):\n        nonlocal arg_1\n"
        "        arg_1 += arg_3\n        return arg_2(arg_0) + Func(arg_3)\n"
        "    return lambda arg_4: arg_2(arg_4, arg_0)",
    ),
    "a variable of a nested function is no variable outside": (
        "def f():\n    def g(k):\n        return k\n    return g(k)",
        "def Func():\n    def arg_0(arg_1):\n        return arg_1\n    return arg_0(k)",
    ),
    "comprehensions": (
        "def f(xs):\n    ys = [x + k for x in x for k in xs if x]\n"
        "    return {x: (last := x) for x in ys}, last, sum(i for i in ys)",
        "def Func(arg_0):\n    arg_1 = [arg_2 + arg_3 for arg_2 in x for arg_3 in arg_0 if arg_2]\n"
        "    return {arg_2: (arg_4 := arg_2) for arg_2 in arg_1}, arg_4, sum(arg_5 for arg_5 in arg_1)",
    ),
    "a class's names are attributes": (
        "def f(x):\n    class A(x, meta=x):\n        y = x\n        def m(self):\n            return y, A, x\n"
        "        z = y\n    return A",
        "def Func(arg_0):\n    class arg_1(arg_0, meta=arg_0):\n        y = arg_0\n        def m(arg_2):\n"
        "            return y, arg_1, arg_0\n        z = y\n    return arg_1",
    ),
    "an f-string's variables stay": (
        'def f(x, y, w):\n    return f"{x:{w}} and {y!r}", x, [y for y in x], (lambda x: x)',
        'def Func(x, y, w):\n    return f"{x:{w}} and {y!r}", x, [y for y in x], (lambda x: x)',
    ),
    "a name that is taken": (
        "def f(a, b):\n    return arg_0 + a + b",
        "def Func(arg_1, arg_2):\n    return arg_0 + arg_1 + arg_2",
    ),
    "letters of more bytes, and line ends": (
        "async def f(größe):\r\n\tß = 'ä'; größe = ß + größe; return 'ö', ß\r\n",
        "async def Func(arg_0):\n\targ_1 = 'ä'; arg_0 = arg_1 + arg_0; return 'ö', arg_1\n",
    ),
    "letters that Python reads as others": (
        "def ﬁx(ﬁt):\n    return fix(fit)",
        "def Func(arg_0):\n    return Func(arg_0)",
    ),
    "def and its name on two lines": (
        "def \\\n  f(x): return f(x)",
        "def \\\n  Func(arg_0): return Func(arg_0)",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_names_are_replaced(case: str) -> None:
    source, expected = CASES[case]
    assert renamed(source) == expected
    assert renamed(expected) == expected


def test_a_calls_keyword_stays_unless_asked_for() -> None:
    source = "def save(path, mode):\n    data = 1\n    return write(data, path=path, mode=mode, size=data)"
    kept = "def Func(arg_0, arg_1):\n    arg_2 = 1\n    return write(arg_2, path=arg_0, mode=arg_1, size=arg_2)"
    assert renamed(source) == kept
    assert renamed(source, keywords=True) == kept.replace("path=", "arg_0=").replace("mode=", "arg_1=")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(:", "that parses"),
        ("print 1", "that parses"),
        ("def f():\n\tx\n        y", "that parses"),
        ("def f(): '\0'", "that parses"),
        ("def f(): return " + "(" * 3_000 + ")" * 3_000, "that parses"),
        ("", r"one Python function, not 0 statements"),
        ("x = 1", r"one Python function, not 1 statements \(Assign\)"),
        ("def f(): pass\ndef g(): pass", r"not 2 statements \(FunctionDef, FunctionDef\)"),
        ("class A:\n    def f(self): pass", r"not 1 statements \(ClassDef\)"),
    ],
)
def test_what_is_no_function_is_refused(source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        renamed(source)
    assert (advtest_drops("", 3, source) is None) == ("parses" not in message)


@pytest.mark.parametrize(
    ("documentation", "source", "reason"),
    [
        ("Sum of all", "x = 1", None),
        ("word " * 256, "x = '\\d'", None),
        ("Sum it", "x = 1", "documentation under 3 words"),
        ("word " * 257, "x = 1", "documentation over 256 words"),
        ("See http://example.org for it.", "x = 1", "documentation with an image or a link"),
        ('Shows <IMG src="a.png"> here.', "x = 1", "documentation with an image or a link"),
        ("Größe einer Liste.", "x = 1", "non-English documentation"),
        ("Sum of all", "def f(:", "code that does not parse"),
        ("Sum of all", "x = '\0'", "code that does not parse"),
        ("Sum of all", "-" * 100_000 + "x", "code that does not parse"),
    ],
)
def test_what_advtest_drops(documentation: str, source: str, reason: str | None) -> None:
    assert advtest_drops(documentation, len(documentation.split()), source) == reason


def test_tokens_are_without_documentation_and_layout() -> None:
    source = '@d\ndef f(a="x", *b):\n    r"""Doc\n    more""" " end"\n    #why\n    return [\n        a, "y"\n    ]\n'
    assert " ".join(code_tokens(source)) == '@ d def f ( a = "x" , * b ) : #why return [ a , "y" ]'
    assert " ".join(code_tokens('def f(a="x"): "doc"; return "y"')) == 'def f ( a = "x" ) : ; return "y"'
    assert code_tokens("def f(): return f'{x:>{y}} z' + rb'y'")[-3:] == ["f'{x:>{y}} z'", "+", "rb'y'"]
    assert code_tokens("def f(): 'y'.z()") == ["def", "f", "(", ")", ":", "'y'", ".", "z", "(", ")"]


def real_functions() -> Iterator[str]:
    name = "code_docstring/repo_split_valid.jsonl.gz"
    with gzip.open(shared(name) / name, "rt", encoding="utf-8") as lines:
        codes = (json.loads(line)["code"] for line in islice(lines, 0, None, 24))
        yield from (code for code in codes if advtest_drops("", 3, code) is None)


def test_real_functions_compute_what_they_did() -> None:
    compared = 0
    for source in real_functions():
        new = renamed(source)
        assert renamed(new) == new
        compared += same_bytecode(source, new)
    assert compared > 125


def same_bytecode(source: str, new: str) -> bool:
    before, after = compiled(source), compiled(new)
    if before is None or "    class " in source:  # a class's name is a constant too
        return False
    names: dict[str, str] = {}
    for one, other in zip(steps(before), steps(after), strict=True):
        kind, argument = one
        assert kind == other[0]
        if kind == "variable":
            assert names.setdefault(argument, other[1]) == other[1], source
        elif kind == "global" and argument == function_name(source):
            assert other[1] == "Func"
        else:
            assert argument == other[1], source
    assert len(set(names.values())) == len(names)
    return True


def compiled(source: str) -> types.CodeType | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            code = compile(source, "x", "exec", optimize=2)
        except SyntaxError:  # parses, but for instance returns a value from an asynchronous generator
            return None
    return next(part for part in code.co_consts if isinstance(part, types.CodeType))


def function_name(source: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source).body[0].name  # type: ignore[attr-defined]


def steps(code: types.CodeType) -> Iterator[tuple[str, object]]:
    """What the interpreter does, without what orders variables by their names."""
    for step in dis.get_instructions(code):
        if step.opname in ("MAKE_CELL", "COPY_FREE_VARS", "LOAD_CLOSURE"):
            continue
        if isinstance(step.argval, types.CodeType):
            yield from steps(step.argval)
        elif "FAST" in step.opname or "DEREF" in step.opname:
            yield "variable", step.argval
        elif step.opname == "LOAD_GLOBAL":
            yield "global", step.argval
        else:
            yield step.opname, step.argval
