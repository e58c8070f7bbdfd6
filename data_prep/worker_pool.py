"""Applies a function to many items in several processes, with results in the items' order, or to a hostile one in one.

The processes are those of :mod:`data_prep.worker_process`, which end with their parent. An item that ends its process,
by what it costs or by a fault of a parser, costs that item alone: another process takes the place of the ended one.
"""

import atexit
import pkgutil
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from data_prep.files.access import reason
from data_prep.worker_process import FILE, TEXT, EndedByItemError, Limits, WorkerProcess, is_single, limited

_AHEAD: Final = 2
"""Items in progress or waiting, per process."""
CALLS_AT_A_TIME: Final = 2
"""Most calls at a time of :class:`LimitedCalls`, if not said; others wait."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What becomes of an item that ends its process."""

    divided: Callable[[Any], Sequence[Any]]  # into the least items, which are tried one by one
    joined: Callable[[Sequence[Any]], Any]  # their results as that of the whole item
    refused: Callable[[Any], Any]  # the result of a least item that ends its process again
    limits: Limits = FILE
    copied: bool = False  # whether the processes are copies of this one, if it has no other threads then


def map_ordered(
    function: str, items: Iterable[Any], processes: int, guard: Guard | None = None
) -> Generator[Any, None, None]:
    """Results of ``function`` ("package.module:name") for each item, in order, a bounded number of items ahead.

    With one process and no ``guard`` all work is done in this one. A caller that stops early must close the iterator,
    which ends the processes.

    Raises:
        ChildProcessError: a process was killed, or none could be started.
        UserError: ``function`` raised one; other errors become a RuntimeError with their traceback.
    """
    ready: deque[Any] = deque()
    with pushed(function, ready.append, processes, guard) as push:
        for item in items:
            push(item)
            while ready:
                yield ready.popleft()
    yield from ready


@contextmanager
def pushed(
    function: str, take: Callable[[Any], None], processes: int, guard: Guard | None = None
) -> Iterator[Callable[[Any], None]]:
    """:func:`map_ordered` for items that arrive by a callback: returns a function that takes the next item.

    Results go to ``take`` in the items' order while items are pushed, a bounded number of items behind, and the last
    ones at the end; after an error none. It raises what :func:`map_ordered` does.
    """
    if processes == 1 and guard is None:
        call = pkgutil.resolve_name(function)
        yield lambda item: take(call(item))
        return
    pool, waiting = _Pool(function, processes, guard.limits if guard else None), deque[Future[Any]]()

    def push(item: Any) -> None:
        waiting.append(pool.threads.submit(_guarded, pool, guard, item))
        if len(waiting) >= _AHEAD * processes:
            take(waiting.popleft().result())

    try:
        if guard and guard.copied and is_single():
            pool.copy(processes)
        yield push
        while waiting:
            take(waiting.popleft().result())
    finally:
        ending = threading.Thread(target=pool.end)  # which receives no Ctrl-C, and which Python waits for
        ending.start()
        ending.join()


def _guarded(pool: "_Pool", guard: Guard | None, item: Any) -> Any:
    """The result of an item, or of its least parts if it ends its process."""
    try:
        return pool.result(item)
    except EndedByItemError:
        if guard is None:
            raise
    results = []
    for part in guard.divided(item):
        try:
            results.append(pool.result(part))
        except EndedByItemError:
            results.append(guard.refused(part))
    return guard.joined(results)


class LimitedCalls:
    """Calls with hostile input, which may cost this process neither its time nor its memory.

    They are made in other processes, which are started by the first calls and end with this one or by :meth:`close`.
    """

    def __init__(self, limits: Limits = TEXT, processes: int = CALLS_AT_A_TIME) -> None:
        """``limits``: of a call; ``processes``: the most at a time."""
        self._pool = _Pool(f"{__name__}:_called", processes, limits)

    def call(self, function: str, *arguments: Any) -> Any:
        """The result of a function ("package.module:name") for arguments that may be hostile.

        Raises:
            EndedByItemError: it cost too much time or memory, or a parser failed on it.
            ChildProcessError: no process could be started, or it was killed.
            UserError: the function raised one; other errors become a RuntimeError with their traceback.
        """
        try:
            return self._pool.threads.submit(self._pool.result, (function, arguments)).result()
        except EndedByItemError as error:
            raise EndedByItemError("it costs too much time or memory") from error

    def close(self) -> None:
        """End the processes."""
        self._pool.end()


def _called(item: tuple[str, tuple[Any, ...]]) -> Any:
    function, arguments = item
    with limited(sum(len(each) for each in arguments if isinstance(each, str | bytes))):
        return pkgutil.resolve_name(function)(*arguments)


class _Pool:
    """Threads, each with a process of its own, which its first item starts."""

    def __init__(self, function: str, processes: int, limits: Limits | None) -> None:
        self.threads = ThreadPoolExecutor(processes)
        self._function, self._limits = function, limits
        self._own = threading.local()
        self._workers: list[WorkerProcess] = []
        self._lock = threading.Lock()  # no process may start once they are being ended
        self._closed = False
        self._idle: list[WorkerProcess] = []  # that no thread has taken yet

    def copy(self, processes: int) -> None:
        """Start copies of this process, before there are threads; one that cannot be started is started later."""
        with suppress(OSError):
            while len(self._idle) < processes:
                self._idle.append(WorkerProcess(pkgutil.resolve_name(self._function), self._limits))
        self._workers = [*self._idle]

    def result(self, item: Any) -> Any:
        """The result of an item, in one of the threads; a process that it ends is replaced by the next item."""
        worker = self._worker()
        try:
            return worker.run(item)
        except ChildProcessError:
            del self._own.worker
            worker.end()
            raise

    def end(self) -> None:
        """End the processes, and wait until they have exited."""
        with self._lock:
            self._closed = True
        for worker in self._workers:
            worker.child.kill()
        self.threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.end()

    def _worker(self) -> WorkerProcess:
        if not hasattr(self._own, "worker"):
            with self._lock:
                if self._closed:
                    raise ChildProcessError("no process that prepares data is started: the work is over")
                try:
                    self._own.worker = self._idle.pop() if self._idle else WorkerProcess(self._function, self._limits)
                except OSError as error:
                    trouble = f"no process that prepares data could be started: {reason(error)}"
                    raise ChildProcessError(trouble) from error
                self._workers = [each for each in self._workers if each.child.returncode is None]
                self._workers.append(self._own.worker)
        worker: WorkerProcess = self._own.worker
        return worker


CALLS: Final = LimitedCalls()
"""For texts that anyone may send."""
atexit.register(CALLS.close)
