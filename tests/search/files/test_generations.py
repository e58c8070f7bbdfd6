"""What is of an older generation, by paths and by marks."""

import pytest

from data_prep.records import SourceFile
from search.engine.engine import Engine
from search.engine.penalties import Penalties
from search.files.generations import is_deprecated, old_words
from search.files.languages import read_file
from search.index.build import refresh
from search.index.index_file import open_index


@pytest.mark.parametrize(
    ("paths", "old"),
    [
        (["src/v1/a.ts", "src/v2/a.ts", "src/index.ts"], ["src/v1/a.ts"]),
        (["api_v1.py", "api_v2.py", "other_v1.py"], ["api_v1.py"]),
        (["k/v1/a.go", "k/v1beta1/a.go", "k/v1beta2/a.go"], ["k/v1beta1/a.go", "k/v1beta2/a.go"]),
        (["p/main.py", "p/fields.py", "p/v1/main.py", "p/v1/fields.py"], ["p/v1/main.py", "p/v1/fields.py"]),
        (["web/api.go", "web/api/v1/api.go"], []),  # the only one
        (["src/index.ts", "src/core/index.ts", "src/v4/core/a.ts", "src/v4/index.ts"], []),
        (["x/_compat.py", "x/CompatBuilder.scala", "vendor/a.go", "third_party/b.c"],
            ["x/_compat.py", "vendor/a.go", "third_party/b.c"]),
        (["a/oldFoo.py", "a/legacy/b.py", "Deprecations/x.swift", "a/bold.py", "a/folder.py"],
            ["a/oldFoo.py", "a/legacy/b.py", "Deprecations/x.swift"]),
        (["a/locales/en.ts", "a/locales/zh-TW.ts", "locale/pt/formats.py", "i18n/index.ts", "lang/go.py", "src/de.ts"],
            ["a/locales/zh-TW.ts", "locale/pt/formats.py"]),
    ],
)  # fmt: skip
def test_paths_that_are_old(paths: list[str], old: list[str]):
    assert [paths[number] for number in sorted(old_words(paths))] == old


def test_an_index_has_which_of_its_files_are_old_after_each_change(tmp_path):
    root, place = tmp_path / "code", tmp_path / "index"
    (root / "v1").mkdir(parents=True)
    (root / "v1" / "a.py").write_text("def a():\n    return 1\n")
    refresh(root, place, processes=0, tell=print)
    assert open_index(place).old == {}
    (root / "v2").mkdir()
    (root / "v2" / "a.py").write_text("def a():\n    return 2\n")
    refresh(root, place, processes=0, tell=print)
    assert open_index(place).old == {0: {"1"}}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", '@deprecated("x")\ndef f():\n    return 1\n'),
        ("a.py", 'def f():\n    """Do.\n\n    .. deprecated:: 2.0\n    """\n    return 1\n'),
        ("a.go", "package a\n\n// f does.\n//\n// Deprecated: use g.\nfunc f() int { return 1 }\n"),
        ("a.ts", "/**\n * Do.\n * @deprecated use g\n */\nexport function f() { return 1; }\n"),
        ("a.rs", "#[deprecated]\nfn f() -> i32 { 1 }\n"),
        ("a.java", "class A {\n  @Deprecated\n  int f() { return 1; }\n}\n"),
        ("a.cs", 'class A {\n  [Obsolete("x")]\n  int f() { return 1; }\n}\n'),
        ("a.swift", "@available(*, deprecated)\nfunc f() -> Int { 1 }\n"),
        ("a.cpp", "[[deprecated]] int f() { return 1; }\n"),
        ("a.c", "__attribute__((deprecated)) int f(void) { return 1; }\n"),
        ("a.java", "class A {\n  @java.lang.Deprecated int f() { return 1; }\n}\n"),
        ("a.py", '@warnings.deprecated("x")\ndef f():\n    return 1\n'),
        ("a.py", 'def f():\n    warnings.warn("f() is deprecated", DeprecationWarning)\n    return 1\n'),
        ("a.go", "package a\n\n// f is deprecated. Use g.\nfunc f() int { return 1 }\n"),
        ("a.ts", "/** This method has been deprecated, use g. */\nexport function f() { return 1; }\n"),
        ("a.cs", 'class A {\n  [System.Obsolete("x")]\n  int f() { return 1; }\n}\n'),
        ("a.cs", "class A {\n  [ObsoleteAttribute]\n  int f() { return 1; }\n}\n"),
        ("a.swift", "@available(swift, obsoleted: 5.0)\nfunc f() -> Int { 1 }\n"),
        ("a.php", '<?php\n#[\\Deprecated("x")]\nfunction f() { return 1; }\n'),
        ("a.php", '<?php\nfunction f() {\n  trigger_error("f is deprecated", E_USER_DEPRECATED);\n  return 1;\n}\n'),
        ("a.ex", 'defmodule A do\n  @doc deprecated: "x"\n  def f(x) do\n    x\n  end\nend\n'),
        ("a.R", '#\' `r lifecycle::badge("deprecated")`\nf <- function(x) {\n  x\n}\n'),
        ("a.R", 'f <- function(x) {\n  lifecycle::deprecate_warn("1.0", "f()")\n  x\n}\n'),
        ("a.R", 'f <- function(x) {\n  .Deprecated("g")\n  x\n}\n'),
    ],
)
def test_declarations_that_are_marked(path: str, source: str):
    units = read_file(SourceFile("", path, source.encode())).units
    marked = {each.pair.method.name for each in units if is_deprecated(each.pair.method)}
    assert marked == {"f"}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("b.py", 'def f():\n    """Whether it is deprecated."""\n    return deprecated(1)\n'),
        ("b.py", 'def f(g):\n    warnings.warn("g is deprecated", DeprecationWarning)\n    return g\n'),
        ("b.rs", "#[allow(deprecated)]\nfn f() -> i32 { 1 }\n"),
        ("b.kt", '@Suppress("DEPRECATION")\nfun f(): Int = 1\n'),
        ("b.go", "package b\n\n// f reads whether g is deprecated.\nfunc f() int { return 1 }\n"),
    ],
)
def test_declarations_that_only_tell_of_what_is_deprecated(path: str, source: str):
    units = read_file(SourceFile("", path, source.encode())).units
    assert not any(is_deprecated(each.pair.method) for each in units)


def test_what_is_deep_in_folders_stands_behind_what_is_near_the_top(tmp_path):
    code, text = tmp_path / "code", "def weigh_anchor(x):\n    return x + 1\n"
    paths = ["only/one/a.py", "only/one/b/a.py", "only/one/b/c/a.py", "only/one/b/c/d/e/a.py", "only/one/b/c/d/f/a.py"]
    for number, path in enumerate(paths):
        (code / path).parent.mkdir(parents=True, exist_ok=True)
        (code / path).write_text(text.replace("1", str(number)))
    refresh(code, tmp_path / "index", processes=0, tell=lambda *_: None)
    index = open_index(tmp_path / "index")
    depths = Penalties(index).depths
    assert [depths[index.file_edges[file]] for file in map([each.path for each in index.files].index, paths)] == [
        1,
        2,
        3,
        4,
        4,
    ]
    hits = Engine(index, None).search("weigh the anchor", top=2)
    assert [index.file(hit.row).path for hit in hits] == paths[:2]


def test_the_current_one_stands_first_unless_the_old_one_is_meant(tmp_path):
    code = tmp_path / "code"
    for folder in ("v1", "v2"):
        (code / folder).mkdir(parents=True)
        (code / folder / "parcel.py").write_text("def weigh_parcel(parcel):\n    return parcel.weight\n")
    (code / "v1" / "label.py").write_text("def print_parcel_label(parcel):\n    return parcel.label\n")
    refresh(code, tmp_path / "index", processes=0, tell=lambda *_: None)
    index = open_index(tmp_path / "index")

    def first(question: str) -> str:
        return index.file(Engine(index, None).search(question)[0].row).path

    assert first("weigh a parcel") == "v2/parcel.py"
    assert first("weigh a parcel in v1") == "v1/parcel.py"
    assert first("print_parcel_label") == "v1/label.py"


def test_names_among_words_mean_the_current_type_and_one_alone_an_internal_one_too(tmp_path):
    code = tmp_path / "code"
    files = {
        "v3/ParcelError.ts": "export class ParcelError extends Error {\n  format() { return this.message; }\n}\n",
        "v4/core/errors.ts": "export interface $ParcelError {\n  issues: string[];\n}\nexport const structure = 1;\n",
        "v4/public/errors.ts": "export interface ParcelError extends $ParcelError {\n  format(): string;\n}\n",
        "v4/locales/en.ts": "export const weigh = () => 'the parcel weighs too much';\n",
        "v4/locales/es.ts": "export const weigh = () => 'el parcel weighs too much, structure of parcel';\n",
    }
    for path, text in files.items():
        (code / path).parent.mkdir(parents=True, exist_ok=True)
        (code / path).write_text(text)
    refresh(code, tmp_path / "index", processes=0, tell=lambda *_: None)
    index = open_index(tmp_path / "index")

    def found(question: str) -> list[str]:
        return [index.file(hit.row).path for hit in Engine(index, None).search(question, by_file=True)]

    assert found("ParcelError")[:3] == ["v4/public/errors.ts", "v4/core/errors.ts", "v3/ParcelError.ts"]
    assert found("structure of a ParcelError")[0].startswith("v4/")
    assert found("format of the ParcelError in v3")[0] == "v3/ParcelError.ts"
    assert found("parcel weighs too much")[0] == "v4/locales/en.ts"
    assert found("spanish locale: parcel weighs too much")[0] == "v4/locales/es.ts"
