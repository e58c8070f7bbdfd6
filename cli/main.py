"""What ``run.sh`` calls: reads the command line, runs it, and turns a user's mistake into one line.

Nothing heavy is imported before the command line is known to be right.
"""

from terminal.interruption import end_silently, run_interruptibly

if __name__ == "__main__":
    end_silently()  # nothing has begun yet that Ctrl-C could break

import errno
import os
import sys
from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Final

from cli.commands import COMMANDS, TRAIN
from cli.help import help_lines
from data_prep.files.atomic import FULL
from data_prep.files.named_paths import named_path
from data_prep.registry import DATASETS
from terminal import console
from terminal.options import unknown


def main(arguments: Sequence[str]) -> int:
    """Run a command line; the exit code is 0, 2 for a mistake, a full disk or full memory, 130 for Ctrl-C."""
    try:
        console.open_terminal()
        run_command(arguments)
        console.flush()
    except BaseException as error:
        return _told(error)
    return 0


def _told(error: BaseException) -> int:
    """The exit code of what ended a command line; what no line can tell is raised again."""
    if isinstance(error, KeyboardInterrupt):
        console.complain("stopped by Ctrl-C")
        return 130
    if isinstance(error, BrokenPipeError) or getattr(error, "filename", None) == console.STANDARD_OUTPUT:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - else Python complains once more at its end
    if isinstance(error, BrokenPipeError):
        return 0
    if os.environ.get("GALM_TRACEBACK"):
        raise error
    if isinstance(error, MemoryError | RuntimeError) and _is_full_memory(error):
        console.complain("galm: memory is full: take smaller sizes, such as of words, vectors, batches or pools")
        return 2
    if not isinstance(error, ValueError | OSError):
        raise error
    console.complain(f"galm: {_in_one_line(error)}")
    return 2


def run_command(arguments: Sequence[str]) -> None:
    """Run a command line.

    Raises:
        ValueError: it asks for something that there is not.
    """
    named_path(".")  # where the current folder was deleted, torch ends the program without a word of ours
    words = [each for each in arguments if not each.startswith("-")]
    if not arguments or arguments[0] == "help" or {"--help", "-h"} & set(arguments):
        console.show("\n".join(help_lines(words[1:] if words[:1] == ["help"] else words)))
        return
    if not words:
        raise ValueError("expected a data set and a model, such as jdk galm, or a command: see `bash run.sh help`")
    if words[0] not in DATASETS and words[0] not in COMMANDS:
        raise unknown("data set or command", words[0], [*DATASETS, *COMMANDS])
    run = (TRAIN if words[0] in DATASETS else COMMANDS[words[0]]).run
    resolve_name(run)(arguments if words[0] in DATASETS else _without(words[0], arguments))


def _without(name: str, arguments: Sequence[str]) -> list[str]:
    """``arguments`` without the command's name, which may stand after options."""
    place = arguments.index(name)
    return [*arguments[:place], *arguments[place + 1 :]]


def _in_one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return _cut(f"{error.strerror}{where}{_what_to_do(error)}")
    return _cut((" ".join(str(error).split()) or type(error).__name__) + _what_to_do(error))


def _cut(line: str) -> str:
    """``line`` without the middle of one that is too long to read, such as of a path of thousands of letters."""
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE // 2]} ... {line[-_LONGEST_LINE // 3 :]}"


def _is_full_memory(error: Exception) -> bool:
    """Whether Python or torch, on the processor or a GPU, could not get the memory that it asked for."""
    return isinstance(error, MemoryError) or any(said in str(error) for said in ("allocate memory", "out of memory"))


_LONGEST_LINE: Final = 380


def _what_to_do(error: BaseException | None) -> str:
    """Where there was no room for what was written, or for what an error of ours tells of."""
    number = getattr(error, "errno", None) or getattr(error and error.__cause__, "errno", None)
    if number not in FULL:
        return ""
    room = "raise the limit of a file's size (ulimit -f)" if number == errno.EFBIG else "free some space"
    return f"; {room} and run it again"


if __name__ == "__main__":
    sys.exit(run_interruptibly(main, sys.argv[1:]))
