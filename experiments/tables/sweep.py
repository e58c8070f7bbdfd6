"""A sweep: one model with every combination of some options' values, each a run of its own, several at a time.

``--sweep.model.dim=64,128 --sweep.train.seed=0,1,2`` are six runs, in folders that are named by these values. Each is a
process with threads of its own, so that its numbers are those of the same command alone. The same command goes on where
a sweep was stopped. Validation chooses, and of the chosen alone the test is shown.
"""

import hashlib
import itertools
import json
import math
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import Final

from data_prep.errors import UserError, shown
from data_prep.files.access import check_folder_place, named_path
from data_prep.files.writing import sole_writer
from data_prep.installation import IMPORT_ROOT, processors
from evaluation.results import Result, load_result
from experiments.recipes.config import REPOSITORY, Configuration, all_options, resolve
from experiments.recipes.models import as_typed, is_trained
from experiments.recipes.results_folder import folder_name, in_words, same_results
from experiments.recipes.run_folder import RunFolder
from experiments.tables.cells import inputs_now, rename, set_aside
from experiments.terminal.console import complain, say
from experiments.terminal.options import Option, parse, unknown_option
from experiments.terminal.startup import ENDS_WITH_INPUT

PREFIX: Final = "sweep."
PROCESSES: Final = "sweep.processes"
_NOT_SWEPT: Final = ("out", "train.resume", "data.root", "train.processes", "train.threads", "evaluate.")
"""Prefixes of options that make no other model."""
_MOST: Final = 1_000
"""Runs of a sweep."""
_ENDING: Final = 60.0
"""Seconds that a run has for its checkpoint after Ctrl-C."""
_PAUSE: Final = 0.2
"""Seconds between two looks at the processes."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a sweep."""

    options: Mapping[str, str]  # that are swept, as typed
    plan: Configuration
    folder: Path

    @property
    def name(self) -> str:
        """What differs from the other runs."""
        return self.folder.name

    def result(self) -> Result | None:
        """What it found; None if it has not finished, or has other options than in its folder."""
        run = RunFolder(self.folder)
        if not run.metrics.exists():
            return None
        same = same_results(Configuration.load(run.config).sections, self.plan.sections)
        return load_result(run.metrics) if same else None


@dataclass(frozen=True, slots=True)
class Sweep:
    """All runs of a sweep."""

    folder: Path
    fixed: Mapping[str, str]  # options of all runs, as typed
    points: Sequence[Point]
    processes: int  # runs at a time

    @classmethod
    def of(cls, dataset: str, model: str, typed: Mapping[str, str]) -> "Sweep":
        """The sweep that is typed.

        Raises:
            UserError: an option or a value is none, or validation cannot choose.
        """
        grid = {name.removeprefix(PREFIX): text for name, text in typed.items() if name.startswith(PREFIX)}
        wanted = parse(grid.pop("processes", "0"), Option(PROCESSES, int, 0))
        fixed = {name: text for name, text in typed.items() if not name.startswith(PREFIX)}
        values = {name: _values(model, name, text) for name, text in grid.items()}
        _check(fixed, values)
        fixed.setdefault("train.threads", "1")
        out = fixed.pop("out", "")
        folder = named_path(out) if out else _own_folder(dataset, model, fixed, values)
        points = [*_points(dataset, model, fixed, values, folder)]
        for point in points:
            if not is_trained(model) and point.plan.evaluate.split != "valid":
                raise UserError(
                    f"{model} is not trained, so that no validation would choose: add --evaluate.split=valid"
                )
        return cls(folder, fixed, points, _at_a_time(wanted, points))


def _values(model: str, name: str, text: str) -> list[str]:
    """The values of a swept option; where a value has commas itself, ``;`` is between them."""
    known = all_options(model)
    if name not in known:
        raise unknown_option(name, known, model)
    mark = ";" if ";" in text else ","
    values = [each.strip() for each in text.split(mark)]
    if not all(values):
        raise UserError(f"--{PREFIX}{name} takes values with {mark} between them, not {shown(text)}")
    if len(set(values)) < len(values):
        raise UserError(f"--{PREFIX}{name}={text} has a value twice")
    return values


def _check(fixed: Mapping[str, str], values: Mapping[str, Sequence[str]]) -> None:
    if not values:
        raise UserError(f"--{PROCESSES} is for a sweep: name options too, such as --sweep.train.seed=0,1,2")
    for name in values:
        if name.startswith(_NOT_SWEPT):
            raise UserError(f"--{PREFIX}{name} makes no other model: type --{name} for all runs")
        if name in fixed:
            raise UserError(f"--{PREFIX}{name} and --{name} set the same: leave one out")
    if "train.resume" in fixed:
        raise UserError("a sweep is resumed by the same command: leave out --train.resume")
    if (runs := math.prod(map(len, values.values()))) > _MOST:
        raise UserError(f"these are {runs:,} runs; a sweep has at most {_MOST:,}")


def _own_folder(dataset: str, model: str, fixed: Mapping[str, str], values: Mapping[str, Sequence[str]]) -> Path:
    """A folder by what is swept and what is fixed: the same command, or one with more values, finds it again."""
    digest = hashlib.sha256(json.dumps(sorted(fixed.items())).encode(errors="surrogatepass")).hexdigest()[:6]
    fields = folder_name(name.rpartition(".")[2] for name in values)
    return REPOSITORY / "runs" / f"{dataset}-{model}-sweep-{fields}-{digest}"


def _points(
    dataset: str, model: str, fixed: Mapping[str, str], values: Mapping[str, Sequence[str]], folder: Path
) -> Iterator[Point]:
    """Every combination of values; the seeds of one follow each other."""
    names = sorted(values, key=lambda name: name == "train.seed")
    taken: set[str] = set()
    for chosen in itertools.product(*(values[name] for name in names)):
        options = dict(zip(names, chosen, strict=True))
        name = folder_name(in_words(options, names))
        while name in taken:  # of values with letters that no folder's name has
            name += "_"
        taken.add(name)
        yield Point(options, resolve(dataset, model, {**fixed, **options}), folder / name)


def _at_a_time(wanted: int, points: Sequence[Point]) -> int:
    """How many runs share the cores, each with its own threads; on a GPU one after the other."""
    if wanted < 0:
        raise UserError(f"--{PROCESSES} takes a number of runs at a time, or 0 for as many as there are cores for")
    if not wanted:
        from modeling.ranker import best_device

        each = max(max(1, point.plan.train.threads) * point.plan.train.processes for point in points)
        wanted = 1 if best_device() == "cuda" else max(1, processors() // each)
    return min(wanted, len(points))


@dataclass(slots=True)
class _Running:
    """The processes of a sweep."""

    sweep: Sweep
    children: dict[Popen[bytes], Point] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)  # name of a run -> why it failed

    def start(self, point: Point) -> None:
        """Start a run, or resume it."""
        run, plan = RunFolder(point.folder), point.plan
        set_aside(run, plan)
        options = {**self.sweep.fixed, **point.options}
        options |= {"train.resume": str(run.path)} if run.config.exists() else {"out": str(run.path)}
        typed = (f"--{name}={text}" for name, text in options.items())
        program = [sys.executable, "-m", "cli.main", plan.dataset, as_typed(plan.model_name), *typed]
        environment = {**os.environ, "PYTHONPATH": str(IMPORT_ROOT), ENDS_WITH_INPUT: "1"}
        with self._errors(point).open("wb") as errors:
            child = Popen(
                program,
                env=environment,
                stdin=PIPE,
                stdout=DEVNULL,
                stderr=errors,
                process_group=0,  # Ctrl-C goes to this process alone, which ends its children
            )
        self.children[child] = point
        say(f"{point.name}: {'goes on' if 'train.resume' in options else 'begins'}")

    def collect(self) -> None:
        """Take what has ended."""
        for child in [each for each in self.children if each.poll() is not None]:
            point = self.children.pop(child)
            assert child.stdin is not None
            child.stdin.close()
            if child.returncode:
                self.failed[point.name] = why = self._why(point, child.returncode)
                complain(f"{point.name} failed: {why}")
                continue
            self._errors(point).unlink(missing_ok=True)
            say(f"{point.name}: done")

    def close(self) -> None:
        """Let all write a checkpoint and end."""
        for child in self.children:
            child.send_signal(signal.SIGINT)
        until = time.monotonic() + _ENDING
        for child in self.children:
            with suppress(TimeoutExpired):
                child.wait(max(0.0, until - time.monotonic()))
            child.kill()
            child.wait()
            assert child.stdin is not None
            child.stdin.close()

    def _errors(self, point: Point) -> Path:
        return point.folder.with_name(f"{point.name}.errors")

    def _why(self, point: Point, code: int) -> str:
        lines = self._errors(point).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        if code < 0:
            return f"it was ended by signal {-code} (killed, or memory is full)"
        return lines[-1].removeprefix("galm: ") if lines else f"it ended with exit code {code}"


def run_sweep(sweep: Sweep) -> None:
    """Run what is missing of a sweep.

    Raises:
        UserError: runs failed; those that did not have their results.
        KeyboardInterrupt: Ctrl-C, after checkpoints.
    """
    check_folder_place(sweep.folder, "--out")
    if RunFolder(sweep.folder).config.exists():
        raise UserError(f"--out={sweep.folder} is the folder of a run: name another for the runs of the sweep")
    with sole_writer(sweep.folder):
        _set_other_data_aside(sweep.points)
        waiting = [point for point in sweep.points if point.result() is None]
        done = len(sweep.points) - len(waiting)
        say(
            f"{len(sweep.points)} runs in {sweep.folder}, {done} of them done, {sweep.processes} at a time with "
            f"--train.threads={sweep.fixed['train.threads']} each"
        )
        _prepare(waiting)
        running = _Running(sweep)
        with closing(running):
            while waiting or running.children:
                while waiting and len(running.children) < sweep.processes:
                    running.start(waiting.pop(0))
                time.sleep(_PAUSE)
                running.collect()
    if running.failed:
        name, why = next(iter(running.failed.items()))
        raise UserError(
            f"{len(running.failed)} of {len(sweep.points)} runs failed, {name}: {why}; the same command tries again"
        )


def _set_other_data_aside(points: Sequence[Point]) -> None:
    """Rename the folders of runs whose files of ``--data.path`` were others, or have another content now."""
    known: dict[object, str] = {}
    for point in points:
        plan, run = point.plan, RunFolder(point.folder)
        if not plan.data.path or not run.config.exists():
            continue
        is_other = Configuration.load(run.config).data.path != plan.data.path
        if result := point.result():
            now = known[plan.data] = known.get(plan.data) or inputs_now(plan)
            is_other = result.data.inputs not in ("", now)
        if is_other:
            say(f"{point.name}: its data were others, so that it is now {rename(run).name}")


def _prepare(points: Sequence[Point]) -> None:
    """Prepare the data of all runs once, before several would wait for one."""
    from experiments.run.data import prepare_stage

    for plan in {json.dumps(point.plan.section("data"), default=str): point.plan for point in points}.values():
        prepare_stage(plan.dataset, plan.data, f"bash run.sh prepare {plan.dataset}")
