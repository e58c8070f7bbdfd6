"""Closed, full and unread standard streams, and full memory: the work is done, and what can be told is one line."""

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from cli.main import main
from experiments.terminal import console
from search.opening import index_place

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = f"{sys.executable} -m cli.main"
FULL = "galm: No space left on device: standard output; free some space and run it again\n"
CLOSED = "galm: Bad file descriptor: standard output\n"
OUT_OF_MEMORY = "galm: out of memory: choose smaller sizes, such as of words, vectors, batches or pools\n"
BROKEN = "class Broken:\n    x = '" + "\0\1\2" * 40 + "'\n"


@pytest.fixture(scope="module")
def cache(compiled, tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("cache")
    compiled(home)
    return home


@pytest.fixture
def tree(tmp_path, cache, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    (tmp_path / "tree").mkdir()
    for number in range(3):
        text = f'def reads_{number}(path):\n    """Reads file {number} of a path."""\n    return open(path).read()\n'
        (tmp_path / "tree" / f"m{number}.py").write_text(text)
    (tmp_path / "tree" / "broken.py").write_text(BROKEN)  # which is told on standard error
    return tmp_path / "tree"


def shell(command: str, folder: Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120, check=False, **options
    )


def made(tree: Path) -> dict[str, bytes]:
    """The files of the index, which are removed."""
    folder = index_place(tree).parent
    found = {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}
    for name in found:
        (folder / name).unlink()
    return {name: content for name, content in found.items() if name != "index.tree"}  # which is of a moment


STREAMS = [
    ("<&-", 0, None),
    (">&-", 2, CLOSED),
    ("2>&-", 0, ""),
    ("<&- >&- 2>&-", 2, ""),
    (">/dev/full", 2, FULL),
    ("2>/dev/full", 0, ""),
    (">/dev/full 2>/dev/full", 2, ""),
    (">/dev/full 2>&-", 2, ""),
    ("| true; exit ${PIPESTATUS[0]}", 0, None),
    ("2> >(true)", 0, ""),
]


@pytest.mark.parametrize(("streams", "code", "told"), STREAMS)
def test_an_index_and_its_vectors_are_made_whatever_its_streams_are(tree, streams, code, told):
    assert main(["index", str(tree)]) == 0
    whole = made(tree)
    assert sorted(whole) == ["index", "index.vectors"]
    done = shell(f"{PROGRAM} index . {streams}", tree)
    assert made(tree) == whole
    assert done.returncode == code
    binary = "broken.py: binary: a NUL byte in its first 8 KiB\n"
    assert done.stderr == (binary if told is None else f"{binary}{told}" if told else "")


@pytest.mark.parametrize(
    ("command", "code"),
    [("help | head -1", 0), ("search reads | head -1", 0), ("search reads --json | true", 0), ("index . | head -1", 0)],
)
def test_a_reader_that_goes_away_is_no_trouble(tree, command, code):
    assert main(["index", str(tree)]) == 0
    (tree / "broken.py").unlink()
    done = shell(f"{PROGRAM} {command}; exit ${{PIPESTATUS[0]}}", tree)
    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.parametrize("streams", ["", ">/dev/full", ">&-", "<&-"])
def test_a_mistake_is_the_one_line_whatever_the_output_is(tree, streams):
    done = shell(f"{PROGRAM} index nowhere {streams}", tree)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("galm: ")
    assert "nowhere does not exist" in done.stderr
    assert shell(f"{PROGRAM} index nowhere {streams} 2>&-", tree).returncode == 2


def test_closed_input_is_empty(tree):
    assert main(["index", str(tree)]) == 0
    done = shell(f"{PROGRAM} search - <&-", tree)
    empty = shell(f"{PROGRAM} search - </dev/null", tree)
    assert (done.returncode, done.stderr) == (2, empty.stderr)
    assert done.stderr.count("\n") == 1


FIRST = "from experiments.terminal.startup import open_standard_streams as start; start(); import os, sys, subprocess; "


def test_no_file_gets_the_number_of_a_closed_stream(tree):
    write = "file = open('it', 'wb'); assert file.fileno() > 2; os.write(2, b'told'); sys.stderr.write('told'); "
    child = "subprocess.run([sys.executable, '-c', 'import os; os.write(2, bytes(4))'], check=True)"
    done = subprocess.run(
        ["bash", "-c", f"exec {sys.executable} -c \"$0\" <&- >&- 2>&-", FIRST + write + child],
        cwd=tree, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
    assert (tree / "it").read_bytes() == b""


def test_a_progress_bar_that_cannot_be_shown_stops_nothing(tree):
    loop = "from tqdm import tqdm; done = [tqdm.write('a') or n for n in tqdm(range(5), mininterval=0)]; "
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", f"{FIRST}{loop}print(done)"],
            cwd=tree, stdout=subprocess.PIPE, stderr=full, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "a\n" * 5 + "[0, 1, 2, 3, 4]\n")


def test_a_worker_that_cannot_tell_its_trouble_ends(tree):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from data_prep.worker_process import serve; serve('nothing:nothing')"],
            cwd=tree, stdin=subprocess.DEVNULL, stderr=full, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 1


def test_output_is_lost_once_and_told_once(monkeypatch):
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        console.open_terminal()
        console.show("a" * 100_000)
        console.show("b")
        lost = console.end_output()
        assert (lost.errno, lost.filename) == (errno.ENOSPC, "standard output")
        assert console.end_output() is None
        sys.stdout.close()


def caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


FULL_MEMORY = [
    MemoryError(),
    RuntimeError("can't start new thread"),
    ImportError("libtorch_cpu.so: failed to map segment from shared object"),
    caused(ImportError("see the manual"), ImportError("libpthread.so.0: failed to map segment from shared object")),
    OSError("libgomp.so.1: failed to map segment from shared object"),
    caused(ValueError("the checkpoint cannot be read: start the run anew"), MemoryError()),
]


@pytest.mark.parametrize("error", FULL_MEMORY, ids=repr)
def test_full_memory_is_one_line(monkeypatch, capsys, error):
    def fails(_: object) -> None:
        raise error

    monkeypatch.setattr("cli.main.run_command", fails)
    assert main(["help"]) == 2
    assert capsys.readouterr().err == OUT_OF_MEMORY


@pytest.mark.parametrize("error", [ImportError("no module x"), RuntimeError("a mistake of the program")])
def test_other_errors_are_faults_with_a_traceback(monkeypatch, error, capsys):
    def fails(_: object) -> None:
        raise error

    monkeypatch.setattr("cli.main.run_command", fails)
    assert main(["help"]) == 70
    assert capsys.readouterr().err.startswith("Traceback ")


@pytest.mark.parametrize("limit", [resource.RLIMIT_AS, resource.RLIMIT_DATA])
def test_little_memory_is_one_line(tree, limit):
    assert main(["index", str(tree)]) == 0
    size = 54_000 << 10  # with more, memory ends inside of a library of Rust, which then waits for ever
    done = shell(f"{PROGRAM} search reads", tree, preexec_fn=lambda: resource.setrlimit(limit, (size, size)),
                 env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (2, "", OUT_OF_MEMORY)
