"""The set-up of .venv, against a stand-in for Python that notes what it is asked to install."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stand_in_clone import OF_SEARCH, OF_TESTS, OF_TRAINING, TOOLS, Clone

WITHOUT_RIGHTS = (shutil.which("setpriv") or "", "--bounding-set=-dac_override,-dac_read_search")
AS_OTHERS = WITHOUT_RIGHTS if os.geteuid() == 0 else ()
"""Runs a program of root with the rights of files, as any other user."""


def hashed(name: str) -> str:
    """How a lock is installed, as the stand-in notes it."""
    return f"pip --require-hashes --no-deps --requirement locks/{name}"


SET_UP = ["venv", hashed(OF_SEARCH)]
FOR_TRAINING = [hashed("requirements-train.txt"), "pip --constraint locks/torch.txt torch"]


def uncompiled(asked: list[str]) -> list[str]:
    return [each.replace("pip ", "pip --no-compile ") for each in asked]


@pytest.fixture
def clone(tmp_path) -> Clone:
    return Clone(tmp_path)


def test_it_is_set_up_once_in_one_line(clone):
    first = clone.run("help")
    assert first.stderr == "setting up .venv: what the search needs (once, about 20 seconds)\n"
    assert first.stdout == "ran -m cli.main help\n"
    assert clone.asked() == SET_UP
    assert clone.run("help").stderr == ""
    assert clone.asked() == []


@pytest.mark.parametrize("command", ["index", "search", "related", "serve", "quality", "help", "--help", "--version"])
def test_what_searches_needs_no_torch(clone, command):
    assert clone.run(command).stdout == f"ran -m cli.main {command}\n"
    assert clone.asked() == SET_UP


def test_the_server_for_agents_comes_with_its_library(clone):
    clone.run("mcp")
    assert clone.asked() == [*SET_UP, hashed("requirements-agents.txt")]


@pytest.mark.parametrize("first", ["search", None])
def test_training_adds_what_it_needs(clone, first):
    if first:
        clone.run(first)
        assert clone.asked() == SET_UP
    told = clone.run("jdk", "galm")
    assert told.stderr.splitlines() == [
        *([] if first else ["setting up .venv: what the search needs (once, about 20 seconds)"]),
        "adding to .venv what training needs (once, about 2 minutes)",
    ]
    assert "ran -m cli.main --check jdk galm" in told.stdout  # a mistyped name is said before anything is installed
    assert clone.asked() == [*([] if first else SET_UP), *uncompiled(FOR_TRAINING)]
    assert clone.run("search").stderr == ""
    assert clone.run("csn", "galm").stderr == ""
    assert clone.asked() == []


def test_changed_locks_or_another_python_are_set_up_anew(clone):
    clone.run("jdk")
    clone.asked()
    for name in (OF_SEARCH, *OF_TRAINING):
        with (clone.root / "locks" / name).open("a") as file:
            file.write("more==1\n")
        clone.run("jdk")
        assert clone.asked() == [*SET_UP, *uncompiled(FOR_TRAINING)]
    clone.run("jdk", FAKE_VERSION="3.12.1")
    assert clone.asked() == [*SET_UP, *uncompiled(FOR_TRAINING)]
    (clone.root / "locks" / "torch.txt").write_text("less\n")
    clone.run("search", FAKE_VERSION="3.12.1")  # which does not need it
    assert clone.asked() == []


def test_the_tools_of_the_tests_come_with_the_tests(clone):
    clone.run("jdk")
    clone.asked()
    told = clone.run("test")
    assert told.stderr == "adding to .venv what the tests need (once, about 2 minutes)\n"
    assert clone.asked() == uncompiled([hashed(name) for name in OF_TESTS])
    clone.run("test")
    assert clone.asked() == []


CHECKS = ["ruff check", "ruff format", "mypy", "pytest"]


@pytest.mark.parametrize(
    ("broken", "code", "ran"),
    [("", 0, CHECKS), ("ruff check", 3, CHECKS[:1]), ("mypy", 1, CHECKS), ("pytest", 3, CHECKS)],
)
def test_all_checks_run_and_one_that_fails_is_told(clone, broken, code, ran):
    told = clone.run("test", "-x", FAKE_BROKEN=broken)
    assert told.returncode == code
    found = [next((each for each in CHECKS if f"-m {each}" in line), "") for line in told.stdout.splitlines()]
    assert sorted(filter(None, found)) == sorted(ran)
    assert (" -x\n" in told.stdout) == ("pytest" in ran)


def test_ctrl_c_stops_all_checks(clone):
    clone.run("test")
    clone.asked()
    environment = {"PATH": str(clone.bin), "FAKE_LOG": str(clone.log), "FAKE_WAITS": "yes"}
    command = [str(clone.bin / "bash"), str(clone.root / "run.sh"), "test"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment, start_new_session=True) as checks:
        while not clone.log.exists() or clone.log.read_text().count("\n") < 2:
            assert checks.poll() is None
            time.sleep(0.01)
        os.killpg(checks.pid, signal.SIGINT)
        assert checks.wait(30) == 130
    running = [int(each) for each in clone.asked()]
    while any(Path(f"/proc/{each}").exists() for each in running):
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("names", "added"),
    [
        (("agents", "posts"), [hashed("requirements-agents.txt"), hashed("requirements-posts.txt")]),
        (("sentences",), [*FOR_TRAINING, hashed("requirements-sentences.txt")]),
        (("train",), FOR_TRAINING),
    ],
)
def test_what_is_named_is_added(clone, names, added):
    assert clone.run("install", *names).stdout == f"installed: {' '.join(names)}\n"
    assert sorted(clone.asked()) == sorted([*SET_UP, *added])
    assert clone.run("install", *names).stderr == ""
    assert clone.asked() == []


@pytest.mark.parametrize(
    ("names", "environment", "message"),
    [
        ((), {}, "expected what to install: agents dev hdf5 parquet posts search sentences train vectors"),
        (("posts", "x"), {}, "expected one of agents dev hdf5 parquet posts search sentences train vectors, but got x"),
        (("posts",), {"GALM_PYTHON": "python"}, "GALM_PYTHON is used as it is: install the packages of "),
    ],
)
def test_what_cannot_be_added_is_one_line(clone, names, environment, message):
    told = clone.run("install", *names, **environment)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith(f"run.sh: {message}")
    assert told.stderr.count("\n") == 1
    assert clone.asked() == []


def test_a_failure_shows_what_pip_said_and_is_tried_again(clone):
    told = clone.run("help", FAKE_FAIL="1")
    assert told.returncode == 2
    assert "ERROR: no such release" in told.stderr
    assert "could not install locks/requirements-search.txt" in told.stderr
    assert told.stdout == ""
    clone.asked()
    assert clone.run("help").returncode == 0
    assert clone.asked() == SET_UP


def test_an_interrupted_set_up_is_done_again(clone):
    clone.run("help")
    clone.asked()
    (clone.root / ".venv" / "unfinished").touch()
    assert clone.run("help").returncode == 0
    assert clone.asked() == SET_UP


@pytest.mark.parametrize("locked_by", ["flock", "mkdir"])
def test_two_at_once_set_up_once(clone, locked_by):
    if locked_by == "mkdir":
        (clone.bin / "flock").unlink(missing_ok=True)
    told = []
    threads = [threading.Thread(target=lambda: told.append(clone.run("help", FAKE_SLEEP="1"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.returncode for each in told] == [0, 0], told
    assert clone.asked() == SET_UP


def test_the_lock_of_a_dead_process_is_forgotten(clone):
    (clone.bin / "flock").unlink(missing_ok=True)
    (clone.root / ".venv.lock.d").mkdir()
    (clone.root / ".venv.lock.d" / "pid").write_text("999999999\n")
    assert clone.run("help").returncode == 0


def test_without_python_one_line_says_so(clone):
    told = clone.run("help", FAKE_TOO_OLD="1")
    assert told.returncode == 2
    assert told.stderr.startswith("run.sh: Python 3.11 or newer is needed")
    assert told.stderr.count("\n") == 1


def test_without_the_venv_module_the_package_is_named(clone):
    told = clone.run("help", FAKE_NO_VENV="1")
    assert told.returncode == 2
    assert told.stderr == (
        "run.sh: python3.11 lacks its venv module; on Debian or Ubuntu: sudo apt install python3.11-venv\n"
    )


@pytest.fixture
def read_only(clone) -> Iterator[Callable[..., subprocess.CompletedProcess]]:
    """Runs run.sh as one who may only read the clone."""
    if AS_OTHERS and not AS_OTHERS[0]:
        pytest.skip("root may write everywhere")

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
        for each in (clone.root, *clone.root.rglob("*")):
            if not each.is_symlink():
                each.chmod(each.stat().st_mode & ~0o222)
        return clone.run(*arguments, before=AS_OTHERS, **environment)

    yield run
    for each in (clone.root, *clone.root.rglob("*")):
        each.chmod(each.stat().st_mode | 0o200)


def test_a_complete_clone_needs_no_rights_to_write(clone, read_only):
    clone.run("help")
    clone.asked()
    told = read_only("help")
    assert (told.returncode, told.stdout, told.stderr) == (0, "ran -m cli.main help\n", "")
    assert clone.asked() == []


@pytest.mark.parametrize("incomplete", ["never set up", "changed since", "left locks"])
def test_an_incomplete_clone_of_another_user_is_one_line(clone, read_only, incomplete):
    if incomplete != "never set up":
        clone.run("help")
        with (clone.root / "locks" / OF_SEARCH).open("a") as file:
            file.write("more==1\n")
    (clone.root / ".venv.lock").unlink(missing_ok=incomplete != "left locks")
    told = read_only("help")
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("run.sh: there is no complete .venv, and ")
    assert told.stderr.endswith(
        " cannot be written: let its owner run this first, clone the code to a folder of your own, or set "
        "GALM_PYTHON=/path/to/python\n"
    )
    assert told.stderr.count("\n") == 1
    assert read_only("help", GALM_PYTHON=str(clone.python)).returncode == 0


@pytest.mark.parametrize("relative", [".:{}", ":{}", "{}:", "{}::", "bin:./bin:{}:~/bin", "."])
@pytest.mark.parametrize("python", ["", "python3.11"])
def test_no_program_of_the_current_folder_is_run(clone, tmp_path, relative, python):
    """Whatever runs run.sh may stand in a folder of somebody else, who left programs there."""
    hostile, ran = tmp_path / "hostile", tmp_path / "ran"
    for folder in (hostile, hostile / "bin"):
        folder.mkdir()
        for name in (*TOOLS, "git", "python3", "python3.11", "python3.12", "python3.13"):
            (folder / name).write_text(f"#!/bin/sh\necho $0 >>'{ran}'\n")
            (folder / name).chmod(0o755)
    environment = {"PATH": relative.format(clone.bin), "FAKE_LOG": str(clone.log), "HOME": str(hostile)}
    environment["GALM_PYTHON"] = str(clone.python) if relative == "." else python
    command = [str(clone.bin / "bash"), str(clone.root / "run.sh"), "help"]
    told = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=hostile, timeout=60)
    assert not ran.exists(), ran.read_text()
    assert told.stdout == "ran -m cli.main help\n"
