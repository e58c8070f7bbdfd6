"""Delays Ctrl-C until the current step is complete."""

import contextlib
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any


class HeldInterrupt:
    """Context manager that delays the first Ctrl-C and sets ``pending``; a second one interrupts at once.

    Outside the main thread, where Python delivers no signals, it does nothing.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.pending = False
        self._say = say
        self._before: Any = None

    def __enter__(self) -> "HeldInterrupt":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        if self.pending:
            raise KeyboardInterrupt
        self.pending = True
        with contextlib.suppress(RuntimeError):  # the signal may have come in the middle of a line being written
            self._say("stopping after this step, with a checkpoint (Ctrl-C again: at once, without)")
