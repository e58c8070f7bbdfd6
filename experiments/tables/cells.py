"""Cells of a table: a model on a data set with a seed, each run once, in its own process, with its result saved.

An interrupted cell is resumed, a finished one is not run again, and one of another configuration or data is rerun. The
same command may run several times at once: each process takes cells that no other has. Each result has a file of its
own until the end of the command (:mod:`evaluation.result_store`).
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from data_prep.config import data_set
from data_prep.errors import UserError
from data_prep.files.access import check_folder_place, named_path
from data_prep.files.json_text import load_json
from data_prep.files.writing import sole_holder
from data_prep.installation import IMPORT_ROOT, without_paths
from data_prep.prepare import inputs_of, inputs_sha256
from evaluation.result_store import ResultStore, SavedRun
from evaluation.results import Result, as_result
from experiments.recipes.config import (
    CHANGEABLE,
    REPOSITORY,
    Configuration,
    resolve,
    section_types,
    with_present_names,
)
from experiments.recipes.results_folder import Sections, results_of_commands, same_results
from experiments.recipes.run_folder import RunFolder
from experiments.terminal.console import say
from experiments.terminal.options import options_of

_OF_ONE_RUN: Final = ("out", "train.resume", "train.seed")


@dataclass(frozen=True)
class Cell:
    """One run of a table."""

    dataset: str
    model: str
    seed: int
    label: str  # of its row
    settings: Mapping[str, str] = field(default_factory=dict)  # options as typed, in addition to the recipe's
    weights_of: "Cell | None" = None  # the cell whose weights are tested again, with other options of section evaluate

    @property
    def key(self) -> str:
        """Name of its files, without suffix."""
        return re.sub(r"[^\w.-]+", "_", f"{self.dataset}-{self.label}-seed{self.seed}")

    def plan(self, typed: Mapping[str, str]) -> Configuration:
        """Its whole configuration."""
        return resolve(self.dataset, self.model, {**self.settings, "train.seed": str(self.seed), **typed})


def finished(cell: Cell, folder: Path, typed: Mapping[str, str]) -> Result | None:
    """The saved result of a cell; None if there is none, or it is of another configuration.

    Raises:
        UserError: the result cannot be read.
    """
    run = ResultStore(folder).get(cell.key)
    return _if_same(cell, run, typed) if run else None


def _if_same(cell: Cell, run: SavedRun, typed: Mapping[str, str]) -> Result | None:
    """A saved result, if it is of the cell's configuration."""
    result = as_result(run.content, run.where)
    return result if same_results(whole_sections(result.config, cell.model), cell.plan(typed).sections) else None


def saved_results(cells: Iterable[Cell], folder: Path, typed: Mapping[str, str] | None) -> list[tuple[str, Result]]:
    """The results of the cells that are finished with the options typed, with their labels.

    ``typed`` None: with whatever options, as in a folder of one's own.

    Raises:
        UserError: a result cannot be read.
    """
    runs = ResultStore(folder).load()
    found = (
        (cell, _if_same(cell, run, typed) if typed is not None else as_result(run.content, run.where))
        for cell in cells
        if (run := runs.get(cell.key))
    )
    return [(cell.label, result) for cell, result in found if result]


def check_cells(cells: Sequence[Cell], typed: Mapping[str, str]) -> None:
    """Refuse options that cannot apply to all cells, before anything is written.

    Raises:
        UserError: an option that is for one run only, an unknown one, or a bad value.
    """
    for name in _OF_ONE_RUN:
        if name in typed:
            raise UserError(f"--{name}={typed[name]} is for one run: each of these {len(cells)} has its own")
    for cell in cells:
        cell.plan(typed)


def folder_of(cells: Sequence[Cell], typed: Mapping[str, str], out: str = "") -> Path:
    """The folder of the results of ``cells``: ``out``, and without it the tracked one only if no option is typed.

    Raises:
        UserError: options that cannot apply to all cells.
    """
    check_cells(cells, typed)
    if out:
        folder = named_path(out)
        check_folder_place(folder, "--out")
        return folder
    return results_of_commands(by_default=not typed)


def run_cells(cells: Sequence[Cell], folder: Path, typed: Mapping[str, str]) -> list[Result]:
    """The results of ``cells``; those missing in ``folder`` are run one after the other.

    Cells that another process is running are left to it, and are not among the results.

    Args:
        cells: the cells to run.
        folder: where results are saved.
        typed: options for all of them, which override their own: paths of data, numbers of threads.

    Raises:
        UserError: a run failed, after printing why; or an option is wrong.
    """
    check_cells(cells, typed)
    results = []
    for number, cell in enumerate(cells, start=1):
        result = finished(cell, folder, typed)
        is_other = result is not None and _of_other_files(result, cell.plan(typed))
        if result is None or is_other:
            result = None
            with _claimed(cell, wait=False) as ours:
                say(f"cell {number} of {len(cells)}: {cell.key}" + ("" if ours else " is left to another process"))
                if ours and is_other and (run := RunFolder(_run_path(cell))).config.exists():
                    rename(run)
                if ours:
                    result = (None if is_other else finished(cell, folder, typed)) or _kept(cell, folder, typed)
        if result is not None:
            results.append(result)
    ResultStore(folder).fold()
    return results


def _of_other_files(result: Result, plan: Configuration) -> bool:
    """Whether a result is of files of ``--data.path`` that have another content now."""
    return bool(plan.data.path and result.data.inputs) and result.data.inputs != inputs_now(plan)


def _kept(cell: Cell, folder: Path, typed: Mapping[str, str]) -> Result:
    """Run a cell and save its result."""
    metrics = _tested_again(cell, cell.weights_of, typed) if cell.weights_of else _run(cell, typed)
    content = load_json(metrics, "the result of a run")
    assert isinstance(content, dict)
    public = {**content, "command": without_paths(str(content.get("command")))}
    ResultStore(folder).save(cell.key, {"label": cell.label, **public})
    result = finished(cell, folder, typed)
    assert result is not None, f"{cell.key} left the result of another configuration"
    return result


@contextmanager
def _claimed(cell: Cell, *, wait: bool) -> Iterator[bool]:
    """Lock the run of ``cell``; yields False if another process has the lock, which ends with its process."""
    path = _run_path(cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    tell = partial(say, f"waiting for another process that is running {cell.key}")
    with sole_holder(path.with_name(f"{path.name}.lock"), tell if wait else None) as ours:
        yield ours


def _tested_again(cell: Cell, base: Cell, typed: Mapping[str, str]) -> Path:
    """Test the weights of ``base``, which is run first if it has none; returns the path of the result."""
    free = {name: text for name, text in {**cell.settings, **typed}.items() if name.startswith(CHANGEABLE)}
    with _claimed(base, wait=True):  # until the test is done: one at a time per folder
        run = RunFolder(_run(base, typed).parent)
        before = set(run.path.glob("metrics-*.json"))
        _command(cell, ["evaluate", str(run.path)], free)
        (found,) = set(run.path.glob("metrics-*.json")) - before
    return found


def _run(cell: Cell, typed: Mapping[str, str]) -> Path:
    """Run a cell, or resume it; returns the path of the result."""
    path = _run_path(cell)
    run = RunFolder(path)
    set_aside(run, cell.plan(typed))
    options = {**cell.settings, "train.seed": str(cell.seed), **typed}
    options |= {"train.resume": str(path)} if run.config.exists() else {"out": str(path)}
    _command(cell, [cell.dataset, cell.model], options)
    return run.metrics


def set_aside(run: RunFolder, plan: Configuration) -> None:
    """Rename the folder of a run if it is of another configuration than ``plan``."""
    if run.config.exists() and not same_results(Configuration.load(run.config).sections, plan.sections):
        rename(run)


def inputs_now(plan: Configuration) -> str:
    """The checksum of the raw files that a run of ``plan`` would read."""
    raw = data_set(plan.dataset, replace(plan.data, root=str(REPOSITORY / plan.data.root)))
    return inputs_sha256(inputs_of(raw))


def rename(run: RunFolder) -> Path:
    """Rename the folder of a run to a free name beside it, and return its new path."""
    names = (run.path.with_name(f"{run.path.name}.old{number}") for number in range(1, 10_000))
    return run.path.rename(next(path for path in names if not path.exists()))


def _command(cell: Cell, words: Sequence[str], options: Mapping[str, str]) -> None:
    typed = (f"--{name}={text}" for name, text in options.items())
    environment = {**os.environ, "PYTHONPATH": str(IMPORT_ROOT)}
    program = [sys.executable, "-m", "cli.main", *words, *typed]
    done = subprocess.run(program, cwd=REPOSITORY, env=environment, check=False)
    if done.returncode in (130, -signal.SIGINT):
        raise KeyboardInterrupt
    if done.returncode:
        raise UserError(f"the run of {cell.key} failed; the results of the cells before it are saved")


def _run_path(cell: Cell) -> Path:
    return REPOSITORY / "runs" / "cells" / cell.key


def whole_sections(config: Sections, model: str) -> Sections:
    """``config`` with the present names of options, and the defaults of those added after it was written."""
    config = with_present_names(model, config)
    return {
        section: {field: option.default for field, option in options_of(section, config_type).items()}
        | dict(config.get(section, {}))
        for section, config_type in section_types(model).items()
    }
