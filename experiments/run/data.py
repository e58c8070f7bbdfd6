"""The data of a run: its own data set, with added training pairs, without those that are also in a test set."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from data_prep.config import DataConfig, OfLanguages, data_set
from data_prep.errors import UserError
from data_prep.pipeline.overlap import TreeOverlap, overlap, tree_overlap, without
from data_prep.prepare import prepare
from data_prep.records import SPLITS, STRUCTURE_FIELDS, SplitName
from data_prep.sources.pair_files import absolute_list
from data_prep.store.prepared_data import PreparedData, held_out, limit_training
from data_prep.store.split import Split, joined
from evaluation.reading import TestReading, asked
from experiments.recipes.config import REPOSITORY, Configuration
from experiments.recipes.models import is_trained
from experiments.recipes.run_folder import any_reads_texts
from experiments.run.texts import say_texts
from experiments.terminal.console import say
from modeling import distributed as processes
from modeling.base import NeuralRanker, PairTokenizer

_TRAINED: Final[tuple[SplitName, ...]] = ("train", "valid")
"""Splits used in training."""


def prepare_stage(dataset: str, config: DataConfig, command: str) -> PreparedData:
    """The data set, prepared if it is missing or stale, limited to ``--data.limit`` pairs."""
    config = replace(config, root=str(REPOSITORY / config.root))  # an absolute root is unchanged
    if processes.is_first():
        data = prepare(dataset, config, command=command, say=say)
        processes.broadcast(None)
    else:
        processes.broadcast(None)  # wait until the first process has prepared the data
        data = prepare(dataset, config, command=command, say=say)
    return held_out(data, config.hold_out) if config.hold_out else data


def contexts_stage(
    plan: Configuration, dataset: str, config: DataConfig, data: PreparedData, *, splits: Sequence[SplitName] = SPLITS
) -> PreparedData:
    """``data`` with the contexts of the queries of ``splits`` if the model reads them and the data set has them.

    Raises:
        UserError: a shard is missing or of another program.
    """
    if not reads_contexts(plan):
        return data
    from data_prep.pipeline.contexts import with_contexts  # all that reads source trees, which few models need
    from data_prep.pipeline.corpus import Corpus

    longest, lines = getattr(plan.model, "context_words", 0), getattr(plan.model, "context", False)
    corpus = data_set(dataset, replace(config, root=str(REPOSITORY / config.root)))
    if not isinstance(corpus, Corpus):
        say(f"{dataset} does not keep the text before its functions: queries have no context")
        return data
    part: Any = getattr(plan.model, "context_part", "all")
    return with_contexts(data, corpus.shard_folder, longest=max(1, longest), part=part, lines=lines, splits=splits)


def reads_contexts(plan: Configuration) -> bool:
    """Whether the model reads contexts."""
    return bool(getattr(plan.model, "context_words", 0) or getattr(plan.model, "context", False))


def check_trainable(plan: Configuration, data: PreparedData) -> None:
    """Refuse a data set without test pairs, training on one that has only test pairs, and pairs without contexts.

    Raises:
        UserError: the message says what is missing.
    """
    if plan.data.extra_sets and reads_contexts(plan):
        raise UserError(
            f"{plan.model_name} takes no --data.extra_train_sets, whose pairs would have no contexts: leave it out"
        )
    if not len(data.splits["test"]):
        raise UserError(
            f"{plan.dataset} has training pairs only: add them to those of a data set that has test pairs too, by "
            f"--data.extra_train_sets={plan.dataset}"
        )
    if is_trained(plan.model_name) and not len(data.splits["train"]):
        missing = ", ".join(data.manifest.get("missing_files", [])) or "training pairs"
        raise UserError(
            f"{plan.dataset} has test pairs only, without {missing}: add these files, or train on another data set "
            f"with --evaluate.extra_tests={plan.dataset}"
        )
    least = max(2, plan.train.processes)
    if is_trained(plan.model_name) and len(data.splits["train"]) < least and not plan.data.extra_sets:
        few, limit = len(data.splits["train"]), plan.data.limit
        left = f"--data.limit={limit} leaves {few}: raise it, or" if limit else f"there are {few}:"
        raise UserError(f"training takes {least} pairs or more, of which {left} provide more data")


def check_fields(plan: Configuration, model: NeuralRanker, tokenizer: PairTokenizer) -> None:
    """Refuse to train a model on a field of the syntax tree for which its vocabulary would be empty.

    Raises:
        UserError: the message names the field and what can be done.
    """
    for field in model.code_fields:
        if field in STRUCTURE_FIELDS and not tokenizer.vocabulary.of(field).words:
            trees = " prepare them with --data.statements=true," if field == "statements" else ""
            raise UserError(
                f"{plan.model_name} reads the field {field}, in which no word of the training pairs reaches "
                f"--words.min_count={plan.words.min_count}:{trees} train on other data, or leave the field out"
            )


def training_data(plan: Configuration, data: PreparedData, command: str) -> PreparedData:
    """``data`` as a model is trained on it: with added training pairs, without copies of test pairs, limited.

    Raises:
        UserError: another data set cannot be prepared or has too few pairs.
    """
    whole = drop_test_overlap(plan, add_training_sets(plan, data, command), command)
    return limit_training(
        drop_crossing_copies(plan, whole), plan.data.train_limit if is_trained(plan.model_name) else 0
    )


def add_training_sets(plan: Configuration, data: PreparedData, command: str) -> PreparedData:
    """``data`` with the pairs of ``--data.extra_train_sets``, except those in its own validation or test split.

    Raises:
        UserError: one of these data sets has no training pairs.
    """
    if not plan.data.extra_sets or not is_trained(plan.model_name):
        return data
    train = data.splits["train"]
    for name, path in plan.data.extra_sets:
        extra = _extra_pairs(plan, name, path, command)
        tests = [data.splits["valid"], asked(data)]
        found, trees = overlap(extra, tests), tree_overlap(extra, tests)
        rows = np.union1d(found.rows, trees.rows)
        train = joined(train, without(extra, rows))
        say(
            f"train: added {len(extra) - len(rows):,} pairs of {name}, without {len(rows):,} that are also "
            f"in valid or test, {len(found.queries):,} by their query and {len(found.codes):,} by name and tokens"
            f"{_told(trees)}"
        )
    return replace(data, splits={**data.splits, "train": train})


def drop_crossing_copies(plan: Configuration, data: PreparedData) -> PreparedData:
    """``data`` without the training and validation pairs that copy one of a later split, by ``--data.clean_splits``."""
    if not plan.data.clean_splits or not is_trained(plan.model_name):
        return data
    splits, later = dict(data.splits), [asked(data)]
    for name in ("valid", "train"):
        found = overlap(data.splits[name], later, named=True)
        splits[name] = without(data.splits[name], found.rows)
        later.append(data.splits[name])
        say(
            f"{name}: left out {len(found.rows):,} copies of pairs of later splits, "
            f"{len(found.queries):,} by name and query and {len(found.codes):,} by name and tokens"
        )
    return replace(data, splits=splits)


def drop_test_overlap(plan: Configuration, data: PreparedData, command: str) -> PreparedData:
    """``data`` without the training and validation pairs that also occur elsewhere.

    Elsewhere means a test split of ``--evaluate.extra_tests``, a sample of what was collected from many source trees,
    so that a tree with several copies is left out as a whole; or any split of ``--data.exclude_overlap_with``, which is
    there completely, so that only copies are.
    """
    if not is_trained(plan.model_name):
        return data
    tests = [asked(tests_beside(plan, name, path, command)) for name, path in plan.evaluate.also_sets]
    apart = [
        split
        for name, path in plan.data.apart_sets
        for split in prepared_beside(plan, name, path, command).splits.values()
    ]
    splits = _without_copies(data.splits, tests, plan.evaluate.extra_tests, whole_trees=True)
    splits = _without_copies(splits, apart, plan.data.exclude_overlap_with, whole_trees=False)
    return data if splits is data.splits else replace(data, splits=splits)


def _without_copies(
    splits: Mapping[SplitName, Split], others: Sequence[Split], where: str, *, whole_trees: bool
) -> Mapping[SplitName, Split]:
    if not others:
        return splits
    left = dict(splits)
    for split in _TRAINED:
        found = overlap(left[split], others)
        trees = tree_overlap(left[split], others, whole_trees=whole_trees)
        rows = np.union1d(found.rows, trees.rows)
        left[split] = without(left[split], rows)
        say(
            f"{split}: left out {len(rows):,} pairs that are also in {where}, "
            f"{len(found.queries):,} by their query and {len(found.codes):,} by name and tokens{_told(trees)}"
        )
    return left


def _told(found: TreeOverlap) -> str:
    """What is left out by source trees, for a line; "" if nothing is."""
    if not len(found.rows):
        return ""
    names = ", ".join(found.trees)
    whole = f", among them all pairs of {len(found.trees)} repositories that are in it ({names})" if names else ""
    chance = f"; {len(found.by_chance)} others have no more copies than by chance" if found.by_chance else ""
    return f", {len(found.copies):,} of repositories as degraded copies{whole}{chance}"


def prepared_beside(plan: Configuration, dataset: str, path: str, command: str) -> PreparedData:
    """Another data set than the run's own, with all its pairs."""
    config = config_of_other(plan.data, dataset, path)
    return contexts_stage(plan, dataset, config, prepare_stage(dataset, config, command))


def config_of_other(config: DataConfig, dataset: str, path: str) -> DataConfig:
    """The configuration of another data set, derived from ``config``; one of Java alone brings its Java."""
    place = absolute_list(path) if path else ""
    other = replace(
        config, language="java", path=place, limit=0, extra_train_sets="", exclude_overlap_with="", hold_out=""
    )
    if isinstance(data_set(dataset, other), OfLanguages):
        return replace(other, language=config.language)
    return other


def tests_beside(plan: Configuration, dataset: str, path: str, command: str) -> PreparedData:
    """A data set with test pairs, such as one of ``--evaluate.extra_tests``.

    Raises:
        UserError: it has no test pairs.
    """
    data = prepared_beside(plan, dataset, path, command)
    if not len(data.splits["test"]):
        raise UserError(f"{dataset} has no test pairs for --evaluate.extra_tests={plan.evaluate.extra_tests}")
    return data


def _extra_pairs(plan: Configuration, dataset: str, path: str, command: str) -> Split:
    extra = prepared_beside(plan, dataset, path, command).splits["train"]
    if not len(extra):
        raise UserError(
            f"{dataset} has no training pairs to add by --data.extra_train_sets={plan.data.extra_train_sets}"
        )
    return extra


def prepare_others(plan: Configuration, data: PreparedData, command: str, *, trains: bool) -> None:
    """Prepare the other data sets of a run, so that what they lack is reported before it trains or ranks.

    Args:
        plan: configuration of the run.
        data: its own data set.
        command: the command as typed.
        trains: whether to include the data sets of training.

    Raises:
        UserError: a data set is not available, or has no pairs of the kind that is needed, or no texts.
    """
    trained, evaluate = trains and is_trained(plan.model_name), plan.evaluate
    read = _own_splits(plan, data, trained=trained)
    read += [_test_of(also[0], tests_beside(plan, *also, command)) for also in evaluate.also_sets]
    if evaluate.fuse_with:
        valid = fusion_pairs(plan, data, command)
        read += [(name, valid, True) for name, _ in evaluate.mix_sets]
    if trained:
        read += [(extra[0], _extra_pairs(plan, *extra, command), True) for extra in plan.data.extra_sets]
        for apart in plan.data.apart_sets:
            prepared_beside(plan, *apart, command)
    if any_reads_texts(plan):
        say_texts(read)


def _own_splits(plan: Configuration, data: PreparedData, *, trained: bool) -> list[tuple[str, Split, bool]]:
    """The splits of its own data set that a run reads, and whether all their rows are queries."""
    weighed: tuple[SplitName, ...] = ("valid",) if plan.evaluate.fuse_with and not plan.evaluate.mix_sets else ()
    names = dict.fromkeys(SPLITS if trained else (plan.evaluate.split, *weighed))
    found = [(plan.dataset, data.splits[name], True) for name in names if name != "test"]
    return [*found, _test_of(plan.dataset, data)] if "test" in names else found


def _test_of(dataset: str, data: PreparedData) -> tuple[str, Split, bool]:
    return dataset, data.splits["test"], not TestReading.of(data.manifest).candidates_without_query


def fusion_pairs(plan: Configuration, data: PreparedData, command: str) -> Split:
    """The validation pairs of ``--evaluate.fuse_tuned_on``, or those of ``data`` if it is empty."""
    valid, name = data.splits["valid"], plan.dataset
    for name, path in plan.evaluate.mix_sets:
        valid = prepared_beside(plan, name, path, command).splits["valid"]
    if not len(valid):
        raise UserError(
            f"{name} has no validation pairs to choose the weight of --evaluate.fuse_with={plan.evaluate.fuse_with} "
            f"by: name a "
            "data set that has some by --evaluate.fuse_tuned_on="
        )
    return valid
