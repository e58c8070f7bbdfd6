"""Real stack traces of each format, read."""

import os
import subprocess
import sys

import pytest
from failing_programs import GO_TRACE, java_trace, javascript_trace, python_trace

from data_prep.traces.trace import MOST_FRAMES, TOP, read_trace


def names(error):
    return [frame.name for frame in error.frames]


def test_python_with_causes_and_repeated_frames(tmp_path):
    trace = read_trace(python_trace(tmp_path))
    assert (trace.language, trace.innermost_last) == ("python", True)
    first, second, third = trace.errors
    assert first.error == "json.decoder.JSONDecodeError"
    assert names(first)[:2] == ["load_all", "load"]
    assert names(first)[-1] == "raw_decode"
    assert "inner" in names(first)
    assert (second.error, second.message, second.relation) == (
        "RuntimeError",
        "cannot load the settings",
        "raised from",
    )
    assert names(second) == ["main", "", "load_all"]  # a lambda has no name
    assert second.frames[1].code == "run = lambda: store.load_all()"
    assert (third.error, third.relation, third.left_out) == ("ZeroDivisionError", "raised in handling", 18)
    assert names(third) == [TOP, "main", "repeat", "repeat", "repeat"]
    assert third.frames[0].path == f"{tmp_path}/main.py"
    assert third.frames[0].line == 12


def test_python_of_groups_and_of_faulthandler(tmp_path):
    code = "def f():\n    raise ExceptionGroup('both', [ValueError('first'), KeyError('second')])\nf()\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    error, *members = read_trace(done.stderr).errors
    assert error.error == "ExceptionGroup"
    assert "both" in error.message
    told = [(each.error, each.message, each.relation, list(each.frames)) for each in members]
    assert told == [("ValueError", "first", "grouped", []), ("KeyError", "'second'", "grouped", [])]
    assert names(error) == [TOP, "f"]
    (tmp_path / "a.py").write_text("import faulthandler, sys\ndef f():\n    faulthandler.dump_traceback()\nf()\n")
    done = subprocess.run([sys.executable, str(tmp_path / "a.py")], capture_output=True, text=True, check=False)
    trace = read_trace(done.stderr)
    assert not trace.innermost_last
    assert names(trace.errors[0]) == ["f", TOP]


IPYTHON = """\
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[3], line 1
----> 1 helper(2)

File ~/shop/app/tools.py:12, in helper(x)
     10 def helper(x):
     11     y = x
---> 12     raise ValueError(x)

ValueError: bad value
"""
OLD_IPYTHON = """\
TypeError                                 Traceback (most recent call last)
<ipython-input-1-5d> in <module>()
----> 1 helper(2)

/home/me/shop/app/tools.py in helper(x)
     11     y = x
---> 12     raise TypeError(x)

TypeError: bad value
"""


@pytest.mark.parametrize(("text", "error"), [(IPYTHON, "ValueError"), (OLD_IPYTHON, "TypeError")])
def test_ipython(text, error):
    (found,) = read_trace(text).errors
    assert (found.error, found.message) == (error, "bad value")
    cell, frame = found.frames
    assert cell.code == "helper(2)"
    assert frame.path.endswith("shop/app/tools.py")
    assert (frame.line, frame.name, frame.code) == (12, "helper", f"raise {error}(x)")


@pytest.mark.parametrize("style", ["long", "short"])
def test_pytest(tmp_path, style):
    (tmp_path / "shop.py").write_text("def pay(amount):\n    raise ValueError('no money')\n")
    (tmp_path / "test_shop.py").write_text("from shop import pay\n\ndef test_pay():\n    pay(3)\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--tb={style}", "."]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False)
    (error,) = read_trace(done.stdout).errors
    assert (error.error, error.message) == ("ValueError", "no money")
    assert [(frame.path, frame.line) for frame in error.frames] == [("test_shop.py", 4), ("shop.py", 2)]
    assert [frame.code for frame in error.frames] == ["pay(3)", "raise ValueError('no money')"]


def test_a_trace_in_a_log_with_prefixes_and_colours(tmp_path):
    plain = python_trace(tmp_path)
    logged = "".join(f"web_1  | \x1b[31m{line}\x1b[0m\r\n" for line in plain.splitlines())
    assert read_trace(f"web_1  | starting\n{logged}") == read_trace(plain)


def test_java_with_causes_and_suppressed_errors(tmp_path):
    trace = read_trace(java_trace(tmp_path))
    assert (trace.language, trace.innermost_last) == ("java", False)
    first, cause, suppressed = trace.errors
    assert (first.error, first.message, first.relation) == ("java.lang.RuntimeException", "wrapped", "")
    assert names(first)[:3] == ["Machine.outer", "Machine.go", "Machine.main"]
    assert (cause.error, cause.relation) == ("java.lang.ArithmeticException", "caused by")
    assert names(cause)[:3] == ["Machine.Machine", "Iterable.forEach", "Machine.Machine"]  # a lambda; a constructor
    assert cause.frames[1].path == "java/lang/Iterable.java"
    assert (suppressed.relation, names(suppressed)[0]) == ("suppressed", "Machine.Resource.close")
    assert suppressed.left_out > 0


def test_java_as_loggers_print_it():
    text = """12:00 ERROR c.a.Shop - Started
Something failed
com.acme.ShopException: no money
for this
\tat com.acme.Shop$Desk.lambda$pay$0(Shop.java:12) ~[classes/:na]
\tat app//com.acme.Shop.<clinit>(Shop.java:3) [shop-1.0.jar:na]
\tat com.acme.Shop$1.run(Unknown Source)
\t... 12 common frames omitted
"""
    (error,) = read_trace(text).errors
    assert (error.error, error.message, error.left_out) == ("com.acme.ShopException", "no money for this", 12)
    assert names(error) == ["Shop.Desk.pay", "Shop", "Shop.run"]
    assert [frame.path for frame in error.frames] == ["com/acme/Shop.java"] * 3


def test_javascript_of_node(tmp_path):
    trace = read_trace(javascript_trace(tmp_path))
    assert (trace.language, trace.innermost_last) == ("javascript", False)
    first, cause = trace.errors
    assert (first.error, first.message) == ("TypeError", "outer second")
    assert names(first)[0] == "go"
    assert first.frames[0].path == f"{tmp_path}/lib/runner.mjs"
    assert (cause.error, cause.relation) == ("TypeError", "caused by")
    assert names(cause)[:5] == ["", "Array.map", "Runner.step", "Runner.start", "go"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    at new Store (C:\\shop\\src\\store.js:10:5)", ("C:/shop/src/store.js", 10, "Store.constructor")),
        ("    at Object.load [as run] (webpack:///./src/store.ts?a1b2:7:3)", ("/./src/store.ts", 7, "load")),
        ("    at async Promise.all (index 0)", None),
        ("    at http://localhost:3000/static/app.js?v=3:1:20", ("/static/app.js", 1, "")),
        ("Store.prototype.load/<@http://localhost/src/store.js:12:9", ("/src/store.js", 12, "Store.load")),
        ("async*run@file:///home/me/app.mjs:3:1", ("/home/me/app.mjs", 3, "run")),
        ("mail@example.org:22", None),
    ],
)
def test_lines_of_browsers_and_of_bundles(line, expected):
    trace = read_trace(f"TypeError: no\n{line}\n")
    found = [(frame.path, frame.line, frame.name) for frame in trace.frames] if trace else [None]
    assert found == [expected]


def test_go():
    trace = read_trace(GO_TRACE)
    assert (trace.language, trace.innermost_last) == ("go", False)
    first, other = trace.errors
    assert first.error == "panic"
    assert first.message.startswith("runtime error: index out of range [5]")
    assert names(first) == ["Server.Start", "Server.Start", "Map", "serve", "main"]
    assert first.frames[0].package == "example.com/shop/web"
    assert (other.error, other.message, other.left_out) == ("goroutine", "chan receive, 2 minutes", 3)
    assert names(other) == ["gopark", "serve"]


@pytest.mark.parametrize("text", ["", "x = 1\n", "plain words: at home (now)", "const at = f(a.b:1)", "E   x\n"])
def test_what_is_no_trace(text):
    assert read_trace(text) is None


def test_hostile_texts_take_no_time():
    for part in (
        ' File "',
        "at a.b(",
        " at a.b(c:1",
        "bei a.b(c) in d.e:f 1 ",
        "at " * 10,
        "@" * 50,
        "| + " * 20,
        "[3" * 30,
        'File "a", line 9, in f\n',
    ):
        read_trace(part * (200_000 // len(part)))
        read_trace("\n".join([part * 300] * 40))


def test_a_long_trace_loses_the_middle_of_its_frames():
    text = "Traceback (most recent call last):\n" + "".join(
        f'  File "a.py", line {n}, in f{n}\n' for n in range(1, 5000)
    )
    (error,) = read_trace(f"{text}ValueError: x\n").errors
    assert len(error.frames) == MOST_FRAMES
    assert error.left_out == 4999 - MOST_FRAMES
    assert (error.frames[0].name, error.frames[-1].name) == ("f1", "f4999")


OTHERS = [
    (
        "1) CartTest::testTotal\nShop\\PriceException: no rate\n\n/srv/src/Cart.php:18\n/srv/tests/CartTest.php:12\n",
        ("php", "Shop\\PriceException", "no rate", ["Cart.php:18", "CartTest.php:12"]),
    ),
    (
        "PHP Fatal error:  Uncaught exception 'Oops' with message 'no' in /srv/a.php:3\nStack trace:\n#0 {main}\n",
        ("php", "Oops", "no", ["a.php:3 <module>"]),
    ),
    (
        "[1] shop.ERROR: Shop\\NoPrice: no rate in /srv/a.php:3\nStack trace:\n#0 /srv/b.php(4): Shop\\Cart::of(1)\n",
        ("php", "Shop\\NoPrice", "no rate", ["a.php:3 Shop.Cart.of", "b.php:4"]),
    ),
    (
        "Shop\\PriceException: no rate in /srv/a.php:3\nStack trace:\n#0 /srv/b.php(4): Shop\\Cart::of(Array)\n",
        ("php", "Shop\\PriceException", "no rate", ["a.php:3 Shop.Cart.of", "b.php:4"]),
    ),
    (
        "NullReferenceException: no cart\n  at Shop.Cart.Total () [0x00001] in /src/Cart.cs:14\n"
        "Shop.Till:Pay (System.Int32 id) (at Assets/Till.cs:8)\n",
        ("csharp", "NullReferenceException", "no cart", ["Cart.cs:14 Shop.Cart.Total", "Till.cs:8 Shop.Till.Pay"]),
    ),
    (
        "shop: src/Cart.hs:(14,1)-(16,20): Non-exhaustive patterns in function total\n",
        ("haskell", "", "Non-exhaustive patterns in function total", ["Cart.hs:14"]),
    ),
    (
        "* thread #1, stop reason = signal SIGSEGV\n  * frame #0: 0x01 shop`total(c=0x0) at cart.c:14:5\n",
        ("c", "signal", "SIGSEGV", ["cart.c:14 total"]),
    ),
    (
        "terminate called after throwing an instance of 'std::out_of_range'\n  what():  map::at\n"
        "#1  0x01 in main () at cart.cpp:9\n",
        ("cpp", "std::out_of_range", "what():  map::at", ["cart.cpp:9 main"]),
    ),
    (
        "E5108: Error executing lua: ...vim/lua/shop/cart.lua:11: no rate\nstack traceback:\n"
        "\t...vim/lua/shop/cart.lua:11: in function 'total'\n",
        ("lua", "", "no rate", ["cart.lua:11 total"]),
    ),
    (
        'Traceback (most recent call last): File "/a/till.py", line 9, in pay x = total(c) '
        'File "/a/cart.py", line 5, in total return int(c) ValueError: no rate',
        ("python", "ValueError", "no rate", ["till.py:9 pay", "cart.py:5 total"]),
    ),
    (
        "shop.PriceException: no rate at shop.Cart.total(Cart.java:14) at shop.Till.pay(Till.java:8) ... 2 more\n",
        ("java", "shop.PriceException", "no rate", ["Cart.java:14 Cart.total", "Till.java:8 Till.pay"]),
    ),
    (
        "RangeError: no rate at Cart.total (/a/cart.js:14:5) at async pay (/a/till.js:8:3)\n",
        ("javascript", "RangeError", "no rate", ["cart.js:14 Cart.total", "till.js:8 pay"]),
    ),
    (
        "System.ArgumentException: no rate at Shop.Cart.Total(Int32 n) in /a/Cart.cs:line 14 at Shop.Till.Pay()\n",
        ("csharp", "System.ArgumentException", "no rate", ["Cart.cs:14 Shop.Cart.Total", ":0 Shop.Till.Pay"]),
    ),
    (
        "System.ArgumentException: kein Preis\n   bei Shop.Cart.Total(Int32 n) in C:\\a\\Cart.cs:Zeile 14.\n",
        ("csharp", "System.ArgumentException", "kein Preis", ["Cart.cs:14 Shop.Cart.Total"]),
    ),
    (
        "Assertion failed: n > 0, file C:\\a\\cart.cpp, line 14\n",
        ("cpp", "assertion", "n > 0", ["cart.cpp:14"]),
    ),
    ("./cart.sh: 4: foo: not found\n", ("bash", "", "foo: not found", ["cart.sh:4"])),
    (
        "** (CompileError) lib/cart.ex:14: undefined function f/0\n",
        ("elixir", "CompileError", "undefined function f/0", ["cart.ex:14"]),
    ),
    (
        "error: undefined variable\n  └─ lib/cart.ex:14:5: Shop.Cart.total/1\n",
        ("elixir", "", "", ["cart.ex:14 Shop.Cart.total"]),
    ),
]


@pytest.mark.parametrize(("text", "expected"), OTHERS)
def test_other_printers_of_more_languages(text, expected):
    trace = read_trace(text)
    error = trace.errors[0]
    frames = [f"{each.path.rpartition('/')[2]}:{each.line} {each.name}".strip() for each in error.frames]
    assert (trace.language, error.error, error.message, frames) == expected
    assert trace.unread == 0
