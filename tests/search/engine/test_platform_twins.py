"""Files of which there is one for each platform: that of the platforms that most develop on stands first."""

import numpy as np
import pytest

from search.engine.engine import Engine
from search.engine.file_places import platform_twins
from search.index.build import refresh
from search.index.index_file import open_index

LOCKING = "int {name}(void) {{\n  return take_folder();\n}}\n"


@pytest.mark.parametrize(
    ("paths", "groups"),
    [
        (["src/unix/fs.c", "src/win/fs.c", "src/win/only.c", "src/fs.c"], [[(0, False), (1, True)]]),
        (["env_posix.cc", "env_windows.cc", "env.cc"], [[(0, False), (1, True)]]),
        (["dir_unix.go", "dir_plan9.go", "dir_windows.go"], [[(0, False), (1, True), (2, True)]]),
        (["a/UnixFileHandle.kt", "a/WindowsFileHandle.kt"], [[(0, False), (1, True)]]),
        (["PosixLogger.h", "WindowsLogger.h", "unix.md"], [[(0, False), (1, True)]]),
        (["unix/linux.c", "unix/darwin.c", "unix/aix.c"], [[(0, False), (1, False), (2, True)]]),
        (["ui/windows.lua", "ui/doors.lua", "win/a.c", "winner_unix.c"], []),
        ([], []),
    ],
)
def test_twins_are_files_whose_paths_differ_by_the_platform(paths, groups):
    assert platform_twins(paths) == groups


@pytest.fixture
def engine(tmp_path):
    root = tmp_path / "project"
    for path, name in {"win/lock.c": "lock_folder", "unix/lock.c": "take"}.items():
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(LOCKING.format(name=name))
    (root / "other.c").write_text("int other(void) {\n  return 1;\n}\n")
    refresh(root, tmp_path / "index", processes=0, tell=lambda *_: None)
    return Engine(open_index(tmp_path / "index"), None)


def files(engine, query, **options):
    return [engine.index.file(hit.row).path for hit in engine.search(query, by_file=True, **options)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("lock a folder", "unix/lock.c"),
        ("lock a folder on windows", "win/lock.c"),
        ("lock_folder", "win/lock.c"),
        ("how does lock_folder take a folder", "win/lock.c"),
    ],
)
def test_a_twin_of_a_seldom_meant_platform_stands_behind(engine, query, first):
    assert files(engine, query)[0] == first


def test_they_exchange_their_scores(engine, monkeypatch):
    own = [hit.score for hit in engine.search("lock a folder", by_file=True)]
    monkeypatch.setattr(engine._penalties, "twins", [])
    alike = engine.search("lock a folder", by_file=True)
    assert engine.index.file(alike[0].row).path == "win/lock.c"
    assert np.allclose(own, [hit.score for hit in alike])


def test_a_twin_alone_keeps_its_score(engine):
    assert files(engine, "lock a folder", path="win/*") == ["win/lock.c"]
