"""What a server answers from while an index is opened or made: the files that are read so far, then the index."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from search.engine.engine import Engine
from search.engine.signals import Reranker
from search.files.languages import indexed_suffixes
from search.files.stamps import Found
from search.files.tree import checkout_of, found_files
from search.first_index import is_kept, made
from search.index.build import index_of, watched
from search.index.code_index import Index
from search.index.freshness import CURRENT, Freshness
from search.index.index_file import Head, UnusableIndexError
from search.index.read_part import Part, Watch
from search.models.packed import maker_at_once
from search.opening import tell_damage
from search.serve.live_index import COMPLETING, LiveIndex, Opened, OpeningError

_GROWN: Final = 2
"""How many times as many files must have been read to make it again."""
_FIRST: Final = 400
"""Files that the first one has about, since a question waits until it is made."""
_ALONE: Final = 2000
"""Most files that are read while another process makes the index."""
_PATIENCE: Final = 1.0
"""Seconds within which it is usually known whether there is something to index."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is that a question may wait for."""

    read: int  # files
    files: int  # that are to be read; 0 if it is not known yet
    doing: str


class PartialIndex(Watch):
    """What was read so far. Thread-safe."""

    chunk = 8  # few, so that the first ones are there soon

    def __init__(self, asked: str = "") -> None:
        """Nothing was read yet; ``asked`` as in :class:`Watch`."""
        self.asked, self.files, self.read = asked, 0, 0
        self.sought: Sequence[str] = ()
        """The paths of the files that are read, once they are known."""
        self.ended = False
        """Whether nobody needs it any more."""
        self.alone: PartialIndex | None = None
        """What is read while another process makes the index."""
        self.begun = threading.Event()
        """Set once it is known how many files will be read."""
        self._parts: list[Part] = []
        self._beside: list[Part] = []
        self._lock, self._making = threading.Lock(), threading.Thread()
        self._made: tuple[Index | None, int] = None, 0
        self._in_made = 0  # of those beside

    def begin(self, files: Sequence[Found]) -> None:
        """These will be read, perhaps again."""
        self.files, self.sought = len(files), [each.path for each in files]
        self.read, self._parts = 0, []
        self.begun.set()

    def take(self, part: Part) -> None:
        """These were read."""
        self._parts.append(part)
        self.read += len(part.files)

    def add(self, part: Part) -> None:
        """These were read beside the others."""
        self._beside.append(part)

    @property
    def paths(self) -> set[str]:
        """Of the files that were read."""
        return {file.path for part in (*self._parts, *self._beside) for file in part.files}

    @property
    def progress(self) -> Progress:
        """How far the reading is."""
        if not self.files:
            return Progress(0, 0, "looking for files that are new or have changed")
        read = f"{self.read:,} of {self.files:,} files are read" if self.read < self.files else "completing the index"
        return Progress(self.read, self.files, read)

    def index(self, until: float = 0.0) -> tuple[Index | None, int]:
        """The index of what was read so far or earlier, and its number of files; None before the first.

        Only the first one is waited for; a later one is made in a thread, for the next question.

        Args:
            until: the time, as of ``time.monotonic``, up to which one with all that was added is waited for.
        """
        with self._lock:
            if self._made[0] is None and self._parts:
                self._make()
        while self._begin_next() and time.monotonic() < until and self._in_made < len(self._beside):
            self._making.join(max(0.0, until - time.monotonic()))
        return self._made

    def _begin_next(self) -> bool:
        """Begin to make the next index if much was read since, or some was added; whether one is being made."""
        with self._lock:
            due = _GROWN * self._made[1] <= self.read < self.files or self._in_made < len(self._beside)
            if due and self._parts and not self._making.is_alive():
                self._making = threading.Thread(target=self._make, daemon=True, name="partial index")
                self._making.start()
            return self._making.is_alive()

    def _make(self) -> None:
        parts, beside, known = list[Part](), [*self._beside], set[str]()
        for part in [*self._parts]:
            if self._made[0] is not None or len(known) < _FIRST:
                known.update(file.path for file in part.files)
                parts.append(part)
        for part in beside:
            files = [place for place, file in enumerate(part.files) if file.path not in known]
            known.update(file.path for file in part.files)
            parts.append(part.taken(files))
        self._made, self._in_made = (index_of(parts), len(known)), len(beside)

    @property
    def reading(self) -> "PartialIndex":
        """What is being read."""
        return self.alone if self.alone and not self.read else self

    def read_alone(self, root: Path) -> None:
        """Begin to read the likeliest files of a folder, until :attr:`ended`, since another process makes the index."""
        self.alone = PartialIndex(self.asked)
        threading.Thread(target=self._read_alone, args=(root, self.alone), daemon=True, name="reading").start()

    def _read_alone(self, root: Path, into: "PartialIndex") -> None:
        with suppress(UserError, OSError):  # which the other process tells
            suffixes, told = indexed_suffixes(documents=False), lambda *_: None
            found = found_files(root, suffixes, told, checkout_of(root, told))
            into.begin(found)
            for _ in watched(root, found, 1, into):
                if self.ended or into.read >= _ALONE:
                    return


class OpeningIndex:
    """An index that is opened in a thread, or made; until then what was read so far is answered from."""

    def __init__(
        self,
        make: Callable[[], LiveIndex],
        failed: Callable[[Exception], None] = lambda _: None,
        *,
        partial: PartialIndex | None = None,
        root: Path | None = None,
        reranker_of: Callable[[Index], Reranker | None] = lambda _: None,
        before: str = "",
    ) -> None:
        """Begin to open it.

        Args:
            make: makes the index, if there is none, and opens it.
            failed: called with an error of ``make``, in its thread.
            partial: is told by ``make`` what is read; None: nothing is.
            root: the folder.
            reranker_of: makes the reranker for what is read so far; None: BM25 alone.
            before: why nothing can be answered until something is read; "": the index is being opened.
        """
        self.partial, self._root, self._reranker_of = partial or PartialIndex(), root, reranker_of
        self._lock, self._so_far = threading.Lock(), dict[Index, Opened]()
        self.live: LiveIndex | None = None
        """The index, once it is open."""
        self.error: Exception | None = None
        """Why it is not."""
        self.begun, self.ended = time.monotonic(), math.inf
        self.done = threading.Event()
        """Set once it is open and complete, or there was an error."""
        self._make, self._failed, self._before = make, failed, before
        self._then: Callable[[Opened], None] = lambda _: None
        threading.Thread(target=self._open, daemon=True, name="opening").start()

    @property
    def trouble(self) -> str:
        """As the index has it."""
        return self.live.trouble if self.live else ""

    def ready(self) -> Opened | None:
        """As the index has it, once it is open."""
        return self.live.ready() if self.live else None

    def opened(self, groups: frozenset[str] | None = None) -> Opened:
        """The index once it is open, else one of the files that are read so far."""
        return self.live.opened(groups) if self.live else self.so_far()

    def catch_up(self) -> Freshness:
        """As the index does, once it is open."""
        return self.live.catch_up() if self.live else CURRENT

    def then(self, call: Callable[[Opened], None]) -> None:
        """Call something once the index is open, perhaps in the thread that opens it."""
        self._then = call
        if self.live:
            call(self.live.opened())

    def wait(self, seconds: float = _PATIENCE) -> bool:
        """Wait until it is known which files will be read; False: it has failed, or there is nothing to wait for."""
        self.partial.begun.wait(seconds)
        return self.error is None and self.live is None

    def so_far(self, until: float = 0.0) -> Opened:
        """What is read so far, as :meth:`PartialIndex.index` has it.

        Raises:
            OpeningError: nothing is.
        """
        reading = self.partial.reading
        index, read = reading.index(until)
        if index is None:
            raise OpeningError(self._before)
        with self._lock:
            if index not in self._so_far:
                engine = Engine(index, self._reranker_of(index))
                engine.names.paths.folder = self._root
                head = Head(len(index), len(index.files), "", 0, f"first {read}")
                self._so_far = {index: Opened(engine, head)}
            some = f"{read:,} of {reading.files:,} files are indexed so far"
            return replace(self._so_far[index], so_far=COMPLETING if read == reading.files else some)

    def _open(self) -> None:
        try:
            self.live = self._make()
            self._then(self.live.opened())
            if updates := self.live.updates:
                updates.complete()
            self._end()
            if updates:
                updates.prepare()
        except Exception as error:  # whatever it is, nobody else would hear of it
            self.error = error
            self._failed(error)
            self._end()

    def _end(self) -> None:
        self.ended, self.partial.ended = time.monotonic(), True
        self.partial.begun.set()
        self.done.set()


def growing(
    root: Path,
    path: Path,
    model: str,
    live: Callable[[Path], LiveIndex],
    failed: Callable[[Exception], None] = lambda _: None,
    *,
    asked: str = "",
) -> OpeningIndex:
    """The index of a folder, which is opened, or made if there is none that can be opened.

    Args:
        root: the folder.
        path: the file of the index.
        model: as ``--model`` names it.
        live: opens the index of a file.
        failed: as :class:`OpeningIndex` takes it.
        asked: as :class:`PartialIndex` takes it.
    """
    partial = PartialIndex(asked)

    def make() -> LiveIndex:
        if is_kept(path):
            try:
                return live(path)
            except UnusableIndexError as error:
                tell_damage(root, error)
        return live(made(root, path, vectors=False, watch=partial, waiting=lambda: partial.read_alone(root)))

    at_once = lambda index: maker_at_once(model)(index)  # noqa: E731 - is loaded when it is needed
    before = "" if is_kept(path) else "the folder is being indexed, no file is read yet: ask again in a moment"
    return OpeningIndex(make, failed, partial=partial, root=root, reranker_of=at_once, before=before)
