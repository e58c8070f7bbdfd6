"""Every file of a tree is read or counted, and folders of others' code are left out and named."""

import subprocess

import pytest

from data_prep.languages.registry import language_of_script
from search.files.languages import indexed_suffixes
from search.files.tree import checkout_of, found_files
from search.files.unread import Unread, folders_in_words, in_words
from search.index.build import refresh
from search.index.index_file import open_index


def write(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x = 1\n")


def found(root, **options):
    unread = Unread(**options)
    files = found_files(root, indexed_suffixes(documents=False), lambda *_: None, checkout_of(root, print), unread)
    return [each.path for each in files], unread


def tracked(root, *paths):
    run = lambda *words: subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True)  # noqa: E731
    run("init", "-q")
    run("add", "-f", *paths)


@pytest.mark.parametrize(
    "folder",
    ["node_modules/x", "bower_components", ".venv/lib/p", "venv/lib/p", "lib/site-packages", "a/__pycache__", "dist",
     "build/lib/app", "target/classes", "vendor/github.com/x", "third_party/lib", ".tox/py", ".mypy_cache",
     "a.egg-info", "web/node_modules/y/src", "sub/dist", "src/web/node_modules",
     "_build/dev/lib", "dist-newstyle/x", "lua_modules/x", "cmake-build-debug/x", "3rdparty/x", "zig-out/x"],
)  # fmt: skip
def test_folders_of_others_code_are_left_out_and_named(tmp_path, folder):
    write(tmp_path, "app/a.py", f"{folder}/b.py", f"{folder}/c.js")
    paths, unread = found(tmp_path)
    assert paths == ["app/a.py"]
    assert len(unread.folders) == 1
    assert not unread.kinds
    paths, unread = found(tmp_path, everything=True)
    assert sorted(paths) == sorted(["app/a.py", f"{folder}/b.py", f"{folder}/c.js"])
    assert unread.folders == []


@pytest.mark.parametrize(
    ("beside", "folder"),
    [
        ("mix.exs", "deps/plug"),
        ("App.csproj", "bin/Debug"),
        ("App.csproj", "obj"),
        ("renv/activate.R", "renv/library/x"),
    ],
)
def test_folders_beside_the_file_of_a_tool_are_left_out(tmp_path, beside, folder):
    write(tmp_path, "app/a.py", f"{folder}/b.py")
    assert found(tmp_path)[0] == ["app/a.py", f"{folder}/b.py"]
    write(tmp_path, beside)
    assert f"{folder}/b.py" not in found(tmp_path)[0]


@pytest.mark.parametrize("name", ["env", "my-env", "py311"])
def test_environments_are_known_by_what_is_in_them(tmp_path, name):
    write(tmp_path, "a.py", f"{name}/lib/b.py")
    assert found(tmp_path)[0] == ["a.py", f"{name}/lib/b.py"]
    write(tmp_path, f"{name}/pyvenv.cfg")
    assert found(tmp_path)[0] == ["a.py"]


@pytest.mark.parametrize(
    "path",
    ["build/__init__.py", "app/vendor/__init__.py", "src/build/env.py", "src/main/java/com/x/target/Sniper.java",
     "internal/build/build.go"],
)  # fmt: skip
def test_packages_that_are_called_like_them_are_read(tmp_path, path):
    write(tmp_path, path)
    assert found(tmp_path)[0] == [path]


def test_below_sources_a_folder_beside_a_projects_description_is_left_out(tmp_path):
    write(tmp_path, "src/web/package.json", "src/web/dist/a.js", "src/web/b.js")
    assert found(tmp_path)[0] == ["src/web/b.js"]


def test_what_git_tracks_is_read_with_what_is_new_beside_it(tmp_path):
    write(tmp_path, "build/a.py", "build/new.py", "build/old.pl", "dist/b.py", "node_modules/c.js", ".hooks/d.py")
    write(tmp_path, "vendor/modules.txt", "vendor/x/e.go", "f.py")
    tracked(tmp_path, "build/a.py", "build/old.pl", "node_modules/c.js", "vendor", ".hooks/d.py", "f.py")
    paths, unread = found(tmp_path)
    assert paths == [".hooks/d.py", "build/a.py", "build/new.py", "f.py"]
    assert sorted(unread.folders) == ["dist", "node_modules", "vendor"]
    assert unread.kinds == {".pl": 1}


def test_a_folder_that_is_read_since_git_tracks_it_is_not_said_to_be_left_out(tmp_path):
    write(tmp_path, "a.py", "vendor/b.py", "build/c.py", "target/d.py")
    tracked(tmp_path, "a.py", "vendor/b.py", "build/c.py")
    paths, unread = found(tmp_path)
    assert paths == ["a.py", "build/c.py", "vendor/b.py"]
    assert unread.folders == ["target"]


def test_hidden_folders_in_which_projects_have_scripts_are_read(tmp_path):
    write(tmp_path, ".github/scripts/a.py", ".storybook/main.ts", ".cache/b.py", ".git/hooks/c.py", "d.py")
    paths, unread = found(tmp_path)
    assert paths == [".github/scripts/a.py", ".storybook/main.ts", "d.py"]
    assert ".cache" in unread.folders


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#!/usr/bin/env python3", "python"),
        ("#!/usr/local/bin/python3.12 -u", "python"),
        ("#!/usr/bin/env -S uv run --script", "python"),
        ("#!/bin/sh\n'''exec' /opt/x/bin/python \"$0\" \"$@\"", "python"),
        ("#!/usr/bin/env node", "javascript"),
        ("#!/usr/bin/env -S NODE_ENV=test node --no-warnings", "javascript"),
        ("#!/usr/bin/env -S deno run --allow-net", "typescript"),
        ("#!/usr/bin/env ts-node", "typescript"),
        ("#!/usr/bin/java --source 17", "java"),
        ('//usr/bin/env go run "$0" "$@"; exit "$?"', "go"),
        ("#!/bin/bash\npython x.py", "bash"),
        ("#!/usr/bin/env -S bash -e", "bash"),
        ("#!/usr/bin/perl", None),
        ("python", None),
        ("", None),
    ],
)
def test_the_first_line_of_a_script_says_its_language(line, expected):
    language = language_of_script(f"{line}\n".encode())
    assert (language.name if language else None) == expected


BODIES = {
    "python3": "def scripted():\n    return 1\n",
    "node": "function scripted() {\n  return 1 }\n",
    "deno": "function scripted(a: number) {\n  return 1 }\n",
    "java": "class A {\n int scripted() { return 1; } }\n",
    "gorun": "package main\nfunc scripted() {}\n",
}


@pytest.mark.parametrize("program", BODIES)
@pytest.mark.parametrize("name", ["bin/tool", "tool.script", "deploy.in"])
def test_scripts_are_found_whatever_they_are_called(tmp_path, program, name):
    folder = tmp_path / "sources"
    (folder / "bin").mkdir(parents=True)
    (folder / name).write_text(f"#!/usr/bin/env {program}\n{BODIES[program]}")
    refresh(folder, tmp_path / "index", processes=0, tell=lambda *told: pytest.fail(str(told)))
    index = open_index(tmp_path / "index")
    (row,) = (row for row, each in enumerate(index.names) if each.rpartition(".")[2] == "scripted")
    assert index.split.text(row).start_line in (2, 3)
    assert index.files[0].language == index.files[0].script != ""


def test_what_is_not_read_is_counted_by_kind_and_kept_in_the_index(tmp_path):
    root = tmp_path / "sources"
    write(
        root, "A.PY", "b.pyi", "c.pyw", "d.pl", "e.PL", "f.dart", "README.md", "g.toml", "Makefile", "h.jl", "x/i.nim"
    )
    (root / ".git").write_text("gitdir: elsewhere\n")
    (root / "link.py").symlink_to("A.PY")
    done = refresh(root, tmp_path / "index", processes=0, tell=lambda *_: None)
    kinds = {".pl": 2, ".dart": 1, "documents": 2, "without suffix": 1, ".jl": 1, ".nim": 1, "links": 1}
    assert done.unread.kinds == kinds
    index = open_index(tmp_path / "index")
    assert index.unread == kinds
    assert [file.path for file in index.files] == ["A.PY", "b.pyi", "c.pyw"]
    assert refresh(root, tmp_path / "index", processes=0, tell=lambda *_: None).unread.kinds == kinds
    done = refresh(root, tmp_path / "index", processes=0, tell=lambda *_: None, documents=True)
    assert "documents" not in done.unread.kinds


def test_everything_stays_chosen(tmp_path):
    root = tmp_path / "sources"
    write(root, "a.py", "node_modules/b.js")
    refresh(root, tmp_path / "index", processes=0, tell=lambda *_: None)
    assert open_index(tmp_path / "index").not_entered == ["node_modules"]
    assert refresh(root, tmp_path / "index", processes=0, tell=lambda *_: None, everything=True).files == 2
    assert refresh(root, tmp_path / "index", processes=0, tell=lambda *_: None).files == 2
    assert refresh(root, tmp_path / "index", processes=0, tell=lambda *_: None, everything=False).files == 1


def test_counts_are_said_in_words():
    assert in_words({}) == folders_in_words([]) == ""
    assert in_words({".rs": 1}) == "1 file: 1 .rs"
    assert in_words({".vue": 3, ".rs": 5, "documents": 4}) == (
        "12 files: 5 .rs, 4 documents (--documents=true reads them), 3 .vue"
    )
    assert folders_in_words(["a/node_modules", "node_modules", "dist"]) == "3 folders: node_modules (2), dist"
    many = [str(number) for number in range(20)]
    assert folders_in_words(many).endswith(" and others (12)")
    assert in_words(dict.fromkeys(many, 1)).endswith(", 4 of other kinds")


@pytest.mark.parametrize("path", ["Rakefile", "ios/Podfile", "Gemfile", "SConstruct"])
def test_files_that_are_known_by_their_whole_name_are_read(tmp_path, path):
    write(tmp_path, path, f"{path}.lock", "Makefile")
    paths, unread = found(tmp_path)
    assert paths == [path]
    assert unread.kinds == {".lock": 1, "without suffix": 1}


@pytest.mark.parametrize(
    ("beside", "inside"),
    [
        ("src/app.ts", {"build/package.json": "{}", "build/webpack.js": "module.exports = { mode: 'x' };\n"}),
        ("src/main.c", {"build/Makefile": "all:\n", "build/mk.py": "def make():\n    return 1\n"}),
        ("src/lib.rs", {"target/Cargo.toml": "[package]\n", "target/src/aim.rs": "pub fn aim() {}\n"}),
        ("main.go", {"dist/go.mod": "module dist\n", "dist/ship.go": "package dist\n\nfunc Ship() {}\n"}),
        ("app.py", {"dist/pyproject.toml": "", "dist/pack/tar.py": "def pack():\n    return 1\n"}),
    ],
)
def test_projects_that_people_wrote_are_read_without_git(tmp_path, beside, inside):
    write(tmp_path, beside)
    for path, text in inside.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    paths, unread = found(tmp_path)
    assert {*paths} >= {path for path in inside if path.endswith((".js", ".py", ".rs", ".go"))}
    assert unread.folders == []


@pytest.mark.parametrize(
    ("beside", "inside"),
    [
        ("src/app.ts", {"dist/package.json": "{}", "dist/app.js": "exports.a = 1;\n"}),
        ("a.ts", {"dist/package.json": "{}", "dist/b.js": 'Object.defineProperty(exports, "__esModule", {});\n'}),
        ("a.ts", {"dist/package.json": "{}", "dist/b.js": "f();\n//# sourceMappingURL=b.js.map\n"}),
        ("a.ts", {"dist/package.json": "{}", "dist/b.js": "x();", "dist/b.d.ts": "export {};\n"}),
        ("src/main.c", {"build/Makefile": "all:\n", "build/CMakeCache.txt": "", "build/gen.c": "int x;\n"}),
        (
            "src/main.c",
            {"build/Makefile": "# made by CMake, do not edit\n", "build/gen.c": "/* DO NOT EDIT */\nint x;\n"},
        ),
        ("app/a.py", {"build/setup.py": "", "build/lib/app/a.py": "def a():\n    return 1\n"}),
        ("src/lib.rs", {"target/Cargo.toml": "", "target/CACHEDIR.TAG": "", "target/debug/o.rs": "fn o() {}\n"}),
        ("a.js", {"dist/b.js": "function b() {}\n"}),
    ],
)
def test_what_is_built_is_left_out_without_git(tmp_path, beside, inside):
    write(tmp_path, beside)
    for path, text in inside.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    paths, unread = found(tmp_path)
    assert paths == [beside]
    assert len(unread.folders) == 1
