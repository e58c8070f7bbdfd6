"""Applies a function to many items in several processes, with results in the items' order.

The processes are fresh interpreters that import only the function's module (never the program's main module, which may
load torch). They read from a pipe, so they exit silently and at once when the parent ends for any reason.

With a :class:`Guard` an item that ends its process, by what it costs (:mod:`data_prep.item_limits`) or by a fault of a
parser, costs that item alone: another process takes the place of the ended one.
"""

import gc
import os
import pickle  # only between this program's processes: external data is never unpickled
import pkgutil
import signal
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import IO, Any, Final, NoReturn

from data_prep import item_limits
from data_prep.files.reading import reason
from data_prep.installation import IMPORT_ROOT

_PROGRAM: Final = f"import sys; sys.path.insert(0, sys.argv[1]); from {__name__} import serve; serve(*sys.argv[2:])"
_AHEAD: Final = 2
"""Items in progress or waiting, per process."""
_LOOK: Final = 0.2
"""Seconds between checks that the main thread is alive."""
_BY_THE_ITEM: Final = (signal.SIGPROF, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
"""How a process ends if its item costs too much time or memory, or if a parser fails on it."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What becomes of an item that ends its process."""

    divided: Callable[[Any], Sequence[Any]]  # into the least items, which are tried one by one
    joined: Callable[[Sequence[Any]], Any]  # their results as that of the whole item
    refused: Callable[[Any], Any]  # the result of a least item that ends its process again


class _EndedByItemError(ChildProcessError):
    """A process was ended by its item."""


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
        ChildProcessError: a process was killed or failed, or none could be started.
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
        ChildProcessError: a process was killed or failed, or none could be started.
    """
    if processes == 1 and guard is None:
        call = _resolve(function)
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
        self._workers: list[_Worker] = []
        self._starting = threading.Lock()  # no process may start once they are being ended
        self._closed = False
        self._idle: SimpleQueue[_Worker | None] = SimpleQueue()  # None: no process could be started
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
        except _EndedByItemError:
            if self._guard is None:
                raise
            return self._guard.joined([self._least(part) for part in self._guard.divided(item)])

    def _least(self, item: Any) -> Any:
        assert self._guard is not None
        try:
            return self._tried(item)
        except _EndedByItemError:
            return self._guard.refused(item)

    def _tried(self, item: Any) -> Any:
        worker = self._idle.get()
        try:
            if worker is None:
                raise ChildProcessError(f"no process that prepares data could be started: {self._trouble}")
            return worker.run(item)
        except _EndedByItemError:
            if self._guard is not None and worker is not None:
                worker = self._in_place_of(worker)
            raise
        finally:
            self._idle.put(worker)

    def _started(self) -> "_Worker | None":
        """Another process; None if the work is over, or none can be started."""
        with self._starting:
            if self._closed:
                return None
            try:
                self._workers.append(_Worker(self._function, limited=self._guard is not None))
            except OSError as error:
                self._trouble = reason(error)
                return None
            return self._workers[-1]

    def _in_place_of(self, ended: "_Worker") -> "_Worker | None":
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


class _Worker:
    """One process and the pipes to it."""

    def __init__(self, function: str, *, limited: bool) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, str(IMPORT_ROOT), function, *["limited"] * limited],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,  # Ctrl-C goes only to the parent, which ends its children
        )

    def run(self, item: Any) -> Any:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        try:
            self.child.stdin.write(pickle.dumps(item, pickle.HIGHEST_PROTOCOL))  # at once: dump() writes many parts,
            self.child.stdin.flush()  # and after each this thread waits for Python's lock
            failure, result = pickle.load(self.child.stdout)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            ended = _EndedByItemError if -self.child.wait() in _BY_THE_ITEM else ChildProcessError
            raise ended(f"a process that prepares data ended {self._ending()}; run the same again") from error
        if failure:
            raise ChildProcessError(f"a process that prepares data failed: {failure}")
        return result

    def _ending(self) -> str:
        code = self.child.wait()
        return f"by signal {-code} (killed, or memory is full)" if code < 0 else f"with exit code {code}"

    def close(self) -> None:
        """Wait for the ended process and close the pipes to it."""
        self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe is not None:
                with suppress(OSError):  # the reader of unwritten data is gone
                    pipe.close()


def serve(function: str, limited: str = "") -> NoReturn:
    """Process items from standard input to standard output until the input ends, even in the middle of an item.

    Args:
        function: "package.module:name".
        limited: whether items may cost no more than :mod:`data_prep.item_limits` says; "" for no.
    """
    try:
        call = _resolve(function)
        if limited:
            item_limits.begin()
        _answer(call, sys.stdin.buffer, sys.stdout.buffer)
    except BaseException:  # not Python's exit, which would wait for the reading thread
        _leave(1, traced=True)


def _answer(call: Callable[[Any], Any], source: IO[bytes], results: IO[bytes]) -> NoReturn:
    gc.disable()  # collecting garbage within an item costs a tenth of the time
    gc.freeze()
    sys.stdout = sys.stderr  # a stray print must not end up among the results
    items: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_receive, args=(source, items), daemon=True).start()
    while True:
        item = items.get()
        answer = pickle.dumps(_outcome(call, item), pickle.HIGHEST_PROTOCOL)
        try:
            results.write(answer)
            results.flush()
        except OSError:  # the parent is gone
            _leave(0)
        del item, answer
        gc.collect()


def _outcome(call: Callable[[Any], Any], item: Any) -> tuple[str, Any]:
    """An error message, or "", and the result."""
    try:
        return "", call(item)
    except Exception as error:
        return f"{type(error).__name__}: {error}", None


def _receive(source: IO[bytes], items: SimpleQueue[Any]) -> NoReturn:
    """Receive items from the parent, and exit at once when it is gone."""
    try:
        while True:
            items.put(pickle.load(source))
    except (EOFError, OSError, pickle.UnpicklingError):
        _leave(0)
    except BaseException:
        _leave(1, traced=True)


def _leave(code: int, *, traced: bool = False) -> NoReturn:
    """End this process at once, from any thread; with ``traced``, print the current traceback."""
    if traced:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(code)


def _resolve(function: str) -> Callable[[Any], Any]:
    found: Callable[[Any], Any] = pkgutil.resolve_name(function)
    return found
