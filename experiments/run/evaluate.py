"""Tests a finished run again from its weights, with other options of section ``evaluate``."""

import logging
import time
from collections.abc import Mapping
from contextlib import nullcontext
from itertools import count
from pathlib import Path

from data_prep.errors import UserError
from data_prep.files.folder_lock import sole_writer
from data_prep.store.prepared_data import PreparedData, words_sha256
from evaluation.results import Result, Seconds, load_result, save_result
from evaluation.tables import render_table
from experiments.recipes.config import CHANGEABLE, Configuration, change
from experiments.recipes.models import class_of, is_trained
from experiments.recipes.own_model import OWN, as_typed
from experiments.recipes.run_folder import RunFolder
from experiments.recipes.trained_run import check_finished, load_run
from experiments.run.data import (
    contexts_stage,
    prepare_others,
    prepare_stage,
    training_data,
)
from experiments.run.launch import together
from experiments.run.named_parts import check_named
from experiments.run.run import command_line, parameters_of, result_from, saved_counts
from experiments.run.stages import also_stage, mixed, test_stage
from experiments.terminal.console import logged_to, show
from modeling import distributed as processes
from modeling.pool_ranker import PoolRanker
from modeling.ranker import Ranker, best_device

_log = logging.getLogger(__name__)


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
    with together(plan.evaluate.shards), sole_writer(path) if processes.is_first() else nullcontext():
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
        kept = saved_counts(plan, folder, data) if is_trained(plan.model_name) else None
        seen = training_data(plan, data, command) if plan.evaluate.fuse_with else data
        tested, fusion = mixed(plan, ranker, seen, command)
        outcome = test_stage(plan, tested, data, kept, plan.evaluate.split)
        also = also_stage(plan, tested, command)
        trained = load_result(folder.metrics).seconds.train if folder.metrics.exists() else 0.0
        seconds = Seconds(prepare=prepared, train=trained, evaluate=outcome.seconds)
        result = result_from(plan, outcome, also, command, seconds, None, parameters_of(ranker), fusion)
        target = _free(folder.path / f"metrics-{time.strftime('%Y%m%d-%H%M%S')}.json")
        if processes.is_first():
            save_result(result, target)
        if kept:
            kept.remove()
        show(f"\n{render_table([result])}\n\n{target}")
    return result


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
