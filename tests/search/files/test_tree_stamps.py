"""Stamps of what a walk saw say that nothing has changed only if another walk finds the same files."""

import os
import random
import shutil
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from repositories import run_git, write

from modeling.c_library import load_c
from search.files import stamps
from search.files.stamps import Seen
from search.files.tree import checkout_of, found_files
from search.index import freshness
from search.index.freshness import StoredTree, TreeRecord, read_record, record_path, save_record
from search.retrieval.exact import ROUNDED

LIBRARY = load_c(ROUNDED)
ENDS = (".py",)
TICK = 8_000_000
"""Nanoseconds, more than a tick of Linux."""
START = {
    "a.py": "a\n",
    "b/c.py": "c\n",
    "b/d/e.py": "e\n",
    "b/.gitignore": "f*.py\n",
    "b/f.py": "ignored\n",
    "out/g.py": "ignored, but tracked\n",
    ".gitignore": "out/\n",
    "h/.hidden.py": "found\n",
}


def record_of(root: Path) -> TreeRecord:
    """What a walk sees and finds."""
    seen = Seen(root)
    found = found_files(root, ENDS, lambda *_: None, checkout_of(root, lambda *_: None), seen=seen)
    return TreeRecord(os.path.realpath(root), "x", seen.stamps, found)


def changed_files(record):
    """As the compiled loop tells it, and Python's, which must agree."""
    tree, said = StoredTree.of(record), []
    for library in (LIBRARY, None):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(freshness, "search_loops", lambda library=library: library)
            said.append(freshness.changed_files(tree))
    assert said[0] == said[1]
    return said[0]


def folders(root: Path) -> list[Path]:
    return [
        root,
        *(each for each in root.rglob("*") if each.is_dir() and not each.is_symlink() and ".git" not in each.parts),
    ]


def files(root: Path) -> list[Path]:
    return [each for each in root.rglob("*") if each.is_file() and not each.is_symlink() and ".git" not in each.parts]


class Edits:
    """Random edits of a tree."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.random, self.count = root, random.Random(seed), 0

    def name(self) -> str:
        self.count += 1
        return self.random.choice(["f{}.py", "x{}.py", "y{}.txt", "z{}.py"]).format(self.count)

    def create(self) -> None:
        (self.random.choice(folders(self.root)) / self.name()).write_text("new\n")

    def edit(self) -> None:
        each = self.random.choice(files(self.root))
        each.write_text(each.read_text() + "more\n")

    def delete(self) -> None:
        self.random.choice(files(self.root)).unlink()

    def rename(self) -> None:
        each = self.random.choice(files(self.root))
        each.rename(self.random.choice(folders(self.root)) / self.name())

    def make_folder(self) -> None:
        (self.random.choice(folders(self.root)) / f"k{self.count}").mkdir(exist_ok=True)
        self.count += 1

    def move_folder(self) -> None:
        if inner := folders(self.root)[1:]:
            each = self.random.choice(inner)
            self.count += 1
            each.rename(self.root / f"moved{self.count}")

    def remove_folder(self) -> None:
        if inner := folders(self.root)[1:]:
            shutil.rmtree(self.random.choice(inner))

    def ignore(self) -> None:
        lines = self.random.choice(["x*.py\n", "!f*.py\n", "d/\n", "", "*.py\n", "k*/\n"])
        name = self.random.choice([".gitignore", ".ignore", ".galmignore"])
        (self.random.choice(folders(self.root)) / name).write_text(lines)

    def link(self) -> None:
        place = self.random.choice(folders(self.root)) / f"l{self.count}.py"
        self.count += 1
        place.symlink_to(self.random.choice(files(self.root)))

    def link_folder(self) -> None:
        if inner := folders(self.root)[1:]:
            each = self.random.choice(inner)
            self.count += 1
            each.rename(away := self.root.parent / f"away{self.count}")
            each.symlink_to(away)

    def mode(self) -> None:
        self.random.choice([*files(self.root), *folders(self.root)[1:]]).chmod(
            self.random.choice([0o755, 0o700, 0o744])
        )

    def add(self) -> None:
        with suppress(AssertionError):  # of a file in another repository
            run_git(self.root, "add", "-f", "--", str(self.random.choice(files(self.root))))

    def nested(self) -> None:
        run_git(self.random.choice(folders(self.root)), "init", "-q")


KINDS = [name for name, each in vars(Edits).items() if callable(each) and name not in ("__init__", "name")]


@pytest.mark.parametrize("git", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_after_random_edits_the_stamps_agree_with_a_walk(tmp_path, seed, git, monkeypatch):
    monkeypatch.setattr(stamps, "TICK", TICK)  # so that unchanged trees are recognised soon
    root = write(tmp_path / "tree", START)
    kinds = KINDS if git else [each for each in KINDS if each not in ("add", "nested")]
    if git:
        run_git(root, "init", "-q")
        run_git(root, "add", "-f", "out/g.py", "a.py")
    edits, quiet = Edits(root, seed), 0
    time.sleep(2 * TICK / 1e9)
    record = record_of(root)
    for _ in range(25):
        assert changed_files(record) == []  # nothing was done
        if not files(root):
            write(root, START)
        getattr(edits, kind := edits.random.choice(kinds))()
        said = changed_files(record)
        time.sleep(2 * TICK / 1e9)
        now = record_of(root)
        differing = {each.path for each in {*record.files} ^ {*now.files}}
        if said is not None:
            assert {*said} == differing, kind
            quiet += 1
        record = now
    assert quiet


def test_what_was_seen_within_a_tick_of_its_change_is_not_trusted(tmp_path, monkeypatch):
    root = write(tmp_path / "tree", START)
    assert changed_files(record_of(root)) is None
    monkeypatch.setattr(stamps.time, "time_ns", lambda: root.stat().st_ctime_ns + 10**9)
    assert changed_files(record_of(root)) == []


def test_a_checkout_above_that_begins_or_ends_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(stamps, "TICK", 0)
    root = write(tmp_path / "top/tree", START)
    record = record_of(root)
    run_git(tmp_path / "top", "init", "-q")
    assert changed_files(record) is None
    record = record_of(root)
    write(tmp_path / "top", {".gitignore": "b/\n"})
    assert changed_files(record) is None
    record = record_of(root)
    assert all(not each.path.startswith("b/") for each in record.files)
    (tmp_path / "top/.git/info/exclude").write_text("a.py\n")
    assert changed_files(record) is None


def test_a_tracked_file_in_an_ignored_folder_is_noticed_when_it_comes_back(tmp_path, monkeypatch):
    monkeypatch.setattr(stamps, "TICK", 0)
    root = write(tmp_path / "tree", START)
    run_git(root, "init", "-q")
    run_git(root, "add", "-f", "out/g.py")
    (root / "out/g.py").unlink()
    record = record_of(root)
    assert changed_files(record) == []
    (root / "out/g.py").write_text("again\n")
    assert changed_files(record) is None
    shutil.rmtree(root / "out")
    record = record_of(root)
    write(root, {"out/g.py": "again\n"})
    assert changed_files(record) is None


def test_a_record_is_read_as_it_was_saved_and_a_damaged_one_is_none(tmp_path):
    root = write(tmp_path / "tree", START)
    record = replace(record_of(root), submodules=True, vectors=False)
    save_record(record, index := tmp_path / "index")
    assert read_record(index) == record
    path = record_path(index)
    assert path.stat().st_mode & 0o777 == 0o600
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert read_record(index) in (None, record)
    path.write_bytes(whole[:-3])
    assert read_record(index) is None
    path.unlink()
    assert read_record(index) is None


def test_submodules_are_looked_into_only_if_they_are_asked_for(tmp_path):
    root = write(tmp_path / "tree", {**START, ".gitmodules": '[submodule "s"]\n\tpath = sub/s\n\turl = x\n'})
    run_git(root, "init", "-q")
    for name in ("sub/s", "sub/other"):
        write(root, {f"{name}/in.py": "x\n", f"{name}/.git": "gitdir: nowhere\n"})
    checkout = checkout_of(root, lambda *_: None)
    without = [each.path for each in found_files(root, ENDS, lambda *_: None, checkout)]
    seen = Seen(root)
    with_them = [each.path for each in found_files(root, ENDS, lambda *_: None, checkout, submodules=True, seen=seen)]
    assert {*with_them} - {*without} == {"sub/s/in.py"}
    assert ("itself", ".gitmodules") in seen.stamps
