"""Functions, methods, types and constants of Python, JavaScript, TypeScript and Go as units, beside the files."""

import ast
import importlib.util
import time
from pathlib import Path

import pytest

from data_prep.languages.registry import LANGUAGES as REGISTERED
from data_prep.languages.registry import language, language_of
from data_prep.records import SourceFile
from search.engine.preview import signature
from search.files.languages import DOCUMENTS, LANGUAGES, language_name, read_file
from search.files.words import file_words
from tests.word_lists import counted

PYTHON = b'''"""Sessions."""
LIMIT = 3


@dataclass(frozen=True)
class SessionStore(Base):
    """Keeps the sessions of a server."""

    path: str

    @property
    def size(self, *, at: dict[str, int] = {}) -> int:
        """Number of stored sessions."""
        return count_rows(self.path)


async def open_store(path):
    def inner(): return 1
    return SessionStore(path)
'''
JAVASCRIPT = b"""/** Joins paths of a URL. */
export const joinPaths = ({ base }, ...parts) => {
  return parts.reduce(append, base);
};
class Router extends Base {
  // Finds the handler of a path.
  findHandler(path) { return this.tree.lookup(path); }
}
[1].map(x => x + 1);
"""
TYPESCRIPT = b"""/** What a check reports. */
export interface Issue<T> {
  message: string;
}
export type Result = Issue<string> | null;
enum Kind { First, Second }
export abstract class Check {
  run<T>(input: T): { ok: boolean } { return verify(input); }
}
"""
GO = b"""// Package web serves.
package web

// Engine routes requests.
type Engine struct {
	MaxBytes int
}

// ServeFile writes a file to the client.
func (e *Engine) ServeFile(name string, to interface{}) (n int, err error) {
	return copyAll(to, name)
}
"""
CASES = {
    "store.py": (PYTHON, {
        "store": ("file", ""),
        "LIMIT": ("constant", ""),
        "SessionStore": ("type", "Keeps the sessions of a server."),
        "SessionStore.size": ("method", "Number of stored sessions."),
        "open_store": ("method", ""),
        "inner": ("method", ""),
    }),
    "lib/paths.js": (JAVASCRIPT, {
        "paths": ("file", ""),
        "joinPaths": ("method", "Joins paths of a URL."),
        "Router": ("type", ""),
        "Router.findHandler": ("method", "Finds the handler of a path."),
    }),
    "check.ts": (TYPESCRIPT, {
        "check": ("file", ""),
        "Issue": ("type", "What a check reports."),
        "Result": ("type", ""),
        "Kind": ("type", ""),
        "Check": ("type", ""),
        "Check.run": ("method", ""),
    }),
    "web.go": (GO, {
        "web": ("file", ""),
        "Engine": ("type", "Engine routes requests."),
        "Engine.ServeFile": ("method", "ServeFile writes a file to the client."),
    }),
}  # fmt: skip


def read(path, data):
    return read_file(SourceFile("", path, data))


def by_name(path, data):
    return {unit.pair.method.dotted: unit.pair for unit in read(path, data).units}


@pytest.mark.parametrize("path", CASES)
def test_every_named_function_and_type_is_there_beside_the_file(path):
    data, expected = CASES[path]
    found = {name: (pair.method.kind, pair.query_text) for name, pair in by_name(path, data).items()}
    assert found == expected
    assert read(path, data).units[0].pair.method.kind == "file"
    for pair in by_name(path, data).values():
        lines = data.decode().split("\n")[pair.method.start_line - 1 : pair.method.end_line]
        assert pair.method.kind == "file" or pair.method.source in "\n".join(lines)


def test_words_are_those_of_the_declaration_and_of_the_body():
    python, go = by_name("store.py", PYTHON), by_name("web.go", GO)
    assert python["SessionStore.size"].words("tokens") == ("count", "rows", "path")
    assert python["SessionStore.size"].words("api") == ("count_rows",)
    tokens = set(python["SessionStore"].words("tokens"))
    assert {"base", "path", "size"} <= tokens
    assert not tokens & {"count", "rows", "number"}  # the body of a method, and a docstring
    assert {"max", "bytes"} <= set(go["Engine"].words("tokens"))
    assert {"serve", "file", "engine"} <= set(go["web"].words("tokens"))  # of the whole file, split as written
    assert go["Engine.ServeFile"].words("name") == ("serve", "file")


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("store.py", "SessionStore", "class SessionStore(Base)"),
        ("store.py", "SessionStore.size", "def size(self, *, at: dict[str, int] = {}) -> int"),
        ("store.py", "open_store", "async def open_store(path)"),
        ("lib/paths.js", "joinPaths", "export const joinPaths = ({ base }, ...parts) =>"),
        ("check.ts", "Check.run", "run<T>(input: T): { ok: boolean }"),
        ("check.ts", "Issue", "export interface Issue<T>"),
        ("web.go", "Engine", "type Engine struct"),
        ("web.go", "Engine.ServeFile", "func (e *Engine) ServeFile(name string, to interface{}) (n int, err error)"),
    ],
)
def test_a_signature_is_the_head_of_a_declaration(path, name, expected):
    assert signature(by_name(path, CASES[path][0])[name].method.source, path) == expected


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.rs", '#[derive(Clone)]\n#[serde(rename = "a]b")] // x\npub struct Uri {', "pub struct Uri"),
        ("a.rs", '#[cfg_attr(d, doc(cfg(feature = "j")))]\npub struct Json<T>(pub T);', "pub struct Json<T>(pub T)"),
        ("a.rs", "#[doc = include_str!(x)]\n///\n/// # Handlers\npub trait Handler {", "pub trait Handler"),
        ("a.kt", "@get:Output\nval dir: Dir\n", "val dir: Dir"),
        (
            "a.kt",
            "@InternalAPI\n/**\n * All.\n */\npublic object engines : Engines {",
            "public object engines : Engines",
        ),
        ("a.cs", "#if !OLD\n[Inline(X)]\n#endif\nstatic byte Parse(int x)\n{", "static byte Parse(int x)"),
        ("a.cs", "internal\n#pragma warning disable X\n\nclass Y : Z\n{", "internal class Y : Z"),
        ("a.hpp", "template<class T>\nNOT_NULL(1, 2)\nvoid f(T x)\n{", "template<class T> NOT_NULL(1, 2) void f(T x)"),
        ("a.ts", "export const { one, two } = make(x);\n", "export const { one, two } = make(x)"),
        ("a.ex", '@doc """\n  Sends.\n  """\n  @callback send(a :: b) :: c', "send(a :: b) :: c"),
        ("A.java", "@A(b = @B(c = @C(d = @D(1))))\nclass A {", "class A"),
        ("a.php", "#[DataProvider('x[')]\npublic function f(): void\n{", "public function f(): void"),
        ("a.cs", "[Inline(X.Y), Z(new[] { 1 })]\npublic int W(int x)\n{", "public int W(int x)"),
        ("a.cpp", "[[nodiscard]] int f() {", "int f()"),
        ("a.cpp", "template <class T>\nvoid visit(T x) {", "template <class T> void visit(T x)"),
        ("a.c", "static int\nfoo(void)\n{", "static int foo(void)"),
        ("a.ex", '@doc "One."\n  def one(x), do: x', "def one(x), do: x"),
        (
            "a.ex",
            '@doc ~S"""\n  Two.\n  def x do\n  """\n  @spec two(\n  a) :: b\n  def two(x) do',
            "def two(x) do",
        ),
        ("a.zig", "const Builder = struct {\n    x: u8,\n};", "const Builder = struct"),
        ("A.java", "@JsonTypeInfo(use = Id.NAME, p = @X(a = B.class))\nclass A {", "class A"),
        ("A.java", "@Target(X)\n@interface Foo {", "@interface Foo"),
        ("a.js", "[Symbol.iterator]() {", "[Symbol.iterator]()"),
        ("a.kt", "val x: Int\n    get() = 3", "val x: Int"),
        ("a.rs", "fn get(&self) -> Option<&Cookie<'static>> {\n    x", "fn get(&self) -> Option<&Cookie<'static>>"),
        ("a.rs", "struct Iter<'a, K> {\n    k: K\n}", "struct Iter<'a, K>"),
        ("a.rs", "fn f<'a>(x: &'a str, y: &'a (u8, u8)) -> X<'a> {", "fn f<'a>(x: &'a str, y: &'a (u8, u8)) -> X<'a>"),
        ("a.rs", "const BRACE: [char; 3] = ['{', '\\'', '('];", "const BRACE: [char; 3] = ['{', '\\'', '(']"),
        ("a.ts", "function f(a = 'it {', b = '\\'(') {", "function f(a = 'it {', b = '\\'(')"),
    ],
)
def test_a_signature_begins_behind_attributes(path, source, expected):
    assert signature(source, path) == expected


def test_a_signature_takes_no_long_time():
    for part in ("@a(", "#[", "[", "@a('", "[[", "#['", "@a ", "static\n"):
        started = time.process_time()
        signature(part * 50_000, "a.rs")
        signature("@" + part * 50_000, "a.ex")
        assert time.process_time() - started < 1


def test_a_signature_over_several_lines_is_written_as_one():
    python = "def find(\n    self,\n    key: str,  \n    at: dict[\n        str, int\n    ],\n) -> None:\n    pass"
    assert signature(python, "a.py") == "def find(self, key: str, at: dict[str, int]) -> None"
    assert signature("void find( int a,\n  int b ) {", "A.java") == "void find( int a, int b )"
    typed = "def run(  # type: ignore\n    self,  # the runner's\n    at: str = '#1',\n) -> None:\n    pass"
    assert signature(typed, "a.py") == "def run(self, at: str = '#1') -> None"
    zig = 'pub fn push(\n    /// Takes ownership.\n    text: []u8,\n    url: Url, // "a"\n) void {'
    assert signature(zig, "a.zig") == "pub fn push(text: []u8, url: Url) void"
    script = "const A = [\n  'http://x', // one\n  `//two`,\n];"
    assert signature(script, "a.ts") == "const A = ['http://x', `//two`]"
    assert signature("function merge(/* one, two */) {\n}", "a.js") == "function merge(/* one, two */)"


def test_all_functions_of_a_real_module_are_found_with_their_lines():
    path = Path(importlib.util.find_spec("tqdm").origin).parent / "std.py"
    data = path.read_bytes()
    found = {(unit.pair.method.name, unit.pair.method.start_line) for unit in read("std.py", data).units}
    tree = ast.parse(data)
    scopes = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    wanted = (ast.FunctionDef, ast.ClassDef)
    nodes = [node for scope in scopes for node in scope.body if isinstance(node, wanted)]
    expected = {(each.name, min(part.lineno for part in (each, *each.decorator_list))) for each in nodes}
    assert len(expected) > 50
    assert expected <= found


def test_comments_are_counted_apart_by_the_parser():
    words = read("store.py", PYTHON).words
    assert counted(words, comments=True)["server"] == 1
    assert "server" not in counted(words, comments=False)
    assert list(words.names) == ["inner", "open_store", "sessionstore", "size"]
    assert list(words.defined) == ["SessionStore", "size", "open_store", "inner"]
    assert counted(file_words(b"x // y", [(2, 6)]), comments=True) == {"y": 1}


def test_only_documented_functions_that_are_no_tests_can_be_asked():
    documented = b'def add_all(items):\n    """Adds all items to the sum."""\n    return sum(items)\n'
    assert [unit.asks for unit in read("a.py", documented).units] == [False, True]
    assert not any(unit.asks for unit in read("tests/a.py", documented).units)


def test_the_same_whatever_the_line_ends_and_the_first_bytes_are():
    plain = by_name("store.py", PYTHON)
    assert by_name("store.py", b"\xef\xbb\xbf" + PYTHON.replace(b"\n", b"\r\n")) == plain


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"def good():\n    return 1\n\ndef bad(:\n    return (\n", ""),
        (b"def good(): return 1\n" + b"x" * 6000, ""),
        (b"x = 1;def good(): " + b"x" * 6000, "minified or data"),
        (b"def good(): return 1\n" * 110_000, "longer than 2 MiB"),
        (b"\xff\xfe = 1\ndef good(): return '\xff'\n", ""),
        (b"def good(): return 1\n# \0\n", ""),
        (b"x = " + b"(\n" * 20_000 + b"\ndef good(): return 1\n", ""),
        (b"def good():\n" + b"".join(b" " * n + b"if x:\n" for n in range(1, 90)) + b" " * 91 + b"y\n", ""),
    ],
)
def test_whatever_a_file_has_it_is_found_as_a_whole(data, told):
    found = read("odd.py", data)
    assert found.units[0].pair.method.kind == "file"
    assert "good" in found.units[0].pair.words("tokens")
    assert told in found.left_out
    assert "\n" not in found.left_out


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "#: Seconds.\nWAIT: Final = get(1)\n__all__ = []\nx = 1\nx = 2\na.b = 3\n",
         {"WAIT": "Seconds.", "x": ""}),
        ("a.py", "make = lambda path: read(path)\n", {"make": ""}),
        ("a.ts", "/** Rooms. */\nexport const rooms: Room[] = [open()], { a } = b;\nvar s;\n",
         {"rooms": "", "a": "", "s": ""}),
        ("a.ts", "/** Wraps. */\nexport const handle = wrap(async (item) => item.load());\n", {"handle": "Wraps."}),
        ("a.js", "const fs = require('fs').promises;\nconst read = fs.readFile;\nlet f = () => 1;\n", {"read": ""}),
        ("a.go", "package a\n\n// Wait is in seconds.\nconst Wait = 1\n\nvar _ I = &A{}\n",
         {"Wait": "Wait is in seconds."}),
        ("a.go", "package a\n\nvar (\n\tA, B = 1, 2\n\t// C is a function.\n\tC = func() {}\n)\n",
         {"A": "", "B": "", "C": "C is a function."}),
        ("a.py", "# Keys.\ntype Keys[T] = list[T]\n", {"Keys": "Keys."}),
        ("a.php", "<?php\n// Doubles.\n$twice = fn($x) => 2 * $x;\n$y = 1;\n", {"twice": "Doubles."}),
        ("a.sh", "A=1 B=$2 C='x y'\nfunction run { echo; }\nif x; then\n  D=1 E=2\nfi\n", {"A": "", "B": "", "C": ""}),
    ],
)  # fmt: skip
def test_constants_are_units_and_imports_and_what_is_found_as_a_function_are_not(path, text, expected):
    found = by_name(path, text.encode())
    assert {name: pair.query_text for name, pair in found.items() if pair.method.kind == "constant"} == expected


def test_a_shell_function_below_several_assignments_is_none_of_their_command():
    found = by_name("a.sh", b"A=1 B=2\n\nfunction run { echo; }\nstop() { echo; }\nC=1 D=2 run it\n")
    assert [name for name, pair in found.items() if pair.method.kind == "method"] == ["run", "stop"]


def test_blocks_of_ruby_that_define_something_are_units():
    text = (
        b"class A\n  # Sums.\n  define_method(:sum) { |x| x }\n  define_method 'twice' do |x|\n    x\n  end\n"
        b"  scope :open, -> { where(a: 1) }\nend\ntask build: [:clean] do\n  go\nend\n[1].each { |x| x }"
    )
    found = {name: pair for name, pair in by_name("a.rb", text).items() if pair.method.kind == "method"}
    places = {name: (pair.method.start_line, pair.method.end_line) for name, pair in found.items()}
    assert places == {"sum": (3, 3), "twice": (4, 6), "open": (7, 7), "build": (9, 11)}
    assert found["sum"].query_text == "Sums."


def test_the_words_of_a_constant_are_those_of_its_value():
    found = by_name("a.ts", b"export const handle = wrap(async (item) => item.loadRooms());\n")
    assert {"handle", "wrap", "item", "load", "rooms"} <= set(found["handle"].words("tokens"))
    assert "wrap" in found["handle"].words("api")


@pytest.mark.parametrize("path", ["lib/router.js", "lib/router/index.js"])
@pytest.mark.parametrize(
    "text",
    ["export default (path) => find(path);", "module.exports = function (a) { b(a); };"],
)
def test_what_a_file_exports_by_default_has_its_name(path, text):
    names = [unit.pair.method.name for unit in read(path, text.encode()).units if unit.pair.method.kind != "file"]
    assert names == ["router"]


def test_in_tests_functions_inside_of_others_are_found_by_those():
    assert "inner" in by_name("store.py", PYTHON)
    assert "inner" not in by_name("tests/store.py", PYTHON)


@pytest.mark.parametrize("suffix", DOCUMENTS)
def test_a_document_is_a_whole_file_that_defines_nothing(suffix):
    (unit,) = read(f"docs/setup{suffix}", b"# Setup\n\nThe class Server listens.\n").units
    assert (unit.pair.method.kind, unit.pair.method.name) == ("file", "setup")
    assert unit.pair.words("name") == ("setup",)
    assert unit.pair.words("tokens") == ()
    assert read(f"a{suffix}", b"").units == []
    most = "1024 KiB" if suffix in (".po", ".resx", ".xcstrings") else "128 KiB"  # catalogues by their suffixes
    with pytest.raises(ValueError, match=f"longer than {most}"):
        read(f"a{suffix}", b"word\n" * (300_000 if most == "1024 KiB" else 30_000))


def test_suffixes_are_those_of_the_parsers():
    known = {
        suffix: name for name in REGISTERED for suffix in (*language(name).suffixes, *language(name).other_suffixes)
    }
    assert known.keys() == LANGUAGES.keys()
    assert {suffix: language_name(f"a{suffix}") for suffix in LANGUAGES} == known


def test_each_suffix_has_a_reader():
    for suffix in LANGUAGES:
        assert language_name(f"a{suffix}") == language_of(f"a{suffix}").name
        assert read_file(SourceFile("", f"a{suffix}", b"")).units == []


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("a.js", "function one() {}\nfunction two) { return 1; }\nfunction three() {}\n", [2]),
        ("a.ts", "class A {\n  one(): number { return 1; }\n}\nfunction two) { return 1; }\ninterface B {}\n", [4]),
        ("a.js", "function one() {\n  const two = 1 +* 2;\n  function three() {}\n}\n// function four() {}\n", []),
        ("a.lua", "function M.one() end\nfunction M.two) return 2 end\nfunction M.three() end\n", [2]),
        ("a.py", '"""Doc.\n\ndef one(): pass\n"""\nx = """\ndef two(): pass\n"""\nreturn = 1\n', []),
        ("A.java", "class A {\n  int one() { return 1; }\n  int two() { return x with { a = 1; }; }\n}\n", []),
    ],
)
def test_what_a_broken_text_has_lost_is_told_with_its_lines(path, text, lines):
    read = read_file(SourceFile("", path, text.encode()))
    said = "; 1 function from line {} on is left out"
    assert read.left_out.startswith("partly parsed, line ")
    assert read.left_out.partition("whole file")[2] == "".join(map(said.format, lines))


def test_words_of_the_shell_are_no_calls_where_it_is_another_one():
    text = b'f() {\n  read -cA w\n  if [ 1 -eq 2 ]; then\n    b="$(g)"\n  else\n    b="$(h ${w[2,-2]})"\n  fi\n\n'
    (_, unit) = read_file(SourceFile("", "a.zsh", text + b"  r=(${(ps:\\n:)b})\n}\n")).units
    assert unit.pair.method.fields["api"] == ("read", "g", "h")


AMBIENT = """/** Opens it. */
export declare function openBurrow(name: string): Burrow;
export declare function openBurrow(name: string, depth: number): Burrow;
export declare const LIMIT: number;
declare global {
  function warn(text: string): void;
  var here: Burrow;
}
declare module 'legacy' { export function oldOpen(): void; }
export abstract class Digger {
  abstract shovel(): void;
  dig(x: number): void;
  dig(x?: number): void { this.x = x; }
}
interface Options { onDrop(reason: string): void }
"""


@pytest.mark.parametrize("path", ["a.d.ts", "a.ts"])
def test_what_is_declared_without_a_body_is_a_unit_unless_it_is_defined_beside(path):
    units = [unit.pair.method for unit in read_file(SourceFile("", path, AMBIENT.encode())).units]
    found = {".".join(filter(None, (each.type_name, each.name))): (each.kind, each.start_line) for each in units[1:]}
    assert found == {
        "openBurrow": ("method", 2),
        "LIMIT": ("constant", 4),
        "warn": ("method", 6),
        "here": ("constant", 7),
        "legacy": ("type", 9),
        "legacy.oldOpen": ("method", 9),
        "Digger": ("type", 10),
        "Digger.shovel": ("method", 11),
        "Digger.dig": ("method", 13),
        "Options": ("type", 15),
    }
    assert len(units) == 1 + len(found)
    assert units[1].documentation == "Opens it."


LICENCES = {
    "a.py": "# SPDX-License-Identifier: Apache-2.0\ndef ring():\n    return 1\n",
    "a.js": "/* Licensed under the MIT license. */\nfunction ring() { return 1; }\n",
    "a.rs": "// Use of this source code is governed by a BSD license\nfn ring() -> u8 { 1 }\n",
    "a.sh": "# Copyright (c) 2020 Somebody. All rights reserved.\nring() {\n  echo 1\n}\n",
    "a.c": "/* This file is part of Bells, and has its license. */\nint ring(void) { return 1; }\n",
    "a.lua": "-- Released under the ISC license\n-- All rights reserved\nfunction ring() return 1 end\n",
    "a.rb": "# The MIT License\n#\n# Permission is hereby granted under this licence\ndef ring\n  1\nend\n",
}


@pytest.mark.parametrize("path", LICENCES)
def test_the_licence_of_a_file_is_not_the_documentation_of_what_begins_it(path):
    unit = read_file(SourceFile("o", path, LICENCES[path].encode())).units[1]
    assert (unit.pair.method.name, unit.pair.method.documentation, unit.pair.query_text) == ("ring", "", "")


@pytest.mark.parametrize(
    ("text", "documentation"),
    [
        ("# Copyright 2020 Somebody\n#\n# Rings the bell.\ndef ring():\n    return 1\n", "Rings the bell."),
        ("# Reads the licence of a file.\ndef ring():\n    return 1\n", "Reads the licence of a file."),
        ("x = 1\n\n\n# Copyright of a picture.\ndef ring():\n    return 1\n", "Copyright of a picture."),
    ],
)
def test_what_is_no_licence_is_documentation(text, documentation):
    units = {each.pair.method.name: each.pair for each in read_file(SourceFile("o", "a.py", text.encode())).units}
    assert units["ring"].method.documentation.strip("# ") == documentation
    assert units["ring"].query_text.strip("# ") == documentation
