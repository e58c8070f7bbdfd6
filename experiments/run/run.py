"""A complete run: data, training, test, and the folder with the results; resumed, or tested again with other options.

Its steps are in :mod:`experiments.run.data`, :mod:`experiments.run.training` and :mod:`experiments.run.testing`.
"""

import logging
import shlex
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.writing import sole_writer
from data_prep.store.prepared_data import PreparedData, words_sha256
from data_prep.store.split import Split
from evaluation.results import Result, Seconds, load_result, save_result
from evaluation.tables import render_table
from experiments.recipes.config import CHANGEABLE, Configuration, as_lines, change, typed_again
from experiments.recipes.models import OWN, as_typed, class_of, is_trained
from experiments.recipes.results_folder import settings_of
from experiments.recipes.run_folder import RunFolder, check_finished, load_run, named_folder, new_run_folder
from experiments.run.data import check_trainable, contexts_stage, prepare_others, prepare_stage, training_data
from experiments.run.earlier_run import begun_with, resumed, say_seen, tokenizer_of, with_earlier
from experiments.run.testing import check_named, evaluated, saved_counts
from experiments.run.training import Pages, trained
from experiments.terminal import console
from experiments.terminal.console import complain, logged_to, say, show
from modeling import distributed as processes
from modeling.pool_ranker import PoolRanker
from modeling.ranker import Ranker, best_device, has_bfloat16
from training.trainer import CHECKPOINT

_log = logging.getLogger(__name__)

_OF_TRAINING: Final = ("data.extra_train_sets", "data.exclude_overlap_with", "words.", "loss.", "train.")
"""Prefixes of the options that only trained models use."""
_OF_ALL: Final = ("train.seed", "train.resume", "train.threads", "train.processes", "train.validate_pool")


def run(plan: Configuration, typed: Mapping[str, str]) -> Result:
    """Prepare, train and test; or resume a run that was stopped; or print the result of a finished one."""
    command = command_line(plan.dataset, as_typed(plan.model_name), typed)
    with named_folder(plan) if processes.is_first() else nullcontext():
        folder = RunFolder(Path(plan.train.resume)) if plan.train.resume else None
        if folder:
            plan = resumed(plan, typed, folder)
            if processes.broadcast(folder.metrics.exists()):
                return _reprint(folder)
        else:
            plan = with_earlier(plan, typed)
            if plan.train.precision == "auto":
                plan = replace(plan, train=replace(plan.train, precision="bfloat16" if has_bfloat16() else "float32"))
        if processes.is_first():
            check_named(plan, trains=True)
            _say_without_effect(plan, typed)
        return _prepared(plan, folder, command)


def _prepared(plan: Configuration, folder: RunFolder | None, command: str) -> Result:
    """Prepare, then run in ``folder``, or in a new one."""
    started = time.perf_counter()
    if is_trained(plan.model_name) and processes.is_first():
        class_of(plan.model_name).get_ready()
    data = prepare_stage(plan.dataset, plan.data, command)
    check_trainable(plan, data)
    prepared = time.perf_counter() - started
    prepare_others(plan, data, command, trains=True)
    with nullcontext(folder) if folder or not processes.is_first() else new_run_folder(plan) as own:
        folder = processes.broadcast(own)
        assert folder is not None
        with logged_to(folder.log) if processes.is_first() else nullcontext():
            try:
                return _run(plan, data, folder, command, prepared)
            except (KeyboardInterrupt, Exception) as error:
                if own and not plan.train.resume and not isinstance(error, KeyboardInterrupt | OSError):
                    own.forget()
                if isinstance(error, KeyboardInterrupt | OSError) and folder.config.exists():  # else it begins anew
                    words = [plan.dataset, as_typed(plan.model_name), f"--train.resume={folder.path}"]
                    complain(f"resume with: bash run.sh {shlex.join(words)}")
                raise


def command_line(*words: str | Mapping[str, str]) -> str:
    """The command as it can be typed again."""
    typed: list[str] = []
    for word in words:
        typed += [word] if isinstance(word, str) else [f"--{name}={text}" for name, text in word.items()]
    return f"bash run.sh {shlex.join(typed)}"


def _reprint(folder: RunFolder) -> Result:
    result = load_result(folder.metrics)
    show(f"{folder.path} is finished; its result:\n\n{render_table(result)}")
    return result


def _run(plan: Configuration, data: PreparedData, folder: RunFolder, command: str, prepared: float) -> Result:
    show("\n".join(as_lines(plan)))
    say_seen(plan, data, command)
    data = contexts_stage(plan, plan.dataset, plan.data, training_data(plan, data, command))
    sizes = ", ".join(f"{name} {len(split):,}" for name, split in data.splits.items())
    say(f"{data.manifest['origin']}: {sizes} pairs; run folder {folder.path}")
    tokenizer = tokenizer_of(plan, data) if is_trained(plan.model_name) else None
    if not plan.train.resume and processes.is_first():
        plan.save(folder.config)
    if tokenizer:
        ranker, report, pages = trained(plan, data, tokenizer, folder)
    else:
        ranker, report, pages = class_of(plan.model_name)(plan.model), None, None
    command = command_line(plan.dataset, as_typed(plan.model_name), typed_again(plan))
    with saved_counts(plan, folder, data) as kept:
        seconds = Seconds(prepare=prepared, train=report.seconds if report else 0.0, evaluate=0.0)
        result = evaluated(plan, ranker, data, command, kept=kept, seconds=seconds, files=folder.path, report=report)
        if processes.is_first():
            _write(plan, folder, result, pages)
    show(f"\n{render_table(result)}\n\n{begun_with(plan)}{folder.path}")
    return result


def _write(plan: Configuration, folder: RunFolder, result: Result, pages: Pages | None) -> None:
    if pages:
        best = max(result.history, key=lambda each: each.mrr)
        pages.board.results(_flat(plan), result.exact, {"mrr": best.mrr, "top1": best.top1, "epoch": best.epoch})
        pages.board.close()
    save_result(result, folder.metrics)  # last: a folder that has it is finished
    if not plan.train.keep_checkpoint:
        (folder.path / CHECKPOINT).unlink(missing_ok=True)


def _flat(plan: Configuration) -> dict[str, Any]:
    """What makes a run, as the columns of HParams: also its seed, and what of its data is no place."""
    shown = ("data", "words", "model", "loss", "train")
    flat: dict[str, Any] = {"dataset": plan.dataset, "model": plan.model_name}
    flat |= settings_of({section: plan.section(section) for section in shown})
    return {name: value if isinstance(value, bool | int | float | str) else str(value) for name, value in flat.items()}


def _say_without_effect(plan: Configuration, typed: Mapping[str, str]) -> None:
    """Report which of the typed options have no effect, since the model is not trained."""
    idle = [f"--{name}" for name in typed if name.startswith(_OF_TRAINING) and name not in _OF_ALL]
    if idle and not is_trained(plan.model_name):
        say(f"without effect, since {plan.model_name} is not trained: {', '.join(idle)}")


def processes_of(plan: Configuration) -> int:
    """The number of processes of a run; if it is resumed or trained on, that of its configuration.

    Raises:
        UserError: the folder of the run to resume has none.
    """
    earlier = plan.train.resume or plan.train.continue_run
    return Configuration.load(RunFolder(Path(earlier)).config).train.processes if earlier else plan.train.processes


def evaluate_run(path: Path, typed: Mapping[str, str], own: str = "") -> Result:
    """Test the run in ``path`` again; the result is written beside its ``metrics.json``, which is left unchanged.

    ``own``: the model of one's own that was named, if any.

    Raises:
        UserError: there is no such run, an option is not one of section ``evaluate``, or another process is writing
            the folder.
    """
    folder = RunFolder(path)
    saved = Configuration.load(folder.config)
    if own and own != saved.model_name:
        raise UserError(f"the run in {path} is of {saved.model_name}, not of {as_typed(own)}")
    for name in typed:
        if not name.startswith(CHANGEABLE):
            raise UserError(
                f"--{name} of a finished run is fixed: only --evaluate.*, --data.language and where data are can change"
            )
    plan = change(saved, typed)
    check_named(plan, trains=bool(plan.evaluate.fuse_with))
    if is_trained(plan.model_name):
        check_finished(folder)
    with (
        processes.together(plan.evaluate.shards, console.be_silent),
        sole_writer(path) if processes.is_first() else nullcontext(),
    ):
        return _evaluated(plan, folder, typed)


def _evaluated(plan: Configuration, folder: RunFolder, typed: Mapping[str, str]) -> Result:
    path = folder.path
    own = [as_typed(plan.model_name)] if plan.model_name in OWN else []
    command = command_line("evaluate", str(path), *own, typed)
    started = time.perf_counter()
    data = prepare_stage(plan.dataset, plan.data, command)
    data = contexts_stage(plan, plan.dataset, plan.data, data)
    prepared = time.perf_counter() - started
    prepare_others(plan, data, command, trains=bool(plan.evaluate.fuse_with))
    with logged_to(folder.log) if processes.is_first() else nullcontext():
        if "data.language" not in typed and _has_changed(folder, data):
            _log.warning("the data have changed since this run: test methods may be among those that it was trained on")
        ranker = _ranker(plan, folder)
        seen = training_data(plan, data, command) if plan.evaluate.fuse_with else data
        moved = any(name.startswith("data.") for name in typed)
        look = plan.evaluate.also_sets or moved
        trained_on = _trained_on(Configuration.load(folder.config), command) if look else None
        trained_for = load_result(folder.metrics).seconds.train if folder.metrics.exists() else 0.0
        with saved_counts(plan, folder, data) as kept:
            seconds = Seconds(prepare=prepared, train=trained_for, evaluate=0.0)
            target = _free(folder.path / f"metrics-{time.strftime('%Y%m%d-%H%M%S')}.json")
            result = evaluated(
                plan,
                ranker,
                data,
                command,
                kept=kept,
                seconds=seconds,
                files=target.with_suffix(""),
                seen=seen,
                trained=trained_on,
                moved=moved,
            )
            if processes.is_first():
                save_result(result, target)
        show(f"\n{render_table(result)}\n\n{target}")
    return result


def _trained_on(plan: Configuration, command: str) -> Split | None:
    """The training pairs of a finished run, to be looked for in other tests; None if there are none any more."""
    if not is_trained(plan.model_name):
        return None
    try:
        data = prepare_stage(plan.dataset, plan.data, command)
        return training_data(plan, data, command).splits["train"]
    except (UserError, OSError) as error:
        _log.warning("its training pairs are not looked for in other tests, since they cannot be had: %s", error)
        return None


def _has_changed(folder: RunFolder, data: PreparedData) -> bool:
    """Whether the split that a finished run was tested on has other words now."""
    if not folder.metrics.exists():
        return False
    before = load_result(folder.metrics)
    split = next(split for name, split in data.splits.items() if name == before.split)
    return words_sha256(split) != before.data.fingerprint


def _ranker(plan: Configuration, folder: RunFolder) -> Ranker:
    if not is_trained(plan.model_name):
        return class_of(plan.model_name)(plan.model)
    model, tokenizer = load_run(folder.path)
    return PoolRanker(model, tokenizer, best_device(), bfloat16=plan.evaluate.matmul_precision == "bfloat16")


def _free(path: Path) -> Path:
    """``path``, with a number added if it exists."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return path if not path.exists() else next(other for other in numbered if not other.exists())
