"""Reading what has changed since an index was made, for half a second before an answer, or beyond.

What takes longer goes on: in a process of its own for a command (:mod:`search.index.reading_on`), in a thread for a
server. Until then answers say which files they may be wrong about.
"""

import atexit
import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from data_prep.errors import UserError, reason_and_file
from data_prep.files.access import reason
from data_prep.files.writing import sole_holder
from data_prep.installation import processors
from data_prep.worker_pool import LimitedCalls
from data_prep.worker_process import FILE
from search.index.build import lock_of, refresh, sole_maker
from search.index.freshness import CURRENT, Freshness, looked_at, read_record
from search.index.index_file import OtherVersionError, UnusableIndexError
from search.index.read_part import Part, Task, Watch
from search.index.vector_encoding import maker_of, up_to_date, update_vectors
from search.index.vectors import loaded_encoder, vectors_path

BUDGET: Final = 0.5
"""Seconds for which an answer waits for what has changed to be read."""
LOOKED: Final = 0.2
"""Seconds for which an answer of a server may be of files as they were."""
_POLL: Final = 0.02
"""Seconds between tries to become the only one that makes an index."""
_PAUSE: Final = 10.0
"""Seconds after a failure before a server tries again."""


def bring_up_to_date(
    root: Path,
    index: Path,
    noticed: Callable[[Sequence[str]], None] = lambda _: None,
    read: Callable[[], None] = lambda: None,
    *,
    tell: Callable[[str, str], None] = lambda *_: None,
    reads: Callable[[Task], Part] | None = None,
    watch: Watch | None = None,
) -> None:
    """Read what has changed, unless another process does so for longer than an answer waits.

    Args:
        root: the folder.
        index: the file.
        noticed: called with the files that are about to be read or left out.
        read: called once they are, and can be answered from; then vectors are made.
        tell: called with a path and what is wrong with it.
        reads: as :func:`refresh` takes it.
        watch: the same.

    Raises:
        BlockingIOError: another process does.
        UserError: there is no source file any more, or no folder.
        OSError: the index cannot be written; it is left as it was.
    """
    until = time.monotonic() + BUDGET
    while time.monotonic() < until:
        with sole_holder(lock_of(index), private=True) as alone:
            if alone:
                refresh(root, index, processes=processors(), tell=tell, noticed=noticed, reads=reads, watch=watch)
                read()
                add_vectors(index, tell)
                return
        time.sleep(_POLL)
    raise BlockingIOError


def add_vectors(index: Path, tell: Callable[[str, str], None]) -> None:
    """Update the vectors of an index in the file ``index``, if there are some."""
    if vectors_path(index).exists():
        update_vectors(maker_of(index) or "", index, tell)


def trouble_of(work: Callable[[], None]) -> str:
    """Why ``work`` failed, in one line; "" if it did not."""
    try:
        work()
    except BlockingIOError:
        raise
    except OSError as error:
        return f"{reason(error)}{f': {error.filename}' if error.filename else ''}"
    except UserError as error:
        return str(error)
    except Exception as error:  # whatever it is, the index as it was can answer
        return f"{type(error).__name__}: {error}"
    return ""


@cache
def _calls() -> LimitedCalls:
    """One process that reads files for all indexes of this one, started by the first change."""
    calls = LimitedCalls(FILE, 1)
    atexit.register(calls.close)
    return calls


def read_apart(task: Task) -> Part:
    """Read a few files in a process that what they cost ends, and not this one.

    Raises:
        ChildProcessError: it was ended, or could not be started.
    """
    part: Part = _calls().call("search.index.read_part:read_part", task)
    return part


class Updates:
    """The updates of one index in a thread, for a process that answers many questions; thread-safe."""

    def __init__(
        self, index: Path, root: Path | None, tell: Callable[[str, str], None], *, vectors: bool = False
    ) -> None:
        """Nothing is read yet.

        Args:
            index: the file.
            root: as :func:`looked_at` takes it.
            tell: called with a path and what is wrong with it.
            vectors: whether :meth:`complete` makes those that are missing.
        """
        self._index, self._root, self._tell, self._vectors = index, root, tell, vectors
        self._turn = threading.Lock()
        self._thread, self._begun = threading.Thread(), 0.0
        self._now, self._failed = CURRENT, -math.inf
        self.completing = False
        """Whether vectors are being made of an index that can be answered from."""

    def catch_up(self, seconds: float | None = None) -> Freshness:
        """What is not read yet of the folder as it is now, after that was waited for.

        Args:
            seconds: for how long, from when its reading began; None: :data:`BUDGET`.
        """
        patience = BUDGET if seconds is None else seconds
        while True:
            with self._turn:
                known = self._known()
                is_own = not self._thread.is_alive()
                if is_own:
                    self._now = known
                    if known.trouble or known == CURRENT:
                        return known
                    self._thread = threading.Thread(target=self._update, daemon=True, name="updating")
                    self._begun = time.monotonic()
                    self._thread.start()
                thread, until = self._thread, self._begun + patience
            thread.join(max(0.0, until - time.monotonic()))
            now = self._now
            if is_own:
                return now
            if thread.is_alive():  # it may have looked at a file before that was written to
                reading = (*dict.fromkeys((*now.reading, *known.reading)),)
                return replace(now, reading=reading, unknown=now.unknown or known.unknown)

    def wait(self, since: float, seconds: float) -> bool:
        """Whether reading that had begun before the time ``since`` goes on, and ends within so many seconds."""
        thread = self._thread
        if not thread.is_alive() or self._begun >= since:
            return False
        thread.join(seconds)
        return not thread.is_alive()

    def complete(self) -> None:
        """Make the vectors that the index is to have, if they are missing, damaged or of an earlier state of it."""
        try:
            record, is_there = read_record(self._index), vectors_path(self._index).exists()
            is_due = record and record.vectors and (is_there or self._vectors)
            if not is_due or up_to_date(self._index, maker_of(self._index) or ""):
                return
            self.completing = True
            with sole_maker(self._index, lambda _: None):
                update_vectors(maker_of(self._index) or "", self._index, self._tell)
        except (UserError, OSError) as error:
            self._tell(str(vectors_path(self._index)), f"{reason_and_file(error)}; answered without them")
        finally:
            self.completing = False

    def prepare(self) -> None:
        """Start the process that reads, and load what makes vectors; what fails is told when it is needed."""
        with suppress(UserError, OSError):
            read_apart(Task(Path(), []))
            if vectors_path(self._index).exists():
                loaded_encoder(maker_of(self._index) or "")

    def _known(self) -> Freshness:
        if self._now.trouble and time.monotonic() < self._failed + _PAUSE:
            return self._now
        try:
            self._root, known = looked_at(self._index, self._root)
        except OtherVersionError as error:  # which another version of this program uses
            return Freshness(trouble=str(error))
        except (UnusableIndexError, OSError) as error:  # it is made again
            return Freshness(unknown=True) if self._root and self._root.is_dir() else Freshness(trouble=str(error))
        return known

    def _update(self) -> None:
        assert self._root is not None
        root = self._root

        def noticed(paths: Sequence[str]) -> None:
            self._now = Freshness(tuple(paths))

        def read() -> None:
            self._now, self.completing = CURRENT, True

        work = lambda: bring_up_to_date(root, self._index, noticed, read, tell=self._tell, reads=read_apart)  # noqa: E731
        try:
            trouble = trouble_of(work)
            self._failed = time.monotonic() if trouble else -math.inf
            self._now = replace(self._now, trouble=trouble) if trouble else CURRENT
        except BlockingIOError:
            self._now = replace(self._now, unknown=True)
        finally:
            self.completing = False
