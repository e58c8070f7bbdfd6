"""Terminal output: progress, lines as wide as it and in its colours; once a run has a folder, also to its ``log.txt``.

Output may contain names and texts of untrusted files. It is escaped here, so that it cannot send commands to the
terminal, imitate a line of this program, or fail to be encoded.
"""

import io
import logging
import os
import re
import shutil
import sys
import time
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from data_prep.errors import one_line, printable
from data_prep.files.access import append_regular
from data_prep.installation import OUTER

if TYPE_CHECKING:
    from tqdm import tqdm

STANDARD_OUTPUT: Final = "standard output"
"""Named in errors of writing to it."""
_lost: Final[list[OSError]] = []
"""The error since which standard output is not written."""
PATIENCE: Final = 0.5
"""Seconds after which the bar appears."""
_log = logging.getLogger("experiments")

_COLOUR: Final = re.compile(r"(\x1b\[(?:0|1|2|32|36)m)")
_ROOMS: Final = frozenset(
    {"data_prep", "modeling", "galm", "baselines", "training", "evaluation", "experiments", "search"}
)


class _ConcernsUser(logging.Filter):
    """Lets pass what this program logs, and each warning once, also those of libraries."""

    def __init__(self) -> None:
        super().__init__()
        self._warned: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return record.name.removeprefix(OUTER).partition(".")[0] in _ROOMS
        text = record.getMessage()
        new = text not in self._warned
        self._warned.add(text)
        return new


class _Printable(logging.Formatter):
    """Escapes a record and formats it as one line, unless it comes from :func:`show`."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        if not hasattr(record, "painted"):
            record.message = one_line(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        if not getattr(record, "painted", False):
            return printable(text)
        return "".join(part if _COLOUR.fullmatch(part) else printable(part) for part in _COLOUR.split(text))


class _Terminal(logging.Handler):
    """Writes to standard output, above a progress bar if there is one; warnings are labelled.

    If it cannot be written, the work goes on without it, and :func:`end_output` has the error.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(_Printable())

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        named = text if record.levelno < logging.WARNING else f"{record.levelname.lower()}: {text}"
        try:
            _write(_writable(named, sys.stdout))
        except OSError as error:
            _lose(error)


def _write(line: str) -> None:
    """Write a line to standard output, above a progress bar if there can be one."""
    if "tqdm" in sys.modules:
        from tqdm import tqdm

        tqdm.write(line, file=sys.stdout)
    else:
        sys.stdout.write(f"{line}\n")


def _lose(error: OSError) -> None:
    """Write no more to standard output, which Python would also try at its exit."""
    _lost.append(error)
    sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115


class _LogFile(logging.FileHandler):
    """Appends to a regular file without blocking; if the disk is full, this is reported once, and the run goes on."""

    def _open(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(append_regular(self.baseFilename), encoding="utf-8")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
            return
        complain(f"warning: {error.strerror}: {self.baseFilename}; the log is not continued")
        logging.getLogger().removeHandler(self)

    def close(self) -> None:
        with suppress(OSError):  # already reported
            super().close()


def open_terminal() -> None:
    """Send the output and the log messages of this program to the terminal, and Python's warnings as one line each."""
    root = logging.getLogger()
    terminal = next((each for each in root.handlers if isinstance(each, _Terminal)), None)
    if terminal is None:
        terminal = _Terminal()
        root.addHandler(terminal)
    terminal.filters = [_ConcernsUser()]  # without the warnings of a command before
    warned: set[str] = set()

    def show_warning(message: Warning | str, category: type[Warning], path: str, line: int, *_: object) -> None:
        text = f"warning: {message} ({category.__name__} at {path}:{line})"
        if text not in warned:
            warned.add(text)
            complain(text)

    warnings.showwarning = show_warning  # type: ignore[assignment]
    for room in _ROOMS:
        logging.getLogger(room).setLevel(logging.INFO)


def be_silent() -> None:
    """Print nothing, for all but the first of several processes."""
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, _Terminal)]:
        root.removeHandler(handler)
    root.addHandler(logging.NullHandler())


def say(line: str) -> None:
    """Print a line for the user; line breaks within it are escaped."""
    _log.info("%s", line)


def show(text: str, *, painted: bool = False) -> None:
    """Print several lines for the user, such as a table.

    Args:
        text: the lines; untrusted parts of them should not contain line breaks.
        painted: whether ``text`` may contain colours. Untrusted parts of it then have to be escaped already.
    """
    _log.info("%s", text, extra={"painted": painted})


def end_output() -> OSError | None:
    """Write what waits to be written; returns the error if standard output could not be written, now or before."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _lose(error)
    if not _lost:
        return None
    first = _lost[0]
    _lost.clear()
    return OSError(first.errno, first.strerror, STANDARD_OUTPUT)


def complain(line: str) -> None:
    """Print one line on standard error, if possible."""
    with suppress(OSError):
        sys.stderr.write(f"{_writable(one_line(line), sys.stderr)}\n")


def _writable(text: str, stream: TextIO) -> str:
    """``text`` with escapes for characters that the stream's encoding lacks."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


@contextmanager
def logged_to(path: Path) -> Iterator[None]:
    """Also append the output to ``path``, with the time of each line.

    Raises:
        OSError: it cannot be written, or is not a regular file.
    """
    handler = _LogFile(path)
    handler.setFormatter(_Printable("%(asctime)s %(levelname)s %(message)s"))
    handler.addFilter(_ConcernsUser())
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()


@contextmanager
def progress(what: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how much of ``total`` is done; yields what is called with how many more there are.

    tqdm is imported when the bar appears: that takes longer than reading a small tree.
    """
    done, started = 0, time.monotonic()
    bar: tqdm[Any] | None = None

    def update(more: int) -> None:
        nonlocal bar, done
        done += more
        if bar is not None:
            bar.update(more)
        elif sys.stderr.isatty() and time.monotonic() - started > PATIENCE:
            from tqdm import tqdm

            bar = tqdm(desc=what, total=total, unit=f" {unit}", initial=done)

    try:
        yield update
    finally:
        if bar is not None:
            bar.close()


BOLD, DIM, GREEN, CYAN = "1", "2", "32", "36"
Paint = Callable[[str, str], str]
"""Makes a text printable, in a colour."""
_IN_A_PIPE: Final = 110
"""Cells of a line where there is no terminal."""
_LEAST: Final = 40
_MOST: Final = 160
_CUT: Final = "..."
_TAB: Final = 4


def painter() -> Paint:
    """What makes text printable, and colours it on a terminal that has colours, unless ``NO_COLOR`` is set."""
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        return lambda code, text: f"\x1b[{code}m{one_line(text)}\x1b[0m"
    return lambda _, text: one_line(text)


def line_width() -> int:
    """Cells of a line: those of the terminal, within reason, or as many as fit most."""
    if not sys.stdout.isatty():
        return _IN_A_PIPE
    return max(_LEAST, min(shutil.get_terminal_size((80, 24)).columns, _MOST))


def cells(text: str) -> int:
    """How many cells of a terminal a text takes: two for a wide character, none for one above another."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def cut(text: str, width: int, seen: int = 0) -> str:
    """A text on one line of at most ``width`` cells, printable, with tabs as spaces.

    ``seen``: where in the text something is that has to be seen: what is before it is cut then, if need be.
    """
    plain = one_line(text.replace("\t", " " * _TAB))
    if cells(plain) <= width:
        return plain
    seen += (_TAB - 1) * text.count("\t", 0, seen)
    if seen > width - 2 * len(_CUT):
        first = seen - width // 3
        if plain.isascii():  # else what is seen might be cut at the end
            first = min(first, len(plain) - width + len(_CUT))
        return _CUT + cut(plain[first:], width - len(_CUT))
    left, end = width - len(_CUT), 0
    while end < len(plain) and (left := left - _cells_of(plain[end])) >= 0:
        end += 1
    return plain[:end].rstrip() + _CUT


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
