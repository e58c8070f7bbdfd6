"""What ``run.sh`` calls: parses the command line, runs it, and reports a user's mistake in one line.

Nothing heavy is imported before the command line has been checked.
"""

from data_prep.errors import UserError
from experiments.terminal.interruption import end_silently, run_interruptibly
from experiments.terminal.standard_streams import open_standard_streams

if __name__ == "__main__":
    end_silently()  # nothing has started yet that Ctrl-C could break
    open_standard_streams()

import errno
import os
import sys
from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Final

from cli.commands import COMMANDS, FORMER_NAMES, TRAIN
from cli.libraries import keep_libraries_apart
from data_prep.files.named_paths import named_path
from data_prep.files.reading import FULL, MANY_OPEN
from data_prep.registry import DATASETS
from experiments.terminal import console
from experiments.terminal.options import unknown


def main(arguments: Sequence[str]) -> int:
    """Run a command line; the exit code is 0, 2 for a mistake, a full disk or full memory, 130 for Ctrl-C.

    Output that cannot be written does not stop the work; it is told at the end, unless its reader has gone.
    """
    keep_libraries_apart()
    code = 0
    try:
        console.open_terminal()
        run_command(arguments)
    except BaseException as error:
        code = _told(error)
    lost = console.end_output()
    return _told(lost) if lost and not code else code


def _told(error: BaseException) -> int:
    """Print why a command line ended, and return its exit code; an error that is no user's mistake is raised again."""
    if isinstance(error, KeyboardInterrupt):
        console.complain("stopped by Ctrl-C")
        return 130
    if isinstance(error, BrokenPipeError):
        return 0
    if os.environ.get("GALM_TRACEBACK"):
        raise error
    if _is_full_memory(error):
        console.complain("galm: out of memory: choose smaller sizes, such as of words, vectors, batches or pools")
        return 2
    if not isinstance(error, ValueError | OSError):
        raise error
    console.complain(f"galm: {_in_one_line(error)}")
    return 2


def run_command(arguments: Sequence[str]) -> None:
    """Run a command line.

    Raises:
        UserError: it asks for something that does not exist.
    """
    named_path(".")  # if the current folder was deleted, torch would end the program without a message
    words = [each for each in arguments if not each.startswith("-")]
    if not arguments or arguments[0] == "help" or {"--help", "-h"} & set(arguments):
        from cli.help import help_lines  # reads the configurations of all models

        console.show("\n".join(help_lines(words[1:] if words[:1] == ["help"] else words)))
        return
    if not words:
        raise UserError("expected a data set and a model, such as jdk galm, or a command: see `bash run.sh help`")
    if words[0] in FORMER_NAMES:
        raise UserError(f"{words[0]} is now called {FORMER_NAMES[words[0]]}: bash run.sh {FORMER_NAMES[words[0]]}")
    if words[0] not in DATASETS and words[0] not in COMMANDS:
        raise unknown("data set or command", words[0], [*DATASETS, *COMMANDS])
    run = (TRAIN if words[0] in DATASETS else COMMANDS[words[0]]).run
    resolve_name(run)(arguments if words[0] in DATASETS else _without(words[0], arguments))


def _without(name: str, arguments: Sequence[str]) -> list[str]:
    """``arguments`` without the command's name, which may come after options."""
    place = arguments.index(name)
    return [*arguments[:place], *arguments[place + 1 :]]


def _in_one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return _cut(f"{error.strerror}{where}{_what_to_do(error)}")
    return _cut((" ".join(str(error).split()) or type(error).__name__) + _what_to_do(error))


def _cut(line: str) -> str:
    """``line``, without its middle if it is too long to read, such as one with a path of thousands of characters."""
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE // 2]} ... {line[-_LONGEST_LINE // 3 :]}"


def _is_full_memory(error: BaseException | None) -> bool:
    """Whether Python, the loader of libraries or torch, on the CPU or a GPU, got no memory, or a cause of ``error``."""
    if isinstance(error, RuntimeError | ImportError) or (isinstance(error, OSError) and error.errno is None):
        return any(said in str(error) for said in _FULL_MEMORY) or _is_full_memory(error.__cause__)
    return isinstance(error, MemoryError) or (error is not None and _is_full_memory(error.__cause__))


_FULL_MEMORY: Final = ("allocate memory", "out of memory", "failed to map segment", "can't start new thread")
_LONGEST_LINE: Final = 380
_ADVICE: Final[dict[int | None, str]] = {
    **dict.fromkeys(FULL, "free some space"),
    **dict.fromkeys(MANY_OPEN, "raise the limit of open files (ulimit -n)"),
    errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
    errno.ENOMEM: "free some memory",
    errno.EIO: "check the disk",
}


def _what_to_do(error: BaseException | None) -> str:
    """The advice for an error of the machine, whether the error or its cause reports it; "" for other errors."""
    number = getattr(error, "errno", None) or getattr(error and error.__cause__, "errno", None)
    return f"; {_ADVICE[number]} and run it again" if number in _ADVICE else ""


if __name__ == "__main__":
    sys.exit(run_interruptibly(main, sys.argv[1:]))
