"""The command ``speed``: one measurement, its table, and a line more in ``experiments/results/speed.jsonl``."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pkgutil import resolve_name
from typing import Final

from data_prep.errors import UserError
from data_prep.files.folder_lock import sole_writer
from data_prep.files.named_paths import check_folder_place
from evaluation.provenance import without_paths
from evaluation.speed import SpeedOptions
from experiments.recipes.results_folder import results_folder
from experiments.terminal.console import show
from experiments.terminal.options import parsed, unknown

_MEASUREMENTS: Final[dict[str, tuple[str, str]]] = {
    "scoring": ("experiments.speed.scoring:measure_scoring", "GALM's fast form, plain form and the matrix product"),
    "pools": ("experiments.speed.pools:measure_pools", "ranking whole pools of several sizes, and its memory"),
    "training": ("experiments.speed.training:measure_training", "a training step of GALM's fast and plain form"),
    "rows": ("experiments.speed.training:measure_rows", "training with rows of word tables that wait, or all move"),
    "selected": ("experiments.speed.training:measure_selected", "training with gradients of few scores, or of all"),
    "extraction": ("experiments.speed.extraction:measure_extraction", "methods by tree-sitter and by javalang"),
    "search": ("search.speed.index:measure_index", "an index made, updated and asked, with and without the model"),
    "question": ("search.speed.question:measure_question", "one question from the command line"),
    "serve": (
        "search.speed.server:measure_server",
        "a server asked by one client and by several; PATH: an indexed folder",
    ),
    "ann": ("search.speed.ann:measure_ann", "nearest-neighbour engines over many vectors"),
    "posts": ("search.speed.posts:measure_posts", "the search for posts by its engines; PATH: a dump"),
}
"""Name -> function from options to what was measured, and what it measures."""
ABOUT: Final = {name: about for name, (_, about) in _MEASUREMENTS.items()}


def speed(arguments: Sequence[str]) -> None:
    """Run a measurement, print its table, and save it.

    Raises:
        UserError: there is no such measurement or option, or what it runs on is not available.
    """
    words, options = parsed(arguments, SpeedOptions)
    if len(words) not in (1, 2) or (len(words) == 2 and options.path):
        raise UserError(f"expected a measurement, one of {', '.join(ABOUT)}: bash run.sh speed NAME [PATH]")
    name = words[0]
    if name not in ABOUT:
        raise unknown("measurement", name, [*ABOUT])
    options = replace(options, path=options.path or "".join(words[1:]))
    folder = results_folder([{"speed": asdict(options)}], [{"speed": asdict(SpeedOptions())}], options.out)
    check_folder_place(folder, "--out")
    with sole_writer(folder):
        from experiments.speed.report import Record, save, saved_records, section

        before = saved_records(folder)  # a damaged file is refused before anything is measured
        measured = resolve_name(_MEASUREMENTS[name][0])(options)
        record = Record.now(name, without_paths(shlex.join(["bash", "run.sh", "speed", *arguments])), measured)
        save([*before, record], folder, ABOUT)
    show(f"\n{section(record)}\n{folder}: speed.jsonl, speed.md")
