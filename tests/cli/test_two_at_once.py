"""Two commands that would write one folder: the second is refused in one line, and the first goes on undisturbed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.main import main
from data_prep.files.writing import sole_writer
from data_prep.gencodesearchnet.r_corpus import build_r_pairs
from experiments.gencodesearchnet import fine_tune, suite
from experiments.gencodesearchnet.config import BenchmarkOptions
from experiments.run import run

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def options(java_folder, small_data) -> list[str]:
    split = ["--data.valid_share=0.2", "--data.test_share=0.2", "--data.processes=1", "--data.limit=240"]
    data = [f"--data.path={java_folder}", f"--data.root={small_data.folder.parent}"]
    return ["folder", "bm25", *data, *split, "--evaluate.bootstrap_samples=200"]


@pytest.fixture(scope="module")
def finished(options, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "finished"
    assert main([*options, f"--out={out}"]) == 0
    return out


@pytest.fixture
def refused(capsys):
    """Runs a command line, and expects that another process is writing the folder."""

    def check(folder: Path, *arguments: str) -> None:
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert f"galm: another process is writing {folder}: " in error
        assert error.count("\n") == 1

    return check


def test_a_folder_that_is_being_written_is_refused(finished, options, tmp_path, refused):
    out, before = tmp_path / "out", sorted(finished.iterdir())
    (finished / "metrics.json").rename(tmp_path / "metrics.json")
    with sole_writer(out), sole_writer(finished):
        refused(out, *options, f"--out={out}")
        refused(finished, *options, f"--out={finished}")
        refused(finished, "folder", "bm25", f"--train.resume={finished}")
        refused(finished, "evaluate", str(finished))
    (tmp_path / "metrics.json").rename(finished / "metrics.json")
    assert sorted(finished.iterdir()) == before
    assert not out.exists()


@pytest.mark.parametrize("named", [True, False])
def test_a_run_keeps_others_out_until_it_ends(options, tmp_path, named, monkeypatch):
    seen = []

    def watched(plan, data, folder, command, prepared):
        with pytest.raises(ValueError, match="another process is writing"):
            sole_writer(folder.path).__enter__()
        seen.append(folder.path)
        return whole(plan, data, folder, command, prepared)

    whole = run._run
    monkeypatch.setattr(run, "_run", watched)
    monkeypatch.setattr("experiments.recipes.run_folder.REPOSITORY", tmp_path)
    assert main([*options, *([f"--out={tmp_path / 'out'}"] if named else [])]) == 0
    (folder,) = seen
    assert folder.parent == (tmp_path if named else tmp_path / "runs")
    with sole_writer(folder):
        assert (folder / "metrics.json").exists()


def test_an_evaluation_keeps_others_out(finished, monkeypatch):
    def watched(_plan, folder, _typed):
        with pytest.raises(ValueError, match="another process is writing"):
            sole_writer(folder.path).__enter__()
        raise BlockingIOError(11, "as it should be")

    monkeypatch.setattr(run, "_evaluated", watched)
    assert main(["evaluate", str(finished)]) == 2
    with sole_writer(finished):
        pass


def test_of_two_runs_at_once_one_is_whole_and_one_is_refused(options, tmp_path):
    command = [sys.executable, "-m", "cli.main", *options, f"--out={tmp_path / 'out'}"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    two = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [each.communicate(timeout=120) for each in two]
    assert sorted(each.returncode for each in two) == [0, 2], told
    complaint = next(error for each, (_, error) in zip(two, told, strict=True) if each.returncode)
    assert "another process is writing" in complaint or "is not an empty folder" in complaint
    assert {"metrics.json", "ranks.jsonl", "log.txt"} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_other_commands_keep_their_folder_too(tmp_path):
    with sole_writer(tmp_path / "out"), pytest.raises(ValueError, match="another process is writing"):
        build_r_pairs([str(tmp_path)], tmp_path / "out", "clean", print)
    pairs = [suite.Example(f"text {number}", f"code {number}") for number in range(3)]
    with sole_writer(tmp_path / "out"), pytest.raises(ValueError, match="another process is writing"):
        fine_tune.fine_tune(pairs, pairs, "base", tmp_path / "out", fine_tune.FineTuneOptions())
    data = suite.Data([], [], [], "")
    with sole_writer(tmp_path / "bm25"), pytest.raises(ValueError, match="another process is writing"):
        suite.run_benchmark("bm25", data, BenchmarkOptions(out=str(tmp_path)), "")


def test_statistics_and_speed_keep_their_folder_too(tmp_path, refused):
    with sole_writer(tmp_path):
        refused(tmp_path, "gencodesearchnet", "statistics", f"--path={tmp_path}", f"--out={tmp_path}")
        refused(tmp_path, "speed", "rows", f"--out={tmp_path}")
