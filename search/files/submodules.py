"""The submodules of a checkout, by its ``.gitmodules`` files, which are read and never obeyed."""

import os
import re
from pathlib import Path
from typing import Final

from data_prep.files.reading import raise_if_passing, read_regular
from search.files.tree_stamps import Seen

_FILE: Final = ".gitmodules"
_LARGEST: Final = 1 << 20  # bytes
_PATH: Final = re.compile(rb'^[ \t]*path[ \t]*=[ \t]*"?([^"\r\n]+?)"?[ \t]*\r?$', re.MULTILINE)


class Submodules:
    """Which folders below a root are submodules."""

    def __init__(self, root: Path, top: Path, prefix: str, seen: Seen) -> None:
        """Read the file of the checkout.

        Args:
            root: the folder that is walked.
            top: the top of the checkout that contains it.
            prefix: of ``root`` inside of ``top``, "/" at its end; "" at the top.
            seen: is told which files are read.
        """
        self._root, self._seen = root, seen
        named = self._named(f"{top}/{_FILE}", "")
        self._known = {path.removeprefix(prefix) for path in named if path.startswith(prefix)}

    def has(self, folder: str) -> bool:
        """Whether a folder is one; then those inside of it are known from here on."""
        if folder not in self._known:
            return False
        self._known |= self._named(f"{self._root}/{folder}/{_FILE}", f"{folder}/")
        return True

    def _named(self, file: str, start: str) -> set[str]:
        self._seen.look(file)
        try:
            data, _ = read_regular(file, _LARGEST)
        except OSError as error:
            raise_if_passing(error)
            return set()
        return {start + os.fsdecode(path).rstrip("/") for path in _PATH.findall(data)}
