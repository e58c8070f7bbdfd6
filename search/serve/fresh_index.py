"""The index of a folder for agents: made or opened at the first question, which does not wait for long, nor later ones.

What is new or has changed is read before an answer, as for every server; what an answer may lack is said with it.
While the first index is made, files that a later question is likely about are read beside all others.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from data_prep.errors import UserError, one_line
from data_prep.files.access import reason
from search.engine.engine import Engine
from search.engine.question import asked_words
from search.files.stamps import Found, modified_at
from search.files.words import terms_of
from search.first_index import forget
from search.index.code_index import IndexedFile
from search.index.freshness import CURRENT
from search.index.read_part import Task, likely_first
from search.index.updating import Updates, read_apart
from search.models.packed import reranker_maker
from search.opening import check_way, index_place
from search.serve.live_index import COMPLETING, LiveIndex, OpeningError
from search.serve.partial_index import OpeningIndex, PartialIndex, Progress, growing

PATIENCE: Final = 2.5
"""Seconds for which a question waits until files are read that are new or have changed."""
_LONGEST: Final = 4.0
"""The same of a first index if more than half is read until then, or it is still looked for."""
_FIRST: Final = 20.0
"""The same until the first files are read, which takes as long as processes need to start."""
_AHEAD: Final = 1.5, 3.5
"""The same until the likely files of a later question are read, and until they are in an index."""
_LIKELY: Final = 24
"""Files that are read for a later question."""
_TOGETHER: Final = 8
"""Files of a call, between which the time is looked at."""
_BRIEF: Final = 0.1
"""Seconds between looks at what is read."""
_AGAIN: Final = 0.5
"""Seconds for which a later question waits for a first index."""
_FAILED: Final = 30.0
"""Seconds until a first index is made again after that has failed."""


@dataclass(frozen=True, eq=False, slots=True)
class Current:
    """What a question is answered from."""

    engine: Engine
    notice: str = ""
    """Why answers may lack something or be old; "" if they are of the files as they are."""
    whole: bool = True
    """Whether it has all files."""


class FreshIndex:
    """The index of a folder. Thread-safe."""

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
        self.root, self._place = root, index_place(root)
        check_way(root, self._place)
        self._model, self._tell = model, tell
        self._lock = threading.Lock()
        self._opening: OpeningIndex | None = None

    def current(self, asked: str = "") -> Current:
        """What there is to answer from, at the latest a few seconds after the call.

        Args:
            asked: the question, or the path of a file: which files are read first, if they all must be.

        Raises:
            UserError: there is no source file, or the index cannot be made.
            OSError: it cannot be made.
        """
        arrived, now = time.monotonic(), self._begun(asked)
        now.done.wait(max(now.begun + PATIENCE - arrived, 0.0 if now.live else _AGAIN))
        while time.monotonic() < now.begun + _worth_waiting(now) and not now.done.wait(_BRIEF):
            pass
        return _of_all(now.live, arrived) if now.live else self._of_some(now, asked, arrived)

    def look_again(self, since: float) -> bool:
        """As :meth:`LiveIndex.look_again`, for as long as a question waits."""
        live = self._opening.live if self._opening else None
        return live is not None and live.look_again(since, PATIENCE)

    @property
    def path(self) -> Path:
        """The file of the index."""
        return self._opening.live.path if self._opening and self._opening.live else self._place

    @property
    def trouble(self) -> str:
        """Why the index is not kept; "" if it is."""
        return "" if self.path == self._place else "the index cannot be stored: it is kept until this server ends"

    @property
    def progress(self) -> Progress:
        """How far the work is."""
        now = self._opening
        return now.partial.reading.progress if now and not now.done.is_set() else Progress(0, 0, "answering")

    def has_changed(self, file: IndexedFile) -> bool:
        """Whether a file is not as it was when it was read, or gone."""
        try:
            status = os.lstat(self.root / file.path)
        except OSError:
            return True
        return (status.st_size, modified_at(status)) != (file.size, file.modified)

    def close(self) -> None:
        """Remove what was stored for this process alone."""
        if self.path != self._place:
            forget(self.path)

    def _begun(self, asked: str) -> OpeningIndex:
        """The index that is open or being opened; if that has failed, it is tried again, if much was read, later."""
        with self._lock:
            now = self._opening
            if now is None or (now.error and time.monotonic() > now.ended + _FAILED * (now.partial.files > 0)):
                self._opening = now = growing(self.root, self._place, self._model, self._open, asked=asked)
            return now

    def _open(self, path: Path) -> LiveIndex:
        updates = Updates(path, self.root, self._tell, vectors=self._model != "none")
        return LiveIndex(path, reranker_maker(self._model), updates=updates)

    def _of_some(self, now: OpeningIndex, asked: str, arrived: float) -> Current:
        """What was read so far, with what this question is likely about."""
        if now.error and not (isinstance(now.error, OSError) and now.partial.read):
            raise now.error
        if asked != now.partial.asked:
            _read_ahead(self.root, asked, now.partial.reading, arrived + _AHEAD[0])
        with suppress(OpeningError):
            opened = now.so_far(arrived + _AHEAD[1])
            notice = opened.so_far if opened.so_far == COMPLETING else f"{opened.so_far}; ask again for the rest"
            if isinstance(now.error, OSError):
                notice = f"the index could not be stored ({one_line(reason(now.error))})"
            if now.live is None:
                return Current(opened.engine, notice, whole=False)
        if now.live:  # meanwhile
            return _of_all(now.live, arrived)
        raise UserError(f"no file is indexed yet ({self.progress.doing}): ask again in a few seconds")


def _of_all(live: LiveIndex, arrived: float) -> Current:
    """What the index has, once what has changed is read, as far as a question waits for it."""
    opened = live.ready()
    known = CURRENT if opened else live.catch_up(max(_AGAIN, arrived + PATIENCE - time.monotonic()))
    opened = opened or live.opened()
    return Current(opened.engine, known.line or opened.so_far or live.trouble)


def _worth_waiting(now: OpeningIndex) -> float:
    """The seconds for which a question waits after the first ones, from the begin of the reading."""
    reading = now.partial.reading
    if now.live or reading.read:
        return _LONGEST if not now.live and 2 * reading.read >= reading.files else 0.0
    return _FIRST if reading.files else _LONGEST


def _read_ahead(root: Path, asked: str, partial: PartialIndex, until: float) -> None:
    """Read those files that a question is likely about, by the words of their paths.

    Args:
        root: the folder.
        asked: the question, or the path of a file.
        partial: what was read so far and is sought, which gets the files.
        until: the time, as of ``time.monotonic``, from which on no more are read.
    """
    done = partial.paths
    likely = iter([each for each in _likely(partial.sought, asked) if each not in done][:_LIKELY])
    while time.monotonic() < until and (files := [*_found(root, islice(likely, _TOGETHER))]):
        with suppress(ChildProcessError, UserError):
            partial.add(read_apart(Task(root, files)))


def _likely(paths: Sequence[str], asked: str) -> list[str]:
    """The paths that have words of a question, the likeliest first; of one that names a file, that alone."""
    if named := max((each for each in paths if each in asked), key=len, default=""):
        return [named]
    wanted = frozenset(terms_of(asked_words(asked)))
    some = [Found(each, 0, 0) for each in paths if any(word in each.lower() for word in wanted)]
    return [each.path for each in likely_first(some, asked)]


def _found(root: Path, paths: Iterator[str]) -> Iterator[Found]:
    for each in paths:
        with suppress(OSError):
            status = os.lstat(root / each)
            yield Found(each, status.st_size, modified_at(status))
