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
    workers = [_Worker(function) for _ in range(processes)]
    idle: SimpleQueue[_Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def run(item: Any) -> Any:
        worker = idle.get()
        try:
            return worker.run(item)
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(processes) as threads:
        waiting: deque[Future[Any]] = deque()
        try:
            for item in items:
                waiting.append(threads.submit(run, item))
                if len(waiting) >= _AHEAD * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
            for worker in workers:
                worker.end()


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
            raise ChildProcessError(f"a process that prepares data ended {self._ending()}; run the same again") from error
        if failure:
            raise ChildProcessError(f"a process that prepares data failed: {failure}")
        return result

    def _ending(self) -> str:
        code = self.child.wait()
        return f"by signal {-code} (killed, or memory is full)" if code < 0 else f"with exit code {code}"

    def end(self) -> None:
        """End the process, whatever it is at."""
        self.child.kill()
        self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # what was still to be written has no reader any more


def serve(function: str) -> None:
    """Answer items from standard input on standard output until the input ends."""
    call = _resolve(function)
    items, results = sys.stdin.buffer, sys.stdout.buffer
    gc.disable()  # nothing here makes cycles, and looking for them costs a tenth of the time
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


def _resolve(function: str) -> Callable[[Any], Any]:
    found: Callable[[Any], Any] = pkgutil.resolve_name(function)
    return found
