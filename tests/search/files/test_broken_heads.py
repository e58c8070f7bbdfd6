"""A function whose head does not parse takes nothing from what is around it, in every language, and is found itself."""

import pytest

from data_prep.records import SourceFile
from search.files.languages import read_file

CURLY = """{open}
    {first}(a) {{
        return a;
    }}

    {HEAD}
        return 1;
    }}

    {then}(x) {{
        if (x) {{
            return x;
        }}
        return 0;
    }}
{close}
"""
ELIXIR = """defmodule Cart do
  @moduledoc "A cart."

  def before(cart) do
    Enum.sum(cart)
  end

  {HEAD}
    1
  end

  @doc "Adds."
  def after_it(cart, item) do
    if item do
      [item | cart]
    end
  end

  defp last(x), do: x
end

defmodule Other do
  def other(x) do
    x
  end
end
"""
RUBY = """class Cart
  def before(a)
    a
  end

  {HEAD}
    1
  end

  # Adds.
  def after_it(x)
    x if x
  end
end

class Other
  def other(x)
    x
  end
end
"""
PYTHON = """class Cart:
    def before(self, a):
        return a

    {HEAD}
        return 1

    def after_it(self, x):
        if x:
            return x


def other(x):
    return x
"""
LUA = """function before(a)
  return a
end

{HEAD}
  return 1
end

function after_it(x)
  if x then
    return x
  end
end
"""


def curly(opens: str, first: str, then: str, close: str = "}}") -> str:
    """A type of a language with braces."""
    return CURLY.replace("{open}", opens).replace("{first}(a)", first).replace("{then}(x)", then).replace(
        "{close}", close
    ).replace("{{", "{").replace("}}", "}")  # fmt: skip


FILES = {
    "a.ex": (
        ELIXIR,
        ["def broken( do", "def broken(x, do", "def broken([a, b do", "def broken(%{a: 1 do", "def broken(x,) do"],
    ),
    "a.rb": (RUBY, ["def broken(", "def broken(a, b", "def broken(a,)", "def broken(a = [)", "def broken(a:, **"]),
    "a.py": (PYTHON, ["def broken(:", "def broken(self, a", "def broken(self,, a):", "def broken:"]),
    "a.lua": (LUA, ["function broken(", "function broken(a, b", "function broken(a,)", "local function broken("]),
    "a.js": (
        curly("class Cart {{", "before(a)", "after_it(x)"),
        ["broken( {", "broken(a, {", "broken {", "broken(a = [) {", "async broken(a, {"],
    ),
    "b.js": (
        "function before(a) {\n  return a;\n}\n\n{HEAD}\n  return 1;\n}\n\nfunction after_it(x) {\n  return x;\n}\n",
        ["function broken( {", "function broken(a, {", "function broken {", "const broken = (a, => {"],
    ),
    "a.ts": (
        curly("export class Cart {{", "before(a: number): number", "after_it(x: number)"),
        ["broken( {", "broken(a: {", "broken(a: number: number {", "private broken {"],
    ),
    "a.go": (
        "package a\n\nfunc before(a int) int {\n\treturn a\n}\n\n{HEAD}\n\treturn 1\n}\n\n"
        "func (c *Cart) after_it(x int) int {\n\treturn x\n}\n",
        ["func broken( {", "func broken(a int {", "func broken(a int,, b) {", "func broken {"],
    ),
    "a.rs": (
        "struct Cart { a: i32 }\n\nimpl Cart {\n    fn before(&self) -> i32 {\n        1\n    }\n\n    {HEAD}\n"
        "        1\n    }\n\n    fn after_it(&self) -> i32 {\n        0\n    }\n}\n",
        ["fn broken( {", "fn broken(&self -> i32 {", "fn broken(&self, a: ) -> i32 {", "fn broken {"],
    ),
    "a.kt": (
        curly("class Cart {{", "fun before(a: Int): Int", "fun after_it(x: Int): Int"),
        ["fun broken( {", "fun broken(a: Int {", "fun broken(a: ): Int {", "fun broken {"],
    ),
    "a.swift": (
        curly("class Cart {{", "func before(a: Int) -> Int", "func after_it(x: Bool) -> Int"),
        ["func broken( {", "func broken(a: Int {", "func broken(a: ) -> Int {", "func broken {"],
    ),
    "a.php": (
        curly("<?php\nclass Cart {{", "function before($a)", "function after_it($x)").replace("(x)", "($x)"),
        ["function broken( {", "function broken($a, {", "function broken($a {", "public function broken {"],
    ),
    "A.java": (
        curly("class Cart {{", "int before(int a)", "int after_it(boolean x)"),
        ["int broken( {", "int broken(int a, {", "int broken(int a {", "int broken {"],
    ),
    "A.cs": (
        curly("class Cart {{", "int before(int a)", "int after_it(bool x)"),
        ["int broken( {", "int broken(int a, {", "int broken(int a {"],
    ),
    "a.cpp": (
        curly("class Cart {{", "int before(int a)", "int after_it(int x)", "}};"),
        ["int broken( {", "int broken(int a, {", "int broken(int a {", "int broken {"],
    ),
    "a.scala": (
        curly("class Cart(a: Int) {{", "def before(a: Int) =", "def after_it(x: Boolean): Int ="),
        ["def broken( = {", "def broken(a: Int = {", "def broken(a: ): Int = {", "def broken(a: Int)) = {"],
    ),
    "a.zig": (
        curly("const Cart = struct {{", "fn before(a: i32) i32", "fn after_it(x: bool) i32", "}};"),
        ["fn broken( {", "fn broken(a: i32 {", "fn broken(a: ) i32 {", "fn broken {"],
    ),
}
NAMELESS = {
    "a.ex": "def do",
    "a.rb": "def (",
    "a.py": "def (self):",
    "a.rs": "fn ( {",
    "a.kt": "fun ( {",
    "a.go": "func ( {",
}


def found(path, text):
    units = [unit.pair.method for unit in read_file(SourceFile("", path, text.encode())).units]
    return {(each.type_name, each.name): (each.start_line, each.end_line) for each in units if each.kind != "file"}


CASES = [(path, head) for path, (_, heads) in FILES.items() for head in heads]


@pytest.mark.parametrize(("path", "head"), [*CASES, *NAMELESS.items()])
def test_what_is_around_has_its_lines_and_its_types(path, head):
    text = FILES[path][0]
    broken = found(path, text.replace("{HEAD}", head))
    lines = text.split("\n")
    place = next(number for number, line in enumerate(lines) if "{HEAD}" in line)
    last = place + (2 if path == "a.py" else 3)
    good = found(path, "\n".join([*lines[:place], *[""] * (last - place), *lines[last:]]))
    assert len(good) > 1
    assert {name: broken.get(name) for name in good} == good


@pytest.mark.parametrize(("path", "head"), CASES)
def test_the_function_itself_is_found(path, head):
    text = FILES[path][0]
    place = next(number for number, line in enumerate(text.split("\n"), 1) if "{HEAD}" in line)
    lines = [lines for (_, name), lines in found(path, text.replace("{HEAD}", head)).items() if name == "broken"]
    assert lines == [(place, place + (1 if path == "a.py" else 2))]


ONE_LINE = {
    "a.sh": ("before() { echo a; }", ["broken( { echo 1; }", "broken() { echo 1", "broken() { echo $(ls; }"]),
    "a.lua": ("function before(a) return a end", ["function broken( return 1 end", "function broken(a,) return 1 end"]),
    "a.js": (
        "function before(a) { return a; }",
        ["function broken( { return 1; }", "function broken(a, { return 1; }"],
    ),
    "a.ts": ("function before(a: A) { return a; }", ["function broken(a: { return 1; }"]),
    "a.rs": ("fn before(a: A) -> A { a }", ["fn broken( { 1 }", "fn broken(a: ) -> A { 1 }"]),
    "a.swift": ("func before(a: A) -> A { a }", ["func broken( { 1 }", "func broken(a: ) -> A { 1 }"]),
    "a.kt": ("fun before(a: A): A { return a }", ["fun broken( { return 1 }", "fun broken(a: ): A { return 1 }"]),
    "a.c": ("int before(int a) { return a; }", ["int broken( { return 1; }", "int broken(int a, { return 1; }"]),
    "a.cpp": ("int before(int a) { return a; }", ["int broken( { return 1; }", "int broken(int a, { return 1; }"]),
    "a.rb": ("def before(a); a; end", ["def broken(; 1; end", "def broken(a,; 1; end"]),
    "a.zig": ("fn before(a: i32) i32 { return a; }", ["fn broken( { return 1; }", "fn broken(a: { return 1; }"]),
    "a.ex": ("def before(a) do a end", ["def broken( do 1 end", "def broken(a,) do 1 end"]),
    "a.go": ("func before(a int) int { return a }", ["func broken( { return 1 }", "func broken(a int, { return 1 }"]),
    "a.php": (
        "function before($a) { return $a; }",
        ["function broken( { return 1; }", "function broken($a, { return 1; }"],
    ),
}
AROUND = {"a.ex": ("defmodule A do", "end"), "a.go": ("package a", ""), "a.php": ("<?php", "")}


@pytest.mark.parametrize("empty", [True, False], ids=["apart", "beside"])
@pytest.mark.parametrize(("path", "head"), [(path, head) for path, (_, heads) in ONE_LINE.items() for head in heads])
def test_a_function_of_one_line(path, head, empty):
    good = ONE_LINE[path][0]
    named = lambda name: good.replace("before", name)  # noqa: E731
    lines = [good, head, named("after_it"), head.replace("broken", "broken_too"), named("last")]
    first, close = AROUND.get(path, ("", ""))
    indent = "  " if path == "a.ex" else ""
    gap = "\n\n" if empty else "\n"
    text = gap.join([first, *(indent + line for line in lines), close, ""])
    own = [name for _, name in found(path, text) if name != "A"]
    assert own == ["before", "broken", "after_it", "broken_too", "last"]
    places = {name: place for (_, name), place in found(path, text).items()}
    step = len(gap)
    assert [places[name] for name in own] == [(1 + step * n, 1 + step * n) for n in range(1, 6)]


@pytest.mark.parametrize(
    ("path", "one", "heads"),
    [
        ("a.zig", "fn NAME(a: A) A {\n    return a;\n}\n", ["fn broken( {\n}", "fn broken(a: A {\n    return 1;\n}"]),
        ("a.sh", "NAME() {\n  echo a\n}\n", ["broken( {\n  echo 1\n}", "broken() {\n  echo $(ls\n}"]),
        ("a.rs", "fn NAME(a: A) -> A {\n    a\n}\n", ["fn broken( {\n}", "fn broken(a: ) -> A {\n    1\n}"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("gap", ["", "\n"])
def test_several_broken_functions_of_a_file(path, one, heads, gap):
    names = ["before", "broken_0", "between", "broken_1", "last"]
    broken = [head.replace("broken", f"broken_{number}") + "\n" for number, head in enumerate(heads)]
    parts = [one.replace("NAME", "before"), broken[0], one.replace("NAME", "between"), broken[1]]
    places = found(path, gap.join([*parts, one.replace("NAME", "last")]))
    assert [name for _, name in places] == names
