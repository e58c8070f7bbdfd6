"""Runs that begin with what another has: resumed ones, those that train a finished one on, and warm starts.

A resumed run stays in its folder, as if it had not been interrupted. ``--train.continue_run=RUN --train.epochs=MORE``
trains a finished run on, in a folder of its own, with all of its settings. ``--train.from_run=RUN`` starts from its
vocabulary and weights, on any data.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.pipeline.overlap import overlap
from data_prep.store.prepared_data import PreparedData
from evaluation.reading import asked
from evaluation.results import load_result
from experiments.recipes.config import CHANGEABLE, Configuration, change, parse_options
from experiments.recipes.models import class_of, is_trained
from experiments.recipes.run_folder import RunFolder, check_finished
from experiments.run.data import prepare_stage, training_data
from experiments.terminal.console import say
from experiments.terminal.options import check_is_run
from modeling.base import PairTokenizer
from training import config as train_config
from training.checkpoint import saved_weights
from training.state import Progress, RunState, TrainingTask
from training.trainer import CHECKPOINT

_WHERE: Final = ("train.resume", "out")
_OF_ALL: Final = tuple(f"train.{name}" for name in train_config.FREE)


def resumed(plan: Configuration, typed: Mapping[str, str], folder: RunFolder) -> Configuration:
    """The configuration of the run in ``folder``, set to resume from its checkpoint.

    Raises:
        UserError: the folder has no run, or a typed option contradicts its configuration.
    """
    saved = _saved(plan, folder)
    more = f", or train it on once it is finished: --train.continue_run={folder.path}"
    _check_same(saved, typed, folder, _WHERE, more if "train.epochs" in typed else "")
    if plan.out and plan.out != str(folder.path):
        raise UserError(f"a resumed run stays in its folder {folder.path}: leave out --out={plan.out}")
    return replace(saved, out="", train=replace(saved.train, resume=str(folder.path)))


def with_earlier(plan: Configuration, typed: Mapping[str, str]) -> Configuration:
    """``plan`` with the settings of the finished run that it begins with, if it names one.

    Raises:
        UserError: there is no finished run of the same model there, or a typed option contradicts it.
    """
    if plan.train.continue_run:
        return _continued(plan, typed, RunFolder(Path(plan.train.continue_run)))
    if not plan.train.from_run:
        return plan
    folder = RunFolder(Path(plan.train.from_run))
    saved = _finished(plan, folder, same_data=False)
    _check_same(saved, {name: text for name, text in typed.items() if name.startswith("words.")}, folder)
    begun = replace(plan, words=saved.words, model=saved.model)
    return change(begun, {name: text for name, text in typed.items() if name.startswith("model.")})


def _continued(plan: Configuration, typed: Mapping[str, str], folder: RunFolder) -> Configuration:
    saved = _finished(plan, folder)
    free = [name for name in typed if name.startswith(CHANGEABLE)]
    _check_same(saved, typed, folder, (*_WHERE, *_OF_ALL, *free))
    done = _epochs_of(folder)
    if "train.epochs" not in typed or plan.train.epochs <= done:
        raise UserError(f"the run in {folder.path} has {done} epochs: name a larger number, --train.epochs={2 * done}")
    return change(replace(saved, out="", train=replace(saved.train, resume="", from_run="")), typed)


def _finished(plan: Configuration, folder: RunFolder, *, same_data: bool = True) -> Configuration:
    if not is_trained(plan.model_name):
        raise UserError(f"{plan.model_name} is not trained: leave out --train.from_run and --train.continue_run")
    saved = _saved(plan, folder, same_data=same_data)
    check_finished(folder)
    if not folder.metrics.exists():
        raise UserError(f"the run in {folder.path} is not finished: resume it with --train.resume={folder.path}")
    saved_weights(folder.weights, folder.made_with)  # damaged ones are an error before anything is written
    return saved


def _saved(plan: Configuration, folder: RunFolder, *, same_data: bool = True) -> Configuration:
    check_is_run(folder.path)
    saved = Configuration.load(folder.config)
    if plan.model_name != saved.model_name or (same_data and plan.dataset != saved.dataset):
        raise UserError(
            f"{folder.path} is a run of {saved.dataset} {saved.model_name}, not of {plan.dataset} {plan.model_name}"
        )
    return saved


def _check_same(
    saved: Configuration, typed: Mapping[str, str], folder: RunFolder, free: Collection[str] = (), more: str = ""
) -> None:
    for name, value in parse_options(saved.model_name, typed).items():
        section, _, field = name.partition(".")
        if name not in free and value != saved.section(section)[field]:
            raise UserError(
                f"--{name}={typed[name]} contradicts the run in {folder.path}, which has "
                f"{saved.section(section)[field]}: leave it out, or start a new run{more}"
            )


def _epochs_of(folder: RunFolder) -> int:
    history = load_result(folder.metrics).history
    return history[-1].epoch if history else 0


def tokenizer_of(plan: Configuration, data: PreparedData) -> PairTokenizer:
    """The tokenizer of the run that ``plan`` begins with, or a new one.

    Raises:
        UserError: the run that is trained on had other data.
    """
    kind, earlier = class_of(plan.model_name), plan.train.from_run or plan.train.continue_run
    before: PairTokenizer | None = None
    if earlier:
        before = kind.saved_tokenizer(RunFolder(Path(earlier)).vocabulary, plan.words, plan.model)
    if before and plan.train.from_run:
        return before
    new: PairTokenizer = kind.tokenizer(data.splits["train"], plan.words, plan.model)
    if before and before != new:
        raise UserError(
            f"the data have changed since the run in {earlier}: begin with its weights, --train.from_run={earlier}"
        )
    return new


def beginning(plan: Configuration, task: TrainingTask) -> Callable[[RunState], None] | None:
    """What gives the state that training begins with; None: a new one."""
    train = plan.train
    if not (train.from_run or train.continue_run):
        return None
    folder = RunFolder(Path(train.from_run or train.continue_run))

    def begin(state: RunState) -> None:
        checkpoint = folder.path / CHECKPOINT
        if train.continue_run and checkpoint.exists():
            state.restore(checkpoint)
            say(f"continues {folder.path}, after epoch {state.progress.epoch}, by its checkpoint")
            return
        progress = _progress_of(folder, task, train.accumulate) if train.continue_run else None
        state.begin(saved_weights(folder.weights, folder.made_with), str(folder.weights), progress)
        if progress:
            say(
                f"continues {folder.path}, after epoch {progress.epoch}, with the weights of epoch "
                f"{progress.best_epoch} and a new optimiser: it was not run with --train.keep_checkpoint"
            )
        else:
            say(f"begins with the vocabulary and the weights of {folder.path}")

    return begin


def begun_with(plan: Configuration) -> str:
    """A line that says what a run began with; "" if with nothing."""
    if plan.train.continue_run:
        return f"a continued run: its first epochs are those of {plan.train.continue_run}\n"
    return f"a warm start: it began with the weights of {plan.train.from_run}\n" if plan.train.from_run else ""


def _progress_of(folder: RunFolder, task: TrainingTask, accumulate: int) -> Progress:
    """How far a finished run came."""
    result = load_result(folder.metrics)
    history = [
        {"epoch": each.epoch, "seconds": each.seconds, "top1": each.top1, "mrr": each.mrr, **each.inside}
        for each in result.history
    ]
    epochs, best = _epochs_of(folder), max(result.history, key=lambda each: each.mrr)
    steps = epochs * -(-task.batch_count // accumulate)
    return Progress(
        epoch=epochs,
        step=steps,
        pairs=epochs * len(task),
        seconds=result.history[-1].seconds,
        best_mrr=best.mrr,
        best_epoch=best.epoch,
        history=history,
    )


def say_seen(plan: Configuration, data: PreparedData, command: str) -> None:
    """Say how many test pairs the runs were trained on that a warm start goes back to."""
    later = plan
    while place := later.train.from_run or later.train.continue_run:
        try:
            saved = Configuration.load(RunFolder(Path(place)).config)
            if later.train.from_run:
                before = training_data(saved, prepare_stage(saved.dataset, saved.data, command), command)
                seen = overlap(asked(data), [before.splits["train"], before.splits["valid"]]).rows
                say(f"{place} was trained or validated on {len(seen):,} of the {len(asked(data)):,} test pairs")
        except UserError as error:
            say(f"whether {place} was trained on pairs of this test is not known: {error}")
            return
        later = saved
