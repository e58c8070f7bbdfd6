"""What compilers, linters and test runners print leads to the files and lines that it names."""

import io
import json
import sys

import pytest
from repositories import write

from cli.main import main
from data_prep.traces.trace import read_trace, trace_in

BODIES = {
    "py": "def total(rates):\n    return sum(rates)\n\n\ndef test_total():\n    assert total([1]) == 2\n",
    "ts": "export function total(rates: number[]) {\n  const x = 1;\n  return rates.length;\n}\n",
    "js": "function total(rates) {\n  const x = 1;\n  return rates.length;\n}\n",
    "vue": "<script>\nfunction total(rates) {\n  return rates.length;\n}\n</script>\n",
    "java": "class Cart {\n  int total(int[] rates) {\n    return foo();\n  }\n}\n",
    "kt": "fun total(rates: List<Int>): Int {\n  return foo()\n}\n",
    "scala": "object Cart {\n  def total(rates: List[Int]): Int = {\n    foo\n  }\n}\n",
    "go": "func total(rates []int) int {\n\treturn foo\n}\n",
    "c": "int total(int *rates)\n{\n    return rate(rates);\n}\n",
    "cpp": "int total(int *rates)\n{\n    return rate(rates);\n}\n",
    "cs": "class Cart {\n  int Total() {\n    return foo;\n  }\n}\n",
    "rs": "fn total(rates: &[i32]) -> i32 {\n    foo\n}\n",
    "rb": "class CartTest\n  def test_total\n    assert_equal 2, 1\n  end\nend\n",
    "php": "function total() {\n  return foo();\n}\n",
    "swift": "func total() -> Int {\n  return foo\n}\n",
    "hs": "total :: Int -> Int\ntotal rates =\n  foo rates\n",
    "zig": "fn total() i32 {\n    return foo;\n}\n",
    "sh": "total() {\n  echo $x\n}\n",
    "lua": "function total(rates)\n  return x\nend\n",
    "exs": 'defmodule CartTest do\n  test "adds" do\n    assert 1 == 2\n  end\nend\n',
    "R": "total <- function(x) {\n  foo(x)\n}\n",
}
BEGIN = {"py": "#", "rb": "#", "sh": "#", "exs": "#", "R": "#", "hs": "--", "lua": "--", "php": "<?php\n//"}
PATHS = (
    "src/cart.py", "tests/test_cart.py", "src/cart.ts", "src/cart.js", "src/Cart.vue", "src/Cart.java", "src/Cart.kt",
    "src/Cart.scala", "pkg/cart.go", "pkg/cart_test.go", "src/cart.c", "src/cart.h", "tests/cart_test.cpp",
    "src/Cart.cs", "src/cart.rs", "test/cart_test.rb", "tests/CartTest.php", "Sources/Shop/Cart.swift",
    "Tests/ShopTests/CartTests.swift", "src/Cart.hs", "src/cart.zig", "deploy.sh", "src/cart.lua",
    "test/cart_test.exs", "R/cart.R",
)  # fmt: skip
WORDS = "error warning undefined foo cannot find symbol unused variable not found value test failed expected undeclared"
DECOYS = {f"lib/{word}.py": f'def {word}():\n    """{WORDS}."""\n    return "{WORDS}"\n' for word in WORDS.split()}


def source(path):
    """Code whose line 12 is inside of a function."""
    suffix = path.rpartition(".")[2]
    body = BODIES["c" if suffix == "h" else suffix]
    begin = BEGIN.get(suffix, "//")
    first, lines = begin.rpartition("\n")[::2] if "\n" in begin else ("", begin)
    names = (
        ("test_total",)
        if path.startswith("tests/test_")
        else ("total rates =", "total <-", "total(", "Total(", "def t", '"adds"')
    )
    head = next(number for number, line in enumerate(body.splitlines()) if any(map(line.count, names)))
    between = "const one = 1;" if suffix == "vue" else f"{lines} cart"
    return f"{first}\n" * bool(first) + f"{between}\n" * (10 - head - bool(first)) + body


OUTPUTS = {
    "tsc": ("src/cart.ts", "src/cart.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.\n"),
    "tsc pretty": (
        "src/cart.ts",
        "\x1b[96msrc/cart.ts\x1b[0m:\x1b[93m12\x1b[0m:\x1b[93m5\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0m"
        "Type 'string' is not assignable to type 'number'.\n\n\x1b[7m12\x1b[0m     x = 1\n\x1b[7m  \x1b[0m     ~\n\n"
        "Found 1 error in src/cart.ts:12\n",
    ),
    "tsc two": (
        "src/cart.ts",
        "src/cart.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.\n"
        "src/cart.js(1,2): error TS7006: Parameter 'rates' implicitly has an 'any' type.\n",
    ),
    "vue-tsc": ("src/Cart.vue", "src/Cart.vue(12,5): error TS2339: Property 'x' does not exist on type '{}'.\n"),
    "javac": (
        "src/Cart.java",
        "src/Cart.java:12: error: cannot find symbol\n        foo();\n        ^\n  symbol:   method foo()\n"
        "  location: class Cart\n1 error\n",
    ),
    "maven": (
        "src/Cart.java",
        "[INFO] -------------------------------------------------------------\n[ERROR] COMPILATION ERROR : \n"
        "[INFO] -------------------------------------------------------------\n"
        "[ERROR] /home/a/shop/src/Cart.java:[12,9] cannot find symbol\n  symbol:   method foo()\n[INFO] 1 error\n",
    ),
    "kotlinc": ("src/Cart.kt", "e: file:///home/a/src/Cart.kt:12:5 Unresolved reference: foo\n"),
    "kotlinc old": (
        "src/Cart.kt",
        "> Task :compileKotlin FAILED\ne: /home/a/src/Cart.kt: (12, 5): Unresolved reference: foo\n",
    ),
    "scalac": (
        "src/Cart.scala",
        "[error] /home/a/src/Cart.scala:12:5: not found: value foo\n[error]     foo\n[error]     ^\n"
        "[error] one error found\n",
    ),
    "scala 3": (
        "src/Cart.scala",
        "-- [E006] Not Found Error: src/Cart.scala:12:4 -----\n12 |    foo\n   |    ^^^\n   |    Not "
        "found: foo\n1 error found\n",
    ),
    "go build": ("pkg/cart.go", "# example.com/shop/pkg\npkg/cart.go:12:9: undefined: foo\n"),
    "go vet": ("pkg/cart.go", "# example.com/shop/pkg\nvet: ./cart.go:12:9: undefined: foo\n"),
    "go test": (
        "pkg/cart_test.go",
        "--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: total() = 1, want 2\nFAIL\nexit status 1\n"
        "FAIL\texample.com/shop/pkg\t0.002s\n",
    ),
    "golangci-lint": (
        "pkg/cart.go",
        "pkg/cart.go:12:2: ineffectual assignment to x (ineffassign)\n\tx := 1\n\t^\n1 issues:\n* ineffassign: 1\n",
    ),
    "gcc": (
        "src/cart.c",
        "src/cart.c: In function 'total':\nsrc/cart.c:12:5: warning: unused variable 'x' [-Wunused-variable]\n"
        "   12 |     int x;\n      |         ^\n",
    ),
    "gcc include": (
        "src/cart.h",
        "In file included from src/cart.c:1:\nsrc/cart.h:12:10: fatal error: rates.h: No such file or directory\n"
        "   12 | #include <rates.h>\n      |          ^~~~~~~~~\ncompilation terminated.\n",
    ),
    "ld": (
        "src/cart.c",
        "/usr/bin/ld: /tmp/ccX.o: in function `total':\n/home/a/src/cart.c:12: undefined reference to `rate'\n"
        "collect2: error: ld returned 1 exit status\n",
    ),
    "ld without lines": (
        "src/cart.c",
        "/usr/bin/ld: /tmp/ccX.o: in function `total':\ncart.c:(.text+0x9): undefined reference to `rate'\n"
        "collect2: error: ld returned 1 exit status\n",
    ),
    "lld": (
        "src/cart.c",
        "ld.lld: error: undefined symbol: rate\n>>> referenced by cart.c:12 (src/cart.c:12)\n"
        ">>>               build/cart.o:(total)\n",
    ),
    "clang-tidy": (
        "tests/cart_test.cpp",
        "/home/a/tests/cart_test.cpp:12:5: warning: use nullptr [modernize-use-nullptr]\n    int *x = "
        "0;\n             ^\n",
    ),
    "msvc": ("tests/cart_test.cpp", "C:\\a\\tests\\cart_test.cpp(12): error C2065: 'foo': undeclared identifier\n"),
    "msbuild": (
        "src/Cart.cs",
        "  1>C:\\a\\src\\Cart.cs(12,5): error CS0103: The name 'foo' does not exist in the current "
        "context [C:\\a\\Shop.csproj]\n",
    ),
    "dotnet build": (
        "src/Cart.cs",
        "/home/a/src/Cart.cs(12,5): error CS1002: ; expected [/home/a/Shop.csproj]\n\nBuild FAILED.\n",
    ),
    "dotnet test": (
        "src/Cart.cs",
        "  Failed Shop.CartTests.Total [12 ms]\n  Error Message:\n   Assert.Equal() Failure\n  Stack Trace:\n"
        "     at Shop.Cart.Total() in /home/a/src/Cart.cs:line 12\n",
    ),
    "mypy": (
        "src/cart.py",
        "src/cart.py:12: error: Incompatible return value type  [return-value]\nFound 1 error in 1 file\n",
    ),
    "pyright": (
        "src/cart.py",
        '/home/a/src/cart.py\n  /home/a/src/cart.py:12:5 - error: "x" is not defined (reportUndefinedVariable)\n'
        "1 error, 0 warnings, 0 informations\n",
    ),
    "flake8": ("src/cart.py", "src/cart.py:12:5: F841 local variable 'x' is assigned to but never used\n"),
    "pylint": (
        "src/cart.py",
        "************* Module cart\nsrc/cart.py:12:4: W0612: Unused variable 'x' (unused-variable)\n",
    ),
    "ruff": (
        "src/cart.py",
        "src/cart.py:12:5: F841 [*] Local variable `x` is assigned to but never used\nFound 1 error.\n",
    ),
    "ruff full": (
        "src/cart.py",
        "F841 Local variable `x` is assigned to but never used\n  --> src/cart.py:12:5\n   |\n12 |     x "
        "= 1\n   |     ^\n",
    ),
    "eslint": (
        "src/cart.js",
        "\n/home/a/src/cart.js\n  12:5  error  'x' is assigned a value but never used  no-unused-vars\n\n"
        "✖ 1 problem (1 error, 0 warnings)\n",
    ),
    "next lint": (
        "src/cart.ts",
        "./src/cart.ts\n12:5  Warning: 'x' is assigned a value but never used.  @typescript-eslint/no-unused-vars\n",
    ),
    "eslint unix": (
        "src/cart.js",
        "/home/a/src/cart.js:12:5: 'x' is assigned a value but never used. [Error/no-unused-vars]\n\n1 problem\n",
    ),
    "shellcheck": (
        "deploy.sh",
        "\nIn deploy.sh line 12:\n  echo $x\n       ^-- SC2086 (info): Double quote to prevent globbing.\n",
    ),
    "shellcheck gcc": ("deploy.sh", "deploy.sh:12:8: note: Double quote to prevent globbing. [SC2086]\n"),
    "bash": ("deploy.sh", "deploy.sh: line 12: syntax error near unexpected token `)'\n"),
    "rustc": (
        "src/cart.rs",
        "error[E0425]: cannot find value `foo` in this scope\n  --> src/cart.rs:12:5\n   |\n12 |     "
        "foo\n   |     ^^^\n",
    ),
    "rustc warning": (
        "src/cart.rs",
        "warning: unused variable: `rates`\n  --> src/cart.rs:12:10\n   |\n12 |     foo\n   |     ^^^\n",
    ),
    "cargo test": (
        "src/cart.rs",
        "---- tests::adds stdout ----\n\nthread 'tests::adds' (471) panicked at "
        "src/cart.rs:12:9:\nassertion failed: a\n",
    ),
    "minitest": (
        "test/cart_test.rb",
        "  1) Failure:\nCartTest#test_total [test/cart_test.rb:12]:\nExpected: 2\n  Actual: 1\n",
    ),
    "rubocop": (
        "test/cart_test.rb",
        "test/cart_test.rb:12:5: W: [Correctable] Lint/UselessAssignment: Useless assignment to variable "
        "- x.\n    x = 1\n",
    ),
    "ruby": ("test/cart_test.rb", "test/cart_test.rb:12: syntax error, unexpected end-of-input\n"),
    "xctest": (
        "Tests/ShopTests/CartTests.swift",
        "/home/a/Tests/ShopTests/CartTests.swift:12: error: -[ShopTests.CartTests testTotal] : XCTAssertEqual failed: "
        '("1") is not equal to ("2")\nTest Case \'-[ShopTests.CartTests testTotal]\' failed (0.1 seconds).\n',
    ),
    "swiftc": (
        "Sources/Shop/Cart.swift",
        "/home/a/Sources/Shop/Cart.swift:12:10: error: cannot find 'foo' in scope\n  return foo\n         ^~~\n",
    ),
    "swiftc warning": (
        "Sources/Shop/Cart.swift",
        "/home/a/Sources/Shop/Cart.swift:12:7: warning: initialization of immutable value 'x' was never used\n",
    ),
    "catch2": (
        "tests/cart_test.cpp",
        "adds\n-----------\n/home/a/tests/cart_test.cpp:3\n...........\n\n/home/a/tests/cart_test.cpp:12: FAILED:\n"
        "  REQUIRE( total() == 2 )\nwith expansion:\n  1 == 2\n",
    ),
    "googletest": (
        "tests/cart_test.cpp",
        "[ RUN      ] CartTest.Adds\n/home/a/tests/cart_test.cpp:12: Failure\nExpected equality of these values:\n"
        "  total()\n    Which is: 1\n  2\n[  FAILED  ] CartTest.Adds (0 ms)\n",
    ),
    "googletest of windows": (
        "tests/cart_test.cpp",
        "[ RUN      ] CartTest.Adds\nC:\\a\\tests\\cart_test.cpp(12): error: Expected equality of these "
        "values:\n  total()\n",
    ),
    "doctest of c++": (
        "tests/cart_test.cpp",
        "===========\ntests/cart_test.cpp:12: ERROR: CHECK( total() == 2 ) is NOT correct!\n  values: "
        "CHECK( 1 == 2 )\n",
    ),
    "phpunit": (
        "tests/CartTest.php",
        "1) CartTest::testTotal\nFailed asserting that 1 matches expected 2.\n\n/var/www/tests/CartTest.php:12\n",
    ),
    "php": (
        "tests/CartTest.php",
        "PHP Parse error:  syntax error, unexpected '}' in /srv/tests/CartTest.php on line 12\n",
    ),
    "pytest": (
        "tests/test_cart.py",
        "=== short test summary info ===\nFAILED tests/test_cart.py::test_total - assert 1 == 2\n",
    ),
    "pytest line": ("tests/test_cart.py", "/home/a/tests/test_cart.py:12: assert 1 == 2\n"),
    "jest": (
        "src/cart.js",
        "FAIL src/cart.test.js\n  ● adds\n\n    expect(received).toBe(expected)\n\n      at total "
        "(src/cart.js:12:23)\n",
    ),
    "vitest": (
        "src/cart.ts",
        " FAIL  src/cart.test.ts > adds\nAssertionError: expected 1 to be 2\n ❯ src/cart.ts:12:5\n",
    ),
    "exunit": (
        "test/cart_test.exs",
        "  1) test adds (CartTest)\n     test/cart_test.exs:11\n     Assertion with == failed\n     "
        "code:  assert 1 == 2\n"
        "     stacktrace:\n       test/cart_test.exs:12: (test)\n",
    ),
    "elixirc": (
        "test/cart_test.exs",
        '    error: undefined variable "foo"\n    │\n 12 │     foo\n    │     ^^^\n    │\n'
        '    └─ test/cart_test.exs:12:5: CartTest."test adds"/1\n',
    ),
    "ghc": ("src/Cart.hs", "src/Cart.hs:12:3: error: [GHC-88464]\n    Variable not in scope: foo :: t -> Int\n"),
    "ghc warning": (
        "src/Cart.hs",
        "src/Cart.hs:12:1: warning: [GHC-40910] [-Wunused-matches]\n    Defined but not used: x\n",
    ),
    "zig": (
        "src/cart.zig",
        "src/cart.zig:12:12: error: use of undeclared identifier 'foo'\n    return foo;\n           ^~~\n",
    ),
    "luacheck": (
        "src/cart.lua",
        "Checking src/cart.lua                  1 warning\n\n    src/cart.lua:12:10: accessing undefined variable x\n",
    ),
    "lintr": (
        "R/cart.R",
        "R/cart.R:12:3: warning: [object_usage_linter] no visible global function definition for 'foo'\n",
    ),
    "tslint": ("src/cart.ts", "ERROR: src/cart.ts:12:5 - Missing semicolon\n"),
    "webpack": (
        "src/cart.ts",
        "ERROR in ./src/cart.ts:12:5\nTS2551: Property 'foo' does not exist.\n  > 12 |   return x;\n",
    ),
    "pyre": ("src/cart.py", "Found 1 type error!\nsrc/cart.py:12:11 Undefined attribute [16]: no attribute `foo`.\n"),
    "biome": ("src/cart.js", "src/cart.js:12:9 lint/suspicious/noDoubleEquals ━━━━━━━\n\n  × Use === instead of ==.\n"),
    "psalm": (
        "tests/CartTest.php",
        "ERROR: UndefinedVariable - tests/CartTest.php:12:9 - Cannot find $foo\n  foo();\n",
    ),
    "bandit": (
        "src/cart.py",
        ">> Issue: [B101:assert_used] Use of assert detected.\n   Severity: Low\n   Location: ./src/cart.py:12:4\n",
    ),
    "xunit": (
        "src/Cart.cs",
        "[xUnit.net 00:00:00.52]     Shop.CartTest.Total [FAIL]\n[xUnit.net 00:00:00.52]       Stack Trace:\n"
        "[xUnit.net 00:00:00.52]         /_/src/Cart.cs(12,0): at Shop.Cart.Total(Int32 rates)\n",
    ),
    "eslint in a log": (
        "src/cart.js",
        "2026-03-01T10:00:02.1234567Z \n2026-03-01T10:00:02.2234567Z /home/a/src/cart.js\n"
        "2026-03-01T10:00:02.3234567Z   12:5  error  'x' is assigned a value but never used  no-unused-vars\n"
        "2026-03-01T10:00:02.4234567Z \n2026-03-01T10:00:02.5234567Z ✖ 1 problem (1 error, 0 warnings)\n",
    ),
    "eslint of a package": (
        "src/cart.js",
        "@shop/web:lint: /home/a/src/cart.js\n@shop/web:lint:   12:5  warning  'x' is never used  no-unused-vars\n",
    ),
    "docker build": (
        "src/cart.c",
        "#12 0.345 cc -c src/cart.c\n#12 0.402 src/cart.c: In function 'total':\n"
        "#12 1.011 src/cart.c:12:5: error: 'x' undeclared\n#12 ERROR: process did not complete: exit code: 1\n",
    ),
    "cpplint": (
        "tests/cart_test.cpp",
        "tests/cart_test.cpp:12:  Missing space before {  [whitespace/braces] [5]\nTotal errors found: 1\n",
    ),
    "blanks in paths": (
        "src/cart.ts",
        "/Users/a/My Projects/old shop/src/cart.ts(12,5): error TS2322: no\n"
        "/Users/a/My Projects/old shop/src/cart.js(1,2): error TS2322: no\n",
    ),
    "blanks in paths of a list": (
        "src/cart.js",
        "C:\\My Projects\\shop\\src\\cart.js\r\n  12:5  error  'x' is never used  no-unused-vars\r\n",
    ),
    "github actions": (
        "src/cart.ts",
        "2026-03-01T10:00:02.1234567Z ##[error]src/cart.ts(12,5): error TS2322: Type 'string' is not assignable.\n"
        "2026-03-01T10:00:02.2234567Z ##[error]Process completed with exit code 2.\n",
    ),
    "a log of a build": (
        "src/cart.c",
        "web-1  | make: Entering directory '/srv'\nweb-1  | src/cart.c:12:5: error: 'x' "
        "undeclared\nweb-1  | make: *** Error 1\n",
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """An indexed folder with a file for each output, and others that have its words."""
    root = write(tmp_path_factory.mktemp("reports") / "shop", {path: source(path) for path in PATHS} | DECOYS)
    assert main(["index", str(root), "--vectors=none"]) == 0
    return root


SEVERAL_LINES = ("gcc include", "ld without lines", "eslint in a log", "eslint of a package", "docker build")
"""What leads elsewhere without its line breaks: to the place that is first in it, or has no line at all."""


def first_place(found):
    """Path, first and last line of what comes first in an answer."""
    units = [frame["unit"] for error in found.get("errors", ()) for frame in error["frames"] if frame["unit"]]
    first = (units or found["results"])[0]
    return first["path"], first["start_line"], first["end_line"]


@pytest.mark.parametrize(
    ("name", "way"),
    [
        (name, way)
        for name in OUTPUTS
        for way in ("pasted", "typed", "in one line")
        if way != "in one line" or name not in SEVERAL_LINES
    ],
)
def test_an_output_leads_to_the_place_that_it_names(project, name, way, monkeypatch, capsys):
    expected, text = OUTPUTS[name]
    if way == "in one line":
        text = " ".join(text.split())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["search", "-" if way == "pasted" else text.rstrip("\n"), str(project), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    path, start, end = first_place(found)
    assert path == expected
    assert start <= 12 <= end
    assert way != "pasted" or (found["kind"] == "trace" and found["errors"][0]["frames"][0]["line"] in (0, 12))


@pytest.mark.parametrize(
    "text",
    [
        "where is a.py:12 used",
        "what happens in src/cart.py:12\nand why?",
        "see src/cart.py:12: it fails",
        "I do not see why src/cart.py:12: error is printed\nwhere is that?",
        "http://localhost:8080: error",
        "connection refused: http://localhost:8080: error\n",
        "https://example.com/cart.js:12:5: error\n",
        "https://example.rs:8080: error: not found\n",
        "12:30:45: error\n12:30:46: error: no cart\n",
        "2026-03-01 12:30:45 ERROR no cart: 12\n",
        "2026-03-01 12:30:45,123 INFO cart.py:12: order 3 is paid\n2026-03-01 12:30:46,007 INFO "
        "cart.py:12: order 4 is paid\n",
        "2026-03-01 12:30:45 shop.cart: error: no price (12)\n",
        "C:\\shop: error: no such folder\nD:12: error\n",
        "error: 12 files are wrong\nwarning: 3 are old\n",
        "notes.txt:12: error: no price\n",
        "src/cart.py:12\n",
        "src/cart.py:12:        return sum(rates)\nsrc/cart.py:13:total(rates)\n",
        "  12:5  error  no price\n",
        "total.sh line 12:\n",
        "In src/cart.py:12 it is\nsummed\n",
        "ERROR src/cart.py:12 is wrong\n",
        "In the file on line 12:\n",
        "FAILED to read src/cart.py\nERROR src/cart.py\n",
        "def total(rates):\n    error = rates[1:12]\n    return cart.py(12), error\n",
        "const a = b ? c.ts(12) : error;\nreturn d.js(3)\n",
        "switch (x) {\n  case cart.h: error(12);\n}\n",
        "src/cart.py:12:5 is where it is read\nand summed\n",
        "Warning: src/cart.py:12 may be slow\nuse another\n",
        "error in src/cart.py:12 is what I saw\nplease help\n",
        "INFO: src/cart.py:12 rate loaded\nINFO: src/cart.py:13 done\n",
        "http://localhost:8080/app.js:12:5 Loaded\nhttp://localhost:8080/b.js:1:2 Loaded\n",
        "12:30  error rate went up\n12:45  warning lights\n",
        "src/cart.py | 12 ++++----\n 1 file changed\n",
        "diff --git a/src/cart.py b/src/cart.py\n@@ -12,5 +12,6 @@ def total\n",
    ],
)
def test_other_texts_are_none(text):
    assert read_trace(text) is None
    assert trace_in(text) == ""


@pytest.mark.parametrize("typed", ["src/cart.ts(12,5): error TS2322: no", "src/cart.py:12: error: no", "a.go:12:5: no"])
def test_a_place_with_a_message_typed_alone_stays_a_question(typed):
    assert trace_in(typed) == ""


def test_a_stack_trace_is_read_in_place_of_warnings_around_it():
    warnings = "src/cart.rs:1:5: warning: unused\n" * 5
    panic = "thread 'main' panicked at src/cart.rs:12:9:\nno price\n"
    found = read_trace(warnings + panic)
    assert [(frame.path, frame.line) for frame in found.frames] == [("src/cart.rs", 12)]
    assert (found.errors[0].error, found.unread) == ("panic", 5)


def test_what_is_told_of_a_place_goes_with_it():
    text = (
        "In file included from src/rates.h:3,\n                 from src/main.c:1:\n"
        "src/cart.h: In function 'int shop::Cart::total(const int*)':\n"
        "src/cart.h:12:5: error: 'x' undeclared\n   12 |     x = 1;\n      |     ^\n"
        "src/cart.h:20:5: note: it is here\n"
        "src/rate.c: At top level:\nsrc/rate.c:3:1: error: expected ';'\n"
    )
    first, note, other = read_trace(text).errors
    assert (first.error, first.message) == ("error", "'x' undeclared")
    assert [(frame.path, frame.line) for frame in first.frames] == [
        ("src/cart.h", 12),
        ("src/rates.h", 3),
        ("src/main.c", 1),
    ]
    assert first.frames[0].name == "shop.Cart.total"
    assert (note.error, note.message, note.frames[0].name) == ("note", "it is here", "shop.Cart.total")
    assert [(frame.path, frame.line, frame.name) for frame in other.frames] == [("src/rate.c", 3, "")]


@pytest.mark.parametrize(
    "part",
    [
        "src/a.py:1", "a.py(", "a.py:", "--> ", "[error] ", "├── └", "@@", "a/", ".py.py", "In ",
        "FAILED a.py::", ": (1, ",
        "1:1 error ", "a#a [", "error: ", "(a", "-- [E1] ", "ld: ", "~^", " | ^", "from ", "in function `",
        "a.c:(.t", "1",
    ],
)  # fmt: skip
def test_long_lines_are_read_at_once(part):
    for text in (part * (200_000 // len(part)), f"{part * (100 // len(part))}\n" * 2000):
        read_trace(f"src/cart.py:12:5: error: no\n{text}")
