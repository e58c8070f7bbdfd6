"""One writer at a time: refused or waited for, and free again when the holder ends, however it ends."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from data_prep.files.folder_lock import sole_holder, sole_writer

REPOSITORY = Path(__file__).resolve().parents[3]


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


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
        "import sys; from pathlib import Path; from data_prep.files.folder_lock import *\n"
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
        "import sys; from pathlib import Path; from data_prep.files.folder_lock import sole_holder\n"
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
