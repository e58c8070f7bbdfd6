"""What comes first in a process: closed standard streams are opened, and Ctrl-C is handled. Light to import.

Ctrl-C is an exception while a command runs, a silent exit before and after. An exception during an import may be
converted to another error, or abort the process in a C++ library, so it is delayed until the import is done; a second
Ctrl-C is not delayed. If the parent process has set Ctrl-C to be ignored, as a shell does for background jobs, it
remains ignored.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Final, TextIO, cast

_STREAMS: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_standard_streams() -> None:
    """Open what is closed of the standard streams, and let errors of writing to standard error pass.

    Else the next file that is opened, such as an index, would get the number of a closed stream, and what is written to
    the stream. Closed ones become the null device: input is empty, what is written to standard error is lost, and
    writing to standard output fails, since it was asked for.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        if not _is_open(number):
            flags = os.O_WRONLY if name == "stderr" else os.O_RDONLY
            os.set_inheritable(os.open(os.devnull, flags), True)  # it gets the lowest free number, which is this one
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    sys.stderr = cast("TextIO", _Forgiving(sys.stderr))


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


class _Forgiving:
    """A stream whose errors of writing pass, so that no message and no progress bar can stop the work."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            return

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


ENDS_WITH_INPUT: Final = "GALM_ENDS_WITH_INPUT"
"""Environment variable of a process that ends with its parent."""
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


def end_with_input() -> None:
    """If this process was started to end with another, interrupt it when its standard input is closed.

    Its parent holds the other end of standard input, which the system closes when the parent ends for any reason.
    """
    if os.environ.pop(ENDS_WITH_INPUT, ""):
        threading.Thread(target=_end_at_close, daemon=True).start()


def _end_at_close() -> None:
    while os.read(0, 1):
        pass
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    os.kill(os.getpid(), signal.SIGTERM if ignored else signal.SIGINT)


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
