import pytest
import torch
from torch import nn

from training.checkpoint import load_weights, save_weights


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
