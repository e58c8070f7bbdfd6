"""Finished runs against each other: seeds of one configuration together, over the queries that all of them may use.

Tests compare where the words of the queries and methods are the same, in the same order; names of data sets and folders
do not count. What does not compare is told.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from evaluation.comparison import Entry, Lead, Pool, leads, restricted
from evaluation.queries import QueryFacts
from evaluation.query_files import RANKS, QueryRank, facts_of, folder_of_test, load_query_ranks
from evaluation.results import Result, Tested, load_result
from experiments.recipes.models import MODELS
from experiments.recipes.results_folder import differing, in_words, settings_of
from experiments.recipes.run_folder import RunFolder, check_finished
from experiments.tables.cells import whole_sections
from experiments.tables.comparison_tables import Clusters
from experiments.terminal.options import check_is_run

_OF_RANKER: Final = ("evaluate.fuse_with", "evaluate.fuse_tuned_on", "evaluate.matmul_precision")
"""Options of a test that make another ranker of the same weights."""
_OF_TRAINING: Final = ("data.", "words.", "loss.", "train.")
"""Sections that make no difference to a ranker without training on the same pool."""
_DATA: Final = "trained on"
"""What a run has in place of an option: its data, of which there may be several of one name."""
_OF_SEED: Final = ("train.seed", "train.checkpoint_minutes", "train.checkpoint_epochs")


@dataclass(frozen=True, slots=True)
class Trial:
    """A test of a run on one pool."""

    run: Path
    settings: Mapping[str, object]  # of its training and its ranker, without the seed
    pool: Pool
    result: Result
    tested: Tested
    files: Path  # the folder of the test's files

    @property
    def seed(self) -> int:
        """That of its training; 0 for all tests of a model without training."""
        return self.result.seed if self.result.parameters else 0


@dataclass(frozen=True, slots=True)
class Compared:
    """What was found on one pool."""

    pool: Pool
    entries: Sequence[Entry]  # best first
    reference: str  # the label of one of them
    runs: Mapping[str, Sequence[Trial]]  # label -> its runs, by seed
    queries: Sequence[QueryRank]  # those that all may use; none if no run has kept them
    facts: QueryFacts | None
    notes: Sequence[str]

    @property
    def clusters(self) -> Clusters:
        """The files of the queries, where they are known."""
        return {self.pool.fingerprint: self.facts.files} if self.facts else {}

    @property
    def leads(self) -> Mapping[str, Lead]:
        """Every other entry against the reference."""
        return leads(self.entries, self.reference, self.clusters.get(self.pool.fingerprint))

    def entry(self, label: str) -> Entry:
        """The entry of a label."""
        return next(each for each in self.entries if each.label == label)


def compared_runs(paths: Sequence[Path]) -> tuple[list[Compared], list[str]]:
    """What compares among the runs named, the pool of most configurations first, and why the rest does not.

    Args:
        paths: folders of runs, folders of such folders, and files of results in a run's folder. The first is the
            reference.

    Raises:
        UserError: a path is no finished run, or nothing compares.
    """
    trials = [trial for path in _named_runs(paths) for trial in _trials(*path)]
    labels = _labels([trial.settings for trial in trials])
    if len(set(labels)) < 2:
        raise UserError(
            f"all of these runs are of one configuration, {labels[0]}: name runs of another to compare them with"
        )
    pools: dict[Pool, list[tuple[str, Trial]]] = {}
    for label, trial in zip(labels, trials, strict=True):
        pools.setdefault(trial.pool, []).append((label, trial))
    several = {pool: each for pool, each in pools.items() if len({label for label, _ in each}) > 1}
    order = sorted(several, key=lambda pool: -len({label for label, _ in several[pool]}))
    left = [_why_alone(pool, each, order or [*pools]) for pool, each in pools.items() if pool not in several]
    if not several:
        raise UserError(f"nothing compares: {'; '.join(left)}")
    found = [_compared(pool, several[pool]) for pool in order]
    return [each for each in found if isinstance(each, Compared)], [*left, *(e for e in found if isinstance(e, str))]


def _named_runs(paths: Sequence[Path]) -> Iterator[tuple[Path, Path | None]]:
    """Folders of runs, each with the file of one result of it where that was named."""
    seen: set[tuple[Path, Path | None]] = set()
    for path in paths:
        for run, file in _runs_of(path):
            if (key := (run.resolve(), file)) not in seen:
                seen.add(key)
                yield run, file


def _runs_of(path: Path) -> Iterator[tuple[Path, Path | None]]:
    if path.is_file() and path.suffix == ".json":
        yield path.parent, path
        return
    if not path.is_dir():
        raise UserError(f"{path} is no folder of a run")
    folder = RunFolder(path)
    if folder.metrics.exists():
        yield path, None
        return
    if folder.config.exists():
        check_finished(folder)
        raise UserError(f"the run in {path} is not finished: resume it with --train.resume={path}")
    check_is_run(path)
    inner = sorted(each.parent for each in path.glob("*/metrics.json"))
    if not inner:
        raise UserError(
            f"{path} has no finished run in it: expected a folder with metrics.json, or one of such folders"
        )
    yield from ((each, None) for each in inner)


def _trials(run: Path, only: Path | None) -> Iterator[Trial]:
    """All tests of a run."""
    first = load_result(RunFolder(run).metrics)
    for path in [only] if only else [RunFolder(run).metrics, *sorted(run.glob("metrics-*.json"))]:
        result = load_result(path)
        files = run if path == RunFolder(run).metrics else path.with_suffix("")
        settings = _settings(first, result)
        yield Trial(run, settings, Pool.of(result.dataset, result, result), result, result, files)
        for name, tested in result.also.items():
            yield Trial(run, settings, Pool.of(name, tested, result), result, tested, folder_of_test(files, name))


def _settings(trained: Result, tested: Result) -> dict[str, object]:
    """What makes a ranker: the configuration of its training, and what a test adds to its scores."""
    config = trained.config
    if trained.model in MODELS:
        config = whole_sections(config, trained.model)
    found: dict[str, object] = {"model": trained.model, **settings_of(config)}
    if trained.parameters:
        words = trained.data.fingerprint[:8]  # the same name may be of other data
        found |= {"dataset": trained.dataset, _DATA: f"{trained.data.origin} {words}"}
    kept = (*_OF_RANKER, *["evaluate.extra_tests"] * bool(trained.parameters))  # by which pairs are left out
    free = ("evaluate.", *_OF_SEED, *(() if trained.parameters else _OF_TRAINING))
    of_test = {f"evaluate.{name}": value for name, value in tested.config.get("evaluate", {}).items()}
    found |= {name: of_test[name] for name in _OF_RANKER if name in of_test}
    return {name: value for name, value in found.items() if name in kept or not name.startswith(free)}


def _labels(settings: Sequence[Mapping[str, object]]) -> list[str]:
    """A label for each configuration: its model, with what it is fused with, and what tells it from others of it.

    What it was trained on is added only where nothing else tells two apart.
    """
    short, whole = _labels_without(settings, (_DATA,)), _labels_without(settings, ())
    meant: dict[str, set[str]] = {}
    for one, other in zip(short, whole, strict=True):
        meant.setdefault(one, set()).add(other)
    return [one if len(meant[one]) == 1 else other for one, other in zip(short, whole, strict=True)]


def _labels_without(settings: Sequence[Mapping[str, object]], left_out: Sequence[str]) -> list[str]:
    heads = [" + ".join(filter(None, (str(each["model"]), str(each.get(_OF_RANKER[0], ""))))) for each in settings]
    found = []
    for head, own in zip(heads, settings, strict=True):
        alike = [each for other, each in zip(heads, settings, strict=True) if other == head]
        names = [name for name in differing(alike) if name not in ("model", _OF_RANKER[0], *left_out)]
        found.append(", ".join((head, *in_words(own, names))))
    return found


def _why_alone(pool: Pool, trials: Sequence[tuple[str, Trial]], others: Sequence[Pool]) -> str:
    """Why the tests on a pool compare with no other, in words."""
    labels = ", ".join(dict.fromkeys(label for label, _ in trials))
    other = next((each for each in others if each != pool), None)
    if other is None:
        return f"{labels} alone was tested on {pool.title}"
    reasons = {
        "its words are those of other data": pool.fingerprint != other.fingerprint,
        f"of the {pool.split} split, not of {other.split}": pool.split != other.split,
        f"each query is ranked among {pool.size:,} methods, not {other.size:,}": pool.size != other.size,
        f"there are {pool.queries:,} queries, not {other.queries:,}": pool.queries != other.queries,
        "its methods are drawn by another seed": pool.drawn != other.drawn and -1 not in (pool.drawn, other.drawn),
    }
    why = ", ".join(reason for reason, holds in reasons.items() if holds)
    return f"{labels} on {pool.title}: not compared with tests on {other.title}, since {why}"


def _compared(pool: Pool, labelled: Sequence[tuple[str, Trial]]) -> Compared | str:
    """What was found on a pool; or why nothing was, in words."""
    runs, notes = _newest(labelled)
    trials = [trial for each in runs.values() for trial in each]
    allowed = np.ones(pool.queries, dtype=np.bool_)
    for trial in trials:
        if trial.tested.seen:
            allowed[[*trial.tested.seen.queries]] = False
    if not allowed.any():
        return f"{pool.title}: each query is of a pair that one of the runs was trained on"
    if left_out := int((~allowed).sum()):
        notes.append(
            f"Without {left_out:,} queries of pairs that one of the runs was trained on, or of copies of them."
        )
    if len(versions := {trial.result.code_version for trial in trials}) > 1:
        notes.append(f"The runs are of {len(versions)} versions of the code.")
    entries = []
    for label, of in runs.items():
        tested = [each.tested if allowed.all() else restricted(each.tested, allowed) for each in of]
        entries.append(Entry(label, [each.result for each in of], tested))
    entries.sort(key=lambda entry: -entry.mrr)
    queries = [each for each, holds in zip(_queries(trials), allowed, strict=False) if holds]
    facts = facts_of(queries, pool.fingerprint, pool.split) if queries else None
    return Compared(replace(pool, queries=int(allowed.sum())), entries, labelled[0][0], runs, queries, facts, notes)


def _newest(labelled: Iterable[tuple[str, Trial]]) -> tuple[dict[str, list[Trial]], list[str]]:
    """The runs of each label, one for each seed, and notes on those that are left out."""
    found: dict[str, dict[int, Trial]] = {}
    notes = []
    for label, trial in labelled:
        seeds = found.setdefault(label, {})
        before = seeds.get(trial.seed)
        if before and before.run != trial.run:
            newer = max(before, trial, key=lambda each: each.result.date)
            same = " with the same ranks" if [*before.tested.ranks] == [*trial.tested.ranks] else ""
            notes.append(
                f"{before.run.name} and {trial.run.name} are both of {label} with seed {trial.seed}{same}: "
                f"{newer.run.name} counts."
            )
        if before is None or trial.result.date >= before.result.date:
            seeds[trial.seed] = trial
    return {label: [seeds[seed] for seed in sorted(seeds)] for label, seeds in found.items()}, notes


def _queries(trials: Iterable[Trial]) -> list[QueryRank]:
    """The queries of a pool, as the first run has kept them that has; [] if none has."""
    known: list[QueryRank] = []
    for trial in trials:
        if (trial.files / RANKS).is_file():
            found = load_query_ranks(trial.files)
            if [each.rank for each in found] == [*trial.tested.ranks]:
                if any(each.words for each in found):
                    return found
                known = known or found
    return known
