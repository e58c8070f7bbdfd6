"""The archive that torch writes, looked at before torch reads it: nothing in it may ask for more memory than it has."""

import io
import pickletools
import re
import zipfile
from typing import Any, Final

import torch

_PICKLE: Final = "/data.pkl"
"""How the part is named that says what all others are."""
_TENSORS: Final = re.compile(r"torch(?:\._utils _rebuild_tensor_v2| \w+Storage)|collections OrderedDict")
"""What a state of tensors, numbers, texts, and lists and dicts of them calls."""


def read_archive(content: bytes) -> Any:
    """What ``torch.save`` wrote of tensors, numbers, texts, and lists and dicts of them, on the processor.

    Raises:
        ValueError: it wrote something else, or ``content`` is damaged.
    """
    try:
        _check(content)
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # what torch raises for content that somebody made up is of many kinds
        raise ValueError(" ".join(str(error).split())[:200] or type(error).__name__) from error


def _check(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
        if any(part.compress_type != zipfile.ZIP_STORED for part in parts):
            raise ValueError("a part of it is compressed")
        if sum(part.file_size for part in parts) > len(content):
            raise ValueError("its parts are larger than it is")
        for part in parts:
            if part.filename.endswith(_PICKLE):
                _check_calls(archive.read(part))


def _check_calls(content: bytes) -> None:
    """Refuse a pickle that calls what is no part of tensors, such as an array of any number of bytes."""
    for code, argument, _ in pickletools.genops(content):
        if code.name in ("GLOBAL", "STACK_GLOBAL", "INST") and not _TENSORS.fullmatch(str(argument)):
            raise ValueError(f"it calls {argument}")
