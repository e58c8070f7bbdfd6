"""The stages of a run, each of which can be called by itself: model, training, fusion, test."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float

from data_prep.errors import UserError
from data_prep.pipeline.overlap import overlap, without
from data_prep.records import SplitName
from data_prep.store.prepared_data import PreparedData, Split, words_sha256
from data_prep.store.tokenizing import TokenizedPairs
from evaluation.config import EvaluateConfig
from evaluation.evaluator import Evaluation, evaluate, pool_rows
from evaluation.fusion import FusedRanker, best_weight
from evaluation.metrics import count_better_and_tied, exact, short_columns
from evaluation.reading import WHOLE, TestReading, asked
from evaluation.results import DataSource, Fusion, Tested, measure
from evaluation.saved_counts import SavedCounts
from experiments.recipes.config import Configuration, resolve
from experiments.recipes.models import class_of, is_trained
from experiments.recipes.run_folder import RunFolder
from experiments.run.board_pages import Pages
from experiments.run.data import fusion_pairs, tests_beside
from experiments.terminal.console import say
from modeling.base import NeuralRanker, PairTokenizer
from modeling.pool_ranker import PoolRanker, scoring
from modeling.ranker import Ranker, best_device
from training.losses import Loss
from training.state import seed_everything
from training.task import PairTask
from training.trainer import TrainingReport, train

DIAGNOSED: Final = 256
"""Validation pairs whose graphs are looked into after an epoch."""
CONTROLS: Final = ("bm25_tuned", "bm25", "bm25_no_stems")
"""The rankers that every model is compared with, strongest first; the last is the one that most papers mean."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A tested data set: the metrics, and the evaluation of the model."""

    tested: Tested
    evaluation: Evaluation
    seconds: float  # of the model's evaluation


def build_model(plan: Configuration, tokenizer: PairTokenizer) -> NeuralRanker:
    """The model with random initial weights, which depend on ``--train.seed``."""
    seed_everything(plan.train.seed, plan.train.threads)
    model: NeuralRanker = class_of(plan.model_name)(plan.model, tokenizer.vocabulary)
    return model.to(best_device())


def train_stage(
    plan: Configuration,
    model: NeuralRanker,
    tokenizer: PairTokenizer,
    data: PreparedData,
    folder: RunFolder,
    pages: Pages | None,
) -> TrainingReport:
    """Train; afterwards ``model`` has the weights of the best validation epoch."""
    ids = tokenizer.encode(data.splits["train"])
    model.start_from(ids)
    valid = data.splits["valid"]
    diagnosed = tokenizer.encode(valid.take(np.arange(min(len(valid), DIAGNOSED))))
    loss = Loss(plan.loss)
    task = PairTask(
        model,
        loss,
        ids,
        _validation(plan, tokenizer, valid, diagnosed, pages),
        plan.train,
        best_device(),
        selects=loss.selects,
    )
    seed_everything(plan.train.seed, plan.train.threads)
    report = train(task, plan.train, folder.path, board=pages.board if pages else None, say=say)
    if warning := model.collapse_warning(diagnostics(model, diagnosed)):
        say(f"{plan.model_name}: {warning}")
    return report


def _validation(
    plan: Configuration, tokenizer: PairTokenizer, valid: Split, diagnosed: TokenizedPairs, pages: Pages | None
) -> Callable[[NeuralRanker], Mapping[str, float]]:
    config = EvaluateConfig(pool=min(plan.train.validate_pool, len(valid)), run_depth=1)

    def validate(model: NeuralRanker) -> Mapping[str, float]:
        evaluation = evaluate(PoolRanker(model, tokenizer, best_device()), valid, config, progress=False)
        measures = exact(evaluation.ranks)
        printed = {each.name: measures[each.name] for each in short_columns()}
        if pages:
            pages.show(model, evaluation)
            pages.board.validation({name: value for name, value in measures.items() if name not in printed})
        return {**printed, **diagnostics(model, diagnosed)}

    return validate


def diagnostics(model: NeuralRanker, pairs: TokenizedPairs) -> Mapping[str, float]:
    """The model's diagnostics on pairs, each query with its own code."""
    rows, device = np.arange(len(pairs)), next(model.parameters()).device
    sides = [
        {field: words.to(device) for field, words in side.items()} for side in (pairs.queries(rows), pairs.codes(rows))
    ]
    with scoring(model):
        return model.diagnostics(*sides)


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
    other = _control(name, plan.dataset)

    def gain(scores: Float[np.ndarray, "block codes"], row: int) -> float:
        better, tied = count_better_and_tied(scores, np.arange(row, row + len(scores)))
        return float(np.sum(1 / (1 + better + tied)))

    weight = best_weight(ranker, other, pool, gain)
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
    plan: Configuration, ranker: Ranker, data: PreparedData, kept: SavedCounts | None, split_name: SplitName
) -> Outcome:
    """Rank the queries of a split, by the model and by the controls; continues from the saved counts ``kept``."""
    split = data.splits[split_name]
    reading = TestReading.of(data.manifest) if split_name == "test" else WHOLE
    evaluation = evaluate(ranker, split, plan.evaluate, reading=reading, kept=kept)
    controls: dict[str, Evaluation] = {}
    if is_trained(plan.model_name):
        others = {name: _control(name, plan.dataset) for name in CONTROLS}
        controls = {name: evaluate(other, split, plan.evaluate, reading=reading) for name, other in others.items()}
    source = DataSource(origin=data.manifest["origin"], fingerprint=words_sha256(split))
    tested = measure(
        evaluation, data=source, split=split_name, controls=controls, resamples=plan.evaluate.bootstrap_samples
    )
    return Outcome(tested, evaluation, evaluation.seconds)


def _control(name: str, dataset: str) -> Ranker:
    plan = resolve(dataset, name, {})
    ranker: Ranker = class_of(name)(plan.model)
    return ranker


def also_stage(plan: Configuration, ranker: Ranker, command: str) -> dict[str, Outcome]:
    """Test the same ranker on the data sets of ``--evaluate.extra_tests``."""
    outcomes = {}
    for dataset, path in plan.evaluate.also_sets:
        data = tests_beside(plan, dataset, path, command)
        name = f"{dataset}:{path}" if path else dataset
        say(f"also testing on {name}")
        outcomes[name] = test_stage(plan, ranker, data, None, "test")
    return outcomes
