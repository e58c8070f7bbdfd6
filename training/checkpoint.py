"""Checkpoints to resume an interrupted run, and its final weights: both with a checksum, and written atomically.

What has its checksum was written by this program; a loader that reads tensors alone keeps a forged file from running.
Beyond that, only what depends on the model is checked: names, shapes and types of the weights.
"""

import hashlib
import io
import json
import pickletools
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn, uint8

from data_prep.errors import UserError
from data_prep.files.access import read_whole
from data_prep.files.json_text import parse_json, sorted_json
from data_prep.files.writing import remove_leftovers, write_atomically

_MAGIC: Final = b"training checkpoint 1\n"
_DIGEST: Final = hashlib.sha256().digest_size
_ABOUT: Final = "weights"
"""Metadata key of a run's weights."""
_HEAD: Final = 8
"""Bytes that store the length of the safetensors header."""
_PICKLE: Final = "/data.pkl"
"""Name of the member that describes all others."""
_TENSORS: Final = re.compile(r"torch(?:\._utils _rebuild_tensor_v2| \w+Storage)|collections OrderedDict")
"""Functions called by a state of tensors, numbers, strings, and lists and dicts of them."""


def save_checkpoint(state: dict[str, Any], path: Path) -> None:
    """Write ``state`` (tensors, numbers, strings, and lists and dicts of them), replacing an old file atomically.

    Raises:
        OSError: the folder is missing, not writable or full; the old checkpoint is unchanged.
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
    """Load what :func:`save_checkpoint` wrote, on the CPU.

    Raises:
        UserError: the file is damaged, or not a checkpoint.
        OSError: it cannot be read.
    """
    content = read_whole(path)
    head, digest, content = content[: len(_MAGIC)], content[len(_MAGIC) :][:_DIGEST], content[len(_MAGIC) + _DIGEST :]
    if head != _MAGIC:
        raise UserError(f"{path} is not a checkpoint of this program: pass another run folder to --train.resume")
    if digest != hashlib.sha256(content).digest():
        raise UserError(f"the checkpoint {path} is damaged (its checksum differs): start the run anew")
    try:
        state = read_archive(content)
    except UserError as error:
        raise UserError(f"the checkpoint {path} cannot be read ({error}): start the run anew") from error
    if not isinstance(state, dict):
        raise UserError(f"the checkpoint {path} contains no state of a run: start the run anew")
    return state


def weights_copy(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the model's current weights, on the CPU."""
    return {name: weight.detach().to("cpu", copy=True).contiguous() for name, weight in model.state_dict().items()}


def put_weights(model: nn.Module, weights: Mapping[str, Tensor], source: str) -> None:
    """Set the model's weights.

    Raises:
        UserError: they do not fit the model, or are not finite; the message names ``source`` and the first difference.
    """
    check_weights(weights, model.state_dict(), source)
    check_finite(weights, source)
    model.load_state_dict(weights)


def check_weights(weights: Mapping[str, Tensor], own: Mapping[str, Tensor], source: str) -> None:
    """Check that ``weights`` fit a model with the weights ``own``, which may be on the meta device.

    Raises:
        UserError: names, shapes or types differ; the message names ``source`` and the first difference.
    """
    for name in [*own, *weights]:
        here, there = (_shape(each.get(name)) for each in (own, weights))
        if here != there:
            raise UserError(
                f"the weights in {source} do not fit the model: {name} is {there} there and {here} in the model, so "
                "its configuration or vocabulary differs"
            )
        if own[name].dtype != weights[name].dtype:
            raise UserError(
                f"the weights in {source} do not fit the model: {name} is of {weights[name].dtype} there and of "
                f"{own[name].dtype} in the model"
            )


def check_finite(weights: Mapping[str, Tensor], source: str) -> None:
    """Reject weights that are not finite.

    Raises:
        UserError: a weight is NaN or infinite; the message names ``source``.
    """
    for name, weight in weights.items():
        if not weight.sum().isfinite() and not weight.isfinite().all():  # the sum is faster to check, but may overflow
            raise UserError(f"the weights in {source} are damaged: {name} is not finite; train the model anew")


def _shape(weight: Tensor | None) -> list[int] | str:
    return "absent" if weight is None else list(weight.shape)


def save_weights(model: nn.Module, path: Path, made_with: Mapping[str, str] | None = None) -> None:
    """Write the weights as safetensors, with a checksum.

    Args:
        model: the model.
        path: of the file.
        made_with: names and checksums of the other files that the model is built from.

    Raises:
        OSError: they cannot be written; an older file is unchanged.
    """
    write_atomically(path, sealed_weights(weights_copy(model), _ABOUT, {"made_with": dict(made_with or {})}))


def load_weights(model: nn.Module, path: Path) -> None:
    """Set the model's weights from what :func:`save_weights` wrote.

    Raises:
        UserError: the file is damaged, or its names, shapes or types do not fit the model.
        OSError: it cannot be read.
    """
    put_weights(model, saved_weights(path), str(path))


def saved_weights(path: Path, made_with: Mapping[str, str] | None = None) -> dict[str, Tensor]:
    """Load what :func:`save_weights` wrote, also files from before it added a checksum.

    Args:
        path: of the file.
        made_with: current names and checksums of the other files that the model is built from.

    Raises:
        UserError: the file is damaged, or ``made_with`` has changed since it was written.
        OSError: it cannot be read.
    """
    try:
        weights, about = read_weights(path, _ABOUT)
        whole = about is None or is_sealed(weights, about)
    except UserError as error:
        raise UserError(f"expected weights as safetensors in {path}, but they cannot be read: {error}") from error
    if not whole:
        raise UserError(f"the weights in {path} are damaged (their checksum differs): train the model anew")
    before = about.get("made_with") if about else None
    for name, checksum in (made_with or {}).items():
        if isinstance(before, dict) and before.get(name, checksum) != checksum:
            raise UserError(
                f"{path.with_name(name)} has changed since the weights beside it were written: it is damaged or "
                "was edited, so restore it or train the model anew"
            )
    return weights


def read_archive(content: bytes) -> Any:
    """Load what ``torch.save`` wrote (tensors, numbers, strings, and lists and dicts of them), on the CPU.

    Raises:
        UserError: ``content`` is something else, or damaged.
    """
    try:
        _check(content)
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds of errors for forged content
        raise UserError(" ".join(str(error).split())[:200] or type(error).__name__) from error


def _check(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
        if any(part.compress_type != zipfile.ZIP_STORED for part in parts):
            raise UserError("a part of it is compressed")
        if sum(part.file_size for part in parts) > len(content):
            raise UserError("its parts are larger than it is")
        for part in parts:
            if part.filename.endswith(_PICKLE):
                _check_calls(archive.read(part))


def _check_calls(content: bytes) -> None:
    """Reject a pickle that calls other functions than those of tensors, such as one that allocates arbitrary memory."""
    for code, argument, _ in pickletools.genops(content):
        if code.name in ("GLOBAL", "STACK_GLOBAL", "INST") and not _TENSORS.fullmatch(str(argument)):
            raise UserError(f"it calls {argument}")


def sealed_weights(weights: Mapping[str, Tensor], key: str, about: Mapping[str, Any]) -> bytes:
    """The content of a file of ``weights``; the only metadata is ``about`` with a checksum of both, under ``key``.

    A single key, since safetensors writes several keys in no fixed order.
    """
    return save(dict(weights), {key: json.dumps({**about, "sha256": weights_sha256(about, weights)})})


def read_weights(path: Path, key: str) -> tuple[dict[str, Tensor], dict[str, Any] | None]:
    """The weights in a file and its metadata under ``key``; None if it has no metadata.

    The checksum is part of the metadata and is not verified here.

    Raises:
        UserError: the file is damaged, or not a file of weights.
        OSError: it cannot be read, or is not a regular file.
    """
    content = read_whole(path)
    try:
        weights: dict[str, Tensor] = load(content)
        header = parse_json(content[_HEAD:][: int.from_bytes(content[:_HEAD], "little")]).get("__metadata__")
        about = None if header is None else parse_json(header.get(key, "{}"))
    except (SafetensorError, ValueError, TypeError, KeyError, RuntimeError, OverflowError) as error:
        raise UserError(" ".join(str(error).split())) from error
    if not (about is None or isinstance(about, dict)):
        raise UserError("its metadata is not a JSON object")
    return weights, about


def is_sealed(weights: Mapping[str, Tensor], about: Mapping[str, Any]) -> bool:
    """Whether the checksum in ``about`` matches ``weights`` and the rest of ``about``."""
    rest = {name: value for name, value in about.items() if name != "sha256"}
    return about.get("sha256") == weights_sha256(rest, weights)


def weights_sha256(about: Mapping[str, Any], weights: Mapping[str, Tensor]) -> str:
    """A checksum of ``about``, and of the names, types, shapes and bytes of ``weights``.

    Raises:
        UserError: the lists of ``about`` are nested too deeply.
    """
    digest = hashlib.sha256(sorted_json(about))
    for name in sorted(weights):
        tensor = weights[name]
        digest.update(f"\n{name} {tensor.dtype} {list(tensor.shape)} ".encode())
        digest.update(tensor.contiguous().reshape(-1).view(uint8).numpy().data)
    return digest.hexdigest()
