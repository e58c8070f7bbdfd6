"""The command that becomes TensorBoard: which runs it shows, and what is said of its options."""

import os
from pathlib import Path

import pytest

from cli.main import main
from experiments.recipes.config import REPOSITORY


@pytest.fixture
def started(monkeypatch, tmp_path):
    """The command lines that would be run."""
    lines: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, line: lines.append(line))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "a").mkdir(parents=True)
    (tmp_path / "mine" / "a" / "events.out.tfevents.1.x.1.0").touch()
    return lines


@pytest.mark.parametrize(
    "typed", [["mine"], ["--logdir=mine"], ["mine", "--port=6007"], ["--port=6007", "--logdir=mine"]]
)
def test_a_folder_is_shown_and_named(started, typed, tmp_path, capsys):
    assert main(["board", *typed]) == 0
    (line,) = started
    assert line[line.index("--logdir") + 1] == str(tmp_path / "mine")
    assert line[line.index("localhost") + 1 :] == [each for each in typed if "port" in each]
    assert f"showing {tmp_path / 'mine'}; the newest run is a;" in capsys.readouterr().out


def test_without_a_folder_all_runs_are_shown(started):
    assert main(["board"]) == 0
    assert started[0][started[0].index("--logdir") + 1] == str(REPOSITORY / "runs")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["none"], "expected a folder of runs, got {here}/none"),
        (["--logdir=none"], "expected a folder of runs, got {here}/none"),
        (["--port=80x"], "tensorboard: error: argument --port: invalid"),
        (["--nonsense=1"], "tensorboard: error: unrecognized arguments: --nonsense=1"),
        (["mine", "--path_prefix=x/"], "tensorboard: error: Path prefix must"),
        (["mine", "more"], "tensorboard: error: argument {{serve}}: invalid choice: 'more'"),
    ],
)
def test_a_mistake_is_one_line(started, typed, message, tmp_path: Path, capsys):
    assert main(["board", *typed]) == 2
    error = capsys.readouterr().err
    assert message.format(here=tmp_path) in error
    assert error.count("\n") == 1
    assert not started
