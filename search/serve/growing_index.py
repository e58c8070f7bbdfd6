"""What a server answers from while the first index of its folder is made: the files that are read so far."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from experiments.terminal.console import say
from search.engine.engine import Engine
from search.engine.signals import Reranker
from search.first_index import made
from search.index.code_index import Index
from search.index.index_file import Head
from search.models.packed import maker_at_once
from search.serve.live_index import LiveIndex, Opened, OpeningError, OpeningIndex
from search.serve.partial_index import PartialIndex

_PATIENCE: Final = 1.0
"""Seconds within which it is usually known whether there is something to index."""


class GrowingIndex(OpeningIndex):
    """An index that is made and opened in a thread; until then what was read so far is answered from."""

    def __init__(
        self,
        partial: PartialIndex,
        root: Path,
        reranker_of: Callable[[Index], Reranker | None],
        make: Callable[[], LiveIndex],
        failed: Callable[[Exception], None],
    ) -> None:
        """Begin to make it.

        Args:
            partial: is told by ``make`` what is read.
            root: the folder.
            reranker_of: makes the reranker for what is read so far; None: BM25 alone.
            make: makes the index and opens it.
            failed: called with an error of ``make``, in its thread.
        """
        self._partial, self._root, self._reranker_of = partial, root, reranker_of
        self._lock, self._so_far = threading.Lock(), dict[Index, Opened]()
        self._has_failed = False

        def told(error: Exception) -> None:
            self._has_failed = True
            failed(error)
            partial.begun.set()

        super().__init__(make, told)

    def wait(self, seconds: float = _PATIENCE) -> bool:
        """Wait until it is known which files will be read; False: it has failed, or there is nothing to wait for."""
        self._partial.begun.wait(seconds)
        return not self._has_failed and self._live is None

    def opened(self, groups: frozenset[str] | None = None) -> Opened:
        """The index once it is open, else one of the files that are read so far."""
        if self._live is not None:
            return super().opened(groups)
        index, read = self._partial.index()
        if index is None:
            raise OpeningError("the folder is being indexed, no file is read yet: ask again in a moment")
        with self._lock:
            if index not in self._so_far:
                engine = Engine(index, self._reranker_of(index))
                engine.names.paths.folder = self._root
                head = Head(len(index), len(index.files), "", 0, f"first {read}")
                said = f"{read:,} of {self._partial.files:,} files are indexed so far"
                self._so_far = {index: Opened(engine, head, said)}
            return self._so_far[index]


def growing(
    root: Path, path: Path, model: str, live: Callable[[Path], LiveIndex], failed: Callable[[Exception], None]
) -> GrowingIndex:
    """An index that is being made, once it is known what will be read, or after a moment.

    Args:
        root: the folder.
        path: the file of the index.
        model: as ``--model`` names it.
        live: opens the index of a file.
        failed: as :class:`GrowingIndex` takes it.
    """
    partial = PartialIndex()
    make = lambda: live(made(root, path, vectors=model != "none", watch=partial))  # noqa: E731
    found = GrowingIndex(partial, root, maker_at_once(model), make, failed)
    if found.wait():
        say(f"indexing {root}: until then, what is read so far answers")
    return found
