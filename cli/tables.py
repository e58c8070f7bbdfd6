"""The commands about many runs: ``compare``, ``ablate``, ``tune``, ``table``, and ``speed``."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Final

from data_prep.errors import UserError
from experiments.recipes.config import split_run_arguments
from experiments.terminal import console
from experiments.terminal.options import split_arguments

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.results import Result

CONTROL: Final = "control"
"""The ablation that is none: a task that the graph has to solve."""
CALIBRATION: Final = "calibration"
"""Nor is this one: many seeds of one model, to see how often the test calls them different."""

MEASURED: Final = {
    "search": "search.speed:measure_search",
    "question": "search.question_speed:measure_question",
    "rows": "experiments.speed.row_updates:measure_rows",
    "selected": "experiments.speed.selected_scores:measure_selected",
}
"""What ``speed`` measures by itself."""


def _named(arguments: Sequence[str], names: Collection[str], expected: str) -> tuple[str, dict[str, str]]:
    """The single name on a command line, and its options.

    Raises:
        UserError: there is not exactly one, or it is not among ``names``.
    """
    words, typed = split_run_arguments(arguments)
    if len(words) != 1 or words[0] not in names:
        raise UserError(f"{expected} {'|'.join(names)}")
    return words[0], typed


def compare(arguments: Sequence[str]) -> None:
    """Train the models of a part of the main table, or of the table of languages.

    Raises:
        UserError: there is no such part or option, or the data are not available.
    """
    from experiments.tables.language_table import NAME, language_cells, write_query_trees
    from experiments.tables.main_table import CELLS

    part, typed = _named(arguments, (*CELLS, NAME), "expected a part of the main table: bash run.sh compare")
    from experiments.tables.cells import folder_of, run_cells
    from experiments.tables.query_facts import write_query_facts

    cells = language_cells() if part == NAME else CELLS[part]
    results = folder_of(cells, typed)
    if part == NAME:
        write_query_trees(results / NAME, typed)
    else:
        write_query_facts(cells, results, typed)
    run_cells(cells, results / (NAME if part == NAME else "main"), typed)


def ablate(arguments: Sequence[str]) -> None:
    """Train the variants of an ablation, and show its table.

    Raises:
        UserError: there is no such ablation or option, or the data are not available.
    """
    from experiments.ablations.catalogue import ABLATIONS
    from experiments.ablations.graph_grid import NAME, grid_cells, grid_page
    from experiments.posts.ablations import ABLATIONS as OF_POSTS

    names = (NAME, *ABLATIONS, CONTROL, CALIBRATION, *OF_POSTS)
    name, typed = _named(arguments, names, "expected an ablation: bash run.sh ablate")
    if name == CONTROL:
        _control(typed)
        return
    if name in OF_POSTS:
        _ablate_posts(name, typed)
        return
    from experiments.ablations.calibration import calibration_cells
    from experiments.ablations.pages import ablation_page, found_by
    from experiments.tables.cells import folder_of, run_cells
    from experiments.tables.query_facts import write_query_facts
    from experiments.tables.write import clusters, saved_grid, saved_results

    special = {NAME: grid_cells, CALIBRATION: calibration_cells}
    cells = special[name]() if name in special else ABLATIONS[name].cells
    results = folder_of(cells, typed)
    folder = results / (CALIBRATION if name == CALIBRATION else "ablations")
    write_query_facts(cells, results, typed)
    found = run_cells(cells, folder, typed)
    if name == CALIBRATION:
        _calibrate(found, results)
    elif name == NAME:
        if grid := saved_grid(results, typed):
            console.show(grid_page(grid))
    elif compared := found_by(name, list(saved_results(cells, folder, typed)), clusters(results)):
        console.show(ablation_page(compared))


def _ablate_posts(name: str, typed: Mapping[str, str]) -> None:
    """Train the variants of an ablation of the search by snippets, and show its table."""
    from experiments.posts.ablations import run_ablation

    command = shlex.join(["bash", "run.sh", "ablate", name, *(f"--{option}={text}" for option, text in typed.items())])
    console.show(run_ablation(name, typed, command, console.say))


def _calibrate(seeds: Sequence["Result"], results: "Path") -> None:
    """Compare seeds of one model with others of it, and show how often they are called different."""
    from experiments.ablations.calibration import calibrate, calibration_section, save_calibration
    from experiments.tables.write import clusters

    found = calibrate(seeds, clusters(results))
    save_calibration(found, results)
    console.show(calibration_section(found))


def _control(typed: Mapping[str, str]) -> None:
    """Train the graph on a task that only edges can solve, and show what it reached."""
    if typed:
        raise UserError(f"bash run.sh ablate {CONTROL} takes no options")
    from experiments.ablations.positive_control import control_section, measure
    from experiments.recipes.results_folder import RESULTS

    console.show(control_section(measure(RESULTS, f"bash run.sh ablate {CONTROL}")))


def tune(arguments: Sequence[str]) -> None:
    """Train a model with each of the settings that all models are tuned over, and show the validation results.

    Raises:
        UserError: there is no such model or option, or the data are not available.
    """
    from experiments.ablations.tuning import TUNED, tuning_cells, tuning_page

    model, typed = _named(arguments, TUNED, "expected a model that is tuned: bash run.sh tune")
    from experiments.tables.cells import folder_of, run_cells
    from experiments.tables.write import saved_results

    cells = tuning_cells(model)
    folder = folder_of(cells, typed) / "tuning"
    run_cells(cells, folder, typed)
    console.show(tuning_page(saved_results(cells, folder, typed)))


def table(arguments: Sequence[str]) -> None:
    """Write all tables and figures of the saved results.

    Raises:
        UserError: there are options.
    """
    if arguments:
        raise UserError("bash run.sh table takes no options")
    from experiments.tables.write import write_tables

    write_tables()


def speed(arguments: Sequence[str]) -> None:
    """Measure the speed.

    Raises:
        UserError: there is no such option, or the data are not available.
    """
    from experiments.speed.config import SWITCHES, resolve_speed

    words, typed = split_arguments(arguments, SWITCHES)
    if len(words) == 1 and words[0] in MEASURED and not typed:
        resolve_name(MEASURED[words[0]])()
        return
    if words:
        raise UserError(
            f"bash run.sh speed takes options only, not {' '.join(words)}; `bash run.sh speed search`, `speed "
            "question` and `speed rows` take none, `speed ann` its own, `speed serve` an indexed folder, `speed posts` "
            "a dump"
        )
    config, data = resolve_speed(typed)
    from experiments.speed.measure import measure_speed

    measure_speed(config, data, typed)
