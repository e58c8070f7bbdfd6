"""Commands about runs and data: ``DATASET MODEL``, ``prepare``, ``corpus``, ``evaluate``, ``context``, ``board``."""

import contextlib
import io
import os
import shlex
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from cli.weights import export_run
from data_prep.config import DATASETS
from data_prep.errors import UserError, unexpected
from data_prep.files.access import check_folder_place, check_replaceable_folder, named_path
from experiments.context.options import ContextOptions
from experiments.recipes import config
from experiments.terminal import console
from experiments.terminal.options import parsed, unknown

CORPORA = ("repositories", "seven_languages", "installed")
BEIR_MARK = "corpus.jsonl"
_OF_TENSORBOARD = ("tensorboard.program", "tensorboard.default", "tensorboard.plugins.base_plugin")


def train(arguments: Sequence[str]) -> None:
    """Train a model on a data set and test it.

    Raises:
        UserError: there is no such data set, model or option, or the data are not available.
    """
    words, typed, own = _split(arguments)
    words += [own] if own else []
    if len(words) != 2:
        raise unexpected(f"a data set and a model, such as {words[0]} galm", words)
    if any(name.startswith("sweep.") for name in typed):
        _sweep(words[0], words[1], typed)
        return
    plan = config.resolve(words[0], words[1], typed)
    if plan.evaluate.shards not in (1, plan.train.processes):
        raise UserError(
            f"--evaluate.shards={plan.evaluate.shards} is for `bash run.sh evaluate`: a run trains and tests in its "
            "--train.processes"
        )
    from experiments.run.run import processes_of, run
    from modeling.distributed import together

    with together(processes_of(plan), console.be_silent):
        run(plan, typed)


def _sweep(dataset: str, model: str, typed: Mapping[str, str]) -> None:
    """Train and test a model with every combination of the values of ``--sweep.*``, and show the table."""
    from experiments.tables.run_pages import sweep_table, write_sweep
    from experiments.tables.sweep import Sweep, run_sweep

    sweep = Sweep.of(dataset, model, typed)
    try:
        run_sweep(sweep)
    finally:
        table = sweep_table(sweep)
        if table.rows:
            files = write_sweep(sweep, table)
            console.show(f"\n{table.markdown}\n\n{', '.join(map(str, files))}")


def prepare(arguments: Sequence[str]) -> None:
    """Prepare a data set.

    Raises:
        UserError: there is no such data set or option, or the data are not available.
    """
    words, typed = config.split_run_arguments(arguments)
    if len(words) != 1:
        raise unexpected("a data set: bash run.sh prepare DATASET", words)
    if words[0] not in DATASETS:
        raise unknown("data set", words[0], list(DATASETS))
    _check_data_options("prepare", typed)
    plan = config.resolve(words[0], "galm", typed)
    from experiments.run.data import add_training_sets, drop_test_overlap, prepare_stage
    from experiments.run.testing import check_named

    check_named(plan, trains=True)
    command = shlex.join(["bash", "run.sh", "prepare", *words, *(f"--{name}={text}" for name, text in typed.items())])
    data = prepare_stage(words[0], plan.data, command)
    data = drop_test_overlap(plan, add_training_sets(plan, data, command), command)
    sizes = ", ".join(f"{split} {len(pairs):,}" for split, pairs in data.splits.items())
    console.say(f"{words[0]}: {sizes} pairs in {data.folder}")


def export(arguments: Sequence[str]) -> None:
    """Write a data set in the form of BEIR and CoIR, or the model of a run.

    Raises:
        UserError: there is no such data set, run or option, or the folder has other content, or the data.
    """
    named = [word for word in arguments if not word.startswith("--")][:1]
    if named and named[0] not in DATASETS and ("/" in named[0] or named_path(named[0]).exists()):
        return export_run(arguments)
    words, typed = config.split_run_arguments(arguments)
    if len(words) != 1 or "out" not in typed:
        raise unexpected("a data set or a run, and a folder: bash run.sh export DATASET|RUN --out=DIR", words)
    if words[0] not in DATASETS:
        raise unknown("data set", words[0], list(DATASETS))
    _check_data_options("export", [name for name in typed if name != "out"])
    plan = config.resolve(words[0], "galm", typed)
    out = named_path(plan.out)
    check_replaceable_folder(out, "--out", BEIR_MARK)
    from data_prep.config import data_set

    if any(out.resolve() in path.resolve().parents for path in data_set(words[0], plan.data).inputs()):
        raise UserError(f"--out={out} has the data that are read, which would be lost: name another folder")
    from data_prep.sources.pair_files import write_beir
    from experiments.run.data import prepare_stage

    data = prepare_stage(words[0], plan.data, shlex.join(["bash", "run.sh", "export", *arguments]))
    wrote = ", ".join(f"{number:,} {what}" for what, number in write_beir(data, out).items())
    console.say(f"{words[0]}: {wrote} in {out}")
    return None


def corpus(arguments: Sequence[str]) -> None:
    """Print the statistics of a corpus, and write them as a page and a picture.

    Raises:
        UserError: there is no such corpus or option, or its source trees are not available.
    """
    words, typed = config.split_run_arguments(arguments)
    if len(words) != 1 or words[0] not in CORPORA:
        raise unexpected(f"a corpus: bash run.sh corpus {'|'.join(CORPORA)}", words)
    _check_data_options("corpus", typed)
    from data_prep.config import data_set
    from data_prep.files.writing import write_atomically
    from data_prep.installation import processors
    from data_prep.pipeline.shards import measured_lengths, statistics
    from experiments.corpus_statistics import corpus_picture, corpus_tables

    plan = config.resolve(words[0], "galm", typed)
    data = replace(plan.data, root=str(config.REPOSITORY / plan.data.root))
    shards = [path for path in data_set(words[0], data).inputs() if path.suffix == ".gz"]
    found, lengths = statistics(shards), measured_lengths(shards, data.processes or processors())
    page, folder = corpus_tables(words[0], found, lengths), Path(data.root) / "raw" / words[0]
    write_atomically(folder / "statistics.md", page)
    write_atomically(folder / "statistics.png", corpus_picture(found, lengths))
    console.show(f"{page}\n{folder / 'statistics.md'}, {folder / 'statistics.png'}")


def evaluate(arguments: Sequence[str]) -> None:
    """Test a finished run again.

    Raises:
        UserError: there is no such run, or it cannot be tested with these options.
    """
    words, typed, own = _split(arguments)
    if len(words) != 1:
        raise unexpected("the folder of a run: bash run.sh evaluate RUN_DIR", words)
    from experiments.run.run import evaluate_run

    evaluate_run(named_path(words[0]), typed, own)


def context(arguments: Sequence[str]) -> None:
    """Test finished runs with the contexts of their queries and with others.

    Raises:
        UserError: no run is named, a run is not finished, or an option is wrong.
    """
    words, options = parsed(arguments, ContextOptions)
    if not words:
        raise unexpected("finished runs: bash run.sh context RUN_DIR [RUN_DIR ...]", words)
    if options.save:
        check_folder_place(named_path(options.save), "--save")
    from experiments.context.measure import context as measure
    from experiments.recipes.own_models import add_own_model

    if options.model:
        add_own_model(options.model)

    for word in words:
        measure(Path(word), options)


def board(arguments: Sequence[str]) -> None:
    """Name the newest run, and become TensorBoard over all runs, or those of a folder, on this machine only.

    Raises:
        UserError: there is no such folder, or no such option of TensorBoard.
    """
    import_module("tensorboard")  # what is not installed is said
    named = arguments[:1] if arguments and not arguments[0].startswith("-") else []
    options = [*arguments[len(named) :]]
    for option in [each for each in options if each.startswith("--logdir=")]:
        options.remove(option)
        named = [option.partition("=")[2]]
    runs = named_path(named[0]) if named else config.REPOSITORY / "runs"
    if named and not runs.is_dir():
        raise UserError(f"expected a folder of runs, got {runs}: bash run.sh board [DIR] [TensorBoard options]")
    server = ["--logdir", str(runs), "--host", "localhost", *options]
    if options:
        _check_tensorboard(server)
    events = max(runs.rglob("events.out.tfevents.*"), key=lambda path: path.stat().st_mtime, default=None)
    newest = f"the newest run is {events.parent.relative_to(runs)}" if events else "there are no runs yet"
    console.say(f"showing {runs}; {newest}; stop with Ctrl-C")
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "tensorboard.main", *server])


def _check_tensorboard(options: Sequence[str]) -> None:
    """Check the options of TensorBoard, whose own message would have twenty lines.

    Raises:
        UserError: there is no such option, or not of that value.
    """
    told = io.StringIO()
    with contextlib.redirect_stderr(told), warnings.catch_warnings(action="ignore"):
        program, default, plugins = map(import_module, _OF_TENSORBOARD)
        try:
            program.TensorBoard(default.get_plugins()).configure(["", *options])
        except plugins.FlagsError as error:
            raise UserError(f"tensorboard: error: {error}") from error
        except SystemExit as error:
            if error.code:
                raise UserError(told.getvalue().strip().rpartition("\n")[2]) from error
            raise


def _check_data_options(command: str, typed: Iterable[str]) -> None:
    for name in typed:
        if not name.startswith("data."):
            raise UserError(f"bash run.sh {command} takes options of section data, such as --data.path=, not --{name}")


def _split(arguments: Sequence[str]) -> tuple[list[str], dict[str, str], str]:
    """Words and options, and the name of the model of one's own that ``--model=FILE.py:CLASS`` names; "" if none."""
    own = config.own_model_in(arguments)
    if own:
        from experiments.recipes.own_models import add_own_model  # needs torch

        own = add_own_model(own)
    words, typed = config.split_run_arguments(arguments, own)
    typed.pop("model", "")
    return words, typed, own
