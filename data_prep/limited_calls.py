"""Calls with hostile input, which may cost this process neither its time nor its memory.

The function is called in another process, which is kept for the next calls and ended by the kernel if one costs more
than :mod:`data_prep.item_limits` allow: a parser cannot be stopped from inside of the process that calls it.
"""

import atexit
from contextlib import suppress
from queue import Empty, LifoQueue
from typing import Any, Final

from data_prep.item_limits import TEXT, Limits, limited
from data_prep.worker_process import EndedByItemError, WorkerProcess, resolve

PROCESSES: Final = 2
"""Most calls at a time, if not said; others wait."""
_CALL: Final = f"{__name__}:_called"


class LimitedCalls:
    """Processes that are started by the first calls, and end with this one or by :meth:`close`."""

    def __init__(self, limits: Limits = TEXT, processes: int = PROCESSES) -> None:
        """``limits``: of a call; ``processes``: the most at a time."""
        self._limits = limits
        self._free: LifoQueue[WorkerProcess | None] = LifoQueue()  # None: to be started; the last one used is first
        for _ in range(processes):
            self._free.put(None)

    def call(self, function: str, *arguments: Any) -> Any:
        """The result of a function ("package.module:name") for arguments that may be hostile.

        Raises:
            EndedByItemError: it cost too much time or memory, or a parser failed on it.
            ChildProcessError: no process could be started, or it was killed.
            UserError: the function raised one; other errors become a RuntimeError with their traceback.
        """
        process, kept = self._free.get(), False
        try:
            process = process or WorkerProcess(_CALL, self._limits)
            result = process.run((function, arguments))
            kept = True
            return result
        except EndedByItemError as error:
            raise EndedByItemError("it costs too much time or memory") from error
        finally:
            if process and not kept:
                process.end()
            self._free.put(process if kept else None)

    def close(self) -> None:
        """End the processes; a later call starts others."""
        found: list[WorkerProcess | None] = []
        with suppress(Empty):  # those that are in use end when this process does
            while True:
                found.append(self._free.get_nowait())
        for process in found:
            self._free.put(None)
            if process:
                process.end()


CALLS: Final = LimitedCalls()
"""For texts that anyone may send."""
atexit.register(CALLS.close)


def _called(item: tuple[str, tuple[Any, ...]]) -> Any:
    name, arguments = item
    function = resolve(name)
    size = sum(len(each) for each in arguments if isinstance(each, str | bytes))
    with limited(size):
        return function(*arguments)
