"""Training with rows that wait until a batch reads them, beside training that moves every row at every step.

``bash run.sh speed rows`` trains galm_plus on the JDK in both ways in turn, with its own tables and with ones as large
as 100,000 pairs of several projects make them (more vectors for unknown words), and writes ``row-updates.json`` and
``row-updates.md`` to ``experiments/results/``. Both end at the same weights (``tests/training/test_row_adam.py``).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.files.atomic import write_atomically
from data_prep.store.prepared_data import PreparedData
from evaluation.json_records import to_json
from evaluation.provenance import Machine, code_version, machine
from experiments.run.data import prepare_stage, training_data
from experiments.run.stages import build_model
from experiments.speed.report import shown
from experiments.speed.timing import Spread, in_turn, timed
from experiments.tables.comparison_tables import markdown_table
from modeling.losses import build_loss
from recipes.config import REPOSITORY, resolve
from recipes.models import class_of
from terminal.console import say, show
from training.pair_task import PairTask
from training.seeding import seed_everything
from training.state import RunState
from training.task import Rows

BUCKETS: Final = ("256", "16384")
"""Vectors for unknown words: the recipe's, and as many as make the tables of 100,000 pairs of several projects."""
_STEPS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSpeed:
    """Pairs per second of training a model in both ways."""

    parameters: int
    waiting: Spread  # rows wait until they are read
    every: Spread  # every row is moved at every step
    speedup: Spread  # of the same round


@dataclass(frozen=True, slots=True, kw_only=True)
class RowReport:
    """All measurements."""

    origin: str
    steps: int  # of a measurement
    batch_size: int
    threads: int
    models: Sequence[RowSpeed]
    code_version: str
    date: str
    machine: Machine


class _Run:
    """A run in progress."""

    def __init__(self, data: PreparedData, buckets: str, *, lazy: bool) -> None:
        plan = resolve("jdk", "galm_plus", {"words.unknown_buckets": buckets, "train.threads": "1"})
        plan = replace(plan, train=replace(plan.train, lazy_rows=lazy))
        data = training_data(plan, data, "")
        tokenizer = class_of("galm_plus").tokenizer(data.splits["train"], plan.words, plan.model)
        ids = tokenizer.encode(data.splits["train"])
        self.config, self.model = plan.train, build_model(plan, tokenizer)
        self.model.start_from(ids)
        self.task = PairTask(self.model, build_loss(plan.loss), ids, lambda _: {}, plan.train)
        self.optimiser = RunState(self.task, plan.train).optimiser
        seed_everything(plan.train.seed, plan.train.threads)

    def steps(self, batches: Sequence[Rows]) -> None:
        """Train on the batches."""
        self.model.train()
        for number, rows in enumerate(batches):
            self.optimiser.zero_grad()
            self.task.loss(rows, 0.0, number).backward()
            self.optimiser.clip(self.config.gradient_clip)
            self.optimiser.step(self.config.learning_rate)


def measure_rows(repeats: int = 5) -> RowReport:
    """Measure both ways, show the report, and write it to ``experiments/results/``."""
    plan = resolve("jdk", "galm_plus", {})
    data = prepare_stage("jdk", plan.data, "bash run.sh speed rows")
    found = RowReport(
        origin=data.manifest["origin"],
        steps=_STEPS,
        batch_size=plan.train.batch_size,
        threads=1,
        models=[_measured(data, buckets, repeats) for buckets in BUCKETS],
        code_version=code_version(REPOSITORY),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
    )
    save_rows(found, REPOSITORY / "experiments" / "results")
    show(f"\n{markdown(found)}")
    return found


def save_rows(found: RowReport, results: Path) -> None:
    """Write the report in both forms."""
    results.mkdir(parents=True, exist_ok=True)
    write_atomically(results / "row-updates.json", json.dumps(to_json(found), indent=1) + "\n")
    write_atomically(results / "row-updates.md", markdown(found))


def _measured(data: PreparedData, buckets: str, repeats: int) -> RowSpeed:
    say(f"training steps with {int(buckets):,} vectors for unknown words")
    runs = {name: _Run(data, buckets, lazy=name == "waiting") for name in ("waiting", "every")}
    batches = runs["waiting"].task.batches(0)[:_STEPS]
    times = in_turn({name: partial(timed, partial(run.steps, batches)) for name, run in runs.items()}, repeats)
    waiting, every = (np.array([seconds for seconds, _ in times[name]]) for name in ("waiting", "every"))
    pairs = sum(map(len, batches))
    return RowSpeed(
        parameters=sum(weight.numel() for weight in runs["every"].model.parameters()),
        waiting=Spread.of((pairs / waiting).tolist()),
        every=Spread.of((pairs / every).tolist()),
        speedup=Spread.of((every / waiting).tolist()),
    )


def markdown(found: RowReport) -> str:
    """The report as a page."""
    rows = [(f"{each.parameters:,}", *map(shown, (each.waiting, each.every, each.speedup))) for each in found.models]
    header = ("parameters", "pairs a second, rows wait", "every row moves", "ratio")
    return (
        f"# Rows that wait until they are read\n\ngalm_plus on {found.origin}, {found.steps} training steps of "
        f"{found.batch_size} pairs a measurement, both ways in turn, on {found.threads} thread of {found.machine.cpu}; "
        f"code {found.code_version}; {found.date}. Medians, with the least and the most in parentheses; ratios are of "
        f"the same round. Of the parameters nearly all are word vectors.\n\n{markdown_table(header, rows)}\n"
    )
