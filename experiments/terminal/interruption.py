"""Handling of Ctrl-C: an exception while a command runs, a silent exit before and after.

An exception during an import may be converted to another error, or abort the process in a C++ library, so it is
delayed until the import is done; a second Ctrl-C is not delayed. If the parent process has set Ctrl-C to be ignored,
as a shell does for background jobs, it remains ignored. Light to import, since this is imported first.
"""

import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Final

_LATER: Final = 0.05
"""Seconds until a delayed Ctrl-C is tried again."""
_IMPORTS: Final = "<frozen importlib._bootstrap>"
_waiting: Final[list[int]] = []
"""Signals that are delayed."""


def end_silently() -> None:
    """From now on Ctrl-C ends the process silently; a delayed one does so at once."""
    if signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, signal.SIG_DFL):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 0)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def run_interruptibly(main: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    """Run ``main``, in which Ctrl-C raises KeyboardInterrupt; returns its exit code, or 130 if that is not caught."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        return main(arguments)
    sys.unraisablehook = _unraisable
    try:
        try:
            signal.signal(signal.SIGALRM, _strike)
            signal.signal(signal.SIGINT, _pressed)
            return main(arguments)
        finally:
            end_silently()
    except KeyboardInterrupt:
        return 130
    finally:
        end_silently()


def _pressed(number: int, frame: FrameType | None) -> None:
    if _waiting:
        end_silently()
        signal.raise_signal(number)
    _strike(number, frame)


def _strike(number: int, frame: FrameType | None) -> None:
    while frame and frame.f_code.co_filename != _IMPORTS:
        frame = frame.f_back
    if frame is None:
        _waiting.clear()
        raise KeyboardInterrupt
    _waiting.append(number)
    signal.setitimer(signal.ITIMER_REAL, _LATER)


def _unraisable(lost: Any) -> None:
    """Try again where Python only prints the interrupt and continues, as in a finaliser."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _LATER)
    else:
        sys.__unraisablehook__(lost)
