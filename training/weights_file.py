"""Weights as safetensors, with a checksum of the weights and of their metadata in the metadata."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, uint8

from data_prep.errors import UserError
from data_prep.files.json_text import parse_json, sorted_json
from data_prep.files.reading import read_whole

_HEAD: Final = 8
"""Bytes that store the length of the safetensors header."""


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
