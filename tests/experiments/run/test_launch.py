"""One run in two processes: the same losses, ranks and result as in one; and what happens when one of them ends.

Of UNIF, whose processes start and learn quickest; ``tests/training/test_processes.py`` has other models.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from cli.main import main
from modeling.distributed import backend_of

REPOSITORY = Path(__file__).resolve().parents[3]
# Without dropout, whose draws are each process's own.
TRAINING = ["--model.dropout=0", "--train.epochs=3", "--train.batch_size=7", "--evaluate.bootstrap_samples=200"]


def options_of(java_folder: Path, small_data) -> list[str]:
    split = ["--data.valid_share=0.2", "--data.test_share=0.2", "--data.processes=1", "--data.limit=240"]
    return [f"--data.path={java_folder}", f"--data.root={small_data.folder.parent}", *split, *TRAINING]


def command(*arguments: str, starter: tuple[str, ...] = ()) -> subprocess.Popen:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    line = [sys.executable, *starter, "-m", "cli.main", *arguments]
    return subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen) -> tuple[int, str, str]:
    out, error = process.communicate(timeout=120)
    return process.returncode, out, error


def losses(run: Path) -> list[float]:
    events = EventAccumulator(str(run))
    events.Reload()
    return [scalar.value for scalar in events.Scalars("train/loss")]


@pytest.fixture(scope="module")
def runs(java_folder, small_data, tmp_path_factory) -> dict[int, Path]:
    folder, found = tmp_path_factory.mktemp("runs"), {}
    for count in (1, 2):
        found[count] = folder / str(count)
        options = [*options_of(java_folder, small_data), f"--train.processes={count}", f"--out={found[count]}"]
        if count == 1:
            assert main(["folder", "unif", *options, "--train.threads=1"]) == 0
        else:
            code, _, error = finished(command("folder", "unif", *options))
            assert code == 0, error
    return found


def test_two_processes_learn_what_one_learns(runs):
    assert losses(runs[2]) == pytest.approx(losses(runs[1]), abs=1e-5)
    one, two = (load_file(run / "weights.safetensors") for run in runs.values())
    for name, weight in one.items():
        assert (two[name] - weight).norm() <= 1e-2 * weight.norm(), name


def test_two_processes_write_what_one_writes(runs):
    names = [sorted(path.name.partition(".tfevents.")[0] for path in runs[number].iterdir()) for number in (1, 2)]
    assert names[0] == names[1]
    one, two = (json.loads((run / "metrics.json").read_text()) for run in runs.values())
    moved = [rank for rank, other in zip(two["ranks"], one["ranks"], strict=True) if rank != other]
    assert len(moved) <= one["queries"] / 10
    golds = {query: code for query, _, code, _ in map(str.split, (runs[1] / "qrels.trec").read_text().splitlines())}
    first, second = map(scores_of, runs.values())
    for query, gold in golds.items():  # only what scores as the gold does, but for rounding, changes its side of it
        own, other = first[query], second[query]
        for code in own:
            if (own[code] > own[gold]) != (other[code] > other[gold]):
                assert own[code] == pytest.approx(own[gold], abs=1e-4)


def scores_of(run: Path) -> dict[str, dict[str, float]]:
    """Query -> code -> score."""
    found: dict[str, dict[str, float]] = {}
    for query, _, code, _, score, _ in map(str.split, (run / "run.trec").read_text().splitlines()):
        found.setdefault(query, {})[code] = float(score)
    return found


def test_shards_of_a_test_are_the_whole(runs):
    code, out, error = finished(command("evaluate", str(runs[1]), "--evaluate.shards=3"))
    assert code == 0, error
    again = json.loads(sorted(runs[1].glob("metrics-*.json"))[-1].read_text())
    first = json.loads((runs[1] / "metrics.json").read_text())
    assert (again["exact"], again["ties"], again["controls"]["bm25"]["exact"]) == (
        first["exact"], first["ties"], first["controls"]["bm25"]["exact"]
    )  # fmt: skip
    assert out.count("\nchance ") == 1  # one table


def test_a_process_that_is_killed_ends_the_run_in_one_line_and_it_goes_on(runs, java_folder, small_data, tmp_path):
    run = tmp_path / "run"
    options = [*options_of(java_folder, small_data), "--train.processes=2", "--train.checkpoint_minutes=0.0001"]
    process = command("folder", "unif", *options, f"--out={run}")
    while not (run / "checkpoint.pt").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    (copy,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(copy), signal.SIGKILL)
    code, _, error = finished(process)
    assert code == 2, error
    assert "process 1 of this run was ended by signal 9" in error.splitlines()[-1]
    code, _, error = finished(command("folder", "unif", f"--train.resume={run}"))
    assert code == 0, error  # in as many processes as it began with
    assert losses(run)[-1] == pytest.approx(losses(runs[2])[-1], abs=1e-7)


def test_torchrun_starts_them_too(runs, java_folder, small_data, tmp_path):
    starter = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
    options = [*options_of(java_folder, small_data), "--train.processes=2", f"--out={tmp_path / 'run'}"]
    process = command("folder", "unif", *options, starter=starter)
    code, _, error = finished(process)
    assert code == 0, error
    assert losses(tmp_path / "run") == pytest.approx(losses(runs[2]), abs=1e-7)


def test_a_run_tests_in_its_own_processes(java_folder, small_data, tmp_path, capsys):
    options = [*options_of(java_folder, small_data), f"--out={tmp_path / 'run'}", "--evaluate.shards=2"]
    assert main(["folder", "unif", *options]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--train.processes" in error


def test_processes_with_a_gpu_each_speak_over_nccl():
    assert backend_of(2, 0) == backend_of(3, 2) == "gloo"
    assert backend_of(2, 2) == backend_of(2, 8) == "cpu:gloo,cuda:nccl"
