"""A write is whole or absent.

One writer at a time: refused or waited for, and free again when the holder ends, however it ends.
"""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from data_prep.files.writing import atomic_file, atomic_folder, sole_holder, sole_writer, write_atomically


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_text_and_bytes_arrive(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.txt", "é\n")
    write_atomically(tmp_path / "b", b"\x00\xff")
    assert (tmp_path / "a.txt").read_bytes() == b"\xc3\xa9\n"
    assert (tmp_path / "b").read_bytes() == b"\x00\xff"
    assert names(tmp_path) == ["a.txt", "b"]


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", "")
    (tmp_path / "plain").touch()
    with atomic_folder(tmp_path / "f"):
        pass
    (tmp_path / "plain_folder").mkdir()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "f").stat().st_mode == (tmp_path / "plain_folder").stat().st_mode


def test_what_is_private_is_readable_by_the_user_alone_also_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "a").touch(0o666)
    with atomic_file(tmp_path / "a", private=True) as new:
        assert new.stat().st_mode & 0o777 == 0o600
    with atomic_folder(tmp_path / "f", private=True) as new:
        assert new.stat().st_mode & 0o777 == 0o700
    write_atomically(tmp_path / "b", "", private=True)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in "abf"] == [0o600, 0o600, 0o700]


def test_failed_folder_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "data"
    with atomic_folder(target) as new:
        (new / "x").write_text("old")

    def fail() -> None:
        with atomic_folder(target) as new:
            (new / "x").write_text("new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert (target / "x").read_text() == "old"
    assert names(tmp_path) == ["data"]


def test_folder_replaces_the_old_one_whole(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "data"
    for name in ("first", "second"):
        with atomic_folder(target) as new:
            (new / name).write_text(name)
    assert names(target) == ["second"]
    assert names(target.parent) == ["data"]


def test_killed_writer_leaves_no_target_and_the_next_one_tidies(tmp_path: Path) -> None:
    target = tmp_path / "data"
    code = (
        "import os, signal, sys, pathlib\n"
        "from data_prep.files.writing import atomic_folder\n"
        "with atomic_folder(pathlib.Path(sys.argv[1])) as new:\n"
        "    (new / 'x').write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    repository = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", code, str(target)], env={**os.environ, "PYTHONPATH": str(repository)}, check=False
    )
    assert done.returncode == -9
    assert not target.exists()
    assert len(names(tmp_path)) == 1  # what the killed one left
    with atomic_folder(target) as new:
        (new / "x").write_text("whole")
    assert names(tmp_path) == ["data"]


def test_writers_of_one_folder_replace_each_other_whole(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from data_prep.files.writing import atomic_folder\n"
        "for number in range(60):\n"
        "    with atomic_folder(pathlib.Path(sys.argv[1])) as new:\n"
        "        for name in 'ab':\n"
        "            (new / name).write_text(sys.argv[2])\n"
    )
    repository = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", code, str(tmp_path / "data")]
    running = [subprocess.Popen([*command, each], cwd=repository) for each in ("one", "two", "three")]
    assert [each.wait(60) for each in running] == [0, 0, 0]
    assert names(tmp_path) == ["data"]
    assert (tmp_path / "data" / "a").read_text() == (tmp_path / "data" / "b").read_text()


def test_a_folder_that_arrives_meanwhile_is_replaced_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another writer may be quicker, just when the older folder was taken away."""
    target, replace = tmp_path / "data", Path.replace
    with atomic_folder(target) as new:
        (new / "x").write_text("old")

    def replaced(self: Path, to: Path) -> Path:
        there = replace(self, to)
        if self == target:
            monkeypatch.setattr(Path, "replace", replace)
            target.mkdir()
            (target / "x").write_text("quicker")
        return there

    monkeypatch.setattr(Path, "replace", replaced)
    with atomic_folder(target) as new:
        (new / "x").write_text("new")
    assert (target / "x").read_text() == "new"
    assert names(tmp_path) == ["data"]


def test_what_killed_writers_left_of_a_file_is_removed_too(tmp_path: Path) -> None:
    left = tmp_path / ".a [1].txt.999999999.x.tmp"
    left.touch()
    write_atomically(tmp_path / "a [1].txt", "")
    assert names(tmp_path) == ["a [1].txt"]


def test_a_living_writer_is_left_alone(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "data") as slow:
        (slow / "x").write_text("slow")
        with atomic_folder(tmp_path / "data") as quick:
            (quick / "x").write_text("quick")
        assert (slow / "x").exists()
    assert (tmp_path / "data" / "x").read_text() == "slow"
    assert names(tmp_path) == ["data"]


REPOSITORY = Path(__file__).resolve().parents[3]


def test_a_second_writer_is_refused_in_one_line(tmp_path: Path) -> None:
    with sole_writer(tmp_path / "out"):
        with pytest.raises(ValueError, match=r"another process is writing .*/out: wait .* or name another") as error:
            sole_writer(tmp_path / "out").__enter__()
        assert "\n" not in str(error.value)
        assert names(tmp_path / "out") == []
        (tmp_path / "out" / "result").touch()
    with sole_writer(tmp_path / "out"):
        assert names(tmp_path / "out") == ["result"]


def test_a_folder_that_it_made_stays_only_with_something_in_it(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), sole_writer(tmp_path / "deep" / "out"):
        raise RuntimeError
    assert names(tmp_path) == []
    (tmp_path / "mine").mkdir()
    with sole_writer(tmp_path / "mine"):
        pass
    with sole_writer(tmp_path / "deep" / "out"):
        (tmp_path / "deep" / "out" / "result").touch()
    assert names(tmp_path) == ["deep", "mine"]
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="file is no folder"):
        sole_writer(tmp_path / "file").__enter__()


@pytest.mark.parametrize("lock", ["sole_writer(Path(sys.argv[1]))", "sole_holder(Path(sys.argv[1]) / 'lock')"])
def test_the_lock_of_a_killed_process_is_free(lock: str, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from data_prep.files.writing import *\n"
        f"with {lock}: print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline()
        if "writer" in lock:
            with pytest.raises(ValueError, match="another process"):
                sole_writer(tmp_path).__enter__()
        else:
            with sole_holder(tmp_path / "lock") as ours:
                assert not ours
        holder.kill()
    with sole_writer(tmp_path), sole_holder(tmp_path / "lock") as ours:
        assert ours
    assert names(tmp_path) == []


def test_who_waits_is_told_once_and_has_it_next(tmp_path: Path) -> None:
    told, done = [], threading.Event()

    def wait() -> None:
        with sole_holder(tmp_path / "lock", lambda: told.append(done.is_set())) as ours:
            told.append(ours and done.is_set())

    thread = threading.Thread(target=wait)
    with sole_holder(tmp_path / "lock"):
        thread.start()
        while not told:
            assert thread.is_alive()
        done.set()
    thread.join(60)
    assert told == [False, True]
    assert names(tmp_path) == []


def test_where_nothing_can_be_written_there_is_nothing_to_lock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("os.open", refuse)  # root may write everywhere
    with sole_holder(tmp_path / "lock") as ours:
        assert ours


def test_many_that_wait_have_it_one_at_a_time(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from data_prep.files.writing import sole_holder\n"
        "count = Path(sys.argv[1])\n"
        "for _ in range(200):\n"
        "    with sole_holder(count.with_name('lock'), lambda: None):\n"
        "        count.write_text(str(int(count.read_text()) + 1))\n"
    )
    (tmp_path / "count").write_text("0")
    command = [sys.executable, "-c", program, str(tmp_path / "count")]
    running = [subprocess.Popen(command, cwd=REPOSITORY) for _ in range(3)]
    assert [each.wait(60) for each in running] == [0, 0, 0]
    assert (tmp_path / "count").read_text() == "600"
    assert names(tmp_path) == ["count"]


@pytest.mark.parametrize("lock", [lambda folder: sole_writer(folder), lambda folder: sole_holder(folder / "lock")])
def test_a_folder_that_vanishes_before_it_is_locked_is_made_again(lock, tmp_path, monkeypatch) -> None:
    """As if the previous holder, which had made the folder, removed it just then."""
    folder, opened, calls = tmp_path / "out", os.open, []

    def open_late(path, *rest):
        calls.append(path)
        if len(calls) == 1:
            folder.rmdir()
        return opened(path, *rest)

    monkeypatch.setattr(os, "open", open_late)
    with lock(folder):
        assert folder.is_dir()
    assert len(calls) == 2
