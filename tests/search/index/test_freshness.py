"""An answer is of the files as they are, or says which hits may be old."""

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from repositories import run_git, write
from serving import ask, index_of, indexed, running

from cli.main import main
from data_prep.files.writing import sole_holder
from neural_code_search.folder_index import index_folder
from neural_code_search.folder_index import open_index as open_from_python
from search import first_index
from search.index import build, updating
from search.index.freshness import CURRENT, Freshness, looked_at, read_record, want_vectors
from search.index.index_file import open_index
from search.index.vector_encoding import up_to_date
from search.index.vectors import vectors_path
from search.opening import index_place
from search.serve import server as server_module
from search.serve.live_index import COMPLETING, LiveIndex
from search.serve.partial_index import OpeningIndex
from tests.conftest import REPOSITORY

FILES = {"store.py": "def open_the_door():\n    pass\n", "sub/other.py": "def close_the_window():\n    pass\n"}
ASKED = ("--model=none", "--json")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A folder with an index, which is the current one; what is new there is waited for."""
    monkeypatch.setattr(updating, "BUDGET", 60.0)
    found = write(tmp_path / "code", FILES)
    monkeypatch.chdir(found)
    indexed(found)
    return found


@pytest.fixture
def asked(capsys):
    def ask_it(question: str, *more: str) -> dict:
        capsys.readouterr()
        assert main(["search", question, *ASKED, *more]) in (0, 1)
        told = capsys.readouterr()
        return json.loads(told.out) | {"said": told.err}

    return ask_it


def names(answer: dict) -> list[str]:
    return [each["name"] for each in answer["results"] if not each["whole_file"]]


def test_edited_new_deleted_and_renamed_files_are_read_again(root, asked):
    assert names(asked("open the door"))[0] == "open_the_door"
    write(root, {"store.py": "\n\ndef open_the_gate():\n    pass\n"})
    answer = asked("open the gate")
    assert (names(answer)[0], answer["results"][0]["start_line"]) == ("open_the_gate", 3)
    assert "open_the_door" not in names(asked("open the door"))
    write(root, {"new.py": "def lock_the_box():\n    pass\n"})
    assert names(asked("lock the box"))[0] == "lock_the_box"
    (root / "new.py").rename(root / "sub/moved.py")
    assert asked("lock the box")["results"][0]["path"] == "sub/moved.py"
    (root / "sub/moved.py").unlink()
    answer = asked("lock the box")
    assert "lock_the_box" not in names(answer)
    assert "freshness" not in answer
    assert answer["said"] == ""


def test_an_edit_that_keeps_size_and_time_is_read(root, asked):
    before = (root / "store.py").stat()
    write(root, {"store.py": FILES["store.py"].replace("open", "shut")})
    os.utime(root / "store.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert names(asked("shut_the_door"))[0] == "shut_the_door"


def test_a_folder_whose_last_source_file_is_gone_answers_nothing(root, capsys):
    for path in FILES:
        (root / path).unlink()
    capsys.readouterr()
    assert main(["search", "open the door", *ASKED]) == 2
    assert "the index is empty" in capsys.readouterr().err
    write(root, {"new.py": "def lock_the_box():\n    pass\n"})
    assert main(["search", "lock the box", *ASKED]) == 0


@pytest.mark.usefixtures("root")
def test_a_file_that_is_named_as_the_folder_is_said_to_be_one(capsys):
    assert main(["search", "open the door", "sub/other.py"]) == 2
    assert "sub/other.py is a file" in (said := capsys.readouterr().err)
    assert "sub --path=other.py" in said


def test_another_branch_is_read(root, asked):
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "add", "-A")
    run_git(root, "commit", "-qm", "1")
    run_git(root, "checkout", "-qb", "other")
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})
    run_git(root, "commit", "-qam", "2")
    assert names(asked("open the gate"))[0] == "open_the_gate"
    run_git(root, "checkout", "-q", "main")
    assert names(asked("open the door"))[0] == "open_the_door"


def test_what_takes_longer_is_named_and_read_meanwhile(root, asked, monkeypatch):
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})
    monkeypatch.setattr(updating, "BUDGET", 0.0)
    answer = asked("open the door")
    assert names(answer)[0] == "open_the_door"
    assert "changed" in answer["said"]
    assert "may be old" in answer["said"]
    assert answer["said"].count("\n") == 1
    assert answer["freshness"]["line"] + "\n" == answer["said"]
    monkeypatch.setattr(updating, "BUDGET", 60.0)
    assert names(asked("open the gate"))[0] == "open_the_gate"


def test_what_another_process_reads_is_said_to_be_old(root, asked, monkeypatch):
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})
    monkeypatch.setattr(updating, "BUDGET", 0.3)
    with sole_holder(build.lock_of(index_place(root))):
        assert "may be old" in asked("open the door")["said"]


def test_a_failure_is_one_line_and_the_old_index_answers(root, asked, monkeypatch):
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/cache")

    monkeypatch.setattr(build, "save_index", full)
    answer = asked("open the door")
    assert names(answer)[0] == "open_the_door"
    assert answer["said"] == "answered from the index as it was: No space left on device: /cache\n"
    assert answer["freshness"]["changed"] == ["store.py"]


def test_a_named_index_knows_its_folder_and_says_when_that_is_gone(root, asked, tmp_path, monkeypatch):
    named = f"--index={tmp_path / 'named'}"
    assert main(["index", ".", f"--out={tmp_path / 'named'}", "--vectors=none"]) == 0
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})
    monkeypatch.chdir(tmp_path)
    assert names(asked("open the gate", named))[0] == "open_the_gate"
    root.rename(tmp_path / "away")
    answer = asked("open the gate", named)
    assert names(answer)[0] == "open_the_gate"
    assert answer["said"] == f"answered from the index as it was: {root} no longer exists\n"


def test_related_is_of_the_files_as_they_are(root, capsys):
    write(root, {"store.py": "\n\n\ndef open_the_window():\n    pass\n"})
    capsys.readouterr()
    assert main(["related", "store.py:4", "--json", "--model=none"]) in (0, 1)
    assert json.loads(capsys.readouterr().out)["place"]["name"] == "open_the_window"


def test_a_server_answers_for_the_files_as_they_are(root, tmp_path, monkeypatch):
    monkeypatch.setattr("search.serve.live_index.LOOKED", 0.0)  # for a walk, which the first look is, holds for longer
    path = index_place(root)
    live = LiveIndex(path, lambda _: None, updates=updating.Updates(path, root, lambda *_: None))
    with running(live) as port:
        question = {"q": "open the gate"}
        assert "open_the_gate" not in names(ask(port, "/api/search", question).told)
        write(root, {"store.py": "def open_the_gate():\n    pass\n"})
        assert names(ask(port, "/api/search", question).told)[0] == "open_the_gate"
        (root / "store.py").unlink()
        told = ask(port, "/api/search", question).told
        assert "open_the_gate" not in names(told)
        assert "freshness" not in told
        root.rename(tmp_path / "away")
        assert ask(port, "/api/search", question).told["notice"].endswith(f"{root} no longer exists")
        (tmp_path / "away").rename(root)
        assert ask(port, "/api/search", question).told["notice"] == ""


def test_a_look_of_a_server_that_finds_nothing_changed_holds_for_a_moment(root, monkeypatch):
    monkeypatch.setattr("search.serve.live_index.LOOKED", 60.0)
    path = index_place(root)
    live = LiveIndex(path, lambda _: None, seconds_between_looks=60.0, updates=updating.Updates(path, root, print))
    assert live.ready() is None
    assert live.catch_up() == CURRENT
    assert live.ready() is live.opened()
    monkeypatch.setattr("search.serve.live_index.LOOKED", 0.0)
    live.catch_up()
    assert live.ready() is None


def test_a_server_looks_again_before_it_says_that_little_is_found(root, monkeypatch):
    monkeypatch.setattr("search.serve.live_index.LOOKED", 60.0)
    path = index_place(root)
    updates = updating.Updates(path, root, print)
    live = LiveIndex(path, lambda _: None, seconds_between_looks=60.0, updates=updates)
    with running(live) as port:
        live.catch_up()
        assert names(ask(port, "/api/search", {"q": "open the door"}).told)[0] == "open_the_door"
        write(root, {"new.py": "def lock_the_box():\n    pass\n"})
        assert "lock_the_box" not in names(ask(port, "/api/search", {"q": "open the door"}).told)
        assert looked_at(path, root)[1] != CURRENT  # a strong answer is given at once
        assert names(ask(port, "/api/search", {"q": "lock the box"}).told)[0] == "lock_the_box"
        write(root, {"other.py": "def weigh_the_crate():\n    lock_the_box()\n", "app.rb": "def mend\nend\n"})
        assert ask(port, "/api/usages", {"name": "weigh_the_crate"}).told["definition_count"] == 1
        live.catch_up()
        write(root, {"app.go": "package main\n\nfunc Mend() {}\n"})
        assert ask(port, "/api/file", {"path": "app.go", "line": 1}).status == 200


def test_few_changed_files_are_waited_for_before_little_is_found(root, monkeypatch):
    path, work = index_place(root), updating.bring_up_to_date
    monkeypatch.setattr(updating, "BUDGET", 0.05)

    def slow(*given: object, **options: object) -> None:
        time.sleep(0.5)
        monkeypatch.setattr(updating, "BUDGET", 60.0)
        work(*given, **options)

    monkeypatch.setattr(updating, "bring_up_to_date", slow)
    live = LiveIndex(path, lambda _: None, updates=updating.Updates(path, root, print))
    with running(live) as port:
        write(root, {"new.py": "def lock_the_box():\n    pass\n"})
        told = ask(port, "/api/search", {"q": "lock the box"}).told
        assert (names(told)[0], told["notice"]) == ("lock_the_box", "")


def test_what_a_first_change_needs_is_loaded_before_it(root, monkeypatch):
    path, loaded = index_place(root), threading.Event()
    updates = updating.Updates(path, root, print)
    monkeypatch.setattr(updates, "prepare", loaded.set)
    live = LiveIndex(path, lambda _: None, updates=updates)
    opening = OpeningIndex(lambda: live, lambda _: None)
    assert loaded.wait(10)
    assert opening.ready() is live.ready()
    monkeypatch.undo()
    updating._calls.cache_clear()
    updates.prepare()
    calls = updating._calls()
    assert len(calls._pool._workers) == 1
    assert calls._pool._workers[0].child.poll() is None


def test_a_server_says_what_it_still_reads_and_what_fails(root, monkeypatch):
    path = index_place(root)
    updates = updating.Updates(path, root, lambda *_: None)
    assert updates.catch_up() == CURRENT
    monkeypatch.setattr(updating, "BUDGET", 0.0)
    with sole_holder(build.lock_of(path)):
        monkeypatch.setattr(updating, "bring_up_to_date", lambda *_, **__: time.sleep(1))
        time.sleep(0.1)
        write(root, {"store.py": "def open_the_gate():\n    pass\n"})
        assert updates.catch_up().reading == ("store.py",)

    def failing(*_: object, **__: object) -> None:
        raise OSError(errno.EACCES, "Permission denied", "/cache")

    monkeypatch.setattr(updating, "bring_up_to_date", failing)
    monkeypatch.setattr(updating, "BUDGET", 60.0)
    updates = updating.Updates(path, root, lambda *_: None)
    assert updates.catch_up().trouble == "Permission denied: /cache"
    assert updates.catch_up().trouble == "Permission denied: /cache"  # and is not tried at each question


def test_a_server_answers_at_once_from_what_another_process_has_read(root):
    path = index_place(root)
    live = LiveIndex(path, lambda _: None, seconds_between_looks=60.0, updates=updating.Updates(path, root, print))
    live.catch_up()
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})
    index_of(root, path)
    assert live.catch_up() == CURRENT
    assert "open_the_gate" in live.opened().engine.index.names


def test_what_is_written_while_other_files_are_read_is_read_before_the_next_answer(root, monkeypatch):
    path, read, go_on, later = index_place(root), threading.Event(), threading.Event(), []
    updates, work = updating.Updates(path, root, print), updating.bring_up_to_date

    def slow(*given: object, **options: object) -> None:
        work(*given, **options)
        read.set()
        assert go_on.wait(60)

    monkeypatch.setattr(updating, "bring_up_to_date", slow)
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})
    threads = [threading.Thread(target=call) for call in (updates.catch_up, lambda: later.append(updates.catch_up()))]
    threads[0].start()
    assert read.wait(60)
    write(root, {"late.py": "def weigh_the_crate():\n    pass\n"})
    threads[1].start()
    time.sleep(0.2)
    go_on.set()
    for each in threads:
        each.join(60)
    assert later == [CURRENT]
    assert "weigh_the_crate" in open_index(path).names


def test_what_is_being_read_is_waited_for_before_little_is_found(root, monkeypatch):
    go_on, work = threading.Event(), updating.bring_up_to_date
    updates = updating.Updates(index_place(root), root, print)
    monkeypatch.setattr(updating, "bring_up_to_date", lambda *a, **b: (go_on.wait(60), work(*a, **b)))
    began = time.monotonic()
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})
    assert updates.catch_up(0.0).reading == ("store.py",)
    since = time.monotonic()
    assert not updates.wait(began, 60.0)  # it has begun for who asks
    assert not updates.wait(since, 0.0)
    go_on.set()
    assert updates.wait(since, 60.0)
    assert not updates.wait(since, 60.0)
    assert updates.catch_up() == CURRENT


def test_an_index_that_is_removed_while_a_server_runs_is_made_again(root):
    path = index_place(root)
    live = LiveIndex(path, lambda _: None, updates=updating.Updates(path, root, print))
    live.catch_up()
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})
    path.unlink()
    assert live.catch_up() == CURRENT
    assert "open_the_gate" in live.opened().engine.index.names


def test_an_index_answers_while_its_vectors_are_made_and_says_so(root, monkeypatch):
    path, go_on = index_place(root), threading.Event()
    live = LiveIndex(path, lambda _: None, updates=updating.Updates(path, root, print))
    monkeypatch.setattr(updating, "add_vectors", lambda *_: go_on.wait(60))
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})
    while live.catch_up(0.1) != CURRENT:
        time.sleep(0.02)
    assert "open_the_gate" in live.opened().engine.index.names
    assert (live.opened().so_far, live.ready()) == (COMPLETING, None)
    go_on.set()
    while live.opened().so_far:
        time.sleep(0.02)


KILLED = """
import os, signal, sys
from pathlib import Path
from search.index import updating
updating.add_vectors = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
updating.bring_up_to_date(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def test_an_update_that_is_killed_before_its_vectors_are_made_is_completed_later(root):
    path = index_place(root)
    updates = updating.Updates(path, root, print, vectors=True)
    want_vectors(path, wanted=True)
    updates.complete()
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, "-c", KILLED, root, path], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert updates.catch_up() == CURRENT
    assert "open_the_gate" in open_index(path).names
    assert not up_to_date(path, "")
    updates.complete()
    assert up_to_date(path, "")


def test_missing_vectors_are_made_by_who_answers_with_them_alone(root):
    path = index_place(root)
    want_vectors(path, wanted=True)
    updates = updating.Updates(path, root, print)
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})
    assert updates.catch_up() == CURRENT
    updates.complete()
    assert not vectors_path(path).exists()


def test_python_answers_for_the_files_as_they_are(root):
    index = index_folder(root)
    write(root, {"store.py": "def open_the_gate():\n    pass\n"})
    assert "open_the_gate" in [hit.name for hit in index.search("open the gate", top=1)]
    assert index.freshness == ""
    (root / "sub/other.py").unlink()
    assert open_from_python(root).files == ["store.py"]


def test_a_line_names_three_files_and_json_two_hundred():
    many = Freshness(tuple(f"{number}.py" for number in range(300)))
    assert many.line == ("300 changed files are being read: hits in them may be old (0.py, 1.py, 2.py and 297 more)")
    assert len(many.told["freshness"]["changed"]) == 200
    assert replace(many, unknown=True).line == f"at least {many.line}"
    assert CURRENT.told == {}


def test_what_was_gone_while_it_was_read_is_read_when_it_is_back(tmp_path, monkeypatch):
    found, path = write(tmp_path / "code", FILES), tmp_path / "index"
    with monkeypatch.context() as patch:
        patch.setattr("search.index.read_part.read_source", lambda *_: (tmp_path / "gone").read_bytes())
        build.refresh(found, path, processes=0, tell=lambda *_: None)
    assert open_index(path).names == []
    assert looked_at(path, found)[1].reading == ("store.py", "sub/other.py")
    build.refresh(found, path, processes=0, tell=lambda *_: None)
    assert "open_the_door" in open_index(path).names
    assert looked_at(path, found)[1] == CURRENT


@pytest.mark.parametrize(
    ("start", "rest", "what"),
    [
        (b"galm index 3 {}\n", slice(16, None), "of another version"),
        (b"", slice(100), "damaged"),
        (b"\1", slice(0), "dam"),
    ],
)
def test_an_index_that_cannot_be_used_is_made_again(root, asked, start, rest, what):
    path = index_place(root)
    path.write_bytes(start + path.read_bytes()[rest])
    answer = asked("open the door")
    assert names(answer)[0] == "open_the_door"
    assert f"the index of {root} is {what}" in answer["said"]
    assert "not all was read" not in answer["said"]


def flip(path: Path) -> None:
    """Damage a file in its middle."""
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 64] = bytes(each ^ 0xFF for each in data[middle : middle + 64])
    path.write_bytes(data)


def test_an_index_that_is_damaged_in_its_middle_is_made_again(root, asked, tmp_path, capsys):
    flip(index_place(root))
    answer = asked("open the door")
    assert names(answer)[0] == "open_the_door"
    assert answer["said"].startswith(f"the index of {root} is damaged: it is made again\n")
    assert asked("open the door")["said"] == ""
    flip(index_place(root))
    assert len(open_from_python(root)) == 4
    assert main(["index", ".", f"--out={tmp_path / 'named'}", "--vectors=none"]) == 0
    flip(tmp_path / "named")
    capsys.readouterr()
    assert main(["search", "open the door", f"--index={tmp_path / 'named'}", *ASKED]) == 2
    assert "is damaged: make it again" in capsys.readouterr().err


def test_vectors_that_are_damaged_are_made_again(root, capsys):
    assert main(["index", "."]) == 0
    path = vectors_path(index_place(root))
    before = path.read_bytes()
    for damage in (flip, lambda path: path.write_bytes(b"")):
        damage(path)
        capsys.readouterr()
        assert main(["search", "open the door"]) == 0
        assert capsys.readouterr().err == f"the vectors of the index of {root} are damaged: they are made again\n"
        assert path.read_bytes() == before
    flip(path)
    updating.Updates(index_place(root), root, lambda *_: None).complete()
    assert path.read_bytes() == before


def test_a_server_makes_a_damaged_index_again(root, capsys, monkeypatch):
    flip(index_place(root))
    monkeypatch.setattr(server_module, "server_of", Stopped)
    main(["serve", str(root), "--port=0", "--model=none"])
    assert f"the index of {root} is damaged: it is made again" in capsys.readouterr().err
    assert open_index(index_place(root)).names


class Stopped:
    """A server that ends once a damaged index is made again and what was made of it is said."""

    def __init__(self, app: object) -> None:
        self.app, self.should_exit = app, False

    def run(self, **_: object) -> None:
        for each in threading.enumerate():
            if each.name == "opening":
                each.join(60)


@pytest.mark.parametrize("how", ["closed", "full"])
def test_where_no_index_can_be_kept_a_question_is_answered(tmp_path, asked, monkeypatch, how):
    root = write(tmp_path / "code", FILES)
    kept = index_place(root)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if how == "closed":
        monkeypatch.setattr(first_index, "is_writable", lambda _: False)
    else:
        save = build.save_index

        def full(index: object, path: Path) -> None:
            if path == kept:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            save(index, path)

        monkeypatch.setattr(build, "save_index", full)
    answer = asked("open the door", str(root))
    assert names(answer)[0] == "open_the_door"
    why = {"closed": "it cannot be written", "full": "No space left on device"}[how]
    first, then = answer["said"].splitlines()
    assert first.startswith(f"no index can be kept in {kept.parent} ({why}): it is made for this command alone; ")
    assert first.endswith("set XDG_CACHE_HOME to a folder of yours")
    assert then.startswith(f"indexed {root}: ")
    assert not kept.exists()


def test_an_index_for_one_command_leaves_nothing_behind(tmp_path):
    root = write(tmp_path / "code", FILES)
    home, temporary = tmp_path / "cache", tmp_path / "temporary"
    temporary.mkdir()
    write(home, {"galm/indexes": "a file where folders should be"})
    place = {"XDG_CACHE_HOME": str(home), "TMPDIR": str(temporary), "GALM_NATIVE": "0"}
    command = [sys.executable, "-m", "cli.main", "search", "open the door", str(root)]
    done = subprocess.run(command, env={**os.environ, **place}, capture_output=True, text=True, check=True)
    assert "no index can be kept in " in done.stderr
    assert "open_the_door" in done.stdout
    assert [each for each in (*home.rglob("*"), *temporary.rglob("*")) if each.suffix == ".tree"] == []
    assert [*temporary.iterdir()] == []


def test_a_file_in_place_of_the_cache_is_no_place_for_an_index(tmp_path, asked, monkeypatch):
    root = write(tmp_path / "code", FILES)
    write(tmp_path, {"cache/galm": "a file"})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    answer = asked("open the door", str(root))
    assert names(answer)[0] == "open_the_door"
    assert answer["said"].startswith("no index can be kept in ")


def test_an_answer_from_a_folder_above_says_so(root, asked, monkeypatch):
    assert asked("open the door")["said"] == ""
    monkeypatch.chdir(root / "sub")
    answer = asked("open the door")
    assert names(answer)[0] == "open_the_door"
    assert answer["said"] == f"searched: {root}, which has an index (name a folder to search that alone)\n"


def test_python_makes_an_index_of_another_version_again(root, caplog):
    path = index_place(root)
    path.write_bytes(b"galm index 3 {}\n" + path.read_bytes()[16:])
    assert len(open_from_python(root)) == 4
    assert "another version" in caplog.text


def test_what_is_unchanged_is_known_without_a_walk(tmp_path, monkeypatch):
    root = write(tmp_path / "code", FILES)
    path = index_of(root, tmp_path / "index")
    time.sleep(0.15)
    index_of(root, path)  # what was seen within a tick of its change is not trusted
    monkeypatch.setattr(Path, "walk", None, raising=False)
    assert looked_at(path) == (root, CURRENT)
    record = read_record(path)
    assert record is not None
    assert record.root == str(root)
    write(root, {"store.py": "x = 12345\n"})
    assert looked_at(path) == (root, Freshness(("store.py",)))
