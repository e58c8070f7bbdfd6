"""The commands about many runs: ``compare``, ``benchmark``, ``ablate``, ``tune``, ``table``; and ``speed``."""

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pkgutil import resolve_name
from time import strftime
from typing import TYPE_CHECKING, Final

from data_prep.errors import UserError, unexpected
from data_prep.files.access import check_folder_place, named_path
from data_prep.files.writing import sole_writer
from experiments.recipes.config import REPOSITORY, split_run_arguments
from experiments.terminal import console
from experiments.terminal.options import parsed, unknown

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.tables.cells import Cell

CONTROL: Final = "control"
"""The ablation that is none: a task that the graph has to solve."""
CALIBRATION: Final = "calibration"
"""Nor is this one: many seeds of one model, to see how often the test calls them different."""


_MEASUREMENTS: Final[dict[str, tuple[str, str]]] = {
    "scoring": ("experiments.speed.scoring:measure_scoring", "GALM's fast form, plain form and the matrix product"),
    "pools": ("experiments.speed.scoring:measure_pools", "ranking whole pools of several sizes, and its memory"),
    "models": ("experiments.speed.scoring:measure_models", "a question and a method read, by each model"),
    "training": ("experiments.speed.jdk:measure_training", "a training step of GALM's fast and plain form"),
    "rows": ("experiments.speed.jdk:measure_rows", "training with rows of word tables that wait, or all move"),
    "selected": ("experiments.speed.jdk:measure_selected", "training with gradients of few scores, or of all"),
    "encoder": (
        "experiments.speed.jdk:measure_encoder",
        "training a pretrained encoder, by precision and lengths of a batch",
    ),
    "extraction": ("experiments.speed.jdk:measure_extraction", "methods by tree-sitter and by javalang"),
    "search": (
        "search.quality.index_speed:measure_index",
        "an index made, updated and asked, with and without the model",
    ),
    "question": ("search.quality.index_speed:measure_question", "one question from the command line"),
    "first": (
        "search.quality.index_speed:measure_first",
        "the first question about a folder, whose index is made for it; PATH: the folder",
    ),
    "languages": (
        "search.quality.index_speed:measure_languages",
        "reading the files of each language beside those of Java; PATH: a folder of sources",
    ),
    "serve": (
        "search.quality.serve_speed:measure_server",
        "a server asked by one client and by several; PATH: an indexed folder",
    ),
    "ann": ("search.quality.ann_speed:measure_ann", "nearest-neighbour engines over many vectors"),
    "posts": ("search.quality.ann_speed:measure_posts", "the search for posts by its engines; PATH: a dump"),
}
"""Name -> function from options to what was measured, and what it measures."""
ABOUT: Final = {name: about for name, (_, about) in _MEASUREMENTS.items()}


def _named(arguments: Sequence[str], names: Collection[str], wanted: str) -> tuple[str, dict[str, str], str]:
    """The single name on a command line, its options, and the folder of results that ``--out`` names.

    Raises:
        UserError: there is not exactly one, or it is not among ``names``.
    """
    words, typed = split_run_arguments(arguments)
    if len(words) != 1 or words[0] not in names:
        raise unexpected(f"{wanted} {'|'.join(names)}", words)
    return words[0], typed, typed.pop("out", "")


def benchmark(arguments: Sequence[str]) -> None:
    """Train the models of a part of the main table, or of the table of languages.

    Raises:
        UserError: there is no such part or option, or the data are not available.
    """
    from experiments.tables.language_table import NAME, language_cells, write_query_trees
    from experiments.tables.main_table import CELLS

    part, typed, out = _named(arguments, (*CELLS, NAME), "a part of the main table: bash run.sh benchmark")
    if part == NAME:
        _trained(language_cells(), NAME, typed, out, write_query_trees)
    else:
        _trained(CELLS[part], "main", typed, out)


def ablate(arguments: Sequence[str]) -> None:
    """Train the variants of an ablation, and show its table.

    Raises:
        UserError: there is no such ablation or option, or the data are not available.
    """
    from experiments.posts.results import ABLATIONS as OF_POSTS
    from experiments.tables.ablations import ABLATIONS, GRID, ablation_text
    from experiments.tables.graph_grid import grid_cells, grid_text

    names = (GRID, *ABLATIONS, CONTROL, CALIBRATION, *OF_POSTS)
    name, typed, out = _named(arguments, names, "an ablation: bash run.sh ablate")
    if out and name in (CONTROL, *OF_POSTS):
        raise UserError(f"bash run.sh ablate {name} takes no --out")
    if name == CONTROL:
        _control(typed)
    elif name in OF_POSTS:
        _ablate_posts(name, typed)
    elif name == CALIBRATION:
        _calibrate(typed, out)
    else:
        cells = grid_cells() if name == GRID else ABLATIONS[name].cells
        results = _trained(cells, "ablations", typed, out)
        console.show(grid_text(results, typed) if name == GRID else ablation_text(name, results, typed))


def _trained(
    cells: "Sequence[Cell]",
    page: str,
    typed: Mapping[str, str],
    out: str,
    facts: "Callable[[Path, Mapping[str, str]], None] | None" = None,
) -> "Path":
    """Run the missing cells of a page, after saving facts of their queries; returns the folder of all pages."""
    from experiments.tables.cells import folder_of, run_cells
    from experiments.tables.query_kinds import write_query_facts

    results = folder_of(cells, typed, out)
    if facts:
        facts(results, typed)
    else:
        write_query_facts(cells, results, typed)
    run_cells(cells, results / page, typed)
    return results


def _ablate_posts(name: str, typed: Mapping[str, str]) -> None:
    """Train the variants of an ablation of the search by snippets, and show its table."""
    from experiments.posts.run import run_ablation

    command = shlex.join(["bash", "run.sh", "ablate", name, *(f"--{option}={text}" for option, text in typed.items())])
    console.show(run_ablation(name, typed, command, console.say))


def _calibrate(typed: Mapping[str, str], out: str) -> None:
    """Compare seeds of one model with others of it, and show how often they are called different."""
    from experiments.tables.ablation_checks import calibration_cells, calibration_section, save_calibration

    results = _trained(calibration_cells(), CALIBRATION, typed, out)
    save_calibration(results, typed)
    console.show(calibration_section(results))


def _control(typed: Mapping[str, str]) -> None:
    """Train the graph on a task that only edges can solve, and show what it reached."""
    if typed:
        raise UserError(f"bash run.sh ablate {CONTROL} takes no options")
    from experiments.recipes.results_folder import RESULTS
    from experiments.tables.ablation_checks import control_section, measure_control

    measure_control(RESULTS, f"bash run.sh ablate {CONTROL}")
    console.show(control_section(RESULTS))


def tune(arguments: Sequence[str]) -> None:
    """Train a model with each of the settings that all models are tuned over, and show the validation results.

    Raises:
        UserError: there is no such model or option, or the data are not available.
    """
    from experiments.tables.tuning import TRIED, cells_of, run_by_tune, tuning_page

    model, typed, out = _named(arguments, TRIED, "a model that is tuned: bash run.sh tune")
    from experiments.tables.cells import saved_results

    results = _trained(run_by_tune(model), "tuning", typed, out, lambda *_: None)
    console.show(tuning_page(saved_results(cells_of(model), results / "tuning", typed)))


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """Options of `compare`."""

    out: str = ""
    """Folder of the pages; empty: a new one in runs/comparisons/."""


def compare(arguments: Sequence[str]) -> None:
    """Compare finished runs, and write the pages.

    Raises:
        UserError: a word is no finished run, or nothing compares.
    """
    words, options = parsed(arguments, CompareOptions)
    _check_no_part(words)
    if not words:
        raise unexpected("finished runs, the first is the reference: bash run.sh compare RUN RUN [...]", words)
    from experiments.tables.run_comparison import compared_runs
    from experiments.tables.run_pages import comparison_table, write_comparison

    out = named_path(options.out) if options.out else REPOSITORY / "runs" / "comparisons" / strftime("%Y%m%d-%H%M%S")
    check_folder_place(out, "--out")
    found, left = compared_runs([*map(named_path, words)])
    with sole_writer(out):
        files = write_comparison(found, left, out)
    console.show("\n\n".join(comparison_table(each).markdown for each in found))
    for line in left:
        console.show(f"\nnot compared: {line}")
    console.show(f"\n{out}: {', '.join(files)}")


def _check_no_part(words: Sequence[str]) -> None:
    """Refuse a part of the tables, which `compare` took once."""
    from experiments.tables.language_table import NAME
    from experiments.tables.main_table import CELLS

    for word in words:
        if word in (*CELLS, NAME) and not named_path(word).exists():
            raise UserError(f"compare {word} is now benchmark {word}: `bash run.sh benchmark {word}`")


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Options of `table`."""

    results: str = ""
    """A folder of one's own results, such as `--out` of `benchmark`: the pages are written into it, and README is left
    as it is; empty: those of this repository."""


def table(arguments: Sequence[str]) -> None:
    """Write all tables and figures of the saved results.

    Raises:
        UserError: there is a word, or no such folder of results.
    """
    words, options = parsed(arguments, TableOptions)
    if words:
        raise UserError("bash run.sh table takes no word, only --results=DIR")
    from experiments.recipes.results_folder import RESULTS
    from experiments.speed.report import write_page
    from experiments.tables.pages import write_own_tables, write_tables

    if options.results:
        write_own_tables(named_path(options.results))
    else:
        write_tables()
    write_page(named_path(options.results) if options.results else RESULTS, ABOUT)


def speed(arguments: Sequence[str]) -> None:
    """Run a measurement, print its table, and save it.

    Raises:
        UserError: there is no such measurement or option, or what it runs on is not available.
    """
    from evaluation.speed import SpeedOptions

    words, options = parsed(arguments, SpeedOptions)
    if len(words) not in (1, 2) or (len(words) == 2 and options.path):
        raise unexpected(f"a measurement, one of {', '.join(ABOUT)}: bash run.sh speed NAME [PATH]", words)
    name = words[0]
    if name not in ABOUT:
        raise unknown("measurement", name, [*ABOUT])
    options = replace(options, path=options.path or "".join(words[1:]))
    from data_prep.installation import without_paths
    from experiments.recipes.results_folder import results_folder

    folder = results_folder({"speed": asdict(options)}, {"speed": asdict(SpeedOptions())}, options.out)
    check_folder_place(folder, "--out")
    with sole_writer(folder):
        from experiments.speed.report import Record, save, saved_records, section

        before = saved_records(folder)  # a damaged file is refused before anything is measured
        measured = resolve_name(_MEASUREMENTS[name][0])(options)
        record = Record.now(name, without_paths(shlex.join(["bash", "run.sh", "speed", *arguments])), measured)
        save([*before, record], folder, ABOUT)
    console.show(f"\n{section(record)}\n{folder}: speed.jsonl, speed.md")
