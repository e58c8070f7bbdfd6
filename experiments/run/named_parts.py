"""What a run names beside its own data set and model: looked at before anything is prepared, trained or ranked."""

from collections.abc import Iterator, Mapping
from typing import Final

from data_prep.registry import DATASETS, data_set
from experiments.run.data import config_of_other
from experiments.run.stages import CONTROLS
from recipes.config import Configuration
from recipes.models import is_trained, recipe_of
from terminal.console import say
from terminal.options import unknown

_OF_TRAINING: Final = ("data.extra", "data.apart", "words.", "loss.", "train.")
"""How the options begin that only a trained model heeds."""
_OF_ALL: Final = ("train.seed", "train.resume", "train.threads", "train.processes", "train.validate_pool")


def check_named(plan: Configuration, *, trains: bool) -> None:
    """Refuse data sets that there are not, at least where their paths lead, and a second ranker that is none.

    Args:
        plan: of a run, or of the test of one.
        trains: whether data sets are looked at that have a part in training alone.

    Raises:
        ValueError: the message names the option.
    """
    if plan.evaluate.mix:
        check_mix(plan.evaluate.mix)
    for option, typed, name, path in _named(plan, trains=trains):
        if name not in DATASETS:
            raise unknown(f"data set in --{option}", name, list(DATASETS))
        try:
            other = data_set(name, config_of_other(plan.data, path))
            if path:  # else it may have to be fetched, which is a long part of its own
                other.inputs()
        except ValueError as error:
            reason = str(error).replace("--data.path=/", "/").replace("--data.path=", f"{name}:PATH")
            raise ValueError(f"--{option}={typed}: {reason}") from error


def check_mix(name: str) -> None:
    """Refuse a second ranker that there is not, or that needs training.

    Raises:
        ValueError: the message names the option.
    """
    try:
        recipe_of(name)
    except ValueError as error:
        raise ValueError(f"--evaluate.mix={name}: {error}") from error
    if is_trained(name):
        raise ValueError(f"--evaluate.mix takes a ranker without training, such as {CONTROLS[0]}, not {name}")


def tell_without_part(plan: Configuration, typed: Mapping[str, str]) -> None:
    """Tell which of the typed options have no part in the run of a model that is not trained."""
    idle = [f"--{name}" for name in typed if name.startswith(_OF_TRAINING) and name not in _OF_ALL]
    if idle and not is_trained(plan.model_name):
        say(f"without a part in this run, since {plan.model_name} is not trained: {', '.join(idle)}")


def _named(plan: Configuration, *, trains: bool) -> Iterator[tuple[str, str, str, str]]:
    """Option, its text, data set and path of each other data set."""
    data, evaluate = plan.data, plan.evaluate
    options = [
        ("evaluate.also", evaluate.also, evaluate.also_sets),
        ("evaluate.mix_on", evaluate.mix_on, evaluate.mix_sets),
    ]
    if trains:
        options += [("data.extra", data.extra, data.extra_sets), ("data.apart", data.apart, data.apart_sets)]
    for option, typed, sets in options:
        for name, path in sets:
            yield option, typed, name, path
