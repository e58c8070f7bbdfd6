"""A function over many items in several processes, results in the items' order.

The processes are fresh interpreters that import the function's module only (never the program's main module, which may
load torch). They end with the parent however it ends, since they live on a pipe from it.
"""

import gc
import pickle  # between our own processes only: nothing read from outside is ever unpickled
import pkgutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

_ROOT: Final = Path(__file__).resolve().parents[1]
_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from data_prep.worker_pool import serve; serve(sys.argv[2])"
)
_AHEAD: Final = 2
"""Items under way or waiting, a process."""


def map_ordered(function: str, items: Iterable[Any], processes: int) -> Iterator[Any]:
    """Results of ``function`` ("package.module:name") for each item, in order, a bounded number of items ahead.

    With one process all is done in this one.

    Raises:
        ChildProcessError: a process was killed or failed.
    """
    if processes == 1:
        yield from map(_resolve(function), items)
        return
    with _Pool(function, processes) as pool:
        waiting: deque[Future[Any]] = deque()
        for item in items:
            waiting.append(pool.threads.submit(pool.run, item))
            if len(waiting) >= _AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class _Pool:
    """Processes, and as many threads that each wait for one of them."""

    def __init__(self, function: str, processes: int) -> None:
        self.workers = [_Worker(function) for _ in range(processes)]
        self.threads = ThreadPoolExecutor(processes)
        self.idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self.workers:
            self.idle.put(worker)

    def run(self, item: Any) -> Any:
        worker = self.idle.get()
        try:
            return worker.run(item)
        finally:
            self.idle.put(worker)

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.child.kill()
        self.threads.shutdown(cancel_futures=True)
        for worker in self.workers:
            worker.close()


class _Worker:
    """One process and the pipes to it."""

    def __init__(self, function: str) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, str(_ROOT), function],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,  # Ctrl-C goes to the parent alone, which ends its children
        )

    def run(self, item: Any) -> Any:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        try:
            pickle.dump(item, self.child.stdin, pickle.HIGHEST_PROTOCOL)
            self.child.stdin.flush()
            failure, result = pickle.load(self.child.stdout)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            ending = self._ending()
            raise ChildProcessError(f"a process that prepares data ended {ending}; run the same again") from error
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
                with suppress(OSError):  # what was still to be written has no reader any more
                    pipe.close()


def serve(function: str) -> None:
    """Answer items from standard input on standard output until the input ends."""
    call = _resolve(function)
    items, results = sys.stdin.buffer, sys.stdout.buffer
    gc.disable()  # looking for cycles in the midst of an item costs a tenth of the time
    gc.freeze()
    sys.stdout = sys.stderr  # a stray print must not end up among the results
    while True:
        try:
            item = pickle.load(items)
        except EOFError:
            return
        answer: tuple[str, Any]
        try:
            answer = "", call(item)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}", None
        pickle.dump(answer, results, pickle.HIGHEST_PROTOCOL)
        results.flush()
        del item, answer
        gc.collect()


def _resolve(function: str) -> Callable[[Any], Any]:
    found: Callable[[Any], Any] = pkgutil.resolve_name(function)
    return found
