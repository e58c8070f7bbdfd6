"""Checkpoints that somebody made up, checksums included: one line each, and no more memory than the file has."""

import hashlib
import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import torch
from training_runs import SMALL

from training import checkpoint
from training.checkpoint import load_checkpoint, save_checkpoint
from training.trainer import CHECKPOINT


@pytest.fixture(scope="module")
def stopped(setting, tmp_path_factory):
    """The state of a run after its first epoch."""
    folder = tmp_path_factory.mktemp("stopped")
    setting.run(folder, replace(SMALL, epochs=1))
    return load_checkpoint(folder / CHECKPOINT)


def without(name):
    return lambda state: {key: value for key, value in state.items() if key != name}


def with_three(name):
    return lambda state: state | {name: 3}


def within(name, **other):
    return lambda state: state | {name: state[name] | other}


PARTS = ("config", "pairs", "progress", "model", "best", "optimiser", "random")
MADE_UP = {
    **{f"no {name}": without(name) for name in PARTS},
    **{f"{name} that is none": with_three(name) for name in ("pairs", "progress", "random")},
    "pairs of another kind": lambda state: state | {"pairs": torch.zeros(3)},
    "settings of another kind": within("config", seed=torch.zeros(2)),
    "a weight of another shape": lambda state: state | {"best": state["best"] | {"query.weight": torch.zeros(2, 2)}},
    "a weight of another type": lambda state: state | {"best": {n: w.double() for n, w in state["best"].items()}},
    "a weight that is not finite": lambda state: state | {"best": {n: w / 0 for n, w in state["best"].items()}},
    "a weight that repeats one number": lambda state: (
        state | {"model": state["model"] | {"query.weight": torch.zeros(1).expand(10**12)}}
    ),
    "numbers of its own": within("progress", other=1),
    "no generator": lambda state: state | {"random": []},
    "no tables": within("optimiser", rows={"steps": 0, "tables": []}),
}


@pytest.mark.parametrize("change", MADE_UP.values(), ids=MADE_UP.keys())
def test_a_state_that_is_none_is_refused_in_one_line(stopped, setting, tmp_path, change):
    state = torch.load(io.BytesIO(as_bytes(stopped)), weights_only=True)  # a copy
    save_checkpoint(change(state), tmp_path / CHECKPOINT)
    with pytest.raises(ValueError, match=r"the checkpoint|a resumed run|the weights|other training pairs") as error:
        setting.run(tmp_path, replace(SMALL, resume=str(tmp_path)))
    assert "\n" not in str(error.value)


def as_bytes(state) -> bytes:
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


def rewritten(content: bytes, change, compression=zipfile.ZIP_STORED) -> bytes:
    """The archive in ``content`` with other parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w", compression) as new:
        for part in old.infolist():
            new.writestr(part.filename, change(part.filename, old.read(part)))
    return buffer.getvalue()


def in_pickle(old: bytes, new: bytes):
    return lambda name, data: data.replace(old, new) if name.endswith("data.pkl") else data


STATE = {"a": torch.arange(200, dtype=torch.float32)}
SIZE, HUGE = b"K\xc8", b"\x8a\x08" + (2**40).to_bytes(8, "little")
DEEP = b"]" * 10**5 + b"a" * (10**5 - 1) + b"0"  # lists in lists, and all of it dropped again
CALL = b"ctorch._utils\n_rebuild_tensor_v2\n"
ARCHIVES = {
    "no archive": b"PK\x03\x04",
    "cut": as_bytes(STATE)[:-40],
    "compressed": rewritten(as_bytes({"a": torch.zeros(10**6)}), lambda _, data: data, zipfile.ZIP_DEFLATED),
    "an array of a terabyte": rewritten(as_bytes(STATE), in_pickle(SIZE, HUGE)),
    "a tensor larger than its numbers": rewritten(as_bytes(STATE), in_pickle(SIZE + b"\x85", HUGE + b"\x85")),
    "no numbers": rewritten(as_bytes(STATE), lambda name, data: b"" if name.endswith("/0") else data),
    "bytes of any number": as_bytes({"a": bytearray(100)}),
    "a call": rewritten(as_bytes(STATE), in_pickle(CALL, b"cos\nsystem\n")),
    "lists without end": rewritten(as_bytes(STATE), in_pickle(b"}q\x00", DEEP + b"}q\x00")),
    "a list": as_bytes([1, 2]),
    "nothing": b"",
}


@pytest.mark.parametrize("content", ARCHIVES.values(), ids=ARCHIVES.keys())
def test_an_archive_that_is_none_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / CHECKPOINT
    path.write_bytes(checkpoint._MAGIC + hashlib.sha256(content).digest() + content)
    with pytest.raises(ValueError, match=r"the checkpoint .* (cannot be read|contains no state of a run)") as error:
        load_checkpoint(path)
    assert "\n" not in str(error.value)


def test_a_whole_archive_is_read(tmp_path):
    save_checkpoint(STATE | {"b": [1, 2.5, "c", {"d": np.pi}]}, tmp_path / CHECKPOINT)
    found = load_checkpoint(tmp_path / CHECKPOINT)
    assert torch.equal(found["a"], STATE["a"])
    assert found["b"] == [1, 2.5, "c", {"d": np.pi}]
