"""A full disk, or a limit of a file's size: one line that says where and what to do, and nothing left half-written."""

import errno
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from baselines.prompted_model import AnswerJournal
from cli.main import main
from data_prep.gencodesearchnet.records import example, write_raw
from data_prep.store.prepared_data import open_prepared
from experiments.gencodesearchnet import fine_tune
from experiments.gencodesearchnet.fine_tune import RECORD, WEIGHTS
from experiments.terminal import console
from tests.experiments.gencodesearchnet.fine_tuning_runs import SMALL, TRAIN, VALID
from tests.tiny_models import tiny_bert
from training.board import Board

REPOSITORY = Path(__file__).resolve().parents[2]


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """Let the system refuse to write beyond ``size`` bytes of a file; Python ignores the signal that comes with it."""
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:  # Python would leave the first part of a module's bytecode, for good
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A disk of 64 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"no disk can be made here: {error}")
    if done.returncode:
        pytest.skip(f"no disk can be made here: {done.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture(scope="module")
def few(java_folder, tmp_path_factory) -> Path:
    """A folder with a few files of Java."""
    folder = tmp_path_factory.mktemp("few")
    for file in sorted(java_folder.rglob("*.java"), key=lambda file: (file.stat().st_size, file.name))[30:60]:
        shutil.copy(file, folder)
    return folder


@pytest.fixture(scope="module")
def data(java_folder, small_data) -> list[str]:
    split = ["--data.valid_share=0.2", "--data.test_share=0.2", "--data.processes=1", "--data.limit=240"]
    return [f"--data.path={java_folder}", f"--data.root={small_data.folder.parent}", *split]


@pytest.fixture
def refused(capsys):
    """Runs a command line that cannot write ``place``."""

    def check(size: int, place: Path, *arguments: str) -> None:
        with no_file_above(size) if size else nullcontext():
            assert main(arguments) == 2
        error = [line for line in re.split(r"[\r\n]+", capsys.readouterr().err) if line.startswith("galm: ")]
        assert len(error) == 1, error
        assert str(place) in error[0]
        reason, advice = (
            ("File too large", "raise the limit of a file's size (ulimit -f)")
            if size
            else ("No space left on device", "free some space")
        )
        assert reason in error[0]
        assert error[0].endswith(f"; {advice} and run it again")

    return check


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_data_set_is_whole_or_absent(few, tmp_path, refused):
    arguments = ["prepare", "folder", f"--data.path={few}", f"--data.root={tmp_path}", "--data.processes=1"]
    for size in (1_000, 10_000):
        refused(size, tmp_path / "folder-", *arguments)
        assert names(tmp_path) == set()
    assert main(arguments) == 0
    (folder,) = tmp_path.iterdir()
    refused(10_000, folder, *arguments, "--data.min_query_words=4")
    assert open_prepared(folder).manifest["sources"]["settings"]["min_query_words"] == 3


def test_a_data_set_on_a_full_disk(few, small_disk, refused):
    refused(0, small_disk / "folder-", "prepare", "folder", f"--data.path={few}", f"--data.root={small_disk}")
    assert names(small_disk) == set()


@pytest.mark.parametrize(
    ("size", "file"), [(100, "config.json"), (3_000, "vocabulary.json"), (7_000, ""), (80_000, "checkpoint.pt")]
)
def test_a_run_in_training(data, tmp_path, refused, size, file):
    small = ["--train.epochs=1", "--train.threads=1", "--evaluate.bootstrap_samples=200"]
    out = tmp_path / "out"
    refused(size, out / file, "folder", "unif", *data, *small, f"--out={out}")
    left = names(out)
    assert not [name for name in left if ".tmp" in name]
    if file == "config.json":
        assert left == {"log.txt"}  # and so the folder can be used again
        assert main(["folder", "bm25", *data, f"--out={out}"]) == 0
    else:
        assert main(["folder", "unif", f"--train.resume={out}"]) == 0
    assert "metrics.json" in names(out)


@pytest.mark.parametrize("file", ["ranks.jsonl", "run.trec", "metrics.json"])
def test_a_run_that_has_been_tested(data, tmp_path, refused, file):
    whole, out = tmp_path / "whole", tmp_path / "out"
    arguments = ["folder", "bm25", *data, "--evaluate.bootstrap_samples=200"]
    assert main([*arguments, f"--out={whole}"]) == 0
    below = [(whole / each).stat().st_size for each in ("config.json", "log.txt")]
    size = max(*below, (whole / file).stat().st_size // 2)
    if size >= (whole / file).stat().st_size:
        pytest.skip(f"{file} is no larger than what comes before it")
    refused(size, out, *arguments, f"--out={out}")
    assert "metrics.json" not in names(out)
    assert not [name for name in names(out) if ".tmp" in name]


def test_a_log_that_cannot_be_written_is_told_once_and_the_run_goes_on(data, tmp_path, capsys, monkeypatch):
    place = tmp_path / "out"
    monkeypatch.setattr(console, "append_regular", lambda _: open("/dev/full", "ab"))  # noqa: PTH123, SIM115
    assert main(["folder", "bm25", *data, "--evaluate.bootstrap_samples=200", f"--out={place}"]) == 0
    error = capsys.readouterr().err
    assert error.count("warning: No space left on device: ") == 1
    assert "Traceback" not in error


def test_the_curves_of_a_board_are_told_without_a_traceback(tmp_path, capfd):
    board = Board(tmp_path)

    def draw() -> None:
        for step in range(100):
            board.training(step * 25, step, 1.0, 1.0, 1.0, 1.0)
            board.flush()

    with pytest.raises(OSError, match="File too large") as error, no_file_above(2_000):
        draw()
    assert error.value.filename == str(tmp_path)
    assert "Traceback" not in capfd.readouterr().err


def test_an_index_is_whole_or_absent(few, tmp_path, refused):
    out, arguments = tmp_path / "index", ["index", str(few), f"--out={tmp_path / 'index'}", "--processes=1"]
    refused(10_000, out, *arguments)
    assert names(tmp_path) == set()
    assert main(arguments) == 0
    before = out.read_bytes()
    (tmp_path / "index.vectors").unlink()
    refused(3_000, tmp_path / "index.vectors", *arguments)
    assert out.read_bytes() == before
    assert names(tmp_path) == {"index"}


def test_files_of_the_benchmark(tmp_path, refused):
    pairs = [example(f"how to do thing {number}", f"f{number} <- function(x) x + {number}") for number in range(200)]
    (tmp_path / "raw").mkdir()
    write_raw(tmp_path / "raw" / "test_statcodesearch.jsonl", pairs)
    raw, out = tmp_path / "raw" / "test_statcodesearch.jsonl", tmp_path / "out"
    refused(2_000, out, "gencodesearchnet", "sample_pairs", str(raw), "--task=ranking", f"--out={out}")
    assert not out.exists()
    refused(2_000, out, "gencodesearchnet", "bm25", f"--path={raw.parent}", f"--out={out}")
    assert names(out) == set()
    source = tmp_path / "a.R"
    source.write_text("".join(f"# Adds {number} to it.\nx <- x + {number} * {number**99}\n\n" for number in range(200)))
    refused(100, out, "gencodesearchnet", "r_pairs", str(tmp_path), f"--out={out}")
    assert names(out) == set()


@pytest.mark.usefixtures("capsys")  # else the system counts what is captured
def test_a_fine_tuned_model_is_whole_or_absent(tmp_path, monkeypatch):
    base, out = str(tiny_bert(tmp_path / "base", dropout=0.0)), tmp_path / "out"

    def tuned() -> None:
        fine_tune.fine_tune(TRAIN, VALID, base, out, replace(SMALL, epochs=1), tell=lambda _: None)

    with pytest.raises(OSError, match=f"checkpoint {out}/.* File too large"), no_file_above(5_000):
        tuned()
    assert not out.exists()
    with monkeypatch.context() as patch:
        patch.setattr("training.state.save_checkpoint", lambda *_: None)  # which is larger than all the rest
        for size in (100, 500, 3_000, 50_000):
            with pytest.raises(OSError, match=f"File too large: '{out}") as error, no_file_above(size):
                tuned()
            assert error.value.errno == errno.EFBIG
            assert not (out / WEIGHTS).exists()
            for name in names(out):
                json.loads((out / name).read_text())
            shutil.rmtree(out, ignore_errors=True)
    tuned()
    assert names(out) == {RECORD, WEIGHTS, "config.json", "tokenizer.json", "tokenizer_config.json"}


def test_an_answer_is_kept_whole_or_not_at_all(tmp_path):
    journal = AnswerJournal.open(tmp_path / "answers.jsonl")
    journal.add("a", {"answer": "True"})
    with pytest.raises(OSError, match=r"File too large: .*answers\.jsonl"), no_file_above(80):
        journal.add("b", {"answer": "False" * 20})
    journal.add("c", {"answer": "True"})
    assert len(AnswerJournal.open(journal.path)) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_standard_output_that_is_full_is_one_line():
    with Path("/dev/full").open("w") as full:
        told = subprocess.run(
            [sys.executable, "-m", "cli.main", "help"],
            cwd=REPOSITORY, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert told.returncode == 2
    assert told.stderr == f"galm: {os.strerror(errno.ENOSPC)}: standard output; free some space and run it again\n"
