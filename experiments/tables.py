"""Writes the README's result tables from the results that are kept in ``experiments/results/``."""

from pathlib import Path
from typing import Final

from data_prep.atomic import write_atomically
from evaluation.results import load_result
from evaluation.tables import render_markdown
from experiments.config import REPOSITORY
from experiments.console import say

RESULTS: Final = REPOSITORY / "experiments" / "results"
SPEED: Final = "speed.json"
README: Final = REPOSITORY / "README.md"
START: Final = "<!-- results:start -->"
END: Final = "<!-- results:end -->"


def write_tables(readme: Path = README, results: Path = RESULTS) -> None:
    """Bring the README's section of results in step with the kept results."""
    text = readme.read_text(encoding="utf-8")
    write_atomically(readme, with_tables(text, results))
    say(f"{readme.name}: tables of {len(kept_results(results))} results in {results}")


def kept_results(results: Path) -> list[Path]:
    """The results of runs; what ``bash run.sh speed`` measured lies beside them."""
    return sorted(path for path in results.glob("*.json") if path.name != SPEED)


def with_tables(text: str, results: Path) -> str:
    """``text`` with the tables of ``results`` between the markers.

    Raises:
        ValueError: the markers are not there, or a result cannot be read.
    """
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"expected the lines {START} and {END} in README.md, to write the tables between them")
    kept = [load_result(path) for path in kept_results(results)]
    kept.sort(key=lambda result: (result.dataset, -result.exact.mrr))
    tables = render_markdown(kept) if kept else "No results are kept yet."
    return f"{before}{START}\n{tables}\n{END}{after}"
