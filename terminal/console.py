"""The one place that prints: lines go to the terminal and, once a run has a folder, to its ``log.txt``.

What is printed may hold names and texts of strangers' files. Here all of it becomes printable, so that none of it is a
command to the terminal, passes for a line of ours, or cannot be written.
"""

import io
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TextIO

from tqdm import tqdm

from data_prep.files.printable import one_line, printable
from data_prep.files.reading import append_regular
from data_prep.installation import OUTER

STANDARD_OUTPUT: Final = "standard output"
"""What errors name that come of writing there."""
_log = logging.getLogger("experiments")

_COLOUR: Final = re.compile(r"(\x1b\[(?:0|1|2|32|36)m)")
_ROOMS: Final = frozenset(
    {"data_prep", "modeling", "retrieval", "galm", "baselines", "training", "evaluation", "experiments", "search"}
)


def _concerns_user(record: logging.LogRecord) -> bool:
    """Ours, or a warning of a library."""
    return record.levelno >= logging.WARNING or record.name.removeprefix(OUTER).partition(".")[0] in _ROOMS


class _Printable(logging.Formatter):
    """Makes a record one line, unless :func:`show` says that it has more."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging calls it so
        if not hasattr(record, "painted"):
            record.message = one_line(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        if not getattr(record, "painted", False):
            return printable(text)
        return "".join(part if _COLOUR.fullmatch(part) else printable(part) for part in _COLOUR.split(text))


class _Terminal(logging.Handler):
    """Writes to standard output, above a progress bar where there is one; warnings are named as such."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(_Printable())

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        named = text if record.levelno < logging.WARNING else f"{record.levelname.lower()}: {text}"
        with _naming_the_output():
            tqdm.write(_writable(named, sys.stdout), file=sys.stdout)


class _LogFile(logging.FileHandler):
    """Adds to a regular file, and waits for no other; where it is full, that is told once, and the run goes on."""

    def _open(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(append_regular(self.baseFilename), encoding="utf-8")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
            return
        complain(f"warning: {error.strerror}: {self.baseFilename}; what is printed is no longer kept there")
        logging.getLogger().removeHandler(self)

    def close(self) -> None:
        with suppress(OSError):  # told already
            super().close()


@contextmanager
def _naming_the_output() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, STANDARD_OUTPUT) from error


def open_terminal() -> None:
    """Send what is said, and what libraries of ours report, to the terminal."""
    root = logging.getLogger()
    if not any(isinstance(handler, _Terminal) for handler in root.handlers):
        terminal = _Terminal()
        terminal.addFilter(_concerns_user)
        root.addHandler(terminal)
    for room in _ROOMS:
        logging.getLogger(room).setLevel(logging.INFO)


def be_silent() -> None:
    """Print nothing: of several processes that run the same, the first speaks."""
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, _Terminal)]:
        root.removeHandler(handler)
    root.addHandler(logging.NullHandler())


def say(line: str) -> None:
    """Tell the user a line; ends of lines within it are marked as what does not belong there."""
    _log.info("%s", line)


def show(text: str, *, painted: bool = False) -> None:
    """Show the user several lines, such as a table.

    Args:
        text: the lines; whatever of them is a stranger's should be on one line.
        painted: whether colours may stand in ``text``. It then has to be ours but for parts that are printable.
    """
    _log.info("%s", text, extra={"painted": painted})


def flush() -> None:
    """Bring what was said to where it is read.

    Raises:
        OSError: that is closed, or full.
    """
    with _naming_the_output():
        if sys.stdout:
            sys.stdout.flush()


def complain(line: str) -> None:
    """One line on standard error, if that can be written."""
    with suppress(OSError):
        sys.stderr.write(f"{_writable(one_line(line), sys.stderr)}\n")


def _writable(text: str, stream: TextIO) -> str:
    """``text`` with escapes for the letters that the stream's encoding lacks."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


@contextmanager
def logged_to(path: Path) -> Iterator[None]:
    """Append what is said to ``path`` as well, with the time of each line.

    Raises:
        OSError: it cannot be written, or is no regular file.
    """
    handler = _LogFile(path)
    handler.setFormatter(_Printable("%(asctime)s %(levelname)s %(message)s"))
    handler.addFilter(_concerns_user)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
