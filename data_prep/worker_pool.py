"""Applies a function to many items in several processes, with results in the items' order.

The processes are those of :mod:`data_prep.worker_process`, which end with their parent.

With a :class:`Guard` an item that ends its process, by what it costs (:mod:`data_prep.item_limits`) or by a fault of a
parser, costs that item alone: another process takes the place of the ended one.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Final

from data_prep.files.reading import reason
from data_prep.item_limits import FILE, Limits
from data_prep.worker_process import EndedByItemError, WorkerProcess, resolve

_AHEAD: Final = 2
"""Items in progress or waiting, per process."""
_LOOK: Final = 0.2
"""Seconds between checks that the main thread is alive."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What becomes of an item that ends its process."""

    divided: Callable[[Any], Sequence[Any]]  # into the least items, which are tried one by one
    joined: Callable[[Sequence[Any]], Any]  # their results as that of the whole item
    refused: Callable[[Any], Any]  # the result of a least item that ends its process again
    limits: Limits = FILE


def processors() -> int:
    """Number of CPUs available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
    ones at the end; after an error none.

    Raises:
        ChildProcessError: a process was killed, or none could be started.
        UserError: ``function`` raised one; other errors become a RuntimeError with their traceback.
    """
    if processes == 1 and guard is None:
        call = resolve(function)
        yield lambda item: take(call(item))
        return
    pool, waiting = _Pool(function, processes, guard), deque[Future[Any]]()

    def push(item: Any) -> None:
        waiting.append(pool.submit(item))
        if len(waiting) >= _AHEAD * processes:
            take(waiting.popleft().result())

    try:
        pool.start()
        yield push
        while waiting:
            take(waiting.popleft().result())
    finally:
        pool.end()


class _Pool:
    """Processes, with one thread per process that waits for it.

    Ctrl-C can interrupt the main thread anywhere, also in a ``finally``, so the main thread neither starts nor ends
    processes: another thread does, which receives no signals, and which ends all processes at the latest when the main
    thread ends. Python waits for this thread before exiting.
    """

    def __init__(self, function: str, processes: int, guard: Guard | None) -> None:
        self._function, self._processes, self._guard = function, processes, guard
        self._threads = ThreadPoolExecutor(processes)
        self._workers: list[WorkerProcess] = []
        self._starting = threading.Lock()  # no process may start once they are being ended
        self._closed = False
        self._idle: SimpleQueue[WorkerProcess | None] = SimpleQueue()  # None: no process could be started
        self._over = threading.Event()
        self._trouble = "the work is over"
        self._keeper = threading.Thread(target=self._keep)

    def start(self) -> None:
        self._keeper.start()

    def submit(self, item: Any) -> Future[Any]:
        return self._threads.submit(self._run, item)

    def end(self) -> None:
        """End the processes, and wait until they have exited."""
        self._over.set()
        with suppress(RuntimeError):  # interrupted before it started, so there are no processes
            self._keeper.join()

    def _run(self, item: Any) -> Any:
        """The result of an item, or of its least parts if it ends its process."""
        try:
            return self._tried(item)
        except EndedByItemError:
            if self._guard is None:
                raise
            return self._guard.joined([self._least(part) for part in self._guard.divided(item)])

    def _least(self, item: Any) -> Any:
        assert self._guard is not None
        try:
            return self._tried(item)
        except EndedByItemError:
            return self._guard.refused(item)

    def _tried(self, item: Any) -> Any:
        worker = self._idle.get()
        try:
            if worker is None:
                raise ChildProcessError(f"no process that prepares data could be started: {self._trouble}")
            return worker.run(item)
        except EndedByItemError:
            if self._guard is not None and worker is not None:
                worker = self._in_place_of(worker)
            raise
        finally:
            self._idle.put(worker)

    def _started(self) -> WorkerProcess | None:
        """Another process; None if the work is over, or none can be started."""
        with self._starting:
            if self._closed:
                return None
            try:
                self._workers.append(WorkerProcess(self._function, self._guard.limits if self._guard else None))
            except OSError as error:
                self._trouble = reason(error)
                return None
            return self._workers[-1]

    def _in_place_of(self, ended: WorkerProcess) -> WorkerProcess | None:
        with self._starting:
            if not self._closed:
                self._workers.remove(ended)
                ended.close()
        return self._started()

    def _keep(self) -> None:
        """Start the processes, and end them when the work is over."""
        try:
            self._begin()
            while not self._over.wait(_LOOK) and threading.main_thread().is_alive():
                pass
        finally:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._idle.put(None)
            with self._starting:
                self._closed = True
            for worker in self._workers:
                worker.child.kill()
            self._threads.shutdown()
            for worker in self._workers:
                worker.close()

    def _begin(self) -> None:
        while len(self._workers) < self._processes and not self._over.is_set():
            worker = self._started()
            self._idle.put(worker)
            if worker is None:
                return
