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

from data_prep.errors import UserError
from data_prep.files.access import reason
from data_prep.files.writing import sole_holder
from data_prep.installation import processors
from data_prep.worker_pool import LimitedCalls
from data_prep.worker_process import FILE
from search.index.build import lock_of, refresh
from search.index.freshness import CURRENT, Freshness, looked_at, read_record
from search.index.index_file import UnusableIndexError
from search.index.read_part import Part, Task, Watch
from search.index.vector_encoding import maker_of, update_vectors
from search.index.vectors import loaded_encoder, vectors_path

BUDGET: Final = 0.5
"""Seconds for which an answer waits for what has changed to be read."""
LOOKED: Final = 0.2
"""Seconds for which an answer of a server may be of files as they were."""
_POLL: Final = 0.02
"""Seconds between tries to become the only one that makes an index."""
_PAUSE: Final = 10.0
"""Seconds after a failure before a server tries again."""

Noticed = Callable[[Sequence[str]], None]


def bring_up_to_date(
    root: Path,
    index: Path,
    noticed: Noticed = lambda _: None,
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
                add_vectors(index, tell)
                return
        time.sleep(_POLL)
    raise BlockingIOError


def add_vectors(index: Path, tell: Callable[[str, str], None]) -> None:
    """Make or update the vectors of an index in the file ``index``, unless it is to have none."""
    record = read_record(index)
    if record and record.vectors:
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


class Updates:
    """The updates of one index in a thread, for a process that answers many questions; thread-safe."""

    def __init__(self, index: Path, root: Path | None, tell: Callable[[str, str], None]) -> None:
        """Nothing is read yet.

        Args:
            index: the file.
            root: as :func:`looked_at` takes it.
            tell: called with a path and what is wrong with it.
        """
        self._index, self._root, self._tell = index, root, tell
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None
        self._now, self._failed = CURRENT, -math.inf
        self.runs = 0
        """How often what has changed was read."""

    def catch_up(self) -> Freshness:
        """What is not read yet, after it was waited for while :data:`BUDGET` lasts."""
        with self._turn:
            known = self._known()
            if self._thread is None:
                self._now = known
                if known.trouble or known == CURRENT:
                    return known
                self._thread = threading.Thread(target=self._update, daemon=True, name="updating")
                self._thread.start()
                self._thread.join(BUDGET)
            if not self._thread.is_alive():
                self._thread = None
                return self._now
            return replace(self._now, reading=(*dict.fromkeys((*self._now.reading, *known.reading)),))

    def prepare(self) -> None:
        """Start the process that reads, and load what makes vectors; what fails is told when it is needed."""
        with suppress(UserError, OSError):
            _calls().call("search.index.read_part:read_part", Task(Path(), []))
            if not vectors_path(self._index).exists():
                return
            loaded_encoder(maker_of(self._index) or "")
            with sole_holder(lock_of(self._index), private=True) as alone:
                if alone:
                    add_vectors(self._index, self._tell)  # if they are damaged

    def _known(self) -> Freshness:
        if self._now.trouble and time.monotonic() < self._failed + _PAUSE:
            return self._now
        try:
            self._root, known = looked_at(self._index, self._root)
        except (UnusableIndexError, OSError) as error:
            return Freshness(trouble=str(error))
        return known

    def _update(self) -> None:
        assert self._root is not None
        root = self._root

        def noticed(paths: Sequence[str]) -> None:
            self._now = Freshness(tuple(paths))

        reads = lambda task: _calls().call("search.index.read_part:read_part", task)  # noqa: E731
        work = lambda: bring_up_to_date(root, self._index, noticed, tell=self._tell, reads=reads)  # noqa: E731
        try:
            trouble = trouble_of(work)
            self._now = replace(self._now, trouble=trouble) if trouble else CURRENT
        except BlockingIOError:
            self._now = replace(self._now, unknown=True)
            trouble = ""
        self._failed, self.runs = time.monotonic() if trouble else -math.inf, self.runs + 1
