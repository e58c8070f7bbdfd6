"""The one place that prints: lines go to the terminal and, once a run has a folder, to its ``log.txt``."""

import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tqdm import tqdm

from data_prep.regular_files import append_regular

_log = logging.getLogger("experiments")


_ROOMS: Final = frozenset(
    {"data_prep", "matching", "galm", "baselines", "training", "evaluation", "experiments", "search"}
)


def _concerns_user(record: logging.LogRecord) -> bool:
    """Ours, or a warning of a library."""
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] in _ROOMS


class _Terminal(logging.Handler):
    """Writes to standard output, above a progress bar where there is one; warnings are named as such."""

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        tqdm.write(text if record.levelno < logging.WARNING else f"{record.levelname.lower()}: {text}", file=sys.stdout)


class _LogFile(logging.FileHandler):
    """Adds to a regular file, and waits for no other."""

    def _open(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(append_regular(self.baseFilename), encoding="utf-8")


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


def say(text: str) -> None:
    """Tell the user a line or a few."""
    _log.info("%s", text)


def complain(text: str) -> None:
    """One line on standard error; the log has it too."""
    sys.stderr.write(f"{text}\n")


@contextmanager
def logged_to(path: Path) -> Iterator[None]:
    """Append what is said to ``path`` as well, with the time of each line.

    Raises:
        OSError: it cannot be written, or is no regular file.
    """
    handler = _LogFile(path)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    handler.addFilter(_concerns_user)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
