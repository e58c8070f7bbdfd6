"""The facts of the queries behind the main table, saved beside its results in ``experiments/results/queries/``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from data_prep.files.named_paths import named_path
from evaluation.comparison import Entry, Pool, by_pool
from evaluation.queries import QueryFacts, load_query_facts, query_facts, save_query_facts
from evaluation.results import Result
from experiments.tables.cells import Cell, finished
from recipes.config import Configuration
from terminal.console import say

if TYPE_CHECKING:
    from data_prep.config import DataConfig

KnownPool = tuple[Pool, Sequence[Entry], QueryFacts]
"""A pool, the rankers that were tested on it, and the facts about its queries."""


def facts_path(results: Path, dataset: str, limit: int = 0) -> Path:
    """Where the facts of a data set's test split are saved; ``limit``: of its pairs, 0: all."""
    return results / "queries" / f"{dataset}{f'-{limit}' if limit else ''}.json"


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
    from experiments.run.data import prepare_stage
    from experiments.run.run import command_line

    for path, (dataset, config) in _wanted(cells, results, typed).items():
        data = prepare_stage(dataset, config, command_line("compare", cells[0].dataset, typed))
        facts = query_facts(data.splits["test"], dataset=dataset, origin=data.manifest["origin"])
        if path.exists() and load_query_facts(path) == facts:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        save_query_facts(facts, path)
        say(f"{dataset}: saved the numbers of words and the files of {len(facts.words):,} test queries")


def _wanted(cells: Iterable[Cell], results: Path, typed: Mapping[str, str]) -> dict[Path, tuple[str, "DataConfig"]]:
    """The files of facts that may be missing or old, with their data sets as the cells prepare them."""
    wanted: dict[Path, tuple[str, DataConfig]] = {}
    for cell in cells:
        plan = cell.plan(typed)
        is_run = any(finished(cell, results / folder, typed) for folder in ("main", "ablations"))
        for dataset, place, limit in ((cell.dataset, plan.data.path, plan.data.limit), *_also(plan)):
            path = facts_path(results, dataset, limit)
            if not (is_run and path.exists()):
                data = replace(plan.data, path=str(named_path(place)) if place else "", limit=limit)
                wanted.setdefault(path, (dataset, data))
    return wanted


def _also(plan: Configuration) -> list[tuple[str, str, int]]:
    """The data sets that are tested too: whole."""
    return [(dataset, place, 0) for dataset, place in plan.evaluate.also_sets]


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
