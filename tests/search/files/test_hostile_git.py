"""Whatever a repository names, indexing a folder of it runs nothing but git, and that elsewhere."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_git import PLACES, PROGRAMS, in_configuration, in_hooks, make_stale, program_in
from repositories import commit, run_git, write

from data_prep.sources import own_git
from experiments.recipes.config import REPOSITORY
from search.index.build import refresh
from search.index.index_file import open_index


@pytest.fixture
def program(tmp_path) -> Path:
    (tmp_path / "evil").mkdir()
    return program_in(tmp_path / "evil")


def was_run(program: Path) -> str:
    record = program.parent / "was-run"
    said = record.read_text() if record.exists() else ""
    record.unlink(missing_ok=True)
    return said


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """What would show that something below ``folder`` was written."""
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in sorted(folder.rglob("*"))}


def indexed(root: Path, index: Path) -> list[str]:
    told: list[str] = []
    refresh(root, index, processes=0, tell=lambda *each: told.append(" ".join(each)))
    return told


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_nothing_that_a_repository_names_is_run(tmp_path, program, place):
    root = place(tmp_path / "checkout", program)
    was_run(program)
    make_stale(root)
    armed = subprocess.run(["git", "-C", root, "diff", "HEAD", "--stat"], capture_output=True, check=False)
    subprocess.run(["git", "-C", root, "status"], capture_output=True, check=False)
    assert was_run(program), armed.stderr  # so this test would see it
    make_stale(root)
    before = state(tmp_path)
    index = tmp_path.with_name(f"{tmp_path.name}-index") / "index"
    for _ in range(2):
        indexed(root, index)
        assert len(open_index(index)) >= 3
        index.unlink()
    assert was_run(program) == ""
    assert state(tmp_path) == before


def test_a_bare_repository_among_the_files_of_a_clone_is_files(tmp_path, program):
    root = PLACES[-1](tmp_path / "checkout", program)
    subprocess.run(["git", "-C", root, "-c", "safe.bareRepository=all", "status"], capture_output=True, check=False)
    assert was_run(program)
    indexed(root, tmp_path / "index")
    index = open_index(tmp_path / "index")
    assert index.origin.url == "https://example.org/o/n"  # of the clone, not what the files say
    assert was_run(program) == ""


def test_the_list_of_programs_is_that_of_gits_documentation(tmp_path):
    """Each key that the installed git knows, and that speaks of something to run, is in the list or known not to."""
    ends = {_ends(setting.partition("=")[0]) for setting in PROGRAMS.split()}
    known = run_git(tmp_path, "help", "--config").split()
    asked = [key for key in known if any(word in _ends(key)[1] for word in _SPEAK_OF_PROGRAMS.split())]
    assert len(asked) > 40
    assert {key for key in asked if _ends(key) not in ends} <= set(_NO_PROGRAM.split())


def _ends(key: str) -> tuple[str, str]:
    return key.lower().partition(".")[0], key.lower().rpartition(".")[2]


_SPEAK_OF_PROGRAMS = """
askpass browser clean cmd command driver editor external filter fsmonitor helper hook httpd pager process
program receivepack server smudge template textconv tool tunnel uploadpack vcs viewer
"""
_NO_PROGRAM = """
advice.ignoredHook advice.waitingForEditor clone.filterSubmodules color.pager column.clean commit.cleanup
commit.template commitGraph.maxNewFilters completion.commands core.fsmonitorHookVersion
diff.<driver>.cachetextconv diff.guitool diff.tool gitcvs.dbDriver gui.newBranchTemplate merge.guitool
merge.tool notes.rewrite.<command> pager.<cmd> rebase.abbreviateCommands receive.updateServerInfo
remote.<name>.partialclonefilter repack.updateServerInfo sendemail.smtpServerOption sendemail.smtpServerPort
uploadpack.allowFilter credential.helper
"""


def test_git_alone_is_started_in_a_repository_of_its_own(tmp_path, program):
    root = in_configuration(tmp_path / "checkout", program)
    (root / "git").write_text(f"#!/bin/sh\n{program}\n")
    (root / "git").chmod(0o755)
    code = (
        "import sys, pathlib\n"
        "def saw(event, given):\n"
        "    if event in ('subprocess.Popen', 'os.exec', 'os.posix_spawn', 'os.system'):\n"
        "        print(event, given[1], given[3]['GIT_DIR'], given[2], sep='|')\n"
        "sys.addaudithook(saw)\n"
        "from search.index.build import refresh\n"
        "refresh(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), processes=0, tell=print)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, root, tmp_path / "index"],
        cwd=root, env={**os.environ, "PATH": f".{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    started = [line.split("|") for line in done.stdout.splitlines() if "|" in line]
    assert len(started) >= 3
    for event, command, git_folder, working_folder in started:
        assert event == "subprocess.Popen"
        assert command.startswith("['git', ")
        assert git_folder == working_folder
        assert not Path(git_folder).is_relative_to(tmp_path)
    assert was_run(program) == ""


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_kernel_sees_git_alone(tmp_path, program):
    root = in_hooks(tmp_path / "checkout", program)
    in_configuration(tmp_path / "other", program)
    (root / ".git/config").write_bytes((tmp_path / "other/.git/config").read_bytes())
    make_stale(root)
    command = [
        sys.executable,
        "-m",
        "cli.main",
        "index",
        str(root),
        f"--out={tmp_path}/index",
        "--vectors=none",
    ]
    trace = ["strace", "-f", "-e", "trace=execve", "-o", str(tmp_path / "trace"), *command]
    subprocess.run(trace, cwd=REPOSITORY, capture_output=True, check=True)
    ran = [
        line.split('"')[1] for line in (tmp_path / "trace").read_text().splitlines() if " = 0" in line and '"' in line
    ]
    assert {Path(name).name for name in ran[1:]} <= {"git", Path(sys.executable).name}
    assert was_run(program) == ""


PIPES = ("HEAD", "config", "index", "info/exclude", "refs/heads/main", "packed-refs", "commondir")


@pytest.mark.parametrize("made", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
@pytest.mark.parametrize("name", PIPES)
def test_no_pipe_or_device_is_waited_for(tmp_path, name, made):
    root = commit(tmp_path / "checkout", {"A.java": "class A { void one() { } }", ".hidden/ci.txt": ""})
    run_git(root, "remote", "add", "origin", "https://example.org/o/n")
    (root / ".git" / name).unlink(missing_ok=True)
    made(root / ".git" / name)
    told = indexed(root, tmp_path / "index")
    assert len(open_index(tmp_path / "index")) == 2
    assert all(len(line) < 250 for line in told)
    assert told or name in ("info/exclude", "packed-refs")  # where nothing is missed


def test_a_pipe_among_the_objects_costs_the_links_alone(tmp_path, monkeypatch):
    root = commit(tmp_path / "checkout", {"A.java": "class A { void one() { } }"})
    run_git(root, "remote", "add", "origin", "https://example.org/o/n")
    tree = run_git(root, "rev-parse", "HEAD^{tree}").strip()
    (root / ".git/objects" / tree[:2] / tree[2:]).unlink()
    os.mkfifo(root / ".git/objects" / tree[:2] / tree[2:])
    monkeypatch.setattr(own_git, "_SECONDS", 1.0)
    told = indexed(root, tmp_path / "index")
    assert ["no links to its files" in line for line in told] == [True]
    assert len(open_index(tmp_path / "index")) == 2


def test_pipes_among_ignore_files_are_not_waited_for(tmp_path):
    root = commit(tmp_path / "checkout", {"A.java": "class A { void one() { } }"})
    for name in (
        ".gitignore",
        ".ignore",
        ".galmignore",
        ".gitattributes",
        ".gitmodules",
        ".mailmap",
        "LICENSE",
        "pom.xml",
    ):
        os.mkfifo(root / name)
    indexed(root, tmp_path / "index")
    assert len(open_index(tmp_path / "index")) == 2


@pytest.mark.parametrize(
    ("said", "trouble"),
    [("git version 1.8.3", "git 1.8 is older than 2.20"), ("no git at all", "git 0 is older"), ("", "is older")],
)
def test_an_old_git_is_not_asked(tmp_path, monkeypatch, said, trouble):
    root = commit(tmp_path / "checkout", {"A.java": "class A { }", ".gitignore": "B.java"})
    run_git(root, "remote", "add", "origin", "https://example.org/o/n")
    old = tmp_path / "old"
    old.mkdir()
    (old / "git").write_text(f'#!/bin/sh\necho "$*" >> {old}/asked\necho "{said}"\n')
    (old / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{old}:/usr/bin:/bin")
    told = indexed(root, tmp_path / "index")
    assert any(trouble in line and "no links" in line for line in told)
    assert (old / "asked").read_text() == "--version\n"
    assert open_index(tmp_path / "index").origin is None


def test_a_git_that_never_ends_or_never_stops_talking_is_ended(tmp_path, monkeypatch):
    root = commit(tmp_path / "checkout", {"A.java": "class A { }"})
    odd = tmp_path / "odd"
    odd.mkdir()
    monkeypatch.setattr(own_git, "_SECONDS", 1.0)
    monkeypatch.setattr(own_git, "_LARGEST_ANSWER", 1000)
    for what, trouble in (("exec sleep 60", "no answer within 1 seconds"), ("exec yes", "answers more than")):
        (odd / "git").write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo git version 2.40 && exit\n{what}\n')
        (odd / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{odd}:/usr/bin:/bin")
        assert any(trouble in line for line in indexed(root, tmp_path / "index"))


def test_damaged_repositories_are_one_line(tmp_path):
    damages = {
        "HEAD": [
            b"",
            b"ref: refs/../../secret",
            b"ref: refs/heads/\0",
            b"\xff" * 50,
            b"0" * 39,
            b"ref: refs/heads/main",
        ],
        "config": [b"[", b"\0" * 9, b'[remote "origin"]\n\turl = javascript://x/y/z\n', b"a" * (2 << 20)],
        "index": [b"", b"DIRC", b"DIRC\0\0\0\2\xff\xff\xff\xff" + b"\0" * 99, b"x" * 500],
        "commondir": [b"/nowhere", b"\0", b"../../.."],
        "refs/heads/main": [b"", b"ref: refs/heads/main", b"f" * 40, b"x" * 999],
        "packed-refs": [b"\0" * 100, b"# pack-refs\n" + b"f" * 64 + b" refs/heads/main\n"],
    }
    for name, contents in damages.items():
        for number, content in enumerate(contents):
            root = commit(tmp_path / f"{name.replace('/', '-')}{number}", {"A.java": "class A { void one() { } }"})
            run_git(root, "remote", "add", "origin", "https://example.org/o/n")
            write(root / ".git", {name: content})
            told = indexed(root, tmp_path / "index")
            index = open_index(tmp_path / "index")
            assert len(index) == 2
            assert all("\n" not in line and len(line) < 250 for line in told)
            assert all(index.url(row).startswith(("https://", "")) for row in range(2))
            (tmp_path / "index").unlink()
