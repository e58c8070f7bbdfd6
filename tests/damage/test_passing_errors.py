"""An error that says nothing about a file, such as too many open files, replaces nothing and is told in one line."""

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.main import main
from data_prep.datasets.jdk import _release_of
from data_prep.files.access import reading
from data_prep.gencodesearchnet.r_corpus import read_package
from data_prep.pipeline.corpus import ShardFolder
from data_prep.pipeline.extraction import TreeTask, make_shard
from data_prep.pipeline.shards import TreeName
from data_prep.sources.archives import read_java_files
from data_prep.sources.codesearchnet_rows import place_of
from data_prep.sources.debian_sources import _read_record
from data_prep.sources.download import Remote, download
from data_prep.sources.licences import Licences
from data_prep.sources.own_git import git_says
from evaluation.evaluator import SavedCounts
from search.files.tree import found_files
from search.index.build import refresh
from search.index.freshness import read_record, record_path
from search.index.vector_encoding import maker_of, up_to_date
from search.index.vectors import vectors_path
from search.opening import index_place
from search.retrieval.approximate import _read

REPOSITORY = Path(__file__).resolve().parents[2]
PASSING = (errno.EMFILE, errno.EIO, errno.ENOMEM, errno.EACCES)
PYTHON = 'def reads_line_{0}(path):\n    """Reads line {0} of the file."""\n    return path.read_text()\n'
JAVA = "class A{0} {{\n /** Reads line {0} of the file. */\n int read{0}() {{\n  return {0};\n }}\n}}\n"


@contextmanager
def failing(number: int, name: str) -> Iterator[None]:
    """Opening a file or listing a folder of this ``name`` fails."""
    opened, listed = os.open, os.scandir

    def fails(function: Callable) -> Callable:
        def call(path, *rest, **named):
            if isinstance(path, str | Path) and Path(path).name == name:
                raise OSError(number, os.strerror(number), str(path))
            return function(path, *rest, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", fails(opened))
        patch.setattr(os, "scandir", fails(listed))
        yield


def contents(*folders: Path) -> dict[Path, bytes]:
    """All files but the notes of what was seen of a tree, which each look at it may renew."""
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file() and path.suffix != ".tree")
    return {path: path.read_bytes() for path in files}


@pytest.fixture
def sources(tmp_path) -> Path:
    (tmp_path / "sources" / "inner").mkdir(parents=True)
    for number in range(40):
        (tmp_path / "sources" / "inner" / f"A{number}.java").write_text(JAVA.format(number))
    return tmp_path / "sources"


@pytest.fixture
def prepare(sources, tmp_path) -> list[str]:
    options = ["--data.near_duplicate=1", "--data.processes=1"]
    return ["prepare", "folder", f"--data.path={sources}", f"--data.root={tmp_path / 'data'}", *options]


@pytest.fixture
def tree(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "tree").mkdir()
    for number in range(5):
        (tmp_path / "tree" / f"m{number}.py").write_text(PYTHON.format(number))
    return tmp_path / "tree"


@pytest.mark.parametrize("number", PASSING)
@pytest.mark.parametrize("name", ["manifest.json", "lexicon.json", "train-name-values.npy", "test-texts.jsonl"])
def test_prepared_data_stay(prepare, tmp_path, capsys, number, name):
    assert main(prepare) == 0
    before = contents(tmp_path / "data")
    capsys.readouterr()
    with failing(number, name):
        assert main(prepare) == 2
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    assert error.startswith(f"galm: {os.strerror(number)}: {tmp_path / 'data'}")
    assert name in error
    assert ("run it again" in error) == (number != errno.EACCES)
    assert contents(tmp_path / "data") == before


@pytest.mark.parametrize("name", ["A7.java", "inner"])
def test_a_source_that_cannot_be_read_now_is_not_left_out_of_prepared_data(prepare, tmp_path, capsys, name):
    assert main(prepare) == 0
    before = contents(tmp_path / "data")
    capsys.readouterr()
    with failing(errno.EMFILE, name):
        assert main(prepare) == 2
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    assert "Too many open files" in error
    assert contents(tmp_path / "data") == before


def test_few_open_files_replace_no_prepared_data(prepare, tmp_path):
    assert main(prepare) == 0
    before = contents(tmp_path / "data")
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *prepare],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20)),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"galm: Too many open files: {tmp_path / 'data'}")
    assert line.endswith("; raise the limit of open files (ulimit -n) and run it again")
    assert contents(tmp_path / "data") == before


@pytest.mark.parametrize("number", PASSING)
@pytest.mark.parametrize("end", ["", ".vectors"])
def test_an_index_and_its_vectors_stay(tree, tmp_path, capsys, number, end):
    assert main(["index", str(tree)]) == 0
    before, name = contents(tmp_path / "cache"), f"{index_place(tree).name}{end}"
    capsys.readouterr()
    with failing(number, name):
        assert main(["index", str(tree)]) == 2
        assert not end or main(["search", "reads a line", f"--index={index_place(tree)}"]) == 0
    error = capsys.readouterr().err.splitlines()
    assert error[0].startswith(f"galm: {os.strerror(number)}: ")
    assert name in error[0]
    assert contents(tmp_path / "cache") == before
    assert all("answered without them" in line for line in error[1:])


def test_what_an_index_is_of_is_not_forgotten(tree):
    assert main(["index", str(tree), "--submodules=true", "--vectors=none"]) == 0
    index = index_place(tree)
    with failing(errno.EMFILE, record_path(index).name):
        assert main(["index", str(tree)]) == 2
    record = read_record(index)
    assert record is not None
    assert (record.submodules, record.vectors) == (True, False)


@pytest.mark.parametrize("ask", [maker_of, lambda index: up_to_date(index, "")])
def test_nothing_is_said_of_vectors_that_cannot_be_read_now(tree, ask):
    assert main(["index", str(tree)]) == 0
    index = index_place(tree)
    with failing(errno.EMFILE, vectors_path(index).name), pytest.raises(OSError, match="Too many open files"):
        ask(index)


@pytest.mark.parametrize("name", ["m3.py", "tree", ".gitignore", "LICENSE"])
def test_a_file_that_cannot_be_read_now_is_not_left_out_of_an_index(tree, tmp_path, name):
    (tree / ".gitignore").write_text("m0.py\n")
    (tree / "LICENSE").write_text("MIT License\n")
    path = tmp_path / "index"
    with failing(errno.EMFILE, name), pytest.raises(OSError, match="Too many open files"):
        refresh(tree, path, processes=0, tell=lambda *_: None)
    assert not path.exists()
    if name != "m3.py":
        return
    with failing(errno.EACCES, name):  # which is of the file: it is told
        told = []
        refresh(tree, path, processes=0, tell=lambda *each: told.append(each))
    assert told == [("m3.py", "Permission denied")]


def test_an_error_of_a_folder_alone_is_told(tree):
    told = []
    with failing(errno.ENAMETOOLONG, "tree"):
        assert found_files(tree, (".py",), lambda *each: told.append(each), None) == []
    assert told == [(".", "File name too long")]


def shard(path: Path) -> object:
    return make_shard(TreeTask(TreeName("a", "1", ""), ["java"], "archive", str(path), ""))


def missing_shard(path: Path) -> object:
    folder = ShardFolder(path.parent, print)
    task = TreeTask(TreeName("a", "1", ""), ["java"], "archive", str(path), "")
    folder.path = lambda _: path
    return folder._is_missing(task, {})


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "counts of an evaluation": ("it.0-of-1", lambda path: SavedCounts(path.with_name("it"), "a").load()),
    "record of archives": ("packages.json", lambda path: _read_record(path.parent, {})),
    "trees that were left out": ("left_out.json", lambda path: ShardFolder(path.parent, print)._recorded()),
    "place of files": ("fetched.json", lambda path: place_of(path.parent)),
    "part of a download": ("it.part.json", lambda path: download(Remote("http://127.0.0.1:9/it"), path.parent / "it")),
    "archive": ("a.zip", lambda path: list(read_java_files(path, "it", print))),
    "R package": ("a.tar", read_package),
    "licence": ("LICENSE", lambda path: Licences(path.parent, ["a.py"]).of("a.py", b"")),
    "release": ("release", lambda path: _release_of([path.parent])),
    "tree of a corpus": ("a.zip", shard),
    "shard": ("a.jsonl.gz", missing_shard),
    "clusters": ("it.faiss", lambda path: _read((1, 1), "it", path)),
}


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EIO])
@pytest.mark.parametrize("name", READERS)
def test_what_is_kept_or_made_of_a_file_is_not_decided_without_it(tmp_path, name, number):
    file, read = READERS[name]
    (tmp_path / "it.part").write_bytes(b"begun")
    (tmp_path / file).write_bytes(b"{}")
    before = contents(tmp_path)
    with failing(number, file), pytest.raises(OSError, match=os.strerror(number)) as error:
        read(tmp_path / file)
    assert (error.value.errno, error.value.filename) == (number, str(tmp_path / file))
    assert contents(tmp_path) == before


def test_an_error_in_the_middle_of_a_file_names_it(tmp_path):
    (tmp_path / "file").write_bytes(b"it")

    def reads() -> None:
        with reading(tmp_path / "file"):
            raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(OSError, match="Input/output error") as error:
        reads()
    assert error.value.filename == str(tmp_path / "file")


def test_git_that_cannot_be_started_now_is_not_taken_for_no_git(tmp_path, monkeypatch):
    def fails(*_: object, **__: object) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", fails)
    with pytest.raises(OSError, match="temporarily"):
        git_says(tmp_path, "--version")
