"""Memory-mapping of one-dimensional integer arrays, as ``numpy.save`` writes them, from untrusted files."""

import os
import re
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.reading import reading

_START: Final = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(<i[48])', 'fortran_order': False, 'shape': \((\d{1,18}),\), \} *\n", re.DOTALL
)
_LONGEST_START: Final = 4096


def mapped_row(path: Path) -> np.ndarray:
    """The one-dimensional array of int32 or int64 in a file.

    Numpy's own reader tries to repair damaged files, and raises many kinds of errors.

    Raises:
        UserError: the file contains something else.
        OSError: it cannot be read, or is not a regular file.
    """
    with reading(path) as file:
        start = _START.match(file.read(_LONGEST_START))
        if not start:
            raise UserError(f"{path} contains no row of whole numbers")
        kind, count, size = np.dtype(start[1].decode()), int(start[2]), os.fstat(file.fileno()).st_size - start.end()
        if count * kind.itemsize != size:
            raise UserError(f"{path} contains no row of whole numbers, or not all of one")
        if not size:  # which cannot be mapped
            return np.empty(0, kind)
        return np.asarray(np.memmap(file, kind, mode="r", offset=start.end(), shape=(count,)))
