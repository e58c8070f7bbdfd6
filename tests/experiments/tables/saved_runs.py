"""Saved results of the repository, copied for a test."""

from collections.abc import Iterable
from pathlib import Path

from evaluation.result_store import ResultStore
from experiments.recipes.results_folder import RESULTS


def copied(page: str, names: Iterable[str], results: Path) -> None:
    """Save runs of a page of the repository into another folder of pages."""
    for name in names:
        run = ResultStore(RESULTS / page).get(name)
        assert run, name
        ResultStore(results / page).save(name, run.content)


def has(page: str, name: str) -> bool:
    """Whether the repository has a saved result."""
    return ResultStore(RESULTS / page).get(name) is not None
