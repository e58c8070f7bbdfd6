"""Ctrl-C for a whole process: an exception while its command runs, a silent end before and after.

An exception in the midst of an import can become any other, or end the process by an abort of a library in C++, so it
waits until the import is done; who presses Ctrl-C twice does not wait. Where whoever started the process has it ignore
Ctrl-C, as a shell does in the background, it goes on ignoring it. Light to import: this comes first of all.
"""

import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Final

_LATER: Final = 0.05
"""Seconds until Ctrl-C is tried again where it could not strike."""
_IMPORTS: Final = "<frozen importlib._bootstrap>"
_waiting: Final[list[int]] = []
"""Ctrl-C that could not strike yet."""


def end_silently() -> None:
    """From now on Ctrl-C ends the process without a word; one that was held back until now does so at once."""
    if signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, signal.SIG_DFL):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 0)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def run_interruptibly(main: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    """The exit code of ``main``, in which Ctrl-C raises KeyboardInterrupt; 130 where that is not caught there."""
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
    """Try again where Python only prints that it was interrupted, as in a finaliser, and would go on."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _LATER)
    else:
        sys.__unraisablehook__(lost)
