"""The source files of a folder are found as git sees them, with and without git, and read as they were found."""

import os
import shutil
from pathlib import Path

import pytest
from repositories import commit, run_git, write

from data_prep.records import LARGEST_SOURCE
from search.files.stamps import Found
from search.files.tree import checkout_of, found_files, read_source

FILES = {"b/Z.java": "class Z {}", "a/A.java": "class A {}", "a-b/C.java": "", "a/b/D.java": "1", "a/notes.txt": "none"}
JAVA = ["a-b/C.java", "a/A.java", "a/b/D.java", "b/Z.java"]


@pytest.fixture(autouse=True)
def own_settings(monkeypatch):
    """Git without the settings of whoever runs the tests."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


@pytest.fixture(params=["with git", "without git"])
def folder(request, tmp_path) -> Path:
    """An empty folder, or a new git repository."""
    if request.param == "with git":
        run_git(tmp_path, "init", "-q", "-b", "main")
    return tmp_path


def files(root: Path, suffixes, tell) -> list[Found]:
    return found_files(root, suffixes, tell, checkout_of(root, tell))


def paths(root: Path, *suffixes: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The paths found, and what was told."""
    told: list[tuple[str, str]] = []
    found = files(root, suffixes or (".java",), lambda path, reason: told.append((path, reason)))
    return [each.path for each in found], told


def test_files_come_sorted_by_path_with_their_size_and_time(folder):
    write(folder, FILES)
    os.utime(folder / "a/A.java", ns=(1, 1_234_567_890_123_456_789))
    found = files(folder, {".java"}, lambda *told: pytest.fail(str(told)))
    assert [each.path for each in found] == JAVA
    assert found[1] == Found("a/A.java", 10, (folder / "a/A.java").stat().st_ctime_ns)  # no time that can be set
    assert found[0].size == 0
    assert paths(folder, ".txt", ".java")[0] == sorted([*JAVA, "a/notes.txt"])


def test_tracked_and_new_files_are_found_but_no_deleted_ones(tmp_path):
    commit(tmp_path, FILES | {".gitignore": "/b/\n", "b/Z.java": "tracked nowhere"})
    write(tmp_path, {".hidden/Tracked.java": ""})
    run_git(tmp_path, "add", "-f", "b/Z.java", ".hidden/Tracked.java")
    write(tmp_path, {"b/Ignored.java": "", "a/New.java": "", ".hidden/New.java": ""})
    (tmp_path / "a/A.java").unlink()
    assert paths(tmp_path) == ([".hidden/Tracked.java", "a-b/C.java", "a/New.java", "a/b/D.java", "b/Z.java"], [])


def test_a_walk_passes_hidden_folders_over(tmp_path):
    write(tmp_path, {".hidden/A.java": "", "a/.git/B.java": "", "a/.C.java": "", "a/D.java": ""})
    assert paths(tmp_path) == (["a/.C.java", "a/D.java"], [])


@pytest.mark.parametrize(
    ("rules", "count"),
    [
        ({"": "*\n!*/\n!A.java"}, 9),
        ({"": "a/\n!a/A.java"}, 20),
        ({"": "foo/*\n!foo/a/"}, 20),
        ({"": "foo/**\n!foo/a"}, 16),
        ({"": "/a\n# all\n\n*.java\n!A.java"}, 8),
        ({"": "**/a/**/B.java\nfoo/b/"}, 25),
        ({"": "b", "foo": "!b\n/a"}, 24),
        ({"": "*", "foo": "!A.java"}, 0),
        ({"": "[ab]/\n\\!x.java\nspace.java \\ \n"}, 9),
        ({"": "**\n!b\na*"}, 0),
        ({"": "/*\n!/foo\n/foo/*\n!/foo/a"}, 4),
        ({"foo": "a/B.java\r\nb/A.java\r\n"}, 34),
        ({"": "![ab]\n?.java\n***"}, 0),
        ({"": "/*\nfoo/*\n!a/\n!foo"}, 12),
        ({"": "**/foo/**\n!*.java"}, 16),
        ({"": "*.class\n*.iml\ntarget\n/x"}, 36),
        ({"": "*.class\n*java\n!*e.java\n!B.jav?\nfoo/b/B.*", "foo": "*va\n!a/A.jav[a]\n*.html"}, 9),
    ],
)
def test_a_walk_ignores_what_git_ignores(tmp_path, rules, count):
    names = ("A.java", "B.java", "!x.java", "space.java")
    folders = ("", "a/", "b/", "foo/", "foo/a/", "foo/b/", "foo/b/a/", "foo/foo/", "b/foo/a/")
    write(tmp_path, {folder + name: "" for folder in folders for name in names})
    write(tmp_path, {str(Path(folder, ".gitignore")): text for folder, text in rules.items()})
    run_git(tmp_path, "init", "-q")
    listed = run_git(tmp_path, "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    expected = sorted(name for name in listed if name.endswith(".java"))
    assert paths(tmp_path) == (expected, [])
    shutil.rmtree(tmp_path / ".git")
    assert paths(tmp_path) == (expected, [])
    assert len(expected) == count


def test_no_pattern_takes_long(tmp_path):
    write(tmp_path, {"a" * 200 + ".java": "", "/".join("a" * 60) + "/B.java": ""})
    write(
        tmp_path, {".gitignore": "*a" * 12 + "b.java\n" + "**/a/" * 12 + "b\n" + "*a?[a]*" * 9 + "z\n*" + "a*" * 50_000}
    )
    found, told = paths(tmp_path)
    assert len(found) == 2
    assert [path for path, _ in told] == [".gitignore"]
    assert "more than 4,096 bytes, skipped" in told[0][1]
    assert len(told[0][1]) < 200


def test_a_later_kind_of_ignore_file_outweighs_those_before(tmp_path):
    write(tmp_path, {f"{name}.java": "" for name in "ABCD"})
    write(tmp_path, {".gitignore": "*.java", ".ignore": "!A.java\n!B.java", ".galmignore": "B.java\n!C.java"})
    assert paths(tmp_path) == (["A.java", "C.java"], [])


@pytest.mark.parametrize("named", ["absolute", "relative", "no home"])
def test_the_users_patterns_are_not_those_of_the_current_folder(tmp_path, monkeypatch, named):
    write(tmp_path, {"settings/git/ignore": "*\n", ".config/git/ignore": "*\n", "~/.config/git/ignore": "*\n"})
    root = write(tmp_path / "code", FILES)
    run_git(root, "init", "-q", "-b", "main")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings") if named == "absolute" else "settings")
    if named == "no home":
        monkeypatch.setattr(Path, "home", _no_home)
    monkeypatch.chdir(tmp_path)
    assert paths(root) == ([] if named == "absolute" else JAVA, [])


def _no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_own_ignore_files_hold_for_what_git_tracks_too(folder):
    write(folder, FILES | {"a/gen/E.java": "", "a/gen/deep/F.java": "", "b/gen/G.java": ""})
    write(folder, {"a/.galmignore": "gen/\nA.java", "a/gen/deep/.galmignore": "!F.java", ".galmignore": "/a-b"})
    if (folder / ".git").exists():
        commit(folder, {})
    assert paths(folder) == (["a/b/D.java", "b/Z.java", "b/gen/G.java"], [])


def test_own_ignore_file_that_git_ignores_holds(tmp_path):
    commit(tmp_path, FILES | {".gitignore": ".galmignore"})
    write(tmp_path, {"a/.galmignore": "*"})
    assert paths(tmp_path) == (["a-b/C.java", "b/Z.java"], [])


def test_what_matches_nothing_is_skipped_and_the_rest_holds(tmp_path):
    write(tmp_path, FILES | {".galmignore": b"!\n/a\n\xff\n[z-a]\n"})
    assert paths(tmp_path) == (["a-b/C.java", "b/Z.java"], [])


def test_links_are_never_followed(folder):
    outside = write(folder / "outside.d", {"O.java": "secret"})
    inside = write(folder / "in", {"A.java": "", "taken/B.java": ""})
    if (folder / ".git").exists():
        commit(folder, {})
    (inside / "taken/B.java").unlink()
    (inside / "taken").rmdir()
    (inside / "taken").symlink_to(outside)  # a tracked folder is now a link, with a file of a tracked name behind it
    write(outside, {"B.java": ""})
    (inside / "loop").symlink_to(inside)
    (inside / "L.java").symlink_to(outside / "O.java")
    (inside / "Broken.java").symlink_to("nowhere")
    os.mkfifo(inside / "Pipe.java")
    assert paths(folder) == (["in/A.java", "outside.d/B.java", "outside.d/O.java"], [])


def test_an_ignore_file_that_is_a_link_is_told_and_not_read(folder):
    write(folder, FILES | {"rules": "*"})
    (folder / ".galmignore").symlink_to("rules")
    found, told = paths(folder)
    assert found == JAVA
    assert [path for path, _ in told] == [".galmignore"]


def test_a_folder_inside_of_a_repository_has_paths_of_its_own(tmp_path):
    commit(tmp_path, {f"module/{name}": text for name, text in FILES.items()} | {".gitignore": "Z.java", "X.java": ""})
    assert paths(tmp_path / "module") == (["a-b/C.java", "a/A.java", "a/b/D.java"], [])
    linked = tmp_path / "linked"
    linked.symlink_to("module")
    assert paths(linked)[0] == ["a-b/C.java", "a/A.java", "a/b/D.java"]


def test_a_folder_that_git_ignores_as_a_whole_is_walked(tmp_path):
    commit(tmp_path, {".gitignore": "/build"})
    write(tmp_path / "build", FILES)
    assert paths(tmp_path / "build") == (JAVA, [])


def test_names_that_are_no_utf8_are_told_and_left_out(folder):
    write(folder, {"a/A.java": "", "ä/Ö.java": ""})
    Path(os.fsdecode(os.fsencode(folder) + b"/a/\xff.java")).touch()
    Path(os.fsdecode(os.fsencode(folder) + b"/\xfe")).mkdir()
    Path(os.fsdecode(os.fsencode(folder) + b"/\xfe/C.java")).touch()
    found, told = paths(folder)
    assert found == ["a/A.java", "ä/Ö.java"]
    assert {reason for _, reason in told} == {"its name is no UTF-8"}
    assert "a/\\xff.java" in [path for path, _ in told]
    assert any(path.startswith("\\xfe") for path, _ in told)


def test_what_cannot_be_looked_at_is_told(tmp_path, monkeypatch):
    write(tmp_path, FILES)

    def refusing(function, name):
        def refuse(path, **options):
            if str(path).endswith(name):
                raise PermissionError(13, "Permission denied", str(path))
            return function(path, **options)

        return refuse

    monkeypatch.setattr(os, "scandir", refusing(os.scandir, "/a/b"))
    monkeypatch.setattr(os, "lstat", refusing(os.lstat, "/Z.java"))
    found, told = paths(tmp_path)
    assert found == ["a-b/C.java", "a/A.java"]
    assert sorted(told) == [("a/b", "Permission denied"), ("b/Z.java", "Permission denied")]


def test_where_git_fails_the_walk_takes_its_place(tmp_path):
    write(tmp_path, FILES | {".git": "gitdir: nowhere", ".gitignore": "Z.java"})
    found, told = paths(tmp_path)
    assert found == ["a-b/C.java", "a/A.java", "a/b/D.java"]
    ((path, reason),) = told
    assert path == "."
    assert "not a git repository" in reason
    assert "found by a walk alone" in reason


def test_without_git_installed_the_walk_takes_its_place(tmp_path, monkeypatch):
    commit(tmp_path, FILES)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert paths(tmp_path) == (JAVA, [])  # no need to ask
    write(tmp_path, {".gitignore": "/a/b"})
    why = "git does not list its files (git is not installed); found by a walk alone"
    assert paths(tmp_path) == (["a-b/C.java", "a/A.java", "b/Z.java"], [(".", why)])


def test_repositories_inside_are_told_and_not_looked_into(tmp_path):
    library = commit(tmp_path / "library", {"L.java": ""})
    main = commit(tmp_path / "main", {"M.java": ""})
    run_git(main, "submodule", "--quiet", "add", str(library), "libs/library")
    commit(main / "own", {"O.java": ""})
    found, told = paths(main)
    assert found == ["M.java"]
    assert sorted(path for path, _ in told) == ["libs/library", "own"]
    assert paths(main / "libs/library")[0] == ["L.java"]


def test_a_file_in_conflict_is_found_once(tmp_path):
    commit(tmp_path, {"A.java": "1\n"})
    run_git(tmp_path, "checkout", "-q", "-b", "other")
    commit(tmp_path, {"A.java": "2\n"})
    run_git(tmp_path, "checkout", "-q", "main")
    commit(tmp_path, {"A.java": "3\n"})
    run_git(tmp_path, "merge", "other")
    assert run_git(tmp_path, "ls-files").split() == ["A.java"] * 3
    assert paths(tmp_path) == (["A.java"], [])


def test_git_is_asked_about_this_folder_only(tmp_path, monkeypatch):
    root = commit(tmp_path / "one", FILES)
    commit(root, {".gitignore": "Z.java"})  # which is tracked, but another repository's git would not know
    elsewhere = commit(tmp_path / "other", {"O.java": ""})
    os.utime(root / "a/A.java")  # so that the index would be written anew
    before = (root / ".git/index").stat().st_mtime_ns
    monkeypatch.setenv("GIT_DIR", str(elsewhere / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(elsewhere / ".git" / "index"))
    assert paths(root) == (JAVA, [])
    assert (root / ".git/index").stat().st_mtime_ns == before


@pytest.mark.parametrize(("name", "trouble"), [("missing", "does not exist"), ("A.java", "is no folder")])
def test_a_root_that_is_no_folder_is_refused(tmp_path, name, trouble):
    write(tmp_path, {"A.java": ""})
    with pytest.raises(ValueError, match=rf"{name} {trouble}: expected a folder"):
        paths(tmp_path / name)


def only(root: Path) -> Found:
    (found,) = files(root, (".java",), lambda *told: pytest.fail(str(told)))
    return found


def test_a_file_is_read_as_it_was_found(tmp_path):
    write(tmp_path, {"a/A.java": b"class A { /* \xff */ }"})
    assert read_source(tmp_path, only(tmp_path)) == b"class A { /* \xff */ }"


@pytest.mark.parametrize("text", ["class A { int b; }", "class B {}", ""], ids=["longer", "as long", "shorter"])
def test_a_file_that_changed_is_refused(tmp_path, text):
    write(tmp_path, {"A.java": "class A {}"})
    found = only(tmp_path)
    write(tmp_path, {"A.java": text})
    os.utime(tmp_path / "A.java", ns=(0, found.modified + (len(text) == found.size)))
    with pytest.raises(ValueError, match=r"^changed while it was read$"):
        read_source(tmp_path, found)


def test_a_file_that_changes_during_the_read_is_refused(tmp_path, monkeypatch):
    write(tmp_path, {"A.java": "class A {}"})
    found, opened = only(tmp_path), os.fdopen

    def slow(*arguments, **options):
        with (tmp_path / "A.java").open("a") as file:
            file.write("// more")
        return opened(*arguments, **options)

    monkeypatch.setattr(os, "fdopen", slow)
    with pytest.raises(ValueError, match="changed while"):
        read_source(tmp_path, found)


def test_of_a_long_file_one_byte_too_many_is_read(tmp_path):
    write(tmp_path, {"A.java": b" " * (LARGEST_SOURCE + 100)})
    assert len(read_source(tmp_path, only(tmp_path))) == LARGEST_SOURCE + 1
    write(tmp_path, {"A.java": b" " * LARGEST_SOURCE})
    assert len(read_source(tmp_path, only(tmp_path))) == LARGEST_SOURCE


def test_what_became_a_link_a_pipe_or_nothing_is_not_read(tmp_path):
    write(tmp_path, {"A.java": "class A {}", "secret": "class A {}"})
    found, path = only(tmp_path), tmp_path / "A.java"
    path.unlink()
    with pytest.raises(FileNotFoundError):
        read_source(tmp_path, found)
    path.symlink_to("secret")
    with pytest.raises(OSError, match="symbolic links"):
        read_source(tmp_path, found)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        read_source(tmp_path, found)
