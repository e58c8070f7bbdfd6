"""The facts about the queries of the main table, saved in ``experiments/results/queries/``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from data_prep.files.named_paths import named_path
from evaluation.comparison import Entry, Pool, by_pool
from evaluation.queries import QueryFacts, load_query_facts, query_facts, save_query_facts
from evaluation.results import Result
from experiments.tables.cells import Cell, finished
from terminal.console import say

if TYPE_CHECKING:
    from data_prep.config import DataConfig

KnownPool = tuple[Pool, Sequence[Entry], QueryFacts]
"""A pool, the rankers that were tested on it, and the facts about its queries."""


def facts_path(results: Path, dataset: str) -> Path:
    """The file of a data set's facts."""
    return results / "queries" / f"{dataset}.json"


def write_query_facts(cells: Sequence[Cell], results: Path, typed: Mapping[str, str]) -> None:
    """Save the facts about the queries that ``cells`` are tested on, if they are missing or the data have changed.

    Data are prepared only if facts are missing or a cell has still to be run.

    Raises:
        ValueError: the data cannot be prepared, or saved facts cannot be read.
    """
    from experiments.run.data import prepare_stage
    from experiments.run.run import command_line

    for dataset, config in _wanted(cells, results, typed).items():
        data = prepare_stage(dataset, config, command_line("compare", cells[0].dataset, typed))
        facts = query_facts(data.splits["test"], dataset=dataset, origin=data.manifest["origin"])
        path = facts_path(results, dataset)
        if path.exists() and load_query_facts(path) == facts:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        save_query_facts(facts, path)
        say(f"{dataset}: saved the lengths of {len(facts.words):,} test queries and their overlap with their methods")


def _wanted(cells: Iterable[Cell], results: Path, typed: Mapping[str, str]) -> dict[str, "DataConfig"]:
    """The data sets whose facts may be missing or outdated, without a limit, as the cells prepare them."""
    wanted: dict[str, DataConfig] = {}
    for cell in cells:
        plan = cell.plan(typed)
        is_run = finished(cell, results / "main", typed) is not None
        for dataset, path in ((cell.dataset, plan.data.path), *plan.evaluate.also_sets):
            if not (is_run and facts_path(results, dataset).exists()):
                place = str(named_path(path)) if path else ""
                wanted.setdefault(dataset, replace(plan.data, path=place, limit=0))
    return wanted


def known_pools(results: Iterable[tuple[str, Result]], folder: Path) -> list[KnownPool]:
    """The pools of labelled results whose queries are those of the facts saved in ``folder``.

    Raises:
        ValueError: saved facts cannot be read.
    """
    known: list[KnownPool] = []
    for pool, entries in by_pool(results).items():
        path = facts_path(folder, pool.dataset.partition(":")[0])
        facts = load_query_facts(path) if path.exists() else None
        if facts and facts.fits(pool):
            known.append((pool, entries, facts))
    return known
