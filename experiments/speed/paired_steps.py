"""Training steps in two ways that lead to the same weights, in turn in one run."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

import numpy as np

from data_prep.files.atomic import write_atomically
from data_prep.store.prepared_data import PreparedData
from evaluation.json_records import to_json
from evaluation.provenance import Machine, code_version, machine
from experiments.recipes import config
from experiments.recipes.config import Configuration, resolve
from experiments.recipes.models import class_of
from experiments.recipes.results_folder import RESULTS
from experiments.run.data import training_data
from experiments.run.stages import build_model
from experiments.speed.report import shown
from experiments.speed.timing import Spread, in_turn, timed
from experiments.tables.comparison_tables import markdown_table
from experiments.terminal.console import say, show
from modeling.losses import build_loss
from training.pair_task import PairTask
from training.seeding import seed_everything
from training.state import RunState
from training.task import Rows

STEPS: Final = 40
"""Training steps of a measurement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedSpeed:
    """Pairs per second of training a model in both ways."""

    model: str  # with what is measured of it
    parameters: int
    fast: Spread
    plain: Spread
    speedup: Spread  # of the same round


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedReport:
    """Measurements of several models."""

    title: str
    ways: tuple[str, str]  # names of the fast and of the plain one
    origin: str  # of the data
    steps: int  # of a measurement
    batch_size: int
    threads: int
    models: Sequence[PairedSpeed]
    code_version: str
    date: str
    machine: Machine


class TrainingSteps:
    """A run in progress, at an epoch of its loss."""

    def __init__(self, plan: Configuration, data: PreparedData, epoch: float, *, selects: bool) -> None:
        data = training_data(plan, data, "")
        kind = class_of(plan.model_name)
        tokenizer = kind.tokenizer(data.splits["train"], plan.words, plan.model)
        ids = tokenizer.encode(data.splits["train"])
        self.config, self.model, self.epoch = plan.train, build_model(plan, tokenizer), epoch
        self.model.start_from(ids)
        loss = build_loss(plan.loss)
        task = PairTask(self.model, loss, ids, lambda _: {}, plan.train)
        self.task = replace(task, selects=loss.selects) if selects else task
        self.optimiser = RunState(self.task, plan.train).optimiser
        seed_everything(plan.train.seed, plan.train.threads)

    def go(self, batches: Sequence[Rows]) -> None:
        """Train on the batches."""
        self.model.train()
        for number, rows in enumerate(batches):
            self.optimiser.zero_grad()
            self.task.loss(rows, self.epoch, number).backward()
            self.optimiser.clip(self.config.gradient_clip)
            self.optimiser.step(self.config.learning_rate)


def in_both_ways(name: str, fast: TrainingSteps, plain: TrainingSteps, repeats: int) -> PairedSpeed:
    """Measure one model on the first batches of an epoch."""
    say(f"training steps of {name}")
    batches = plain.task.batches(0)[:STEPS]
    ways: dict[str, Callable[[], tuple[float, None]]] = {
        way: partial(timed, partial(run.go, batches)) for way, run in (("fast", fast), ("plain", plain))
    }
    times = in_turn(ways, repeats)
    quick, slow = (np.array([seconds for seconds, _ in times[way]]) for way in ("fast", "plain"))
    pairs = sum(map(len, batches))
    return PairedSpeed(
        model=name,
        parameters=sum(weight.numel() for weight in plain.model.parameters()),
        fast=Spread.of((pairs / quick).tolist()),
        plain=Spread.of((pairs / slow).tolist()),
        speedup=Spread.of((slow / quick).tolist()),
    )


def plan_of(model: str, settings: dict[str, str], *, lazy_rows: bool = True) -> Configuration:
    """A model's recipe for the JDK, on one thread."""
    plan = resolve("jdk", model, {**settings, "train.threads": "1"})
    return replace(plan, train=replace(plan.train, lazy_embedding_updates=lazy_rows))


def save(title: str, ways: tuple[str, str], origin: str, models: Sequence[PairedSpeed], name: str) -> PairedReport:
    """Show the report, and write it as ``name`` to ``experiments/results/``, as JSON and as a page."""
    found = PairedReport(
        title=title,
        ways=ways,
        origin=origin,
        steps=STEPS,
        batch_size=plan_of("galm", {}).train.batch_size,
        threads=1,
        models=models,
        code_version=code_version(config.REPOSITORY),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
    )
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_atomically(RESULTS / f"{name}.json", json.dumps(to_json(found), indent=1) + "\n")
    write_atomically(RESULTS / f"{name}.md", markdown(found))
    show(f"\n{markdown(found)}")
    return found


def markdown(found: PairedReport) -> str:
    """The report as a page."""
    rows = [
        (each.model, f"{each.parameters:,}", *map(shown, (each.fast, each.plain, each.speedup)))
        for each in found.models
    ]
    header = ("model", "parameters", f"pairs a second, {found.ways[0]}", found.ways[1], "ratio")
    return (
        f"# {found.title}\n\n{found.origin}, {found.steps} training steps of {found.batch_size} pairs a measurement, "
        f"both ways in turn, on {found.threads} thread of {found.machine.cpu}; code {found.code_version}; "
        f"{found.date}. Medians, with the least and the most in parentheses; ratios are of the same round.\n\n"
        f"{markdown_table(header, rows)}\n"
    )
