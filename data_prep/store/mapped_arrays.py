"""Memory-mapping of one-dimensional integer arrays, as ``numpy.save`` writes them, from untrusted files."""

import ast
import os
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.reading import open_regular

_START: Final = b"\x93NUMPY\x01\x00"
_KINDS: Final = {"<i4": np.int32, "<i8": np.int64}


def mapped_row(path: Path) -> np.ndarray:
    """The one-dimensional array of int32 or int64 in a file.

    Numpy's own reader tries to repair damaged files, and raises many kinds of errors.

    Raises:
        UserError: the file contains something else.
        OSError: it cannot be read, or is not a regular file.
    """
    with open_regular(path) as file:
        start, length = file.read(len(_START)), int.from_bytes(file.read(2), "little")
        try:
            head = ast.literal_eval(file.read(length).decode("ascii").strip())
            (count,), kind = head["shape"], np.dtype(_KINDS[head["descr"]])
            is_row = start == _START and type(count) is int and head["fortran_order"] is False
        except (ValueError, SyntaxError, KeyError, TypeError, RecursionError, MemoryError) as error:
            raise UserError(f"{path} contains no row of whole numbers") from error
        size = os.fstat(file.fileno()).st_size - file.tell()
        if not is_row or count < 0 or count * kind.itemsize != size:
            raise UserError(f"{path} contains no row of whole numbers, or not all of one")
        if not size:  # which cannot be mapped
            return np.empty(0, kind)
        return np.asarray(np.memmap(file, kind, mode="r", offset=file.tell(), shape=(count,)))
