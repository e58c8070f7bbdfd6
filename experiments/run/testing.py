"""The test of a run: fusion, the ranks of each data set, its controls, and the result.

The other data sets and rankers that a run names are checked before anything is prepared, trained or ranked.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from data_prep.config import DATASETS, data_set
from data_prep.errors import UserError
from data_prep.files.access import read_whole
from data_prep.installation import code_version
from data_prep.pipeline.overlap import overlap, without
from data_prep.prepare import inputs_sha256
from data_prep.records import SplitName
from data_prep.store.prepared_data import PreparedData, words_sha256
from data_prep.store.split import Split
from evaluation.config import EvaluateConfig
from evaluation.evaluator import Evaluation, SavedCounts, evaluate
from evaluation.metrics import sum_of_reciprocal_ranks
from evaluation.query_files import folder_of_test, write_evaluation
from evaluation.reading import WHOLE, TestReading, asked, pool_rows, said_seen, seen_in
from evaluation.results import DataSource, Fusion, Result, Seconds, Tested, measure, result_of, validations
from experiments.recipes.config import REPOSITORY, Configuration
from experiments.recipes.models import is_trained, recipe_of
from experiments.recipes.run_folder import RunFolder, check_miner, untrained
from experiments.run.data import config_of_other, fusion_pairs, tests_beside
from experiments.run.training import doubts, parameters_of
from experiments.terminal.console import say
from experiments.terminal.options import unknown
from modeling import distributed as processes
from modeling.ranker import FusedRanker, Ranker, best_weight
from training.trainer import TrainingReport

CONTROLS: Final = ("bm25_tuned", "bm25", "bm25_no_stems")
"""The rankers that every model is compared with, strongest first; the last is the one that most papers mean."""


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
    if trains and plan.train.hard_negatives:
        check_miner(plan.train.mined_by)
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


def _named(plan: Configuration, *, trains: bool) -> Iterator[tuple[str, str, str, str]]:
    """Option, its text, and name and path of each other data set.

    Raises:
        UserError: an option names one twice.
    """
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
        if twice := [":".join(filter(None, each)) for each in sets if sets.count(each) > 1]:
            raise UserError(f"--{option} has {twice[0]} twice: name each data set once")
        for name, path in sets:
            yield option, typed, name, path


@contextmanager
def saved_counts(plan: Configuration, folder: RunFolder, data: PreparedData) -> Iterator[SavedCounts | None]:
    """The store of a trained model's counts until its test is done, and removed then; None if it is not trained."""
    if not is_trained(plan.model_name):
        yield None
        return
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
    kept = SavedCounts(folder.path / "test-under-way", stamp)
    yield kept
    kept.remove()


def evaluated(
    plan: Configuration,
    ranker: Ranker,
    data: PreparedData,
    command: str,
    *,
    kept: SavedCounts | None,
    seconds: Seconds,
    files: Path,
    report: TrainingReport | None = None,
    seen: PreparedData | None = None,
    trained: Split | None = None,
    moved: bool = False,
) -> Result:
    """Test a ranker, fused with another if that is asked for, on all data sets of a run.

    Args:
        plan: the configuration of the run.
        ranker: its model.
        data: its data set.
        command: as typed.
        kept: counts of this test that are saved already.
        seconds: of the run before its test.
        files: the folder for the files of the test.
        report: what training reached, if it was now.
        seen: the data as the model was trained on, by which a fusion is tuned; None: ``data``.
        trained: training pairs to look for in other tests; None: training has left out those that are in them.
        moved: whether to look for them in the run's own test too, since its data are others now.
    """
    fused, fusion = mixed(plan, ranker, seen or data, command)
    looked_for = trained if moved else None
    tested, ranking = test_stage(plan, fused, data, kept, plan.evaluate.split, files, looked_for)
    return result_of(
        tested,
        dataset=plan.dataset,
        model=plan.model_name,
        seed=plan.train.seed,
        command=command,
        code_version=code_version(REPOSITORY),
        seconds=replace(seconds, evaluate=ranking),
        train_pairs_per_second=report.pairs_per_second if report else 0.0,
        parameters=parameters_of(ranker),
        also=also_stage(plan, fused, command, files, trained),
        config=plan.sections,
        history=validations(report.history, report.pairs) if report else (),
        fusion=fusion,
    )


def mixed(
    plan: Configuration, ranker: Ranker, data: PreparedData, command: str
) -> tuple[Ranker, Fusion] | tuple[Ranker, None]:
    """``ranker`` fused with that of ``--evaluate.fuse_with``, if any, by the weight that is best on validation.

    Raises:
        UserError: ``--evaluate.fuse_tuned_on`` has no validation pairs.
    """
    name = plan.evaluate.fuse_with
    if not name:
        return ranker, None
    valid = _weighing_pairs(plan, data, command)
    pool = valid.take(pool_rows(len(valid), EvaluateConfig(pool=min(plan.train.validate_pool, len(valid)))))
    other = untrained(name)

    weight = best_weight(ranker.over(pool, pool), other.over(pool, pool), sum_of_reciprocal_ranks)
    say(
        f"{weight:.2f} of {plan.model_name}, {1 - weight:.2f} of {name}: the best MRR on {len(pool):,} validation pairs"
    )
    tuned_on = plan.evaluate.fuse_tuned_on or plan.dataset
    return FusedRanker(ranker, other, weight), Fusion(ranker=name, weight=weight, tuned_on=tuned_on, pairs=len(pool))


def _weighing_pairs(plan: Configuration, data: PreparedData, command: str) -> Split:
    """The pairs that the fusion weight is tuned on, none of which is in training or in a test split."""
    valid = fusion_pairs(plan, data, command)
    if not plan.evaluate.mix_sets:
        return valid
    ((name, _),) = plan.evaluate.mix_sets
    tests = [asked(tests_beside(plan, *other, command)) for other in plan.evaluate.also_sets]
    found = overlap(valid, [data.splits["train"], asked(data), *tests])
    if len(found.rows) == len(valid):
        raise UserError(
            f"{name} has no validation pairs of its own for --evaluate.fuse_tuned_on={plan.evaluate.fuse_tuned_on}"
        )
    say(f"{name}: {len(valid) - len(found.rows):,} validation pairs, without {len(found.rows):,} that occur elsewhere")
    return without(valid, found.rows)


def test_stage(
    plan: Configuration,
    ranker: Ranker,
    data: PreparedData,
    kept: SavedCounts | None,
    split_name: SplitName,
    files: Path,
    trained: Split | None,
) -> tuple[Tested, float]:
    """Rank the queries of a split, by the model and by the controls; continues from the saved counts ``kept``.

    The folder ``files`` gets the files of the test. Training pairs ``trained`` are looked for among the queries. Also
    returns the seconds that the model took.
    """
    split = data.splits[split_name]
    reading = TestReading.of(data.manifest) if split_name == "test" else WHOLE
    evaluation = evaluate(ranker, split, plan.evaluate, reading=reading, kept=kept)
    controls: dict[str, Evaluation] = {}
    if is_trained(plan.model_name):
        others = {name: untrained(name) for name in CONTROLS}
        controls = {name: evaluate(other, split, plan.evaluate, reading=reading) for name, other in others.items()}
    seen = None
    if trained is not None and processes.is_first():
        seen = seen_in(evaluation, trained)
        say(said_seen(seen, len(evaluation.ranks)))
    if processes.is_first():
        rows = seen.queries if seen else ()
        tag = "+".join(filter(None, (plan.model_name, plan.evaluate.fuse_with)))
        write_evaluation(evaluation, files, tag=tag, controls=controls, seen=rows)
    source = DataSource(
        origin=data.manifest["origin"],
        fingerprint=words_sha256(split),
        inputs=inputs_sha256(data.manifest["sources"]["inputs"]) if "sources" in data.manifest else "",
    )
    for doubt in doubts(evaluation, claims=True):
        say(f"{source.origin}, {split_name} split: {doubt}")
    resamples = plan.evaluate.bootstrap_samples
    tested = measure(evaluation, data=source, split=split_name, controls=controls, resamples=resamples, seen=seen)
    return tested, evaluation.seconds


def also_stage(
    plan: Configuration, ranker: Ranker, command: str, files: Path, trained: Split | None
) -> dict[str, Tested]:
    """Test the same ranker on the data sets of ``--evaluate.extra_tests``; see :func:`test_stage`."""
    found = {}
    for dataset, path in plan.evaluate.also_sets:
        data = tests_beside(plan, dataset, path, command)
        name = f"{dataset}:{path}" if path else dataset
        say(f"also testing on {name}")
        found[name], _ = test_stage(plan, ranker, data, None, "test", folder_of_test(files, name), trained)
    return found
