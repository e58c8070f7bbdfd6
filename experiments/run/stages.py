"""The stages of a run, each of which can be called alone: data, model, training, test."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final

import numpy as np
import torch
from jaxtyping import Float

from data_prep.config import DataConfig
from data_prep.files.named_paths import named_path
from data_prep.pairs.overlap import overlap, without
from data_prep.prepare import prepare
from data_prep.records import STRUCTURE_FIELDS, SplitName
from data_prep.store.checksum import words_sha256
from data_prep.store.concatenation import joined
from data_prep.store.prepared_data import PreparedData, Split
from evaluation.config import EvaluateConfig
from evaluation.evaluator import Evaluation, evaluate, pool_rows
from evaluation.metrics import count_better_and_tied, exact
from evaluation.results import DataSource, Tested, measure
from evaluation.saved_counts import SavedCounts
from experiments.run.board_pages import Pages
from modeling import distributed as processes
from modeling.contract import Matcher, PairTokenizer, Ranker
from modeling.losses import build_loss
from modeling.pool_ranker import PoolRanker
from recipes.config import REPOSITORY, Configuration, resolve
from recipes.models import class_of
from recipes.run_folder import RunFolder
from retrieval.fusion import FusedRanker, best_weight
from terminal.console import say
from training.pair_task import PairTask
from training.seeding import seed_everything
from training.trainer import TrainingReport, train

_TRAINED: Final[tuple[SplitName, ...]] = ("train", "valid")
"""Splits that have a part in training."""

CONTROLS: Final = ("bm25_tuned", "bm25", "bm25_no_stems")
"""The rankers that every model is held against: the strongest first; the last is the one most papers mean."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A tested data set: the numbers, and the evaluations of the model and of its controls that they come from."""

    tested: Tested
    evaluation: Evaluation
    seconds: float  # of the model's evaluation


def prepare_stage(dataset: str, config: DataConfig, command: str) -> PreparedData:
    """The prepared data set, made where it is missing or stale, cut to ``--data.limit``."""
    config = replace(config, root=str(REPOSITORY / config.root))  # an absolute root stays what it is
    if processes.is_first():
        data = prepare(dataset, config, command=command, say=say)
        processes.broadcast(None)
        return data
    processes.broadcast(None)  # what the first process prepared is there now
    return prepare(dataset, config, command=command, say=say)


def check_trainable(plan: Configuration, data: PreparedData) -> None:
    """Refuse a data set without test pairs, and to train a model on one that only has test pairs.

    Raises:
        ValueError: the message says what is missing.
    """
    if not len(data.splits["test"]):
        raise ValueError(
            f"{plan.dataset} has training pairs only: add them to those of a data set that has test pairs too, by "
            f"--data.extra={plan.dataset}"
        )
    if is_trained(plan.model_name) and not len(data.splits["train"]):
        missing = ", ".join(data.manifest.get("missing_files", [])) or "training pairs"
        raise ValueError(
            f"{plan.dataset} has test pairs only, without {missing}: put these there too, or train on another data set "
            f"with --evaluate.also={plan.dataset}"
        )
    least = max(2, plan.train.processes)
    if is_trained(plan.model_name) and len(data.splits["train"]) < least and not plan.data.extra_sets:
        raise ValueError(
            f"training takes {least} pairs or more, of which --data.limit={plan.data.limit} leaves "
            f"{len(data.splits['train'])}: raise it, or give more data"
        )


def check_fields(plan: Configuration, matcher: Matcher, encoder: PairTokenizer) -> None:
    """Refuse to train a model that reads a field of the syntax tree of which it would know no word.

    Raises:
        ValueError: the message names the field and what can be done.
    """
    for field in matcher.code_fields:
        if field in STRUCTURE_FIELDS and not encoder.vocabulary.of(field).words:
            trees = " prepare them with --data.statements=true," if field == "statements" else ""
            raise ValueError(
                f"{plan.model_name} reads the field {field}, of which the training pairs have no word that "
                f"--words.min_count={plan.words.min_count} leaves:{trees} train on other data, or leave the field out"
            )


def add_training_sets(plan: Configuration, data: PreparedData, command: str) -> PreparedData:
    """``data`` with the training pairs of ``--data.extra``, but for those in its own validation or test split.

    Raises:
        ValueError: one of these data sets has no training pairs.
    """
    if not plan.data.extra_sets or not is_trained(plan.model_name):
        return data
    train = data.splits["train"]
    for name, path in plan.data.extra_sets:
        extra = _extra_pairs(plan, name, path, command)
        found = overlap(extra, [data.splits["valid"], data.splits["test"]])
        train = joined(train, without(extra, found.rows))
        say(
            f"train: added {len(extra) - len(found.rows):,} pairs of {name}, without {len(found.rows):,} that stand in "
            f"valid or test too, {len(found.queries):,} by their query and {len(found.codes):,} by name and tokens"
        )
    return replace(data, splits={**data.splits, "train": train})


def drop_test_overlap(plan: Configuration, data: PreparedData, command: str) -> PreparedData:
    """``data`` without the training and validation pairs that stand elsewhere too.

    Elsewhere is a test of ``--evaluate.also``, and any split of a data set of ``--data.apart``.
    """
    if not is_trained(plan.model_name):
        return data
    others = [_also_tests(plan, name, path, command).splits["test"] for name, path in plan.evaluate.also_sets]
    for name, path in plan.data.apart_sets:
        others += _also_data(plan, name, path, command).splits.values()
    if not others:
        return data
    where = " or ".join(filter(None, (plan.evaluate.also, plan.data.apart)))
    splits = dict(data.splits)
    for split in _TRAINED:
        found = overlap(splits[split], others)
        splits[split] = without(splits[split], found.rows)
        say(
            f"{split}: left out {len(found.rows):,} pairs that stand in {where} too, "
            f"{len(found.queries):,} by their query and {len(found.codes):,} by name and tokens"
        )
    return replace(data, splits=splits)


def _also_data(plan: Configuration, dataset: str, path: str, command: str) -> PreparedData:
    return prepare_stage(dataset, config_of_other(plan.data, path), command)


def config_of_other(config: DataConfig, path: str) -> DataConfig:
    """The configuration of a data set that is named beside that of ``config``."""
    return replace(config, path=str(named_path(path)) if path else "", limit=0, extra="", apart="")


def _also_tests(plan: Configuration, dataset: str, path: str, command: str) -> PreparedData:
    data = _also_data(plan, dataset, path, command)
    if not len(data.splits["test"]):
        raise ValueError(f"{dataset} has no test pairs for --evaluate.also={plan.evaluate.also}")
    return data


def _extra_pairs(plan: Configuration, dataset: str, path: str, command: str) -> Split:
    extra = _also_data(plan, dataset, path, command).splits["train"]
    if not len(extra):
        raise ValueError(f"{dataset} has no training pairs to add by --data.extra={plan.data.extra}")
    return extra


def prepare_others(plan: Configuration, data: PreparedData, command: str, *, trains: bool) -> None:
    """Prepare what a run needs beside ``data``, so that what it lacks is told before it trains or ranks.

    Args:
        plan: of the run.
        data: its own.
        command: as typed.
        trains: whether what is trained on counts too.

    Raises:
        ValueError: a data set cannot be had, or has none of the pairs that it is named for.
    """
    for also in plan.evaluate.also_sets:
        _also_tests(plan, *also, command)
    if plan.evaluate.mix:
        _valid_pairs(plan, data, command)
    if trains and is_trained(plan.model_name):
        for extra in plan.data.extra_sets:
            _extra_pairs(plan, *extra, command)
        for apart in plan.data.apart_sets:
            _also_data(plan, *apart, command)


def _valid_pairs(plan: Configuration, data: PreparedData, command: str) -> Split:
    """The validation pairs of ``--evaluate.mix_on``, or those of ``data`` where it names nothing."""
    valid, name = data.splits["valid"], plan.dataset
    for name, path in plan.evaluate.mix_sets:
        valid = _also_data(plan, name, path, command).splits["valid"]
    if not len(valid):
        raise ValueError(
            f"{name} has no validation pairs to choose the weight of --evaluate.mix={plan.evaluate.mix} by: name a "
            "data set that has some by --evaluate.mix_on="
        )
    return valid


def device() -> str:
    """Where models compute: a GPU where torch finds one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def is_trained(model: str) -> bool:
    """Whether a model is a Matcher, which learns; other rankers need no training."""
    return issubclass(class_of(model), Matcher)


def build_model(plan: Configuration, encoder: PairTokenizer) -> Matcher:
    """The model with random starting weights, which depend on ``--train.seed``."""
    seed_everything(plan.train.seed, plan.train.threads)
    matcher: Matcher = class_of(plan.model_name)(plan.model, encoder.vocabulary)
    return matcher.to(device())


def train_stage(
    plan: Configuration,
    matcher: Matcher,
    encoder: PairTokenizer,
    data: PreparedData,
    folder: RunFolder,
    pages: Pages | None,
) -> TrainingReport:
    """Train; the weights of the best validation epoch are in ``matcher`` afterwards."""
    ids = encoder.encode(data.splits["train"])
    matcher.start_from(ids)
    task = PairTask(
        matcher,
        build_loss(plan.loss),
        ids,
        _validation(plan, encoder, data.splits["valid"], pages),
        plan.train,
        device(),
    )
    seed_everything(plan.train.seed, plan.train.threads)
    return train(task, plan.train, folder.path, board=pages.board if pages else None, say=say)


def _validation(
    plan: Configuration, encoder: PairTokenizer, valid: Split, pages: Pages | None
) -> Callable[[Matcher], Mapping[str, float]]:
    config = EvaluateConfig(pool=min(plan.train.validate_pool, len(valid)), run_depth=1)

    def validate(matcher: Matcher) -> Mapping[str, float]:
        evaluation = evaluate(PoolRanker(matcher, encoder, device()), valid, config, progress=False)
        if pages:
            pages.show(matcher, evaluation)
        return asdict(exact(evaluation.ranks))

    return validate


def mixed(plan: Configuration, ranker: Ranker, data: PreparedData, command: str) -> Ranker:
    """``ranker`` together with that of ``--evaluate.mix``, by the weight that is best on validation.

    Raises:
        ValueError: ``--evaluate.mix_on`` has no validation pairs.
    """
    name = plan.evaluate.mix
    if not name:
        return ranker
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
    return FusedRanker(ranker, other, weight)


def _weighing_pairs(plan: Configuration, data: PreparedData, command: str) -> Split:
    """The pairs that choose the weight of a mixture, none of which stands in training or in a test."""
    valid = _valid_pairs(plan, data, command)
    if not plan.evaluate.mix_sets:
        return valid
    ((name, _),) = plan.evaluate.mix_sets
    tests = [_also_tests(plan, *other, command).splits["test"] for other in plan.evaluate.also_sets]
    found = overlap(valid, [data.splits["train"], data.splits["test"], *tests])
    if len(found.rows) == len(valid):
        raise ValueError(f"{name} has no validation pairs of its own for --evaluate.mix_on={plan.evaluate.mix_on}")
    say(f"{name}: {len(valid) - len(found.rows):,} validation pairs, without {len(found.rows):,} that stand elsewhere")
    return without(valid, found.rows)


def test_stage(
    plan: Configuration, ranker: Ranker, data: PreparedData, kept: SavedCounts | None, split_name: SplitName
) -> Outcome:
    """Rank the queries of a split, by the model and by the controls; goes on from what is ``kept``."""
    split = data.splits[split_name]
    evaluation = evaluate(ranker, split, plan.evaluate, kept=kept)
    controls: dict[str, Evaluation] = {}
    if is_trained(plan.model_name):
        controls = {name: evaluate(_control(name, plan.dataset), split, plan.evaluate) for name in CONTROLS}
    source = DataSource(origin=data.manifest["origin"], fingerprint=words_sha256(split))
    tested = measure(evaluation, data=source, split=split_name, controls=controls, resamples=plan.evaluate.resamples)
    return Outcome(tested, evaluation, evaluation.seconds)


def _control(name: str, dataset: str) -> Ranker:
    plan = resolve(dataset, name, {})
    ranker: Ranker = class_of(name)(plan.model)
    return ranker


def also_stage(plan: Configuration, ranker: Ranker, command: str) -> dict[str, Outcome]:
    """The same ranker on the test splits of the data sets of ``--evaluate.also``."""
    outcomes = {}
    for dataset, path in plan.evaluate.also_sets:
        data = _also_tests(plan, dataset, path, command)
        name = f"{dataset}:{path}" if path else dataset
        say(f"also testing on {name}")
        outcomes[name] = test_stage(plan, ranker, data, None, "test")
    return outcomes
