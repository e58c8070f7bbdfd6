"""An index lies where nothing that is indexed can reach it, and one that a folder brings along is not believed."""

import os
import stat
from pathlib import Path

import pytest
from repositories import commit, run_git, write

from cli.main import main
from data_prep.files.access import cache_folder
from search.index.build import refresh
from search.opening import index_place, indexed_above

FILES = {"A.java": "class A { void openTheDoor() { } }\n", "sub/B.java": "class B { void closeTheDoor() { } }\n"}
ASKED = ["search", "open the door", "--model=none", "--top=1"]


def state(folder: Path) -> dict[str, tuple[int, int, bytes | None]]:
    """All that can differ below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
        found[str(path)] = (status.st_mode, status.st_mtime_ns, content)
    return found


def run(*arguments: str) -> int:
    return main([*arguments])


def test_the_place_is_in_the_cache_and_the_same_by_any_way(tmp_path):
    root = write(tmp_path / "a folder", FILES)
    (tmp_path / "link").symlink_to(root)
    place = index_place(root)
    assert place.is_relative_to(cache_folder())
    assert place.parent.name.startswith("a_folder-")
    assert index_place(tmp_path / "link") == place != index_place(root / "sub")
    assert index_place(tmp_path / "other") != place
    assert index_place(Path("/")).parent.name.startswith("root-")


def test_nothing_is_written_into_what_is_indexed_and_it_is_found_from_inside(tmp_path, monkeypatch, capsys):
    root = commit(tmp_path / "checkout", FILES)
    before = state(root)
    assert run("index", str(root), "--vectors=none") == 0
    assert state(root) == before
    assert indexed_above(root / "sub") == (root, index_place(root))
    monkeypatch.chdir(root / "sub")
    assert run(*ASKED) == 0
    assert "A.openTheDoor" in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    assert indexed_above(tmp_path) is None


@pytest.mark.parametrize("target", [".git", "../victim/.git", "../victim", "/dev"])
def test_a_link_in_place_of_the_former_folder_leads_nowhere(tmp_path, target):
    victim = commit(tmp_path / "victim", FILES)
    write(victim, {"A.java": "staged work"})
    run_git(victim, "add", "-A")
    root = commit(tmp_path / "checkout", FILES)
    (root / ".galm").symlink_to(target)
    commit(root, {})
    before = state(tmp_path)
    assert run("index", str(root), "--vectors=none", "--processes=1") == 0
    assert state(tmp_path) == before


def test_an_index_that_comes_along_is_used_only_by_name(tmp_path, monkeypatch, capsys):
    root, brought = write(tmp_path / "checkout", FILES), tmp_path / "checkout/.galm/index"
    refresh(
        write(tmp_path / "elsewhere", {"C.java": "class C { void openTheDoor() { } }"}),
        brought,
        processes=0,
        tell=print,
    )
    before = state(root)
    monkeypatch.chdir(root)
    assert run(*ASKED) == 0
    assert "A.openTheDoor" in capsys.readouterr().out
    assert run(*ASKED, f"--index={brought}") == 0
    assert "C.openTheDoor" in capsys.readouterr().out
    assert state(root) == before


def test_a_named_file_inside_is_written_but_through_no_link(tmp_path, capsys):
    root = commit(tmp_path / "checkout", FILES)
    (root / "out").symlink_to(".git")
    before = state(root)
    assert run("index", str(root), f"--out={root}/out/index", "--vectors=none") == 2
    assert f"leads through the link {root}/out" in capsys.readouterr().err
    assert state(root) == before
    (root / "victim").write_text("mine")
    (root / "own").mkdir()
    (root / "own/index").symlink_to("../victim")
    assert run("index", str(root), f"--out={root}/own/index", "--vectors=none") == 0
    assert (root / "victim").read_text() == "mine"  # the link was replaced
    assert not (root / "own/index").is_symlink()


def test_only_the_user_reads_what_is_made_of_the_users_code(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GALM_NATIVE", "0")
    root, before = write(tmp_path / "code", FILES), os.umask(0)
    try:
        assert run("index", str(root)) == 0
        assert run("index", str(root), f"--out={tmp_path / 'new' / 'index'}", "--vectors=none") == 0
    finally:
        os.umask(before)
    made = [each for name in ("cache", "new") for each in (tmp_path / name, *(tmp_path / name).rglob("*"))]
    assert {each.name for each in made} >= {"galm", "indexes", "index", "index.vectors", "new"}
    for each in made:
        assert stat.S_IMODE(each.stat().st_mode) == (0o700 if each.is_dir() else 0o600), each


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written_is_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "cache").mkdir(mode=0o500)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert run("index", str(write(tmp_path / "code", FILES))) == 2
    assert capsys.readouterr().err.count("\n") == 1
