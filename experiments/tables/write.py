"""Writes the tables of the results saved in ``experiments/results/``: README, main.md, the ablations."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Final

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.installation import INSTALLED
from evaluation.results import Result
from experiments.ablations.calibration import calibration_section, load_calibration
from experiments.ablations.catalogue import ABLATIONS
from experiments.ablations.graph_grid import NAME, Grid, grid_cells, grid_of, grid_page
from experiments.ablations.pages import (
    ON_TEST,
    Found,
    ablation_page,
    ablation_picture,
    found_by,
    overview,
    overview_on_test,
)
from experiments.ablations.positive_control import control_section, load_control
from experiments.ablations.tuning import TUNED, tuning_cells, tuning_page
from experiments.gencodesearchnet.report import benchmark_page, kept_benchmarks
from experiments.gencodesearchnet.subset_pictures import subset_picture
from experiments.recipes.config import REPOSITORY
from experiments.recipes.results_folder import RESULTS
from experiments.tables import class_pictures, comparison_pictures, training_pictures
from experiments.tables.cells import Cell, finished
from experiments.tables.class_tables import class_table
from experiments.tables.comparison_tables import Clusters, published_table, tables
from experiments.tables.costs import cost
from experiments.tables.language_table import NAME as LANGUAGES
from experiments.tables.language_table import language_page
from experiments.tables.main_table import CELLS, REFERENCES
from experiments.tables.query_facts import known_pools, saved_facts
from experiments.tables.summary import shown, summary
from experiments.terminal.console import say

README: Final = REPOSITORY / "README.md"
START: Final = "<!-- results:start -->"
END: Final = "<!-- results:end -->"
_BUDGET: Final = (
    "The neural models were given the same four settings on validation ([tuning.md](tuning.md)); those with or without "
    "a tree have the other form's. galm keeps its paper's loss. What GALM's paper leaves open, and what galm_plus has "
    "instead, was chosen on validation by hand, in more runs than that: its lead includes this work."
)
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_PICTURES: Final = "As pictures: `main-*.png` beside this page."


def write_tables(readme: Path = README, results: Path = RESULTS) -> None:
    """Write all tables and figures from the saved results.

    Raises:
        UserError: this program runs from a wheel, or a result cannot be read.
    """
    if INSTALLED:
        raise UserError("tables are written into a checkout of the repository: clone it, and run this there")
    write_atomically(readme, with_tables(readme.read_text(encoding="utf-8"), results))
    written = [readme.name]
    for name, text in pages(results).items():
        write_atomically(results / name, text)
        written.append(name)
    for name, picture in drawn(results).items():
        write_atomically(results / name, picture)
        written.append(name)
    say(f"{', '.join(written)}: of {len(list(_main(results)))} results of the main table")


def pages(results: Path) -> Mapping[str, str]:
    """The Markdown files of those pages that have results, by their names in the folder."""
    found = {"published.md": f"# Printed numbers and what they can mean\n\n{published_table()}\n"}
    main = list(_main(results))
    where = "\n\n".join(filter(None, map(class_table, known_pools(main, results))))
    if main:
        spent = cost(result for _, result in main)
        table = tables(main, REFERENCES, clusters(results), whole=True)
        parts = ("# All models", _BUDGET, spent, table, where and f"## By kind of query\n\n{where}", _PICTURES)
        found["main.md"] = "\n\n".join(filter(None, parts)) + "\n"
    if found_settings := tuning(results):
        found["tuning.md"] = found_settings
    if languages := language_page(results / LANGUAGES):
        found[f"{LANGUAGES}.md"] = languages
    if benchmark := benchmark_page(results):
        found["gencodesearchnet.md"] = benchmark
    if finds := ablations(results):
        found["ablations.md"] = overview(finds, sections(results))
        found |= {f"ablations/{each.name}.md": ablation_page(each) for each in finds}
    if earlier := ablations_on_test(results):
        found[f"{ON_TEST}.md"] = overview_on_test(earlier)
    if grid := saved_grid(results):
        found[f"ablations/{NAME}.md"] = grid_page(grid)
    return found


def drawn(results: Path) -> Mapping[str, bytes]:
    """The figures, by their names in the folder."""
    main = list(_main(results))
    kinds = {
        "": comparison_pictures.pictures(main),
        "-training": training_pictures.pictures(main),
        "-where": class_pictures.pictures(known_pools(main, results)),
    }
    found = {f"main-{dataset}{kind}.png": png for kind, pngs in kinds.items() for dataset, png in pngs.items()}
    if benchmarks := kept_benchmarks(results):
        found["gencodesearchnet.png"] = subset_picture(benchmarks)
    found |= {f"ablations/{each.name}.png": ablation_picture(each) for each in ablations(results)}
    return found


def ablations(results: Path) -> list[Found]:
    """The findings of the ablations for which the base model and a variant have saved results."""
    kept = {name: saved_results(each.cells, results / "ablations") for name, each in ABLATIONS.items()}
    return _found(kept, results)


def ablations_on_test(results: Path) -> list[Found]:
    """The same of the earlier results."""
    return _found({n: saved_results(each.cells_on_test, results / ON_TEST) for n, each in ABLATIONS.items()}, results)


def _found(kept: Mapping[str, Iterable[tuple[str, Result]]], results: Path) -> list[Found]:
    files = clusters(results)
    return [found for name, each in kept.items() if (found := found_by(name, list(each), files))]


def sections(results: Path) -> list[str]:
    """The sections of the page of ablations about the graph's code and about the test, where they are measured."""
    control, calibration = load_control(results), load_calibration(results)
    found = [control_section(control)] if control else []
    return [*found, calibration_section(calibration)] if calibration else found


def saved_grid(results: Path, typed: Mapping[str, str] = _NONE) -> Grid | None:
    """The saved results of the grid of graphs, if there are any."""
    return grid_of(saved_results(grid_cells(), results / "ablations", typed), clusters(results))


def clusters(results: Path) -> Clusters:
    """The files that queries are of, of those test splits of which facts are saved."""
    return {facts.fingerprint: facts.files for facts in saved_facts(results)}


def tuning(results: Path) -> str:
    """The settings compared on validation, "" if no result is saved."""
    return tuning_page(chain.from_iterable(saved_results(tuning_cells(name), results / "tuning") for name in TUNED))


def saved_results(
    cells: Iterable[Cell], folder: Path, typed: Mapping[str, str] = _NONE
) -> Iterator[tuple[str, Result]]:
    """The results of the cells that are finished with the options typed, with their labels."""
    for cell in cells:
        result = finished(cell, folder, typed)
        if result is not None:
            yield cell.label, result


def _main(results: Path) -> Iterator[tuple[str, Result]]:
    for cells in CELLS.values():
        yield from ((shown(label), result) for label, result in saved_results(cells, results / "main"))


def with_tables(text: str, results: Path) -> str:
    """``text`` with the summary of the main tables between the markers.

    Raises:
        UserError: the markers are not there, or a result cannot be read.
    """
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise UserError(f"expected the lines {START} and {END} in README.md, to write the table between them")
    return f"{before}{START}\n{summary(_main(results)) or 'No results are saved yet.'}\n{END}{after}"
