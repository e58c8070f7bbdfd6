"""What ``run.sh`` calls: reads the command line, runs it, and turns a user's mistake into one line.

Nothing heavy is imported before the command line is known to be right.
"""

from terminal.interruption import end_silently, run_interruptibly

if __name__ == "__main__":
    end_silently()  # nothing has begun yet that Ctrl-C could break

import errno
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pkgutil import resolve_name
from typing import Final

from cli.help import help_lines
from data_prep.files.atomic import FULL
from data_prep.files.named_paths import named_path
from data_prep.registry import DATASETS
from experiments.speed.config import resolve_speed
from recipes import config
from recipes.models import COMMANDS
from terminal import console
from terminal.options import split_arguments, unknown


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
    if not arguments or arguments[0] == "help" or {"--help", "-h"} & set(arguments):
        console.show("\n".join(help_lines()))
        return
    if arguments[0] in COMMANDS:
        resolve_name(COMMANDS[arguments[0]].run)(arguments[1:])
        return
    words, typed = split_arguments(arguments)
    if not words:
        raise ValueError("expected a data set and a model, such as jdk galm, or a command: see `bash run.sh help`")
    command = _COMMANDS.get(words[0])
    if command:
        command(words[1:], typed)
    else:
        _train(words, typed)


def _train(words: Sequence[str], typed: Mapping[str, str]) -> None:
    known_dataset(words[0])
    if len(words) != 2:
        raise ValueError(f"expected a data set and a model, such as {words[0]} galm; got {' '.join(words)}")
    plan = config.resolve(words[0], words[1], typed)
    if plan.evaluate.shards not in (1, plan.train.processes):
        raise ValueError(
            f"--evaluate.shards={plan.evaluate.shards} is for `bash run.sh evaluate`: a run trains and tests in its "
            "--train.processes"
        )
    from experiments.run.launch import together
    from experiments.run.resume import processes_of
    from experiments.run.run import run

    with together(processes_of(plan)):
        run(plan, typed)


def _prepare(words: Sequence[str], typed: Mapping[str, str]) -> None:
    if len(words) != 1:
        raise ValueError("expected a data set: bash run.sh prepare DATASET")
    known_dataset(words[0])
    for name in typed:
        if not name.startswith("data."):
            raise ValueError(f"bash run.sh prepare takes options of section data, such as --data.path=, not --{name}")
    plan = config.resolve(words[0], "galm", typed)
    from experiments.run.named_parts import check_named
    from experiments.run.stages import apart_from_tests, prepare_stage, with_extra

    check_named(plan, trains=True)
    command = shlex.join(["bash", "run.sh", "prepare", *words, *(f"--{name}={text}" for name, text in typed.items())])
    data = prepare_stage(words[0], plan.data, command)
    data = apart_from_tests(plan, with_extra(plan, data, command), command)
    sizes = ", ".join(f"{split} {len(pairs):,}" for split, pairs in data.splits.items())
    console.say(f"{words[0]}: {sizes} pairs in {data.folder}")


def _evaluate(words: Sequence[str], typed: Mapping[str, str]) -> None:
    if len(words) != 1:
        raise ValueError("expected the folder of a run: bash run.sh evaluate RUN_DIR")
    from experiments.run.evaluate import evaluate_run

    evaluate_run(named_path(words[0]), typed)


def _compare(words: Sequence[str], typed: Mapping[str, str]) -> None:
    from experiments.tables.main_table import CELLS

    if len(words) != 1 or words[0] not in CELLS:
        raise ValueError(f"expected a part of the main table: bash run.sh compare {'|'.join(CELLS)}")
    from experiments.tables.cells import check_cells, run_cells
    from experiments.tables.query_facts import keep_query_facts
    from experiments.tables.write import RESULTS

    check_cells(CELLS[words[0]], typed)
    keep_query_facts(CELLS[words[0]], RESULTS, typed)
    run_cells(CELLS[words[0]], RESULTS / "main", typed)


def _ablate(words: Sequence[str], typed: Mapping[str, str]) -> None:
    from experiments.ablations.catalogue import ABLATIONS

    if len(words) != 1 or words[0] not in ABLATIONS:
        raise ValueError(f"expected an ablation: bash run.sh ablate {'|'.join(ABLATIONS)}")
    from experiments.ablations.pages import ablation_page, found_by
    from experiments.tables.cells import run_cells
    from experiments.tables.write import RESULTS, kept_results

    cells, folder = ABLATIONS[words[0]].cells, RESULTS / "ablations"
    run_cells(cells, folder, typed)
    if found := found_by(words[0], list(kept_results(cells, folder))):
        console.show(ablation_page(found))


def _tune(words: Sequence[str], typed: Mapping[str, str]) -> None:
    from experiments.ablations.tuning import TUNED, tuning_cells

    if len(words) != 1 or words[0] not in TUNED:
        raise ValueError(f"expected a model that is tuned: bash run.sh tune {'|'.join(TUNED)}")
    from experiments.tables.cells import run_cells
    from experiments.tables.write import RESULTS, tuning

    run_cells(tuning_cells(words[0]), RESULTS / "tuning", typed)
    console.show(tuning(RESULTS))


def _table(words: Sequence[str], typed: Mapping[str, str]) -> None:
    if words or typed:
        raise ValueError("bash run.sh table takes no options")
    from experiments.tables.write import write_tables

    write_tables()


def _speed(words: Sequence[str], typed: Mapping[str, str]) -> None:
    if words == ["search"] and not typed:
        resolve_name("search.speed:measure_search")()
        return
    if words:
        raise ValueError(
            f"bash run.sh speed takes options only, not {' '.join(words)}; `bash run.sh speed search` takes none"
        )
    speed, data = resolve_speed(typed)
    from experiments.speed.measure import measure_speed

    measure_speed(speed, data, typed)


def known_dataset(name: str) -> None:
    """Refuse a data set that there is not.

    Raises:
        ValueError: the message lists those there are.
    """
    if name not in DATASETS:
        raise unknown("data set or command", name, [*DATASETS, *_COMMANDS, *COMMANDS, "test", "board", "help"])


_COMMANDS: Final[dict[str, Callable[[Sequence[str], Mapping[str, str]], None]]] = {
    "prepare": _prepare,
    "evaluate": _evaluate,
    "compare": _compare,
    "ablate": _ablate,
    "tune": _tune,
    "table": _table,
    "speed": _speed,
}


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
