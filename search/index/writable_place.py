"""Where an index is kept: in the cache folder, or, if that cannot be written, in a folder of this process."""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from search.index.freshness import record_path


class IndexPlace:
    """The file of an index."""

    def __init__(self, path: Path) -> None:
        """``path``: where the commands keep it."""
        self.path, self.trouble = path, ""
        self._own: Path | None = None

    def settle(self, tell: Callable[[str, str], None]) -> None:
        """Keep it in a folder of this process, if it cannot be written where it is; what it has is copied."""
        folder = self.path.parent
        if self._own or is_writable(folder):
            return
        try:
            self._own = Path(tempfile.mkdtemp(prefix="galm-"))
        except OSError:  # it is kept in memory, as far as it is read
            return
        mine = self._own / self.path.name
        for each, copy in ((self.path, mine), (record_path(self.path), record_path(mine))):
            with suppress(OSError):
                shutil.copyfile(each, copy)
        self.path = mine
        self.trouble = "the index cannot be stored: it is kept until this server ends"
        tell(str(folder), self.trouble)

    def close(self) -> None:
        """Remove what was kept for this process."""
        if self._own:
            shutil.rmtree(self._own, ignore_errors=True)
            record_path(self.path).unlink(missing_ok=True)


def is_writable(folder: Path) -> bool:
    """Whether a folder can be written to, or be made."""
    around = folder, *folder.parents
    nearest = next(each for each in around if os.path.exists(each))  # noqa: PTH110 - which knows no errors
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
