"""What a run needs to go on after it was stopped anywhere, and the weights that it leaves: both whole or absent."""

import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError
from safetensors.torch import load as safetensors_load
from safetensors.torch import save as safetensors_save
from torch import Tensor, nn

from data_prep.atomic import remove_leftovers, write_atomically

_MAGIC: Final = b"training checkpoint 1\n"
_DIGEST: Final = hashlib.sha256().digest_size


def save_checkpoint(state: dict[str, Any], path: Path) -> None:
    """Write ``state`` (tensors, numbers, strings, and lists and dicts of them); the old file stays until it is done.

    Raises:
        OSError: the folder is missing, not writable or full; the old checkpoint is as it was.
    """
    buffer = io.BytesIO()
    torch.save(state, buffer)
    content = buffer.getvalue()
    remove_leftovers(path)
    try:
        write_atomically(path, _MAGIC + hashlib.sha256(content).digest() + content)
    except OSError as error:
        there = "the one before it is intact" if path.exists() else "there is none before it"
        reason = error.strerror or error
        raise OSError(
            f"cannot write the checkpoint {path} ({len(content) / 2**20:.0f} MiB): {reason}; {there}"
        ) from error


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read what :func:`save_checkpoint` wrote, on the processor.

    Raises:
        ValueError: the file is damaged, or something else.
        OSError: it cannot be read.
    """
    content = path.read_bytes()
    head, digest, content = content[: len(_MAGIC)], content[len(_MAGIC) :][:_DIGEST], content[len(_MAGIC) + _DIGEST :]
    if head != _MAGIC:
        raise ValueError(f"{path} is no checkpoint of this program: take another run folder for --train.resume")
    if digest != hashlib.sha256(content).digest():
        raise ValueError(f"the checkpoint {path} is damaged (its checksum differs): start the run anew")
    state: dict[str, Any] = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    return state


def weights_copy(model: nn.Module) -> dict[str, Tensor]:
    """The model's weights as they are now, on the processor, sharing nothing with it."""
    return {name: weight.detach().to("cpu", copy=True).contiguous() for name, weight in model.state_dict().items()}


def put_weights(model: nn.Module, weights: Mapping[str, Tensor], source: str) -> None:
    """Set the model's weights.

    Raises:
        ValueError: names or shapes are not the model's; the message names ``source`` and the first difference.
    """
    own = {name: list(weight.shape) for name, weight in model.state_dict().items()}
    given = {name: list(weight.shape) for name, weight in weights.items()}
    for name in [*own, *given]:
        if own.get(name) != given.get(name):
            raise ValueError(
                f"the weights in {source} do not fit the model: {name} is {given.get(name, 'absent')} there and "
                f"{own.get(name, 'absent')} in the model, so its configuration or vocabulary is another"
            )
    model.load_state_dict(weights)


def save_weights(matcher: nn.Module, path: Path) -> None:
    """Write the weights as safetensors.

    Raises:
        OSError: they cannot be written; an older file is as it was.
    """
    write_atomically(path, safetensors_save(weights_copy(matcher)))


def load_weights(matcher: nn.Module, path: Path) -> None:
    """Set the model's weights from what :func:`save_weights` wrote.

    Raises:
        ValueError: the file is damaged, or its names or shapes are not the model's.
        OSError: it cannot be read.
    """
    try:
        weights = safetensors_load(path.read_bytes())
    except SafetensorError as error:
        raise ValueError(f"expected weights as safetensors in {path}, but they cannot be read: {error}") from error
    put_weights(matcher, weights, str(path))
