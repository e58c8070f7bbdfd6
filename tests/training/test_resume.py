"""A run that was stopped anywhere and resumed ends with the numbers of one that was not."""

import errno
import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from training_runs import SMALL, MeanConfig, hinge

from training.board import Board
from training.checkpoint import load_checkpoint
from training.trainer import CHECKPOINT

REPOSITORY = Path(__file__).parents[2]
LATER = ("seconds",)  # what a clock says


@pytest.fixture(scope="module")
def unbroken(setting, tmp_path_factory):
    return setting.run(tmp_path_factory.mktemp("unbroken"))


def numbers(history):
    return [{name: value for name, value in record.items() if name not in LATER} for record in history]


def same(weights, others):
    assert weights.keys() == others.keys()
    return all(torch.equal(weights[name], others[name]) for name in weights)


def test_killed_again_and_again_it_ends_the_same(unbroken, store, tmp_path):
    command = [sys.executable, "-W", "error", str(Path(__file__).with_name("training_runs.py"))]
    done = subprocess.run(
        [*command, str(store), str(tmp_path), "1"],
        env={"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1", "PATH": ""},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    told = json.loads(done.stdout)
    assert told["kills"] == 3
    assert told["exit"] == 0
    assert any("resuming" in line and "batch 0 of" not in line for line in told["lines"])  # inside an epoch
    model, report = unbroken
    assert same(load_file(tmp_path / "weights.safetensors"), model.state_dict())
    assert numbers(json.loads((tmp_path / "history.json").read_text())) == numbers(report.history)


@pytest.mark.parametrize(("between", "epoch"), [(0, None), (2, SMALL.epochs)])
def test_checkpoints_after_every_so_many_epochs_and_the_last(setting, tmp_path, between, epoch):
    setting.run(tmp_path, replace(SMALL, checkpoint_epochs=between))
    path = tmp_path / CHECKPOINT
    assert (load_checkpoint(path)["progress"]["epoch"] if path.exists() else None) == epoch


@pytest.mark.parametrize("call", [1, 73])
def test_ctrl_c_leaves_a_checkpoint_and_says_where(unbroken, setting, tmp_path, call):
    calls, lines = iter(range(1, 10_000)), []

    def interrupted(*arguments):
        if next(calls) == call:
            signal.raise_signal(signal.SIGINT)
        return hinge(*arguments)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        setting.run(tmp_path, loss=interrupted, say=lines.append)
    assert signal.getsignal(signal.SIGINT) is before
    assert f"its checkpoint is {tmp_path}" in lines[-1]
    assert load_checkpoint(tmp_path / CHECKPOINT)["progress"]["step"] == call
    model, report = setting.run(tmp_path, replace(SMALL, resume=str(tmp_path)))
    assert same(model.state_dict(), unbroken[0].state_dict())
    assert numbers(report.history) == numbers(unbroken[1].history)


def test_ctrl_c_in_the_validation_waits_for_its_end(setting, tmp_path):
    def interrupted(model):
        signal.raise_signal(signal.SIGINT)
        return setting.validate(model)

    with pytest.raises(KeyboardInterrupt):
        setting.run(tmp_path, validate=interrupted)
    assert len(load_checkpoint(tmp_path / CHECKPOINT)["progress"]["history"]) == 1


def test_the_second_ctrl_c_strikes_at_once(setting, tmp_path):
    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return hinge(*arguments)

    with pytest.raises(KeyboardInterrupt):
        setting.run(tmp_path, loss=interrupted)
    assert not (tmp_path / CHECKPOINT).exists()


def test_a_run_that_has_ended_is_not_trained_further(unbroken, setting, tmp_path):
    setting.run(tmp_path)

    def never(*_):
        raise AssertionError("trained")

    model, report = setting.run(tmp_path, replace(SMALL, resume=str(tmp_path)), loss=never)
    assert same(model.state_dict(), unbroken[0].state_dict())
    assert report.best_epoch == unbroken[1].best_epoch


def test_a_full_disk_stops_in_one_line_and_the_old_checkpoint_stays(setting, tmp_path, monkeypatch):
    setting.run(tmp_path, replace(SMALL, epochs=1))
    before = (tmp_path / CHECKPOINT).read_bytes()
    write = Path.write_bytes

    def full(path, content):
        write(path, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"cannot write the checkpoint .*No space left on device; .*intact") as raised:
        setting.run(tmp_path, replace(SMALL, epochs=2, resume=str(tmp_path)))
    assert "\n" not in str(raised.value)
    assert (tmp_path / CHECKPOINT).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT]


def test_what_cannot_be_resumed_says_why(setting, tmp_path):
    resume = replace(SMALL, resume=str(tmp_path))
    setting.run(tmp_path, replace(SMALL, epochs=1))
    with pytest.raises(ValueError, match=r"--train.batch_size=16 \(was 8\)"):
        setting.run(tmp_path, replace(resume, batch_size=16))
    with pytest.raises(ValueError, match=r"query.weight is \[\d+, 16\] there and \[\d+, 8\] in the model"):
        setting.run(tmp_path, resume, model=setting.model(MeanConfig(width=8)))
    with pytest.raises(ValueError, match="other training pairs"):
        replace(setting, train=setting.valid).run(tmp_path, resume)
    content = bytearray((tmp_path / CHECKPOINT).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / CHECKPOINT).write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        setting.run(tmp_path, resume)
    (tmp_path / CHECKPOINT).write_bytes(b"PK something else")
    with pytest.raises(ValueError, match="not a checkpoint of this program"):
        setting.run(tmp_path, resume)


def test_stopped_before_the_first_checkpoint_it_begins_anew(unbroken, setting, tmp_path):
    lines = []
    model, _ = setting.run(tmp_path, replace(SMALL, resume=str(tmp_path)), say=lines.append)
    assert "no checkpoint yet" in lines[0]
    assert same(model.state_dict(), unbroken[0].state_dict())


def test_events_go_on_where_the_run_does(setting, tmp_path):
    board = Board(tmp_path)
    setting.run(tmp_path, replace(SMALL, epochs=1), board=board)
    board.close()
    again = Board(tmp_path)
    setting.run(tmp_path, replace(SMALL, resume=str(tmp_path)), board=again)
    again.close()
    assert again.pairs == SMALL.epochs * len(setting.train)
