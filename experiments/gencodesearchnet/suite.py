"""Tests a model on the available subsets and both tasks; writes results as JSON and TREC files."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Final, TypeVar

import numpy as np

from data_prep.errors import UserError
from data_prep.files.access import named_path
from data_prep.files.json_text import to_json
from data_prep.files.writing import atomic_file, sole_writer, write_atomically
from data_prep.gencodesearchnet.records import Example, as_split
from data_prep.gencodesearchnet.sets import Block, find_fine_tuning
from data_prep.gencodesearchnet.subsets import POOLS, SUBSETS, Subset, find_subsets
from data_prep.installation import code_version, default_or_named, machine, without_paths
from data_prep.store.split import Split
from evaluation.benchmark import CSN, BenchmarkResult, MatchingResult, RankingResult, SubsetResult, means
from evaluation.queries import numbered
from evaluation.query_files import strictly_decreasing
from evaluation.result_store import ResultStore
from experiments.gencodesearchnet import tasks
from experiments.gencodesearchnet.config import BenchmarkOptions
from experiments.gencodesearchnet.scorers import (
    Loader,
    RankerOf,
    folder_name,
    is_trained,
    learned_languages,
    load_ranker,
)
from experiments.recipes.config import REPOSITORY
from experiments.recipes.run_folder import load_run
from experiments.terminal.console import say
from experiments.terminal.options import unknown
from modeling.pool_ranker import NeuralScores
from modeling.ranker import Ranker, Scores
from modeling.transformers.cross_encoder import CrossEncoder

RESULT: Final = "result.json"
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Data:
    """The available data."""

    subsets: Sequence[Subset]
    missing: Sequence[str]
    valid: Sequence[Example]  # pairs of the fine-tuning set, to choose thresholds; empty without it
    valid_origin: str


def find_data(options: BenchmarkOptions) -> Data:
    """The subsets that ``options`` name, and pairs to choose thresholds.

    Raises:
        UserError: there is none, a file is damaged, or a name is unknown.
    """
    names = [entry.name for entry in (*SUBSETS, *POOLS)]
    for name in options.subsets:
        if name not in names:
            raise unknown("subset", name, names)
    path = default_or_named(options.path)
    found, missing = find_subsets(path, (*SUBSETS, *POOLS))
    wanted = options.subsets or names[: len(SUBSETS)]
    subsets = [subset for subset in found if subset.name in wanted]
    if not subsets:
        there = ", ".join(subset.name for subset in found)
        raise UserError(f"of the subsets {', '.join(options.subsets)} none is in {path}: there are {there}")
    missing = [name for name in missing if name in wanted]
    for subset in subsets:
        dropped = "".join(f"; left out {count:,}: {reason}" for reason, count in subset.dropped.items())
        say(f"{subset.name}: {subset.origin}{dropped}")
    if missing:
        say(f"missing: {', '.join(missing)}")
    try:
        tuning = find_fine_tuning(path, found)
    except UserError as error:
        say(f"thresholds cannot be chosen: {error}")
        return Data(subsets, missing, (), "")
    return Data(subsets, missing, tuning.valid.examples, f"{len(tuning.valid.texts):,} validation pairs")


def run_benchmark(
    model: str, data: Data, options: BenchmarkOptions, command: str, load_packed: Loader = load_run
) -> BenchmarkResult:
    """Test ``model``, and write the result to its folder in ``--out``, and into the results of ``--save``.

    Raises:
        UserError: there is no such model, or another process is testing it.
        OSError: a file cannot be written.
    """
    folder = default_or_named(options.out) / folder_name(model)
    with sole_writer(folder):
        result = _tested(model, data, options, command, folder, load_packed)
    if options.save:
        protocol = "" if options.protocol == "canonical" else options.protocol
        name = "-".join(filter(None, (folder_name(model), protocol, "+".join(options.subsets))))
        say(f"saved {ResultStore(named_path(options.save)).save(name, to_json(result))}")
    return result


def _tested(
    model: str, data: Data, options: BenchmarkOptions, command: str, folder: Path, load_packed: Loader
) -> BenchmarkResult:
    ranker_of = load_ranker(model, options, data.valid, load_packed)
    version = code_version(REPOSITORY)  # of the running code, even if files change meanwhile
    run = _ModelRun(ranker_of, data, options, folder, {}, {})
    results = [run.result(subset) for subset in data.subsets]
    by_rank, by_match = means(results, released="D-1" in options.errors)
    result = BenchmarkResult(
        model=without_paths(model),
        protocol=options.protocol,
        seed=options.seed,
        command=without_paths(command),
        code_version=version,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
        subsets=results,
        missing=data.missing,
        learned=learned_languages(model),
        trained=is_trained(ranker_of(data.subsets[0])),
        mrr_by_type=by_rank,
        accuracy_by_type=by_match,
    )
    write_atomically(folder / RESULT, json.dumps(to_json(result), indent=1) + "\n")
    return result


@dataclass(frozen=True, slots=True)
class _ModelRun:
    ranker_of: RankerOf
    data: Data
    options: BenchmarkOptions
    folder: Path
    thresholds: dict[Ranker, tasks.Threshold]  # of the rankers used so far
    read: dict[tuple[Ranker, Split, Split], Scores]  # a cache of the last one

    def result(self, subset: Subset) -> SubsetResult:
        notes: list[str] = []
        pairs = as_split(subset.name, subset.examples)
        return SubsetResult(
            name=subset.name,
            language=subset.language,
            origin=subset.origin,
            pairs=len(subset.texts),
            groups=numbered(subset.groups) if len({*subset.groups}) < len(subset.groups) else [],
            stand_in=subset.stand_in,
            dropped=dict(subset.dropped),
            ranking=self._task("ranking", self._ranking, subset, pairs, notes),
            matching=self._task("matching", self._matching, subset, pairs, notes),
            notes=notes,
        )

    def _task(
        self, name: str, run: Callable[[Subset, Split], Found], subset: Subset, pairs: Split, notes: list[str]
    ) -> Found | None:
        if self.options.tasks not in ("both", name):
            return None
        try:
            return run(subset, pairs)
        except NotPossibleError as error:
            notes.append(f"no {name}: {error}")
            say(f"{subset.name}: {notes[-1]}")
            return None

    def _ranking(self, subset: Subset, pairs: Split) -> RankingResult:
        options = self.options
        if subset.pool:
            return tasks.rank_pool(self.ranker_of(subset), subset, pairs)
        if len(subset.texts) <= options.distractors:
            raise NotPossibleError(f"{options.distractors} distractors need more than its {len(subset.texts)} pairs")
        scores = self._over(self.ranker_of(subset), pairs, pairs)
        score: tasks.Score = scores
        released = "D-6" in options.errors
        blocks = tasks.blocks_of(subset, options.distractors, options.seed, options.limit, released=released)
        queries = min(options.limit or len(subset.texts), len(subset.texts))
        if isinstance(scores, NeuralScores) and isinstance(scores.model, CrossEncoder):
            logits: tasks.Logits = partial(scores.of_pairs, score=scores.model.pair_logits)
            if "D-7" in options.errors:
                return tasks.rank(blocks, tasks.count_by_both_logits(logits), queries, subset.name)
            if "D-5" in options.errors:
                score = tasks.gold_logit(logits)
        with trec_files(self.folder, subset.name) as add:
            return tasks.rank(blocks, tasks.count_by(score, add), queries, subset.name)

    def _matching(self, subset: Subset, pairs: Split) -> MatchingResult:
        if subset.pool:
            raise NotPossibleError("it is a test of ranking")
        options, ranker = self.options, self.ranker_of(subset)
        threshold = self.thresholds.get(ranker) or self._threshold(ranker)
        self.thresholds[ranker] = threshold
        typography = "D-4" in options.errors and subset.name in CSN
        return tasks.match(
            partial(self._over, ranker),
            subset,
            threshold,
            options.seed,
            typography=typography,
            positives_only="D-8" in options.errors,
            pairs=pairs,
        )

    def _over(self, ranker: Ranker, queries: Split, corpus: Split) -> Scores:
        """The scores of ``ranker`` over a test set, cached since both tasks of a subset use the same."""
        key = ranker, queries, corpus
        if key not in self.read:
            self.read.clear()
            self.read[key] = ranker.over(queries, corpus)
        return self.read[key]

    def _threshold(self, ranker: Ranker) -> tasks.Threshold:
        if ranker.natural_threshold is None and not self.data.valid:
            raise NotPossibleError("its scores need a threshold, and the fine-tuning set is not there to choose it by")
        return tasks.choose_threshold(ranker, self.data.valid, self.data.valid_origin, self.options.seed)


class NotPossibleError(Exception):
    """A task that is not possible on a subset; the message says why."""


@contextmanager
def trec_files(folder: Path, name: str) -> Iterator[Callable[[Block, tasks.Found], None]]:
    """A function that adds scores to the TREC files of a subset, which exist once the block has ended without error."""
    with ExitStack() as files:
        run, qrels = (
            files.enter_context(files.enter_context(atomic_file(folder / f"{name}.{kind}")).open("w", encoding="ascii"))
            for kind in ("run", "qrels")
        )
        yield partial(_add_trec, run, qrels, folder.name)


def _add_trec(run: IO[str], qrels: IO[str], tag: str, block: Block, scores: tasks.Found) -> None:
    """Write the candidates of each query of a block; the first one is its gold, which comes last among ties."""
    gold = np.arange(block.shape[1]) == 0
    for candidates, row in zip(block, scores, strict=True):
        order = np.lexsort((candidates, gold, -row))
        lowered = strictly_decreasing(row[order][None])[0].tolist()
        query = candidates[0]
        qrels.write(f"q{query} 0 c{query} 1\n")
        run.writelines(
            f"q{query} Q0 c{code} {place} {score:.9g} {tag}\n"
            for place, (code, score) in enumerate(zip(candidates[order].tolist(), lowered, strict=True), start=1)
        )
