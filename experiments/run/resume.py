"""Resuming a run that was stopped, with the configuration in its folder, which no typed option may contradict."""

from collections.abc import Mapping
from dataclasses import replace

from data_prep.errors import UserError
from experiments.recipes.config import Configuration, parse_options
from experiments.recipes.packed_files import check_is_run
from experiments.recipes.run_folder import RunFolder

_FREE = ("train.resume", "out")


def resumed(plan: Configuration, typed: Mapping[str, str], folder: RunFolder) -> Configuration:
    """The configuration of the run in ``folder``, set to resume from its checkpoint.

    Raises:
        UserError: the folder has no run, or a typed option contradicts its configuration.
    """
    check_is_run(folder.path)
    saved = Configuration.load(folder.config)
    if (plan.dataset, plan.model_name) != (saved.dataset, saved.model_name):
        raise UserError(
            f"{folder.path} is a run of {saved.dataset} {saved.model_name}, not of {plan.dataset} {plan.model_name}"
        )
    for name, value in parse_options(saved.model_name, typed).items():
        section, _, field = name.partition(".")
        if name not in _FREE and value != saved.section(section)[field]:
            raise UserError(
                f"--{name}={typed[name]} contradicts the run in {folder.path}, which has "
                f"{saved.section(section)[field]}: leave it out, or start a new run"
            )
    if plan.out and plan.out != str(folder.path):
        raise UserError(f"a resumed run stays in its folder {folder.path}: leave out --out={plan.out}")
    return replace(saved, out="", train=replace(saved.train, resume=str(folder.path)))


def processes_of(plan: Configuration) -> int:
    """The number of processes of a run; if it is resumed, that of its configuration.

    Raises:
        UserError: the folder of the run to resume has none.
    """
    folder = RunFolder.of_resumed(plan)
    return Configuration.load(folder.config).train.processes if folder else plan.train.processes
