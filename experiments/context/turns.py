"""Tests with contexts of each source tree in turn: ``context turns DATASET MODEL``, with and without context."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from data_prep.config import DATASETS, data_set
from data_prep.errors import UserError, unexpected
from data_prep.pipeline.corpus import Corpus
from data_prep.store.prepared_data import tree_of
from experiments.context.measure import measured
from experiments.context.options import ContextOptions
from experiments.context.page import FOLDER
from experiments.context.results import WITHOUT, save_result
from experiments.recipes.config import REPOSITORY, Configuration, resolve, split_run_arguments
from experiments.recipes.models import MODELS
from experiments.recipes.results_folder import results_folder
from experiments.recipes.run_folder import RunFolder
from experiments.run.data import prepare_stage
from experiments.run.run import command_line, run
from experiments.tables.cells import set_aside
from experiments.terminal.console import say
from experiments.terminal.options import unknown

LEAST: Final = 200
"""Pairs from which a source tree is left out: fewer say little."""
_NAMED: Final = ("data.language", "train.seed")  # options that the names of results contain


def turns(arguments: Sequence[str]) -> None:
    """Train and test a model with and without context for each source tree; finished ones are not trained again.

    Raises:
        UserError: there is no such data set, model or option, or fewer than two source trees can be left out.
    """
    words, typed = split_run_arguments(arguments)
    if len(words) != 2:
        raise unexpected("a data set and a model: bash run.sh context turns installed scotch_light", words)
    dataset, model = words
    if dataset not in DATASETS:
        raise unknown("data set", dataset, list(DATASETS))
    if model + WITHOUT not in MODELS:
        raise unknown("model with a form without context", model, [each for each in MODELS if each + WITHOUT in MODELS])
    if taken := sorted({"out", "data.hold_out"} & {*typed}):
        raise UserError(f"bash run.sh context turns chooses --{taken[0]} itself: leave it out")
    plan = resolve(dataset, model, typed)
    named = resolve(dataset, model, {name: text for name, text in typed.items() if name in _NAMED})
    results = results_folder(plan.sections, named.sections)
    trees = trees_of(plan, command_line("context turns", dataset, model, typed))
    say(f"{len(trees)} source trees of {LEAST} pairs or more: {', '.join(trees)}")
    for tree in trees:
        for name in (model, model + WITHOUT):
            folder = REPOSITORY / "runs" / "turns" / f"{dataset}-{plan.data.language}-{tree.replace('/', '+')}-{name}"
            _turn(dataset, name, {**typed, "data.hold_out": tree}, folder / f"seed{plan.train.seed}", results)


def trees_of(plan: Configuration, command: str) -> list[str]:
    """The source trees that can be left out, largest first.

    Raises:
        UserError: the data set is no corpus, or there are fewer than two.
    """
    if not isinstance(data_set(plan.dataset, plan.data), Corpus):
        raise UserError(f"{plan.dataset} is not made of source trees: take repositories, seven_languages or installed")
    data = prepare_stage(plan.dataset, plan.data, command)
    sizes = Counter(tree_of(split, row) for split in data.splits.values() for row in range(len(split)))
    found = [tree for tree, size in sizes.most_common() if size >= LEAST]
    if len(found) < 2:
        raise UserError(f"{plan.dataset} has {len(found)} source trees of {LEAST} pairs or more: two are needed")
    return found


def _turn(dataset: str, model: str, typed: dict[str, str], folder: Path, results: Path) -> None:
    plan = resolve(dataset, model, {**typed, "out": str(folder)})
    set_aside(RunFolder(folder), plan)
    if not RunFolder(folder).metrics.exists():
        run(plan, typed)
    for result in measured(folder, ContextOptions(pools="1000")):
        say(f"wrote {save_result(result, results / FOLDER)}")
