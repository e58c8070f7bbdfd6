"""Code inside of another file: scripts of components and cells of notebooks, with the lines of the file."""

import json

import pytest

from data_prep.errors import UserError
from data_prep.records import LARGEST_SOURCE, SourceFile
from search.files.languages import read_file
from search.serve.hit_records import highlighted
from tests.word_lists import counted

VUE = """<template>
  <p @click="save">Zebra {{ total(1) }} – été</p>
</template>
<!-- <script>function commented() {}</script> -->
<script type="text/x-template">function templated() {}</script>
<script lang="ts">
/** What it shows. */
export interface Shown { zebra: number }
</script>

<script setup lang="ts" generic="T extends Record<string, number>">
// Saves the cart.
async function save(items: T[]) {
  await api.post('/cart', items)
}
const total = (a: number) => a * 2
</script>
<style>p { color: red }</style>
"""
SVELTE = "<script context='module'>\n  export function load() {}\n</script>\n<script>\nconst go = () => 1\n</script>\n"
ASTRO = (
    "---\n// All pages.\nexport function getPaths(a: string) {}\n---\n<p>é</p>\n<script>\nfunction go() {}\n</script>\n"
)


def read(path, text):
    return read_file(SourceFile("", path, text.encode()))


def declared(units):
    methods = [unit.pair.method for unit in units.units[1:]]
    return [(method.name, method.start_line, method.end_line) for method in methods]


@pytest.mark.parametrize(
    ("path", "text", "language", "expected"),
    [
        ("Cart.vue", VUE, "typescript", [("Shown", 8, 8), ("save", 13, 15), ("total", 16, 16)]),
        ("Cart.vue", VUE.replace(' lang="ts"', "").replace(": T[]", ""), "javascript", [("save", 13, 15)]),
        ("a.svelte", SVELTE, "javascript", [("load", 2, 2), ("go", 5, 5)]),
        ("a.astro", ASTRO, "typescript", [("getPaths", 3, 3), ("go", 7, 7)]),
        ("a.vue", "<template>function no() {}</template>", "javascript", []),
        ("a.vue", "<script>\nfunction half() {\n  go(\n", "javascript", [("half", 2, 3)]),
        ("a.vue", "<script " * 50_000, "javascript", []),
        ("a.vue", '<script a="' * 50_000, "javascript", []),
    ],
)
def test_scripts_of_components_are_read_at_their_lines(path, text, language, expected):
    units = read(path, text)
    assert units.language == language
    assert [each for each in declared(units) if each in expected] == expected
    assert not {"commented", "templated", "no"} & {name for name, *_ in declared(units)}


def test_a_template_belongs_to_the_words_of_the_file():
    units = read("Cart.vue", VUE)
    assert {"zebra", "color"} <= counted(units.words, comments=False).keys()
    assert units.units[2].pair.query_text == "Saves the cart."
    kinds = {VUE[start:end]: kind for start, end, kind in highlighted(VUE, "Cart.vue")}
    assert (kinds["async"], kinds["// Saves the cart."], "color" in kinds) == ("keyword", "comment", False)


def notebook(*cells, language="python", indent=1):
    made = [{"cell_type": kind, "source": source, "outputs": [{"image/png": "iVBORw0K"}]} for kind, source in cells]
    return json.dumps({"cells": made, "metadata": {"kernelspec": {"language": language}}}, indent=indent)


CODE = [
    "import os\n",
    "%matplotlib inline\n",
    "!pip install x\n",
    "def load(path):\n",
    '    """Loads."""\n',
    "    return path\n",
]


def test_cells_are_read_at_the_lines_of_the_file():
    text = notebook(
        ("markdown", ["# Zebras\n", "def no(): pass"]), ("code", CODE), ("code", "%%time\ndef go(): pass\nA = 1")
    )
    units = read("a.ipynb", text)
    lines = text.split("\n")
    assert [name for name, *_ in declared(units)] == ["load", "go", "A"]
    assert [lines[start - 1].strip()[:9] for _, start, _ in declared(units)] == ['"def load', '"source":', '"source":']
    sources = [unit.pair.method.source.split("\n")[0] for unit in units.units[1:]]
    assert sources == [
        "def load(path):  # cell 1, line 4",
        "def go(): pass  # cell 2, line 2",
        "A = 1  # cell 2, line 3",
    ]
    assert units.units[1].pair.query_text == "Loads."
    assert "zebra" in counted(units.words, comments=True)
    assert not {"iv", "png", "matplotlib"} & units.words.stems.keys()
    (one_line,) = {start for _, start, _ in declared(read("a.ipynb", notebook(("code", CODE), indent=None)))}
    assert one_line == 1


@pytest.mark.parametrize(("language", "code"), [("R", "f <- function(x) x"), ("java", "int f() { return 1; }")])
def test_a_notebook_names_its_language(language, code):
    units = read("a.ipynb", notebook(("code", code), language=language))
    assert (units.language, declared(units)[0][0]) == (language.lower(), "f")
    assert declared(read("a.ipynb", notebook(("code", code), language="julia"))) == []
    other = read("a.ipynb", notebook(("code", "%%bash\nf() { ls; }"), ("code", "def g(): pass")))
    assert [name for name, *_ in declared(other)] == ["g"]


def test_of_a_broken_notebook_the_cells_are_read_and_that_is_said():
    text = notebook(("code", "def f(): pass"), ("code", "def g(): pass"))
    for broken in (text[:-60], text.replace("{", "{\n<<<<<<< HEAD", 1)):
        units = read("a.ipynb", broken)
        assert [name for name, *_ in declared(units)] == ["f", "g"]
        assert units.left_out.startswith("no valid JSON: ")
    long = read("a.ipynb", text[:-2] + ' "x": "' + "A" * LARGEST_SOURCE)
    assert (len(declared(long)), long.left_out[:17]) == (2, "longer than 4 MiB")
    assert read("a.ipynb", '{"cells": []}').units == []
    half = notebook(("markdown", "# A\n\n# B"), ("code", ["def f(:\n", "    g((\n"]))
    number = next(line for line, text in enumerate(half.split("\n"), 1) if "def f" in text)
    assert f"line {number} was not understood" in read("a.ipynb", half).left_out


@pytest.mark.parametrize("part", ["[", '{"cells":', '"', "\\", '{"a":', "null,", "\0"])
def test_what_is_no_notebook_is_one_line(part):
    with pytest.raises(UserError, match=r"\Ano valid JSON: .{5,200}\Z"):
        read("a.ipynb", part * 50_000)
