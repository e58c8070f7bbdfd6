import numpy as np
import pytest
import torch
from safetensors.torch import save
from torch import nn

from training.checkpoint import load_weights, save_weights, saved_weights, sealed_weights


def test_weights_come_back(setting, tmp_path):
    model, other = setting.model(), setting.model()
    nn.init.normal_(other.query.weight)
    save_weights(other, tmp_path / "w.safetensors")
    load_weights(model, tmp_path / "w.safetensors")
    assert torch.equal(model.query.weight, other.query.weight)


def test_weights_that_share_memory_are_saved(tmp_path):
    model = nn.ModuleList([nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False)])
    model[1].weight = model[0].weight
    save_weights(model, tmp_path / "w.safetensors")
    load_weights(model, tmp_path / "w.safetensors")


@pytest.mark.parametrize("spoil", [lambda b: b[: len(b) // 2], lambda b: b"\xff" * 8 + b[8:], lambda _: b""])
def test_a_damaged_file_is_told_in_one_line(tmp_path, spoil):
    path = tmp_path / "w.safetensors"
    save_weights(nn.Linear(30, 30), path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(ValueError, match=r"expected weights as safetensors in .*w.safetensors") as raised:
        load_weights(nn.Linear(30, 30), path)
    assert "\n" not in str(raised.value)


def test_weights_of_another_model_name_the_first_difference(tmp_path):
    path = tmp_path / "w.safetensors"
    save_weights(nn.Linear(3, 2), path)
    with pytest.raises(ValueError, match=r"weight is \[2, 3\] there and \[2, 4\] in the model"):
        load_weights(nn.Linear(4, 2), path)
    with pytest.raises(ValueError, match=r"bias is \[2\] there and absent in the model"):
        load_weights(nn.Linear(3, 2, bias=False), path)


@pytest.fixture
def saved(tmp_path):
    """Some weights, and the checksum of words that they were made with."""
    path = tmp_path / "w.safetensors"
    save_weights(nn.Linear(30, 30), path, {"words": "a" * 64})
    return path


def test_a_flipped_bit_of_a_weight_is_found(saved):
    whole = saved.read_bytes()
    for place in np.linspace(0, len(whole) - 1, 60).astype(int):
        for bit in (0, 7):  # the last bit of a number, and perhaps its sign
            spoilt = bytearray(whole)
            spoilt[place] ^= 1 << bit
            saved.write_bytes(spoilt)
            with pytest.raises(ValueError, match=r"w\.safetensors") as raised:
                load_weights(nn.Linear(30, 30), saved)
            assert "\n" not in str(raised.value)
    saved.write_bytes(whole)
    load_weights(nn.Linear(30, 30), saved)


def test_swapped_weights_of_one_shape_are_found(tmp_path):
    path, model = tmp_path / "w.safetensors", nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)})
    save_weights(model, path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"a.', b'"c.').replace(b'"b.', b'"a.').replace(b'"c.', b'"b.'))
    with pytest.raises(ValueError, match=r"are damaged \(their checksum differs\): train the model anew"):
        load_weights(model, path)


def test_weights_of_before_the_checksum_are_read(tmp_path):
    path, model, other = tmp_path / "w.safetensors", nn.Linear(3, 2), nn.Linear(3, 2)
    path.write_bytes(save(dict(other.state_dict())))
    load_weights(model, path)
    assert torch.equal(model.weight, other.weight)
    assert saved_weights(path, {"words": "b"})


def test_what_the_weights_were_made_with_must_be_as_it_was(saved):
    assert saved_weights(saved, {"words": "a" * 64})
    assert saved_weights(saved, {"others": "b" * 64})
    with pytest.raises(ValueError, match=r"words has changed since the weights beside it were written") as raised:
        saved_weights(saved, {"words": "b" * 64})
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"weight": torch.zeros(2, 3, dtype=torch.int32)}, r"weight is of torch\.int32 there and of torch\.float32"),
        ({"weight": torch.full((2, 3), torch.nan)}, "weight is not finite; train the model anew"),
        ({"weight": torch.tensor([[torch.inf, -torch.inf, 0]] * 2)}, "weight is not finite"),
        ({"weight": torch.empty(0, 10**9)}, r"weight is \[0, 1000000000\] there and \[2, 3\] in the model"),
    ],
)
def test_weights_that_no_training_leaves_are_refused(tmp_path, weights, message):
    path = tmp_path / "w.safetensors"
    path.write_bytes(sealed_weights(weights, "weights", {"made_with": {}}))
    with pytest.raises(ValueError, match=message):
        load_weights(nn.Linear(3, 2, bias=False), path)


def test_large_weights_whose_sum_is_none_are_read(tmp_path):
    path, model = tmp_path / "w.safetensors", nn.Linear(3, 2, bias=False)
    nn.init.constant_(model.weight, 3e38)
    save_weights(model, path)
    load_weights(nn.Linear(3, 2, bias=False), path)


@pytest.mark.parametrize("told", ["[" * 2000, "3", '{"sha256": 1}', "", '{"weights": {}}'])
@pytest.mark.parametrize("key", ["weights", "weightz"])
def test_metadata_that_tell_nothing_are_damage(tmp_path, key, told):
    path, model = tmp_path / "w.safetensors", nn.Linear(3, 2)
    path.write_bytes(save(dict(model.state_dict()), {key: told}))
    with pytest.raises(ValueError, match=r"w\.safetensors") as raised:
        load_weights(model, path)
    assert "\n" not in str(raised.value)
