"""Checks of torch's archives before torch loads them: nothing may allocate more memory than the archive's size."""

import io
import pickletools
import re
import zipfile
from typing import Any, Final

import torch

from data_prep.errors import UserError

_PICKLE: Final = "/data.pkl"
"""Name of the member that describes all others."""
_TENSORS: Final = re.compile(r"torch(?:\._utils _rebuild_tensor_v2| \w+Storage)|collections OrderedDict")
"""Functions called by a state of tensors, numbers, strings, and lists and dicts of them."""


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
