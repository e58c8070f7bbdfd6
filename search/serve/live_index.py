"""An index that is answered from, and reopened when it is replaced; and when another look at its folder is due.

That is before it is said that little is found: a file may have been written after the last look.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Protocol, TypeVar, runtime_checkable

from data_prep.errors import UserError
from search.engine.engine import Engine
from search.engine.signals import Reranker
from search.files.stamps import Stamp, stamp_of
from search.index.code_index import Index
from search.index.freshness import CURRENT, Freshness, read_record
from search.index.index_file import Head, UnusableIndexError, open_index, read_head
from search.index.updating import LOOKED, Updates
from search.index.vectors import DenseRetriever, near_rows, vectors_path

if TYPE_CHECKING:
    from search.serve.fresh_index import FreshIndex

COMPLETING: Final = "the index is still being completed: the order of hits may change"
_ATTEMPTS: Final = 5
"""Attempts to open an index that is replaced meanwhile."""


class OpeningError(Exception):
    """The index is not open yet, or cannot be answered from at present."""


class NothingVisibleError(Exception):
    """Nothing is permitted to the user."""


@dataclass(frozen=True, eq=False, slots=True)
class Opened:
    """An opened index and its engine."""

    engine: Engine
    head: Head
    so_far: str = ""
    """How much of the folder it has, if that is being indexed for the first time, or that vectors are being made."""

    @property
    def name(self) -> str:
        """Identifies this index; row numbers are valid within one index only."""
        return self.head.content[:16]


class LiveIndex:
    """Thread-safe; an opened index remains usable after its file is replaced."""

    def __init__(
        self,
        path: Path,
        reranker_of: Callable[[Index], Reranker | None],
        *,
        seconds_between_looks: float = 1.0,
        updates: Updates | None = None,
    ) -> None:
        """Open the index in ``path``.

        Args:
            path: file of the index.
            reranker_of: makes the reranker for an index; None: BM25 alone.
            seconds_between_looks: minimum time between checks of the file.
            updates: reads what has changed in the indexed folder; None: the index is used as others make it.

        Raises:
            UnusableIndexError: there is no index, or it cannot be used.
        """
        self.updates, self._looked, self._fresh_until = updates, 0.0, 0.0
        self.path, self.trouble = path, ""
        self._reranker_of, self._between = reranker_of, seconds_between_looks
        self._looking = threading.Lock()
        self._tried, self._vectors_tried = self._stamps()
        self._now = self._open()
        self._next_look = time.monotonic() + self._between

    def ready(self) -> Opened | None:
        """The current index, unless it is time to look whether its file was replaced or its folder has changed."""
        now = time.monotonic()
        if self.updates is None:
            return self._now if now < self._next_look else None
        return self._now if now < self._fresh_until and not self.updates.completing else None

    def opened(self, groups: frozenset[str] | None = None) -> Opened:  # noqa: ARG002 - one index for all users
        """The current index.

        The caller that finds the file replaced waits until the new one is open; others get the old one meanwhile. If
        the new one cannot be used, the old one stays in use, and :attr:`trouble` says why.
        """
        if time.monotonic() >= self._next_look and self._looking.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._looking.release()
        if self.updates is not None and self.updates.completing:
            return replace(self._now, so_far=COMPLETING)
        return self._now

    def catch_up(self, seconds: float | None = None) -> Freshness:
        """Read what has changed in the indexed folder, as long as a question may wait, and tell what is not read.

        ``seconds``: as :meth:`Updates.catch_up` takes them.
        """
        if self.updates is None:
            return CURRENT
        begun = time.monotonic()
        found = self.updates.catch_up(seconds)
        with self._looking:
            self._look()  # the file may be another one now, made by this process or by another
        self._looked, self._fresh_until = begun, begun + LOOKED if found == CURRENT else 0.0
        return found

    def look_again(self, since: float, seconds: float) -> bool:
        """Whether the next question may find more: the last look at the folder had begun before the time ``since``.

        Or what is being read since then is read within so many seconds, which is waited for.
        """
        if self.updates is None:
            return False
        if self._looked >= since:
            return self.updates.wait(since, seconds)
        self._fresh_until = 0.0
        return True

    def _look(self) -> None:
        stamp, vectors_stamp = self._stamps()
        try:
            head = read_head(self.path)
            if head != self._now.head and stamp != self._tried:
                self._now = self._open()
                self.trouble = ""
            elif head == self._now.head:
                if vectors_stamp != self._vectors_tried:  # they come after their index
                    self._now = Opened(self._engine(self._now.engine.index, self._now.engine.reranker, head), head)
                self.trouble = ""
        except (UnusableIndexError, OSError) as error:
            self.trouble = str(error)
        self._tried, self._vectors_tried = stamp, vectors_stamp
        self._next_look = time.monotonic() + self._between

    def _stamps(self) -> tuple[Stamp, Stamp]:
        """Of the index and its vectors."""
        return stamp_of(str(self.path), "target"), stamp_of(str(vectors_path(self.path)), "target")

    def _open(self) -> Opened:
        head = read_head(self.path)
        for _ in range(_ATTEMPTS):
            index, before = open_index(self.path), head
            head = read_head(self.path)
            if head == before:
                return Opened(self._engine(index, self._reranker_of(index), head), head)
        raise UnusableIndexError(f"the index {self.path} is replaced again and again")

    def _engine(self, index: Index, reranker: Reranker | None, head: Head) -> Engine:
        engine = Engine(index, reranker, retriever=self._retriever(index, head) if reranker else None)
        record = read_record(self.path)
        engine.names.paths.folder = record.folder if record else None
        return engine

    def _retriever(self, index: Index, head: Head) -> DenseRetriever | None:
        """The retriever over the vectors beside the index; None if there are none that fit it."""
        if not vectors_path(self.path).exists():
            return None
        try:
            return near_rows(self.path, head.content, len(index), "")
        except UserError:  # stale or damaged, which `search` reports: BM25 retrieves alone
            return None


@runtime_checkable
class _Tools(Protocol):
    _index: "FreshIndex"


Own = TypeVar("Own", bound=_Tools)
Given = ParamSpec("Given")


def is_sure(told: Mapping[str, Any]) -> bool:
    """Whether an answer, as JSON tells it, would hardly be another one with a few more files."""
    if "certainty" in told:
        return bool(told["certainty"]["level"] == "strong")
    return bool(told.get("results", True) or told.get("frames_in_index"))


def looking_again(
    tool: Callable[Concatenate[Own, Given], dict[str, Any]],
) -> Callable[Concatenate[Own, Given], dict[str, Any]]:
    """A tool that is asked again after another look, if it finds little or refuses, and the last look is older."""

    @wraps(tool)
    def asked(self: Own, /, *words: Given.args, **named: Given.kwargs) -> dict[str, Any]:
        arrived = time.monotonic()
        try:
            if is_sure(told := tool(self, *words, **named)) or not self._index.look_again(arrived):
                return told
        except UserError:
            if not self._index.look_again(arrived):
                raise
        return tool(self, *words, **named)

    return asked
