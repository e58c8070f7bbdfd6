"""Sweeps: every combination is one run, as it is alone; what is there is not run again; validation chooses."""

import contextlib
import io
import json
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

from cli.main import main
from data_prep.errors import UserError
from evaluation.results import Validation, load_result
from experiments.recipes.config import REPOSITORY
from experiments.recipes.results_folder import folder_name
from experiments.tables import sweep as sweeps
from experiments.tables.run_pages import sweep_table, tried
from experiments.tables.sweep import Sweep, run_sweep
from tests.data_prep.datasets.own_pairs import python_rows, write_lines
from tests.experiments.tables.compared_runs import ranks_of, saved_run

GRID = {"sweep.model.dim": "64,128", "sweep.train.seed": "0,1"}


def test_a_grid_has_a_run_for_each_combination_named_by_what_differs(tmp_path):
    sweep = Sweep.of("jdk", "unif", {**GRID, "train.epochs": "3", "out": str(tmp_path)})
    assert [point.name for point in sweep.points] == [
        "dim=64,seed=0",
        "dim=64,seed=1",
        "dim=128,seed=0",
        "dim=128,seed=1",
    ]
    plans = [(p.plan.model.dim, p.plan.train.seed, p.plan.train.epochs, p.plan.train.threads) for p in sweep.points]
    assert plans == [(64, 0, 3, 1), (64, 1, 3, 1), (128, 0, 3, 1), (128, 1, 3, 1)]
    assert {point.folder.parent for point in sweep.points} == {tmp_path}


def test_values_that_are_lists_are_divided_by_semicolons_and_names_are_those_of_folders(tmp_path):
    typed = {"sweep.model.fields": "name,tokens;name,api,tokens", "out": str(tmp_path)}
    points = Sweep.of("jdk", "galm", typed).points
    assert [point.plan.model.fields for point in points] == ["name,tokens", "name,api,tokens"]
    assert folder_name(["data=/a b/../c"]) == "data=_a_b_.._c"
    assert len({folder_name([f"x={'y' * 80}{number}"]) for number in range(3)}) == 3


def test_the_same_command_or_one_with_more_values_finds_its_folder_again():
    of = [Sweep.of("jdk", "unif", {"sweep.train.seed": seeds, **more}).folder for seeds, more in (
        ("0", {}), ("0,1", {}), ("0", {"train.epochs": "2"}))]  # fmt: skip
    assert of[0] == of[1] != of[2]
    assert of[0].parent == REPOSITORY / "runs"
    assert of[0].name.startswith("jdk-unif-sweep-seed-")


@pytest.mark.parametrize(
    ("cores", "typed", "expected"),
    [
        (8, {}, 4),
        (3, {}, 3),
        (8, {"train.threads": "4"}, 2),
        (2, {"train.threads": "4"}, 1),
        (8, {"train.processes": "4"}, 2),
        (8, {"sweep.processes": "3"}, 3),
        (1, {"sweep.processes": "9"}, 4),
    ],
)
def test_as_many_runs_at_a_time_as_there_are_cores_for(monkeypatch, cores, typed, expected):
    monkeypatch.setattr(sweeps, "processors", lambda: cores)
    monkeypatch.setattr("modeling.ranker.best_device", lambda: "cpu")
    assert Sweep.of("jdk", "unif", {**GRID, **typed}).processes == expected
    monkeypatch.setattr("modeling.ranker.best_device", lambda: "cuda")
    assert Sweep.of("jdk", "unif", {**GRID, **typed}).processes == int(typed.get("sweep.processes", 1)) % 5


@pytest.mark.parametrize(
    ("model", "typed", "said"),
    [
        ("unif", {"sweep.model.dmi": "1,2"}, "unknown option of unif '--model.dmi': did you mean --model.dim?"),
        ("unif", {"sweep.model.dim": "64,many"}, "--model.dim takes a whole number, not 'many'"),
        ("unif", {"sweep.model.dim": "64,,128"}, "--sweep.model.dim takes values with , between them"),
        ("unif", {"sweep.model.dim": "64,64"}, "--sweep.model.dim=64,64 has a value twice"),
        ("unif", {"sweep.model.dim": "64,0"}, "--model.dim"),
        ("unif", {"sweep.model.dim": "64", "model.dim": "64"}, "--sweep.model.dim and --model.dim set the same"),
        ("unif", {"sweep.out": "a,b"}, "--sweep.out makes no other model"),
        ("unif", {"sweep.evaluate.pool": "10,20"}, "--sweep.evaluate.pool makes no other model"),
        ("unif", {"sweep.train.seed": "0", "train.resume": "x"}, "a sweep is resumed by the same command"),
        ("unif", {"sweep.processes": "2"}, "--sweep.processes is for a sweep: name options too"),
        ("unif", {"sweep.train.seed": "0", "sweep.processes": "-1"}, "--sweep.processes takes a number of runs"),
        (
            "unif",
            {"sweep.train.seed": ",".join(map(str, range(1001)))},
            "these are 1,001 runs",
        ),
        ("bm25", {"sweep.model.b": "0,1"}, "bm25 is not trained, so that no validation would choose"),
    ],
)
def test_what_cannot_be_swept_is_said(model, typed, said):
    with pytest.raises(UserError, match=f"^{said}".replace("?", r"\?").replace("(", r"\(")):
        Sweep.of("jdk", model, typed)


def history(*scores: float) -> list[Validation]:
    return [Validation(epoch=n, pairs=9, seconds=1.0, top1=s, mrr=s) for n, s in enumerate(scores, start=1)]


@pytest.fixture
def done(tmp_path):
    """A sweep whose runs are there: the wider vectors are better on validation and worse on the test."""
    sweep = Sweep.of("jdk", "unif", {**GRID, "out": str(tmp_path)})
    for point in sweep.points:
        wide = point.plan.model.dim == 128
        ranks = [9] * 60 if wide else ranks_of(point.plan.train.seed, 3)
        scores = history(0.2, 0.6 + point.plan.train.seed / 10, 0.1) if wide else history(0.4, 0.5)
        saved_run(
            point.folder, "unif", point.plan.train.seed, ranks,
            {"model.dim": point.options["model.dim"], "train.threads": "1"}, history=scores,
        )  # fmt: skip
    return sweep


def test_validation_chooses_and_the_test_of_the_chosen_alone_is_shown(done):
    table = sweep_table(done)
    best, other = table.rows
    assert best[:3] == ("dim=128", "2", "0.650 ± 0.071")
    assert best[-1].startswith("0.111")
    assert other[:3] == ("dim=64", "2", "0.500 ± 0.000")
    assert set(other[3:]) == {""}
    assert [each.label for each in tried(done)] == ["dim=128", "dim=64"]


def test_with_runs_missing_no_test_is_shown(done):
    shutil.rmtree(done.points[-1].folder)
    table = sweep_table(done)
    assert table.rows[0][:2] == ("dim=128", "1 of 2")
    assert set(table.rows[0][3:]) == {""}
    assert table.caption.endswith("Not finished: 1.")


class InThisProcess:
    """In the place of a process of its own, which would import torch again."""

    def __init__(self, program, *, stderr, **_):
        self.stdin = stderr
        arguments = program[program.index("cli.main") + 1 :]
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            self.returncode = main(arguments)
        stderr.write(errors.getvalue().encode())

    def poll(self):
        return self.returncode


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(sweeps, "Popen", InThisProcess)


def test_finished_runs_are_not_run_again(done, monkeypatch):
    monkeypatch.setattr(sweeps, "Popen", lambda *_, **__: pytest.fail("run again"))
    monkeypatch.setattr(sweeps, "_prepare", lambda points: points and pytest.fail("prepared"))
    run_sweep(done)


def test_a_sweep_is_not_written_into_a_run(done):
    (done.folder / "config.json").write_text("{}")
    with pytest.raises(UserError, match="is the folder of a run: name another for the runs of the sweep"):
        run_sweep(done)


@pytest.fixture(scope="module")
def options(java_folder, small_data):
    split = {"data.valid_share": "0.2", "data.test_share": "0.2", "data.processes": "1", "data.limit": "120"}
    place = {"data.path": str(java_folder), "data.root": str(small_data.folder.parent)}
    return {**place, **split, "train.epochs": "1", "evaluate.bootstrap_samples": "100"}


def typed(options):
    return [f"--{name}={text}" for name, text in options.items()]


@pytest.mark.usefixtures("in_this_process")
def test_runs_of_a_sweep_are_those_of_the_same_commands_alone(options, tmp_path, capsys):
    out = tmp_path / "sweep"
    swept = ["--sweep.train.seed=0,1", f"--out={out}"]
    assert main(["folder", "unif", *typed(options), *swept]) == 0
    said = capsys.readouterr().out
    assert "2 runs in" in said
    assert "| unif | 2 |" in said
    assert {path.name for path in out.iterdir()} == {"seed=0", "seed=1", "sweep.md", "sweep.tex", "sweep.csv"}
    alone = ["--train.seed=1", "--train.threads=1", f"--out={tmp_path / 'alone'}"]
    assert main(["folder", "unif", *typed(options), *alone]) == 0
    one, other = (load_result(folder / "metrics.json") for folder in (out / "seed=1", tmp_path / "alone"))
    assert list(one.ranks) == list(other.ranks)
    assert one.history[0].mrr == other.history[0].mrr
    before = (out / "seed=0" / "metrics.json").stat().st_mtime_ns
    assert main(["folder", "unif", *typed(options), "--sweep.train.seed=0", f"--out={out}"]) == 0
    assert (out / "seed=0" / "metrics.json").stat().st_mtime_ns == before


@pytest.mark.usefixtures("in_this_process")
def test_runs_of_other_data_do_not_count_for_these(tmp_path, capsys):
    """Neither those of another file in the same folder, nor those of a file that was changed since."""
    out, files = tmp_path / "sweep", [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    rows = [{**row, "split": "train"} for row in python_rows(60)]
    tested = [{**row, "split": split} for row, split in zip(rows[:20], ["valid", "test"] * 10, strict=True)]
    write_lines(files[0], [*tested, *rows[20:50]])
    write_lines(files[1], [*tested, *rows[20:40]])
    place = [f"--data.root={tmp_path / 'data'}", "--data.processes=1", "--data.language=python", f"--out={out}"]
    fixed = ["--train.epochs=1", "--evaluate.bootstrap_samples=100", "--sweep.train.seed=0"]

    def begun(path):
        assert main(["pairs", "unif", f"--data.path={path}", *place, *fixed]) == 0
        return "seed=0: begins" in capsys.readouterr().out

    assert [begun(files[0]), begun(files[0]), begun(files[1]), begun(files[1])] == [True, False, True, False]
    write_lines(files[1], [*tested, *rows[20:30]])  # the test is the same
    assert begun(files[1])
    assert {path.name for path in out.iterdir() if path.is_dir()} == {"seed=0", "seed=0.old1", "seed=0.old2"}
    files[1].rename(tmp_path / "c.jsonl")
    (out / "seed=0" / "metrics.json").unlink()
    assert begun(tmp_path / "c.jsonl")


@pytest.mark.usefixtures("in_this_process")
def test_a_run_that_fails_does_not_stop_the_others_and_is_told(options, tmp_path, capsys):
    out = tmp_path / "sweep"
    (out / "seed=0").mkdir(parents=True)
    (out / "seed=0" / "something").touch()
    assert main(["folder", "unif", *typed(options), "--sweep.train.seed=0,1", f"--out={out}"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("galm: 1 of 2 runs failed, seed=0: --out=")
    assert "is not an empty folder" in lines[-1]
    assert (out / "seed=1" / "metrics.json").exists()
    assert "1 of 2" in (out / "sweep.md").read_text()


def test_what_is_not_trained_is_chosen_on_the_validation_split(options, tmp_path):
    """With a process for the run, as it is."""
    sweep = Sweep.of(
        "folder", "bm25", {**options, "sweep.model.b": "0.5", "evaluate.split": "valid", "out": str(tmp_path)}
    )
    run_sweep(sweep)
    (found,) = tried(sweep)
    lines = (sweep.points[0].folder / "ranks.jsonl").read_text().splitlines()
    assert found.mean == pytest.approx(np.mean([1 / json.loads(line)["rank"] for line in lines]))
    assert set(sweep_table(sweep).rows[0][3:]) == {""}


WATCHED = """
import sys, time
from experiments.terminal.startup import end_with_input
end_with_input()
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_a_process_ends_when_its_parent_has_ended_for_any_reason(monkeypatch):
    monkeypatch.setenv("GALM_ENDS_WITH_INPUT", "1")
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    with subprocess.Popen([sys.executable, "-c", WATCHED], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        started = time.monotonic()
        child.stdin.close()
        assert child.stdout.readline() == b"interrupted\n"
        assert child.wait(10) == 0
    assert time.monotonic() - started < 10
