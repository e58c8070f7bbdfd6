"""The index of a folder, made at the first question and updated at later ones, neither of which waits for long."""

import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from data_prep.errors import UserError, one_line
from data_prep.files.access import reason
from data_prep.installation import processors
from data_prep.worker_pool import LimitedCalls
from data_prep.worker_process import FILE
from search.engine.engine import Engine
from search.engine.signals import Reranker
from search.files.stamps import modified_at
from search.first_index import IndexPlace
from search.index.build import refresh, sole_maker
from search.index.code_index import Index, IndexedFile
from search.index.freshness import CURRENT, Freshness, looked_at, read_record
from search.index.index_file import UnusableIndexError
from search.index.read_part import Part, Task
from search.index.updating import LOOKED
from search.index.vector_encoding import maker_of, update_vectors
from search.models.packed import maker_at_once, reranker_maker
from search.opening import check_way, index_place
from search.serve.live_index import LiveIndex, Opened
from search.serve.partial_index import PartialIndex, Progress, read_ahead

PATIENCE: Final = 2.5
"""Seconds for which a question waits until files are read that are new or have changed."""
_LONGEST: Final = 4.0
"""The same if more than half is read until then, or it is still looked for."""
_FIRST: Final = 20.0
"""The same until the first ones are read, which takes as long as processes need to start."""
_AHEAD: Final = 1.5, 3.5
"""The same until the likely files of a later question are read, and until they are in an index."""
_BRIEF: Final = 0.1
"""Seconds between looks at what is read."""
_AGAIN: Final = 0.5
"""Seconds for which a later question waits for the same."""
_COMPLETING: Final = "the index is still being completed: the order of hits may change"
_FAILED: Final = 30.0
"""Seconds until files are read again after that or what followed has failed."""


@dataclass(frozen=True, eq=False, slots=True)
class Current:
    """What a question is answered from."""

    engine: Engine
    notice: str = ""
    """Why answers may lack something or be old; "" if they are of the files as they are."""
    whole: bool = True
    """Whether it has all files."""


@dataclass(eq=False, slots=True)
class _Round:
    """One look at the files, and what they need."""

    partial: PartialIndex
    begun: float = field(default_factory=time.monotonic)
    done: threading.Event = field(default_factory=threading.Event)
    alone: PartialIndex | None = None  # while another process makes the index
    known: Freshness = field(default_factory=lambda: Freshness(unknown=True))  # of what has changed
    stored: bool = False
    error: Exception | None = None
    ended: float = 0.0

    @property
    def valid_until(self) -> float:
        """When the files are looked at again."""
        return self.ended + _FAILED if self.error and self.reading.files else self.begun + LOOKED

    @property
    def reading(self) -> PartialIndex:
        """What is being read."""
        return self.alone if self.alone and not self.partial.read else self.partial


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
        self.root, self._place = root, IndexPlace(index_place(root))
        check_way(root, self._place.path)
        self._model, self._tell = model, tell
        self._lock = threading.Lock()
        self._live: LiveIndex | None = None
        self._opened: Opened | None = None
        self._round: _Round | None = None
        self._partial: Engine | None = None
        self._calls = LimitedCalls(FILE, 1)  # one process, started by the first change of a few files

    def current(self, asked: str = "") -> Current:
        """What there is to answer from, at the latest a few seconds after the call.

        Args:
            asked: the question, or the path of a file: which files are read first, if they all must be.

        Raises:
            UserError: there is no source file, or the index cannot be made.
            OSError: it cannot be made.
        """
        arrived, now = time.monotonic(), self._begun(asked)
        if self._opened is None:
            self._reranker_at_once  # noqa: B018 - is loaded while files are read
        now.done.wait(max(now.begun + PATIENCE - time.monotonic(), _AGAIN))
        while time.monotonic() < now.begun + self._worth_waiting(now) and not now.done.wait(_BRIEF):
            pass
        if now.done.is_set() and now.error and not (isinstance(now.error, OSError) and self._can_answer(now)):
            raise now.error
        if self._opened is None:
            if asked != now.partial.asked:
                read_ahead(self.root, asked, now.reading, self._read, arrived + _AHEAD[0])
            return self._of_partial(now, arrived + _AHEAD[1])
        return Current(self._opened.engine, self._notice(now))

    def look_again(self, since: float) -> bool:
        """Whether the last look had begun before the time ``since``: then the next question waits for another one."""
        now = self._round
        if now is None or now.begun >= since or (now.error and now.reading.files):
            return False
        is_first = self._opened is None and not now.done.is_set()  # all is being read then
        if is_first or not now.done.wait(PATIENCE):
            return False
        now.begun = -math.inf
        return True

    @property
    def path(self) -> Path:
        """The file of the index."""
        return self._place.path

    @property
    def trouble(self) -> str:
        """Why the index is not kept; "" if it is."""
        return self._place.trouble

    @property
    def progress(self) -> Progress:
        """How far the work is."""
        now = self._round
        if now is None or now.done.is_set():
            return Progress(0, 0, "answering")
        return now.reading.progress

    def has_changed(self, file: IndexedFile) -> bool:
        """Whether a file is not as it was when it was read, or gone."""
        try:
            status = os.lstat(self.root / file.path)
        except OSError:
            return True
        return (status.st_size, modified_at(status)) != (file.size, file.modified)

    def close(self) -> None:
        """Remove what was stored for this process alone, and end its reader."""
        self._calls.close()
        self._place.close()

    def _worth_waiting(self, now: _Round) -> float:
        """The seconds for which a question waits after the first ones, from the begin of the reading."""
        if self._opened is not None:
            return 0.0
        reading = now.reading
        if reading.read or not reading.files:
            return _LONGEST if 2 * reading.read >= reading.files else 0.0
        return _FIRST

    def _can_answer(self, now: _Round) -> bool:
        return self._opened is not None or now.reading.read > 0

    def _begun(self, asked: str) -> _Round:
        """The look at the files that is being made, or a new one if the last was too long ago."""
        with self._lock:
            now = self._round
            if now and (not now.done.is_set() or time.monotonic() < now.valid_until):
                return now
            self._round = now = _Round(PartialIndex(asked))
            threading.Thread(target=self._look, args=(now,), daemon=True, name="index").start()
            return now

    def _look(self, now: _Round) -> None:
        """Read what is new or has changed, in a thread of its own."""
        try:
            self._place.settle(self._tell)
            self._update(now)
        except Exception as error:  # whatever it is, it is told to those who ask
            now.error = error
        finally:
            if now.alone:
                now.alone.ended = True
            now.ended = time.monotonic()
            now.done.set()

    def _update(self, now: _Round) -> None:
        is_first = self._opened is None
        if self.path.is_file():
            with suppress(UnusableIndexError):  # it is made again
                self._open()
        is_current = self._opened is not None and looked_at(self.path, self.root)[1] == CURRENT
        now.stored = is_current
        if is_current and not is_first:
            return

        def tell_waiting(line: str) -> None:
            self._tell(str(self.path), line)
            if self._opened is None:
                now.alone = PartialIndex(now.partial.asked)
                threading.Thread(target=self._read_alone, args=(now.alone,), daemon=True, name="reading").start()

        with sole_maker(self.path, tell_waiting):
            if not is_current:
                self._refresh(now)
            record = read_record(self.path)
            if self._model != "none" and (record is None or record.vectors):
                update_vectors(maker_of(self.path) or "", self.path, self._tell)
            self._open()

    def _refresh(self, now: _Round) -> None:
        def noticed(paths: Sequence[str]) -> None:
            now.known, now.partial.sought = Freshness(tuple(paths)), paths

        count, reads = processors(), self._read
        refresh(self.root, self.path, processes=count, tell=self._tell, noticed=noticed, reads=reads, watch=now.partial)
        self._open()
        now.stored = True

    def _read_alone(self, partial: PartialIndex) -> None:
        with suppress(UserError, OSError):  # which the other process tells
            partial.read_alone(self.root)

    def _open(self) -> None:
        """Open what was stored, unless it is open."""
        if self._live is None:
            self._live = LiveIndex(self.path, reranker_maker(self._model), seconds_between_looks=0.0)
        self._opened = self._live.opened()

    def _read(self, task: Task) -> Part:
        part: Part = self._calls.call("search.index.read_part:read_part", task)
        return part

    def _of_partial(self, now: _Round, until: float) -> Current:
        """What was read so far; if nothing was, an empty answer."""
        index, read = now.reading.index(until)
        if self._opened is not None:  # meanwhile
            return Current(self._opened.engine, self._notice(now))
        if index is None:
            raise UserError(f"no file is indexed yet ({self.progress.doing}): ask again in a few seconds")
        with self._lock:
            if self._partial is None or self._partial.index is not index:
                self._partial = Engine(index, self._reranker_at_once(index))
                self._partial.names.paths.folder = self.root
            return Current(self._partial, self._notice(now, read), whole=False)

    @cached_property
    def _reranker_at_once(self) -> Callable[[Index], Reranker | None]:
        """What makes the reranker of a few files: none if it would have to be loaded for long."""
        return maker_at_once(self._model)

    def _notice(self, now: _Round, read: int = 0) -> str:
        """Why answers may lack something or be old."""
        if now.error:
            return f"the index could not be stored or updated ({_line(now.error)})"
        if now.done.is_set():
            return ""
        if now.stored:
            return _COMPLETING if self._model != "none" else ""
        if self._opened is None and read == now.reading.files:
            return _COMPLETING
        if self._opened is None:
            return f"{read:,} of {now.reading.files:,} files are indexed so far; ask again for the rest"
        return now.known.line


def _line(error: Exception) -> str:
    return one_line(reason(error) if isinstance(error, OSError) else str(error))
