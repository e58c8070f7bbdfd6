"""An index that makes and updates itself: for programs that ask without ever running ``bash run.sh index``."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from search.engine.engine import Engine
from search.index.build import refresh, sole_maker
from search.index.vector_file import maker_of, update_vectors
from search.opening import check_way, index_place
from search.serve.live_index import LiveIndex, Opened, reranker_maker

LOOKED: Final = 2.0
"""Seconds for which an answer may be of files as they were."""


class FreshIndex:
    """The index of a folder, made at the first question, and updated at a later one if files have changed."""

    def __init__(self, root: Path, model: str, tell: Callable[[str, str], None]) -> None:
        """Nothing is read yet.

        Args:
            root: the folder.
            model: as ``--model`` names it.
            tell: called with a path and what is wrong with it.

        Raises:
            UserError: there is no such folder.
        """
        if not root.is_dir():
            raise UserError(f"expected a folder of sources, got {root}")
        self.root, self.path = root, index_place(root)
        check_way(root, self.path)
        self._model, self._tell = model, tell
        self._lock, self._looked = threading.Lock(), 0.0
        self._live: LiveIndex | None = None

    def opened(self) -> Opened:
        """The index of the files as they are, or were a moment ago.

        Raises:
            UserError: there is no source file, or the index cannot be made.
            OSError: it cannot be written.
        """
        with self._lock:
            if self._live is None or time.monotonic() - self._looked > LOOKED:
                self._update()
                self._looked = time.monotonic()
            assert self._live is not None
            return self._live.opened()

    @property
    def engine(self) -> Engine:
        """The engine over :meth:`opened`."""
        return self.opened().engine

    def _update(self) -> None:
        with sole_maker(self.path, lambda line: self._tell(str(self.path), line)):
            refresh(self.root, self.path, processes=os.cpu_count() or 1, tell=self._tell)
            if self._model != "none":
                update_vectors(maker_of(self.path) or "", self.path, self._tell)
        if self._live is None:
            self._live = LiveIndex(self.path, reranker_maker(self._model), seconds_between_looks=0.0)
