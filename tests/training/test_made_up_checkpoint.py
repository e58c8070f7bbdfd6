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


def of_optimiser(change):
    def changed(state):
        adam = state["optimiser"]["adam"]
        kept = {number: dict(each) for number, each in adam["state"].items()}
        change(kept)
        return state | {"optimiser": state["optimiser"] | {"adam": adam | {"state": kept}}}

    return changed


def of_group(**other):
    def changed(state):
        adam = state["optimiser"]["adam"]
        groups = [group | other for group in adam["param_groups"]]
        return state | {"optimiser": state["optimiser"] | {"adam": adam | {"param_groups": groups}}}

    return changed


def of_rows(**other):
    def changed(state):
        return state | {"optimiser": state["optimiser"] | {"rows": state["optimiser"]["rows"] | other}}

    return changed


def of_table(name, change):
    def changed(state):
        (table,) = state["optimiser"]["rows"]["tables"]
        return of_rows(tables=[table | {name: change(table[name])}])(state)

    return changed


PARTS = ("config", "pairs", "progress", "model", "best", "optimiser", "random")
MADE_UP = {
    **{f"no {name}": without(name) for name in ("config", "pairs", "progress", "model", "best", "optimiser", "random")},
    **{
        f"{name} that is none": with_three(name)
        for name in ("config", "progress", "model", "best", "optimiser", "random")
    },
    "a weight that is none": within("model", other=None),
    "pairs of another kind": lambda state: state | {"pairs": torch.zeros(3)},
    "settings of another kind": within("config", seed=torch.zeros(2)),
    "a weight of another shape": lambda state: state | {"best": state["best"] | {"query.weight": torch.zeros(2, 2)}},
    "a weight of another type": lambda state: state | {"best": {n: w.double() for n, w in state["best"].items()}},
    "a weight that is not finite": lambda state: state | {"best": {n: w / 0 for n, w in state["best"].items()}},
    "a weight that repeats one number": lambda state: (
        state | {"model": state["model"] | {"query.weight": torch.zeros(1).expand(10**12)}}
    ),
    "fewer batches than none": within("progress", batch=-1),
    "more epochs than there were": within("progress", epoch=7),
    "seconds without end": within("progress", seconds=float("inf")),
    "a step of no whole number": within("progress", step=1.5),
    "a history of texts": within("progress", history=["a"]),
    "an epoch without a loss": within("progress", history=[{"epoch": 1}]),
    "numbers of its own": within("progress", other=1),
    "a generator of another size": lambda state: state | {"random": [torch.zeros(5, dtype=torch.uint8)]},
    "a generator in no state that it has": lambda state: (
        state | {"random": [torch.full_like(torch.get_rng_state(), 255)]}
    ),
    "no generator": lambda state: state | {"random": []},
    "a mean of another shape": of_optimiser(lambda kept: kept[0].update(exp_avg=torch.zeros(2))),
    "a mean of squares below 0": of_optimiser(lambda kept: kept[0]["exp_avg_sq"].fill_(-1)),
    "no steps": of_optimiser(lambda kept: kept[0].pop("step")),
    "a mean of a weight that is not there": of_optimiser(lambda kept: kept.update({99: kept[0]})),
    "a mean that is a list": of_optimiser(lambda kept: kept[0].update(exp_avg=[1, 2])),
    "groups of other weights": of_group(params=[0, 1, 2, 3]),
    "a rate of another kind": of_group(lr="fast"),
    "a rate above all": of_group(lr=1e30),
    "no tables": of_rows(tables=[]),
    "tables that are none": of_rows(tables=3),
    "a table without its steps": of_rows(tables=[{}]),
    "fewer sums than steps": of_rows(sums=torch.zeros(1, 2, dtype=torch.float64)),
    "sums below 0": lambda state: of_rows(sums=state["optimiser"]["rows"]["sums"] - 9)(state),
    "steps of no whole number": of_rows(steps=1.5),
    "a row that has seen the future": of_table("seen", lambda seen: seen + 10**6),
    "a row's mean that is not finite": of_table("exp_avg", lambda mean: mean / 0),
    "a row's mean of squares below 0": of_table("exp_avg_sq", lambda square: square - 1),
    "a table of another size": of_table("exp_avg", lambda mean: mean[:-1]),
}


@pytest.mark.parametrize("change", MADE_UP.values(), ids=MADE_UP.keys())
def test_a_state_that_is_none_is_refused_in_one_line(stopped, setting, tmp_path, change):
    state = torch.load(io.BytesIO(as_bytes(stopped)), weights_only=True)  # a copy
    save_checkpoint(change(state), tmp_path / CHECKPOINT)
    with pytest.raises(ValueError, match=r"checkpoint|run|weights") as error:
        setting.run(tmp_path, replace(SMALL, resume=str(tmp_path)))
    assert "\n" not in str(error.value)


def test_the_settings_of_the_optimiser_are_the_runs_own(stopped, setting, tmp_path):
    whole = tmp_path / "whole"
    whole.mkdir()
    save_checkpoint(stopped, whole / CHECKPOINT)
    expected = setting.run(whole, replace(SMALL, resume=str(whole)))[0]
    save_checkpoint(of_group(betas=(0.0, 0.0), eps=1.0, amsgrad=True)(stopped), tmp_path / CHECKPOINT)
    found = setting.run(tmp_path, replace(SMALL, resume=str(tmp_path)))[0]
    assert torch.equal(found.query.weight, expected.query.weight)


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
