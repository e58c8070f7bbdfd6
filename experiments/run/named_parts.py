"""Checks of the other data sets and rankers that a run names, before anything is prepared, trained or ranked."""

from collections.abc import Iterator, Mapping
from typing import Final

from data_prep.errors import UserError
from data_prep.registry import DATASETS, data_set
from experiments.recipes.config import Configuration
from experiments.recipes.models import is_trained, recipe_of
from experiments.run.data import config_of_other
from experiments.run.stages import CONTROLS
from experiments.terminal.console import say
from experiments.terminal.options import unknown

_OF_TRAINING: Final = ("data.extra_train_sets", "data.exclude_overlap_with", "words.", "loss.", "train.")
"""Prefixes of the options that only trained models use."""
_OF_ALL: Final = ("train.seed", "train.resume", "train.threads", "train.processes", "train.validate_pool")


def check_named(plan: Configuration, *, trains: bool) -> None:
    """Refuse unknown data sets and bad paths of data sets, and a second ranker that cannot be used.

    Args:
        plan: configuration of a run, or of the test of one.
        trains: whether to check the data sets of training too.

    Raises:
        UserError: the message names the option.
    """
    if plan.evaluate.fuse_with:
        check_mix(plan.evaluate.fuse_with)
    for option, typed, name, path in _named(plan, trains=trains):
        if name not in DATASETS:
            raise unknown(f"data set in --{option}", name, list(DATASETS))
        try:
            other = data_set(name, config_of_other(plan.data, name, path))
            if path:  # else it may have to be downloaded, which takes long
                other.inputs()
        except UserError as error:
            reason = str(error).replace("--data.path=/", "/").replace("--data.path=", f"{name}:PATH")
            raise UserError(f"--{option}={typed}: {reason}") from error


def check_mix(name: str) -> None:
    """Refuse a second ranker that does not exist, or that needs training.

    Raises:
        UserError: the message names the option.
    """
    try:
        recipe_of(name)
    except UserError as error:
        raise UserError(f"--evaluate.fuse_with={name}: {error}") from error
    if is_trained(name):
        raise UserError(f"--evaluate.fuse_with takes a ranker without training, such as {CONTROLS[0]}, not {name}")


def tell_without_part(plan: Configuration, typed: Mapping[str, str]) -> None:
    """Report which of the typed options have no effect, since the model is not trained."""
    idle = [f"--{name}" for name in typed if name.startswith(_OF_TRAINING) and name not in _OF_ALL]
    if idle and not is_trained(plan.model_name):
        say(f"without effect, since {plan.model_name} is not trained: {', '.join(idle)}")


def _named(plan: Configuration, *, trains: bool) -> Iterator[tuple[str, str, str, str]]:
    """Option, its text, and name and path of each other data set."""
    data, evaluate = plan.data, plan.evaluate
    options = [
        ("evaluate.extra_tests", evaluate.extra_tests, evaluate.also_sets),
        ("evaluate.fuse_tuned_on", evaluate.fuse_tuned_on, evaluate.mix_sets),
    ]
    if trains:
        options += [
            ("data.extra_train_sets", data.extra_train_sets, data.extra_sets),
            ("data.exclude_overlap_with", data.exclude_overlap_with, data.apart_sets),
        ]
    for option, typed, sets in options:
        for name, path in sets:
            yield option, typed, name, path
