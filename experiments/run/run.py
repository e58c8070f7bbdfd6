"""A complete run: data, training, test, and the folder with the results."""

import hashlib
import shlex
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from data_prep.errors import UserError
from data_prep.files.reading import read_whole
from data_prep.store.prepared_data import PreparedData
from evaluation.history import validations
from evaluation.provenance import code_version
from evaluation.results import Fusion, Result, Seconds, load_result, result_of, save_ranks, save_result
from evaluation.saved_counts import SavedCounts
from evaluation.tables import render_table
from evaluation.trec import write_trec
from experiments.recipes.config import REPOSITORY, SECTIONS, Configuration, as_lines
from experiments.recipes.models import class_of, is_trained
from experiments.recipes.own_model import as_typed
from experiments.recipes.run_folder import RunFolder, named_folder, new_run_folder
from experiments.run.board_pages import Pages
from experiments.run.data import (
    check_fields,
    check_trainable,
    contexts_stage,
    prepare_others,
    prepare_stage,
    training_data,
)
from experiments.run.named_parts import check_named, tell_without_part
from experiments.run.resume import resumed
from experiments.run.stages import Outcome, also_stage, build_model, mixed, test_stage, train_stage
from experiments.terminal.console import complain, logged_to, say, show
from modeling import distributed as processes
from modeling.base import NeuralRanker, PairTokenizer
from modeling.pool_ranker import PoolRanker
from modeling.ranker import Ranker, best_device
from training.board import Board
from training.checkpoint import save_weights
from training.trainer import CHECKPOINT, TrainingReport


def run(plan: Configuration, typed: Mapping[str, str]) -> Result:
    """Prepare, train and test; or resume a run that was stopped; or print the result of a finished one."""
    command = command_line(plan.dataset, as_typed(plan.model_name), typed)
    with named_folder(plan) if processes.is_first() else nullcontext():
        folder = RunFolder.of_resumed(plan)
        if folder:
            plan = resumed(plan, typed, folder)
            if processes.broadcast(folder.metrics.exists()):
                return _reprint(folder)
        if processes.is_first():
            check_named(plan, trains=True)
            tell_without_part(plan, typed)
        return _prepared(plan, folder, command)


def _prepared(plan: Configuration, folder: RunFolder | None, command: str) -> Result:
    """Prepare, then run in ``folder``, or in a new one."""
    started = time.perf_counter()
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
            except KeyboardInterrupt:
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
    show(f"{folder.path} is finished; its result:\n\n{render_table([result])}")
    return result


def _run(plan: Configuration, data: PreparedData, folder: RunFolder, command: str, prepared: float) -> Result:
    show("\n".join(as_lines(plan)))
    data = contexts_stage(plan, plan.dataset, plan.data, training_data(plan, data, command))
    sizes = ", ".join(f"{name} {len(split):,}" for name, split in data.splits.items())
    say(f"{data.manifest['origin']}: {sizes} pairs; run folder {folder.path}")
    if not plan.train.resume and processes.is_first():
        plan.save(folder.config)
    if is_trained(plan.model_name):
        ranker, report, pages = _trained(plan, data, folder)
    else:
        ranker, report, pages = class_of(plan.model_name)(plan.model), None, None
    kept = saved_counts(plan, folder, data) if report else None
    tested, fusion = mixed(plan, ranker, data, command)
    outcome = test_stage(plan, tested, data, kept, plan.evaluate.split)
    also = also_stage(plan, tested, command)
    seconds = Seconds(prepare=prepared, train=report.seconds if report else 0.0, evaluate=outcome.seconds)
    result = result_from(plan, outcome, also, command, seconds, report, parameters_of(ranker), fusion)
    if processes.is_first():
        _write(plan, folder, outcome, result, pages)
    if kept:
        kept.remove()
    show(f"\n{render_table([result])}\n\n{folder.path}")
    return result


def _write(plan: Configuration, folder: RunFolder, outcome: Outcome, result: Result, pages: Pages | None) -> None:
    write_evaluations(folder, outcome, plan.model_name)
    if pages:
        pages.board.results(_flat(plan), result.exact)
        pages.board.close()
    save_result(result, folder.metrics)  # last: a folder that has it is finished
    (folder.path / CHECKPOINT).unlink(missing_ok=True)


def saved_counts(plan: Configuration, folder: RunFolder, data: PreparedData) -> SavedCounts:
    """The store of this test's counts until it is done."""
    weights = read_whole(folder.weights) if folder.weights.exists() else b""
    of = (
        data.manifest["fingerprint"],
        plan.data.limit,
        plan.evaluate.pool,
        plan.evaluate.pool_seed,
        plan.evaluate.matmul_precision,
        plan.evaluate.fuse_with,
        plan.evaluate.fuse_tuned_on,
        plan.evaluate.split,
    )
    stamp = hashlib.sha256(weights + repr((*of, plan.evaluate.run_depth)).encode()).hexdigest()
    return SavedCounts(folder.path / "test-under-way", stamp)


def _trained(
    plan: Configuration, data: PreparedData, folder: RunFolder
) -> tuple[PoolRanker, TrainingReport, Pages | None]:
    tokenizer: PairTokenizer = class_of(plan.model_name).tokenizer(data.splits["train"], plan.words, plan.model)
    tokenizer.check()
    model = build_model(plan, tokenizer)
    check_fields(plan, model, tokenizer)
    pages = None
    if processes.is_first():
        _keep_vocabulary(tokenizer, plan, folder)
        pages = Pages(Board(folder.events), tokenizer)
    say(f"{plan.model_name}: {parameters_of(model):,} parameters, on {best_device()}")
    report = train_stage(plan, model, tokenizer, data, folder, pages)
    if pages:
        save_weights(model, folder.weights, folder.made_with)
        pages.finish(model)
    processes.broadcast(None)  # wait until the weights are saved
    return (
        PoolRanker(model, tokenizer, best_device(), bfloat16=plan.evaluate.matmul_precision == "bfloat16"),
        report,
        pages,
    )


def _keep_vocabulary(tokenizer: PairTokenizer, plan: Configuration, folder: RunFolder) -> None:
    if not folder.vocabulary.exists():
        tokenizer.save(folder.vocabulary)
    elif class_of(plan.model_name).saved_tokenizer(folder.vocabulary, plan.words, plan.model) != tokenizer:
        raise UserError(f"the data have changed since the run in {folder.path} began: start a new run")


def write_evaluations(folder: RunFolder, outcome: Outcome, model: str) -> None:
    """Per-query ranks and the TREC files."""
    save_ranks(outcome.evaluation, folder.path / "ranks.jsonl")
    write_trec(outcome.evaluation, folder.path / "run.trec", folder.path / "qrels.trec", tag=model)


def result_from(
    plan: Configuration,
    outcome: Outcome,
    also: Mapping[str, Outcome],
    command: str,
    seconds: Seconds,
    report: TrainingReport | None,
    parameters: int,
    fusion: Fusion | None,
) -> Result:
    """The result of a run, as written to ``metrics.json``."""
    return result_of(
        outcome.tested,
        dataset=plan.dataset,
        model=plan.model_name,
        seed=plan.train.seed,
        command=command,
        code_version=code_version(REPOSITORY),
        seconds=seconds,
        train_pairs_per_second=report.pairs_per_second if report else 0.0,
        parameters=parameters,
        also={name: each.tested for name, each in also.items()},
        config={section: plan.section(section) for section in SECTIONS},
        history=validations(report.history, report.pairs) if report else (),
        fusion=fusion,
    )


def parameters_of(ranker: Ranker | NeuralRanker) -> int:
    """Number of trainable parameters of a model, 0 if it has none."""
    model = ranker.model if isinstance(ranker, PoolRanker) else ranker
    return sum(weight.numel() for weight in model.parameters()) if isinstance(model, NeuralRanker) else 0


def _flat(plan: Configuration) -> dict[str, Any]:
    shown = ("words", "model", "loss", "train")
    plan = replace(plan, train=replace(plan.train, resume=""))
    flat = {f"{section}.{name}": value for section in shown for name, value in plan.section(section).items()}
    return {name: value if isinstance(value, bool | int | float | str) else str(value) for name, value in flat.items()}
