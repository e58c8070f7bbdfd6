"""The facts of the queries behind the main table, saved beside its results in ``experiments/results/queries/``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from data_prep.files.named_paths import named_path
from evaluation.comparison import Entry, Pool, by_pool
from evaluation.queries import QueryFacts, load_query_facts, query_facts, save_query_facts
from evaluation.results import Result
from experiments.recipes.config import Configuration
from experiments.tables.cells import Cell, finished
from experiments.terminal.console import say

_Tested = Literal["test", "valid"]

KnownPool = tuple[Pool, Sequence[Entry], QueryFacts]
"""A pool, the rankers that were tested on it, and the facts about its queries."""


def facts_path(results: Path, dataset: str, limit: int = 0, split: _Tested = "test") -> Path:
    """Where the facts of a split of a data set are saved; ``limit``: of its pairs, 0: all."""
    parts = (dataset, str(limit) if limit else "", "" if split == "test" else split)
    return results / "queries" / f"{'-'.join(filter(None, parts))}.json"


def saved_facts(results: Path) -> list[QueryFacts]:
    """All facts that are saved.

    Raises:
        ValueError: a file is not such a file.
    """
    return [load_query_facts(path) for path in sorted((results / "queries").glob("*.json"))]


def write_query_facts(cells: Sequence[Cell], results: Path, typed: Mapping[str, str]) -> None:
    """Save the facts of the queries that ``cells`` are tested on, where none are saved or the data have changed.

    Data are prepared only if facts are missing or a cell has still to be run.

    Raises:
        ValueError: the data cannot be prepared, or saved facts cannot be read.
    """
    from experiments.run.data import prepare_stage, training_data
    from experiments.run.run import command_line

    for path, (dataset, plan) in _wanted(cells, results, typed).items():
        command = command_line("compare", cells[0].dataset, typed)
        data = prepare_stage(dataset, plan.data, command)
        if plan.evaluate.split == "valid":
            data = training_data(plan, data, command)
        facts = query_facts(data.splits[plan.evaluate.split], dataset=dataset, origin=data.manifest["origin"])
        if path.exists() and load_query_facts(path) == facts:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        save_query_facts(facts, path)
        say(f"{dataset}: saved the numbers of words and the files of {len(facts.words):,} {facts.split} queries")


def _wanted(cells: Iterable[Cell], results: Path, typed: Mapping[str, str]) -> dict[Path, tuple[str, Configuration]]:
    """The files of facts that may be missing or old, with their data sets as the cells prepare them."""
    wanted: dict[Path, tuple[str, Configuration]] = {}
    for cell in cells:
        plan = cell.plan(typed)
        is_run = any(finished(cell, results / folder, typed) for folder in ("main", "ablations"))
        tested: list[tuple[str, str, int, _Tested]] = [
            (cell.dataset, plan.data.path, plan.data.limit, plan.evaluate.split),
            *((dataset, place, 0, "test") for dataset, place in plan.evaluate.also_sets),
        ]
        for dataset, place, limit, split in tested:
            path = facts_path(results, dataset, limit, split)
            if not (is_run and path.exists()):
                data = replace(plan.data, path=str(named_path(place)) if place else "", limit=limit)
                needed = replace(plan, data=data, evaluate=replace(plan.evaluate, split=split))
                wanted.setdefault(path, (dataset, needed))
    return wanted


def known_pools(results: Iterable[tuple[str, Result]], folder: Path) -> list[KnownPool]:
    """The pools of labelled results whose queries are those of the facts saved below ``folder``.

    Raises:
        ValueError: saved facts cannot be read.
    """
    known: list[KnownPool] = []
    saved = saved_facts(folder)
    for pool, entries in by_pool(results).items():
        known += [(pool, entries, facts) for facts in saved if facts.fits(pool)]
    return known
