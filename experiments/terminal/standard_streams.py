"""Standard input, output and error where they are closed, or cannot be written. Light to import: it comes first."""

import os
import sys
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
