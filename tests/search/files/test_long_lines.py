"""Only minified files are left out: what is declared beside a long line is found, in every language."""

import pytest

from data_prep.records import SourceFile
from search.files.languages import read_file
from search.files.recovery import is_minified

LONG = "A" * 6000
BESIDE = {
    "a.py": f"LOGO = '{LONG}'\n\n\ndef paint(width):\n    return LOGO[:width]\n",
    "a.js": f"const LOGO = '{LONG}';\n\n\nfunction paint(width) {{\n  return LOGO; }}\n",
    "a.ts": f"const LOGO = '{LONG}';\n\n\nexport function paint(width: number) {{\n  return LOGO; }}\n",
    "a.go": f'package a\nconst LOGO = "{LONG}"\n\nfunc paint(width int) string {{\n return LOGO }}\n',
    "a.rs": f'pub const LOGO: &str = "{LONG}";\n\n\npub fn paint() -> &str {{\n    LOGO\n}}\n',
    "a.kt": f'val LOGO = "{LONG}"\n\n\nfun paint(width: Int): String {{\n    return LOGO\n}}\n',
    "a.c": f'char *LOGO = "{LONG}";\n\n\nchar *paint(int width) {{\n    return LOGO;\n}}\n',
    "b.c": f'char *LOGO = "{LONG}";\n\n\nstatic char *paint(int width)\n{{\n    return LOGO;\n}}\n',
    "c.c": f'char *LOGO = "{LONG}";\n\n\nint paint(int width) {{ return LOGO[width]; }}\n',
    "b.sh": f'LOGO="{LONG}"\n\n\npaint() {{ echo "$LOGO" | base64 -d; }}\n',
    "b.cs": f'class A\n{{ string logo = "{LONG}";\n\n  string paint(int width) {{ return logo; }}\n}}\n',
    "B.java": f'class A {{\n String LOGO = "{LONG}";\n\n String paint(int width) {{ return LOGO; }}\n}}\n',
    "a.cpp": f'auto LOGO = "{LONG}";\n\n\nstd::string Pen::paint(int width) const\n{{\n    return LOGO;\n}}\n',
    "a.php": f'<?php\n$logo = "{LONG}";\n\nfunction paint($width)\n{{\n  return 1;\n}}\n',
    "a.rb": f'LOGO = "{LONG}"\n\n\ndef paint(width)\n  LOGO\nend\n',
    "a.lua": f'local logo = "{LONG}"\n\n\nlocal function paint(width)\n  return logo\nend\n',
    "a.scala": f'object A {{\n  val logo = "{LONG}"\n\n  def paint(width: Int) =\n    logo\n}}\n',
    "a.zig": f'const logo = "{LONG}";\n\n\npub fn paint() []const u8 {{\n    return logo;\n}}\n',
    "a.ex": f'defmodule A do\n  @logo "{LONG}"\n\n  def paint(width) do\n    @logo\n  end\nend\n',
    "a.cs": f'class A\n{{ string logo = "{LONG}";\n\n  string paint(int width)\n  {{\n    return logo;\n  }}\n}}\n',
    "a.R": f'LOGO <- "{LONG}"\n\n\npaint <- function(width) {{\n  LOGO\n}}\n',
    "a.sh": f"LOGO='{LONG}'\n\n\npaint() {{\n  echo \"$LOGO\"\n}}\n",
    "a.hs": f'logo = "{LONG}"\n\n\npaint :: Int -> String\npaint width = logo\n',
    "a.swift": f'let LOGO = "{LONG}"\n\n\nfunc paint() -> String {{\n    return LOGO\n}}\n',
    "A.java": f'class A {{\n String LOGO = "{LONG}";\n\n String paint(int width) {{\n  return LOGO; }}\n}}\n',
}
BUNDLE = "!function(e,t){var n=t(e);function r(){return n}}(this);" * 200


@pytest.mark.parametrize("path", BESIDE)
def test_a_function_beside_a_long_line_is_found(path):
    found = read_file(SourceFile("", path, BESIDE[path].encode()))
    lines = {unit.pair.method.name: unit.pair.method.start_line for unit in found.units}
    assert lines["paint"] == 4
    assert found.left_out == ""


@pytest.mark.parametrize(
    "text",
    [BUNDLE, f"/*! Licence\n * class of it\n */\n{BUNDLE}\n//# sourceMappingURL=a.map\n", (BUNDLE[:500] + "\n") * 9],
)
def test_a_bundle_is_left_out_and_names_itself(text):
    found = read_file(SourceFile("", "a.js", text.encode()))
    assert [unit.pair.method.kind for unit in found.units] == ["file"]
    assert "minified or data" in found.left_out
    assert is_minified(text.encode())


def test_minified_code_behind_a_function_is_left_out_and_counted():
    found = read_file(SourceFile("", "a.js", f"function own() {{\n  return 1;\n}}\n{BUNDLE}\n".encode()))
    names = [unit.pair.method.name for unit in found.units]
    assert "own" in names
    assert "functions behind the first 1,000 characters of a line are found by the whole file only" in found.left_out


OWN = "function paint(width) {\n  return width;\n}\n"
BUILT = {
    "a map behind it": f"{OWN}//# sourceMappingURL=a.cjs.js.map\n",
    "a map in a comment": f"{OWN}/*# sourceMappingURL=a.js.map */",
    "esbuild": f"var __defProp = Object.defineProperty;\n{OWN}",
    "esbuild, one name": f"var Pen = (() => {{\n  var __defProp = Object.defineProperty;\n{OWN}}})();",
    "TypeScript": f'"use strict";\nObject.defineProperty(exports, "__esModule", {{ value: true }});\n{OWN}',
    "Babel": f'"use strict";\n\nObject.defineProperty(exports, "__esModule", {{\n  value: true\n}});\n{OWN}',
    "webpack": f"(function webpackUniversalModuleDefinition(root, factory) {{\n}})(this, () => {{\n{OWN}}});",
    "Rollup": f"(function (global, factory) {{\n  typeof exports === 'object' ? factory(exports) : 1;\n{OWN}}})();",
}


@pytest.mark.parametrize("text", BUILT.values(), ids=BUILT.keys())
def test_what_is_built_from_other_files_is_one_file(text):
    found = read_file(SourceFile("", "a.js", text.encode()))
    assert [unit.pair.method.kind for unit in found.units] == ["file"]
    assert "built from other files" in found.left_out


@pytest.mark.parametrize(
    "text",
    [
        f"// reads sourceMappingURL=a.map\n{OWN}",
        f"{OWN}// as in //# sourceMappingURL=a.map of what we make\nexport default paint;\n",
        f"{OWN}const mark = '//# sourceMappingURL=' + name;\n",
        f"{OWN}Object.defineProperty(paint, 'name', {{ value: 1 }});\n",
    ],
)
def test_what_only_speaks_of_maps_is_read(text):
    found = read_file(SourceFile("", "a.js", text.encode()))
    assert "paint" in [unit.pair.method.name for unit in found.units]
    assert found.left_out == ""
