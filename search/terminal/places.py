"""Where hits are, as paths that open from the current folder, and the text of a file as it was indexed."""

import os
from pathlib import Path, PurePosixPath
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from data_prep.files.reading import raise_if_passing, read_regular
from search.files.encodings import text_of
from search.files.tree import blob_names
from search.index.code_index import Index, IndexedFile
from search.joint.joint_index import JointIndex

_LARGEST: Final = 4 << 20
"""Bytes of a file that is read to show lines of it."""


class Places:
    """The files of an index, seen from the current folder."""

    def __init__(self, index: Index, root: Path | None) -> None:
        """``root``: the indexed folder; None: not known, so that paths are those inside of it."""
        self._index, self._root = index, root

    def path(self, row: int) -> str:
        """The path of the file of a row."""
        root, file = self._source(row)
        return from_here(root / file.path) if root else file.path

    def text(self, row: int) -> str:
        """The text of the file of a row, if it is still the one that was indexed; else "".

        An index from elsewhere cannot show other files: the path leads into the folder, through no link at its end, and
        the content has the hash that the index has.
        """
        root, file = self._source(row)
        path = PurePosixPath(file.path)
        if root is None or path.is_absolute() or ".." in path.parts or file.size > _LARGEST:
            return ""
        try:
            data, _ = read_regular(root / path, _LARGEST + 1)
        except (OSError, ValueError) as error:  # ValueError: a NUL in its path
            raise_if_passing(error)
            return ""
        same = bool(file.blobs) and blob_names(data) == file.blobs
        try:
            return text_of(data).data.decode("utf-8", "replace") if same else ""
        except UserError:  # it is binary
            return ""

    def _source(self, row: int) -> tuple[Path | None, IndexedFile]:
        number = int(np.searchsorted(self._index.file_edges, row, side="right")) - 1
        if isinstance(self._index, JointIndex):
            return self._index.source(number)
        return self._root, self._index.files[number]


def from_here(path: Path) -> str:
    """An absolute path as it is shortest from the current folder: relative, or else absolute."""
    whole = str(path)
    try:
        relative = os.path.relpath(whole, named_path("."))
    except UserError:  # the current folder was deleted
        return whole
    return relative if not relative.startswith("../") or len(relative) < len(whole) else whole
