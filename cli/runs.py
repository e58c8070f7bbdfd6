"""The commands about one run: ``DATASET MODEL``, ``prepare``, ``evaluate``."""

import shlex
from collections.abc import Sequence

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from data_prep.registry import DATASETS
from experiments.recipes import config
from experiments.recipes.own_model import add_own_model, own_model_in
from experiments.terminal import console
from experiments.terminal.options import unknown


def train(arguments: Sequence[str]) -> None:
    """Train a model on a data set and test it.

    Raises:
        UserError: there is no such data set, model or option, or the data are not available.
    """
    words, typed, own = _split(arguments)
    words += [own] if own else []
    if len(words) != 2:
        raise UserError(f"expected a data set and a model, such as {words[0]} galm; got {' '.join(words)}")
    plan = config.resolve(words[0], words[1], typed)
    if plan.evaluate.shards not in (1, plan.train.processes):
        raise UserError(
            f"--evaluate.shards={plan.evaluate.shards} is for `bash run.sh evaluate`: a run trains and tests in its "
            "--train.processes"
        )
    from experiments.run.launch import together
    from experiments.run.resume import processes_of
    from experiments.run.run import run

    with together(processes_of(plan)):
        run(plan, typed)


def prepare(arguments: Sequence[str]) -> None:
    """Prepare a data set.

    Raises:
        UserError: there is no such data set or option, or the data are not available.
    """
    words, typed = config.split_run_arguments(arguments)
    if len(words) != 1:
        raise UserError("expected a data set: bash run.sh prepare DATASET")
    if words[0] not in DATASETS:
        raise unknown("data set", words[0], list(DATASETS))
    for name in typed:
        if not name.startswith("data."):
            raise UserError(f"bash run.sh prepare takes options of section data, such as --data.path=, not --{name}")
    plan = config.resolve(words[0], "galm", typed)
    from experiments.run.data import add_training_sets, drop_test_overlap, prepare_stage
    from experiments.run.named_parts import check_named

    check_named(plan, trains=True)
    command = shlex.join(["bash", "run.sh", "prepare", *words, *(f"--{name}={text}" for name, text in typed.items())])
    data = prepare_stage(words[0], plan.data, command)
    data = drop_test_overlap(plan, add_training_sets(plan, data, command), command)
    sizes = ", ".join(f"{split} {len(pairs):,}" for split, pairs in data.splits.items())
    console.say(f"{words[0]}: {sizes} pairs in {data.folder}")


def evaluate(arguments: Sequence[str]) -> None:
    """Test a finished run again.

    Raises:
        UserError: there is no such run, or it cannot be tested with these options.
    """
    words, typed, own = _split(arguments)
    if len(words) != 1:
        raise UserError("expected the folder of a run: bash run.sh evaluate RUN_DIR")
    from experiments.run.evaluate import evaluate_run

    evaluate_run(named_path(words[0]), typed, own)


def _split(arguments: Sequence[str]) -> tuple[list[str], dict[str, str], str]:
    """Words and options, and the name of the model of one's own that ``--model=FILE.py:CLASS`` names; "" if none."""
    named = own_model_in(arguments)
    own = add_own_model(named) if named else ""
    words, typed = config.split_run_arguments(arguments, own)
    typed.pop("model", "")
    return words, typed, own
