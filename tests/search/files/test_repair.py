"""Half-typed sources: what follows, and what is around, is found with its lines, in every language."""

import time
from functools import cache

import pytest

from data_prep.languages.registry import language_of
from data_prep.records import SourceFile
from search.files.languages import read_file
from search.files.parts import repaired_by_parts
from search.files.repair import repaired

WHOLE = {
    "A.java": """package a;
public class A {
    /** Counts the pallets. */
    public int before(int x) {
        int y = x + 1;
        return y;
    }

    void broken(int a) {
        int b = a;
        {half}
    }

    /** Closes it. */
    @Override
    public void after() {
        if (a) { b(); }
    }

    private int field = 1;
    int last() { return 2; }
}

class Other {
    void inOther() { }
}
""",
    "a.py": '''import os


class A:
    """Keeps pallets."""

    def before(self, x):
        return x + 1

    def broken(self, a):
        b = a
        {half}

    @property
    def after(self):
        """Closes it."""
        return {"a": [1, 2]}

    def last(self):
        pass


def inOther():
    return 2
''',
    "a.ts": """export class A {
  before(x: number): number {
    return x + 1;
  }

  broken(a: string) {
    const b = a;
    {half}
  }

  /** Closes it. */
  async after(): Promise<void> {
    if (this.a) { await b(); }
  }

  last = () => { return 2; };
}

export function inOther() { return 1; }
""",
    "a.js": """class A {
  before(x) {
    return x + 1;
  }

  broken(a) {
    const b = a;
    {half}
  }

  /** Closes it. */
  async after() {
    if (this.a) { await b(); }
  }

  last() { return 2; }
}

export const inOther = () => 1;
""",
    "a.go": """package a

type A struct{}

func (a *A) before(x int) int {
\treturn x + 1
}

func (a *A) broken(c int) {
\tb := c
\t{half}
}

// after closes it.
func (a *A) after() {
\tif a.b() {
\t\treturn
\t}
}

func (a *A) last() int { return 2 }

func inOther() {}
""",
}
HALVES = [
    "foo(", "foo(bar,", "if (x", "if (this.isOpen(", "x = [1, 2", "obj.", 'x = "abc', "return (", "while (a(",
    "foo({ a: 1,", "foo(bar(1, [2, 3", "x = ", "a b c", "foo(]", 'print("a" +', "for (int i = 0; i <", "if x {",
    "if (x) {", "x = {", "@", "if x == ", "/* half", "items.map(x => ", "Map<String, List<", "let x: Map<A, B<",
    'x = r"""abc', 'String x = """', "x = `abc", "x = `a ${b",
]  # fmt: skip
"""What is typed last. In Python, a brace is as a bracket."""


LOST = [("a.ts", "for (int i = 0; i <", False), ("a.js", "for (int i = 0; i <", False)]
"""What is not recovered: TypeScript and JavaScript read them as something else."""


def names(path, text):
    found = read_file(SourceFile("", path, text.encode()))
    units = [unit.pair.method for unit in found.units]
    return found, {each.name: (each.start_line, each.end_line) for each in units if each.kind != "file"}


@cache
def names_of_whole(path):
    return names(path, WHOLE[path].replace("{half}", "b = 2;"))


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("path", WHOLE)
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "open"])
def test_what_is_around_half_typed_code_is_found_with_its_lines(path, half, closed):
    if (path, half, closed) in LOST:
        return
    text = WHOLE[path].replace("{half}", half)
    if not closed and not path.endswith(".py"):  # the brace of the function that is being written is not there yet
        start = text.index(half) + len(half)
        end = text.index("}", start)
        text = text[:end].rstrip() + "\n" + text[end + 1 :].lstrip("\n")
        text = text.replace(half + "\n", half + "\n\n")
    found, lines = names(path, text)
    expected, whole = names_of_whole(path)
    assert not expected.left_out
    moved = text.count("\n") - WHOLE[path].count("\n")
    for name in ("before", "after", "last", "inOther"):
        start, end = whole[name]
        assert lines.get(name) == ((start, end) if name == "before" else (start + moved, end + moved)), (name, lines)
    assert found.units[0].pair.method.kind == "file"


OTHERS = {
    "a.rb": (
        "class A\n  def before(x)\n    x\n  end\n\n  def broken(a)\n    {half}\n  end\n\n  # Closes it.\n"
        "  def after\n    if a\n      b\n    end\n  end\n\n  def self.last = 2\nend\n",
        [
            "if x",
            "rows.each do |r|",
            "rows.each do |r|\n      r.",
            "case x",
            "begin",
            "x = {",
            '"a #{b',
            "->(x) {",
            "x&.",
        ],
    ),
    "a.ex": (
        "defmodule A do\n  def before(x) do\n    x\n  end\n\n  defp broken(a) do\n    {half}\n  end\n\n"
        '  @doc "Closes it."\n  def after_it(x) do\n    if x do\n      b()\n    end\n  end\n\n'
        "  def last(x), do: x\nend\n",
        ["if x do", "x |>", "Enum.map(xs, fn x ->", "x = %{", '"a #{b', "cond do", "[1, 2", "for x <- xs,"],
    ),
    "a.php": (
        "<?php\nnamespace B;\n\nclass A\n{\n    public function before($x)\n    {\n        return $x;\n    }\n\n"
        "    private function broken($a)\n    {\n        {half}\n    }\n\n    /** Closes it. */\n    #[Pure]\n"
        "    protected static function after(): void\n    {\n        if ($a) { b(); }\n    }\n\n"
        "    final public function last() { return 2; }\n}\n",
        ["if (x", "foreach ($a as", "$x->", "$x = [", "fn ($x) =>", '"a {$b', "match ($x) {", "new", "$this->foo("],
    ),
    "A.cs": (
        "namespace B\n{\n    class A\n    {\n        int before(int x)\n        {\n            return x;\n        }\n\n"
        "        void broken(int a)\n        {\n            {half}\n        }\n\n        [Obsolete]\n"
        "        internal async Task<int> after()\n        {\n            if (a) { b(); }\n            return 1;\n"
        "        }\n\n        public override int last() => 2;\n    }\n}\n",
        ["if (x", "var q = from x in", "foreach (var x in", "var x = new Foo {", '$"a {b', "await", "using (var f ="],
    ),
    "a.cpp": (
        "namespace b {\n\nclass A {\n public:\n  int before(int x) {\n    return x;\n  }\n\n  void broken(int a) {\n"
        "    {half}\n  }\n\n  [[nodiscard]]\n  virtual int after() const {\n    if (a) { b(); }\n    return 1;\n  }\n\n"
        " private:\n  static std::vector<int> last() { return {}; }\n};\n\n}  // namespace b\n",
        [
            "if (x",
            "foo(",
            "std::vector<std::map<",
            "auto f = [this](int a) {",
            "std::cout <<",
            "x->",
            "if (this.isOpen(",
        ],
    ),
    "A.kt": (
        "class A {\n    fun before(x: Int) {\n        return x\n    }\n\n    fun broken(a: Int) {\n        {half}\n"
        "    }\n\n    @Throws\n    internal suspend fun after() {\n        open = false\n    }\n\n"
        "    override fun last(): Int = 2\n}\n",
        ["if (this.isOpen(", "val x = when (y) {", "items.map {", '"a ${b', "x?.", "x ?:"],
    ),
}
"""Other languages: a class, and what is typed last in one of its methods."""


@pytest.mark.parametrize(("path", "half"), [(path, half) for path, (_, halves) in OTHERS.items() for half in halves])
def test_what_is_around_is_found_with_its_type_in_other_languages(path, half):
    def found(text):
        units = [unit.pair.method for unit in read_file(SourceFile("", path, text.encode())).units]
        return {each.name: (each.type_name, each.start_line, each.end_line) for each in units if each.kind != "file"}

    text = OTHERS[path][0]
    good, typed = found(text.replace("{half}", "")), found(text.replace("{half}", half))
    more = half.count("\n")
    for name in ("before", "after_it" if path == "a.ex" else "after", "last"):
        type_name, start, end = good[name]
        assert type_name == "A"
        moved = 0 if name == "before" else more
        assert typed.get(name) == (type_name, start + moved, end + moved), (name, typed)


BESIDE = {
    "A.java": [
        "private Map<String, List<",
        "Map<String, List<",
        "public <T extends",
        "public void half(",
        "class Half {",
        'String s = """',
        "try {",
        "int x = foo(1, new int[] {",
        "}",
        "private int half",
        "case 1:",
    ],
    "a.py": ["def half(", "class Half", "x: Dict[str, List[", 'x = r"""abc', "x = '''", "@deco(", "else:", "lambda x:"],
    "a.ts": [
        "private half: Map<string, Array<",
        "half<T extends",
        "half(a: string, b",
        "half = `abc",
        "}",
        "foo({ a: 1,",
    ],
    "a.js": ["half(a, b", "half = `abc", "static half = [", "}", "async half(", "get half() {"],
    "a.go": [
        "var half map[string][]",
        "func half(",
        "type Half struct {",
        "var half = `abc",
        "}",
        "func (a *A) half() {",
    ],
}
"""What is typed between two declarations."""


@pytest.mark.parametrize(("path", "half"), [(path, half) for path, halves in BESIDE.items() for half in halves])
def test_what_is_around_a_half_typed_declaration_is_found_with_its_lines(path, half):
    text = WHOLE[path].replace("{half}", "b = 2;")
    lines = text.split("\n")
    place = next(number for number, line in enumerate(lines) if "broken(" in line) - 1
    margin = next(line[: len(line) - len(line.lstrip())] for line in lines if "broken(" in line)
    _, found = names(path, "\n".join([*lines[:place], margin + half, *lines[place:]]))
    _, whole = names(path, text)
    for name in ("before", "broken", "after", "last", "inOther"):
        start, end = whole[name]
        assert found.get(name) == ((start, end) if start <= place else (start + 1, end + 1)), name


@pytest.mark.parametrize("path", WHOLE)
def test_a_lost_bracket_or_quote_loses_no_other_declaration(path):
    text = WHOLE[path].replace("{half}", "b = 2;")
    _, whole = names(path, text)
    for place in [place for place, letter in enumerate(text) if letter in "()[]{}\"'"][::2]:
        line = text.count("\n", 0, place) + 1
        _, found = names(path, text[:place] + text[place + 1 :])
        for name, lines in whole.items():
            if not lines[0] <= line <= lines[1]:
                assert found.get(name) == lines, (line, text.split("\n")[line - 1], name)


def test_the_files_of_broken_sources_are_named_and_their_sources_are_as_written():
    found, lines = names("A.java", WHOLE["A.java"].replace("{half}", "if (this.isOpen("))
    assert found.left_out == (
        "partly parsed, line 11 was not understood: what could not be read is found by the whole file"
    )
    (broken,) = (unit.pair.method for unit in found.units if unit.pair.method.name == "broken")
    assert broken.source.endswith("if (this.isOpen(\n    }")
    assert lines["A"] == (2, 22)


CONFLICT = "{0}\n<<<<<<< HEAD\n{1}\n=======\n{2}\n>>>>>>> dev\n{3}\n"
SCRIPT = ("class A {", "b() { return 1; }", "b() { return 2; }", "c() { return 3; }\n}")


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("A.java", ("class A {", "int b() { return 1; }", "int b() { return 2; }", "int c() { return 3; }\n}")),
        ("a.py", ("class A:", "  def b(): pass", "  def b(): return 2", "  def c(): pass\n")),
        ("a.ts", SCRIPT),
        ("a.js", SCRIPT),
        ("a.go", ("package a", "func b() int { return 1 }", "func b() int { return 2 }", "func c() {}\n")),
    ],
)
def test_both_sides_of_a_conflict_are_found(path, parts):
    found, _ = names(path, CONFLICT.format(*parts))
    starts = sorted((unit.pair.method.name, unit.pair.method.start_line) for unit in found.units[1:])
    assert [each for each in starts if each[0] in "bc"] == [("b", 3), ("b", 5), ("c", 7)]


@pytest.mark.parametrize("path", WHOLE)
def test_any_cut_of_a_file_is_repaired_in_its_lines_and_places(path):
    text = WHOLE[path].replace("{half}", "foo(bar, {'a")
    for end in range(0, len(text), 17):
        data = text[:end].encode()
        fixed = repaired(data, language_of(path))
        assert fixed.text.count(b"\n") == data.count(b"\n")
        assert fixed.place(len(fixed.text)) == len(data)
        places = [fixed.place(offset) for offset in range(len(fixed.text) + 1)]
        assert places == sorted(places)
        read_file(SourceFile("", path, data))


HOSTILE = ["(" * 50_000, "/*" * 50_000, '"""' * 30_000, "`" * 50_001, "'\\" * 40_000, "{\n" * 20_000]


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("path", ["a.py", "a.ts"])
def test_hostile_texts_are_repaired_in_linear_time(path, hostile):
    started = time.process_time()
    repaired(hostile.encode(), language_of(path))
    data = hostile.encode()
    repaired_by_parts(data, data, language_of(path), lambda _: False)
    assert time.process_time() - started < 3


CPP = """namespace a {

template <typename K>
class Cache {
 public:
  int size() const {
    {half}
    return 1;
  }
};

template <typename K>
int Cache<K>::find(const K& key) {
  int b = 1;
  return b;
}

ACME_EXPORT std::unique_ptr<Sink> make_sink(const std::string& path) {
  int c = 1;
  return open(path);
}

}  // namespace a
"""


@pytest.mark.parametrize("half", ["open(path, ", "this->", 'log("half', "while (true) {", "int d ="])
def test_templates_and_macros_around_half_typed_code_keep_their_lines(half):
    file = SourceFile("", "a.cpp", CPP.replace("{half}", half).encode())
    units = {each.pair.method.name: each.pair.method for each in read_file(file).units}
    lines = {name: (units[name].start_line, units[name].end_line) for name in ("Cache", "find", "make_sink")}
    assert lines == {"Cache": (3, 10), "find": (12, 16), "make_sink": (18, 21)}


def test_what_is_whole_is_not_changed():
    for path, text in WHOLE.items():
        data = text.replace("{half}", "b = 2;").encode()
        assert repaired(data, language_of(path)).text == data


@pytest.mark.parametrize(
    ("path", "half", "after"),
    [
        ("a.py", "class A:\n    def b(self):\n        return 1\n{}\n\n    def last(self):\n        pass\n", ")"),
        ("a.py", "class A:\n    def b(self, x: Dict[str,\n        return 1\n\n    def last(self):\n        pass\n", ""),
        ("a.py", "x = {1:\n\n@deco\nclass A:\n    @property\n    def last(self):\n        return 2\n", ""),
        ("a.js", "class A {\n  b() {\n    c();\n    }\n  }\n  last() {\n    d();\n  }\n}\n", ""),
        ("a.go", "package a\n\ntype A struct {\n\tB int\n\nfunc last() int {\n\treturn 1\n}\n", ""),
    ],
)
def test_stray_and_missing_brackets_take_nothing_with_them(path, half, after):
    text = half.replace("{}", after)
    line = next(number for number, each in enumerate(text.split("\n"), 1) if "last(" in each)
    start, end = names(path, text)[1]["last"]
    assert line - 1 <= start <= line < end  # with its decorator


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        (
            "a.js",
            "inst.catch = function (e) { b(); };\nclass A {\n  delete() { c(); }\n  return(v) { c(); }\n}\n",
            "catch",
        ),
        ("a.js", "const a = {\n  catch(e) { c(); },\n  async for(x) { c(); },\n  throw: (e) => { c(); },\n};\n", "for"),
        ("a.ts", "class A {\n  static new(a: B): A { return c(); }\n  with(b: B): A { return c(); }\n}\n", "with"),
        ("a.py", "class A:\n    def catch(self):\n        return 1\n\n    def new(self):\n        return 2\n", "new"),
    ],
)
@pytest.mark.parametrize("half", ["foo(bar, [1", ""])
def test_functions_that_are_called_like_statements_are_found_in_broken_files(path, text, found, half):
    _, whole = names(path, text)
    _, broken = names(path, f"{text}{half}\n")
    assert found in whole
    assert whole.items() <= broken.items()


def test_statements_of_broken_files_are_no_methods():
    text = (
        WHOLE["a.js"]
        .replace("{half}", "")
        .replace("broken(a) {", "")
        .replace("const b = a;", "if (x) {\n      b();\n    }")
    )
    assert not {"if", "const"} & names("a.js", text)[1].keys()


def test_few_errors_of_a_long_file_cost_no_more_than_a_few_readings():
    one = b"int f%d(int a) {\n  /* " + b"what it does " * 12 + b"*/\n  return a;\n}\n"
    whole = b"".join(one % number for number in range(400))
    half = whole.replace(b"f3(int a)", b"f3(int a))").replace(b"f90(int a)", b"f90(int @ a)")
    before = time.process_time()
    read_file(SourceFile("", "a.c", whole))
    between = time.process_time()
    found = read_file(SourceFile("", "a.c", half))
    assert time.process_time() - between < 6 * (between - before)
    names = {unit.pair.method.name for unit in found.units}
    assert {f"f{number}" for number in range(400)} <= names


TOP = {
    "a.rs": "use a::b;\n\n{half}\nfn one(a: u8) -> u8 {\n    a\n}\n\nfn two() -> &str {\n    \"x\"\n}\n",
    "a.kt": "package a\n\n{half}\nfun one(): Int {\n    return 1\n}\n\nfun two() = \"x\"\n",
    "a.swift": "import A\n{half}\nfunc one() -> Int {\n    return 1\n}\n\nfunc two() { print(\"x\") }\n",
    "a.zig": "const a = 1;\n{half}\nfn one() usize {\n    return 1;\n}\n\nfn two() void { print(\"x\"); }\n",
    "a.php": "<?php\n{half}\nfunction one() {\n    return 1;\n}\n\nfunction two($a) {\n    return \"x\";\n}\n",
    "a.c": "int a;\n{half}\nint one(void) {\n    return 1;\n}\n\nint two(void) { return b(\"x\"); }\n",
    "a.js": "const a = 1;\n{half}\nfunction one() {\n    return 1;\n}\n\nfunction two() { b(\"x\"); }\n",
    "a.go": "package a\n\n{half}\nfunc one() int {\n    return 1\n}\n\nfunc two() { print(\"x\") }\n",
    "a.lua": "local a = 1\n{half}\nlocal function one()\n    return 1\nend\n\nfunction two() print(\"x\") end\n",
    "a.rb": "a = 1\n{half}\ndef one\n  1\nend\n\ndef two = print(\"x\")\n",
    "a.R": "a <- 1\n{half}\none <- function() {\n  1\n}\n\ntwo <- function() print(\"x\")\n",
    "a.sh": "a=1\n{half}\none() {\n  echo 1\n}\n\ntwo() { echo \"x\"; }\n",
    "a.py": "a = 1\n{half}\ndef one():\n    return 1\n\n\ndef two():\n    print(\"x\")\n",
    "a.hs": "module A where\n\n{half}\n\none = 1\n\ntwo :: String\ntwo = \"x\"\n",
    "A.java": "class A {\n    {half}\n    int one() {\n        return 1;\n    }\n    int two() { b(\"x\"); }\n}\n",
}  # fmt: skip
"""Files with a line at their top, or at that of their type, that is half typed."""


@pytest.mark.parametrize("half", ["foo(a, {", "x = foo(bar[", "return [", "if (x", 'foo("abc', "x.y("])
@pytest.mark.parametrize("path", TOP)
def test_the_line_that_is_half_typed_is_named(path, half):
    text = TOP[path]
    found, lines = names(path, text.replace("{half}", half))
    assert {"one", "two"} <= {name.rpartition(".")[2] for name in lines}
    line = text.count("\n", 0, text.index("{half}")) + 1
    assert not found.left_out or f"line {line} was not understood" in found.left_out


def test_a_string_without_an_end_takes_no_functions_of_rust_with_it():
    parts = [f"/// Part {n}\npub fn part_{n}(a: &Path) -> &OsStr {{\n    a.name({n})\n}}\n\n" for n in range(9)]
    text = 'use a::b;\n\nprintln!("abc\nuse a::c;\n\n' + "".join(parts) + 'fn last() -> u8 {\n    b("x", "y")\n}\n'
    _, lines = names("a.rs", text)
    assert {*(f"part_{n}" for n in range(9)), "last"} <= {*lines}


def test_tests_that_a_text_names_are_not_counted_as_functions_of_a_broken_file():
    text = 'it("adds", function()\n  add(1)\nend)\n\nit("divides", function(\n  div(2)\nend\n\nlocal a = b(\nend end\n'
    found, _ = names("a_spec.lua", text)
    assert "partly parsed" in found.left_out
    assert "functions are" not in found.left_out


def test_an_apostrophe_in_a_comment_of_php_begins_no_string():
    text = "<?php\nclass A {\n    # it's half, and that's all (\n    function one($x) {\n        $x->\n    }\n\n"
    text += "    #[Pure]\n    function two() {\n        return 'x';\n    }\n\n"
    text += "    # don't\n    function three() { return 1; }\n}\n"
    _, lines = names("a.php", text)
    assert lines == {"A": (2, 15), "one": (4, 6), "two": (8, 11), "three": (14, 14)}


@pytest.mark.parametrize("half", ["half = foo (", "half = [1,", "half x = case x of {", "data X = X {"])
def test_what_begins_a_line_of_haskell_ends_what_is_open(half):
    found, lines = names("a.hs", TOP["a.hs"].replace("{half}", half))
    assert (lines["one"], lines["two"]) == ((5, 5), (7, 8))
    assert "line 3 was not understood" in found.left_out


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("a.kt", "class Quarry {\n  val broken = \n  fun haul(w: Int) = w\n}\n", "haul"),
        ("a.swift", "class Forge {\n  let broken = \n  func quench(w: Int) { print(w) }\n}\n", "quench"),
        ("a.kt", "var broken =\nfun haul(w: Int): Int {\n  return w\n}\n", "haul"),
        ("a.ts", "class A {\n  broken =\n  static sail() { return 1; }\n}\n", "sail"),
        ("a.py", "broken =\ndef sail():\n    return 1\n", "sail"),
    ],
)
def test_a_value_that_is_not_typed_yet_takes_no_function_with_it(path, text, name):
    _, found = names(path, text)
    line = text[: text.index(f"{name}(")].count("\n") + 1
    assert found[name][0] == line
