"""Training steps in two ways that lead to the same weights, on the JDK and one thread.

``training``: GALM's fast form and the plain equations. ``rows``: rows of word tables that wait until a batch reads
them, and rows that all move at every step (``tests/training/test_row_adam.py``). ``selected``: gradients of the scores
that the loss reads, after its warm-up, and gradients of all (``tests/training/test_pair_task.py``).
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from jaxtyping import Float
from torch import Tensor

from data_prep.store.prepared_data import PreparedData
from evaluation.speed import Measured, Seconds, SpeedOptions, compare
from experiments.recipes.config import Configuration
from experiments.recipes.models import class_of
from experiments.run.data import training_data
from experiments.speed.pairs import WIDTHS, of_width, pairs_of, plan_of
from galm.all_pairs import EncodedWords
from galm.model import Galm
from modeling.base import NeuralRanker
from modeling.losses import build_loss
from training.pair_task import PairTask
from training.seeding import seed_everything
from training.state import RunState

BUCKETS: Final = ("256", "19553")
"""Vectors for unknown words: the recipe's, and as many as make galm_plus as large as it is with the JDK, repositories
and open Java in training, 33,351,490 parameters."""
MODELS: Final[Mapping[str, tuple[str, dict[str, str]]]] = {
    "galm, L = 1, width 32": ("galm", {}),
    "galm, L = 1, width 64": ("galm", {"model.gcn_dim": "64"}),
    "galm, L = 2, width 64": ("galm", {"model.layers": "2", "model.gcn_dim": "64"}),
    "galm, L = 1, width 256": ("galm", {"model.gcn_dim": "256"}),
    "galm_paper, L = 2, width 256": ("galm_paper", {}),
    "carlcs_cnn": ("carlcs_cnn", {}),
    "carlcs_ts": ("carlcs_ts", {}),
}
"""Name -> model and settings, for selected scores."""
_PARTS: Final = ("forward and loss", "backward", "clipping and optimiser")


class PlainGalm(Galm):
    """GALM that scores by the equations as written."""

    def score_matrix(self, queries: EncodedWords, codes: EncodedWords, **_: Any) -> Float[Tensor, "queries codes"]:  # type: ignore[override]
        """One padded tensor per equation."""
        return NeuralRanker.score_matrix(self, queries, codes)


class TrainingSteps:
    """A run in progress, at an epoch of its loss."""

    def __init__(
        self,
        plan: Configuration,
        data: PreparedData,
        steps: int,
        *,
        epoch: float = 0.0,
        kind: type[NeuralRanker] | None = None,
        selects: bool = False,
    ) -> None:
        """Build the model and the optimiser.

        Args:
            plan: the recipe.
            data: the pairs.
            steps: number of batches.
            epoch: epochs so far, for the loss.
            kind: class of the model; None: the recipe's.
            selects: whether only scores that the loss reads have a gradient.
        """
        data, kind = training_data(plan, data, ""), kind or class_of(plan.model_name)
        tokenizer = kind.tokenizer(data.splits["train"], plan.words, plan.model)
        ids = tokenizer.encode(data.splits["train"])
        seed_everything(plan.train.seed, plan.train.threads)
        self.config, self.model, self.epoch = plan.train, kind(plan.model, tokenizer.vocabulary), epoch
        self.model.start_from(ids)
        loss = build_loss(plan.loss)
        task = PairTask(self.model, loss, ids, lambda _: {}, plan.train)
        self.task = replace(task, selects=loss.selects) if selects else task
        self.optimiser = RunState(self.task, plan.train).optimiser
        self.batches = self.task.batches(0)[:steps]
        seed_everything(plan.train.seed, plan.train.threads)

    def run(self) -> Seconds:
        """Train on the first batches of an epoch; the seconds of a step and of its parts."""
        self.model.train()
        total = np.zeros(len(_PARTS))
        for number, rows in enumerate(self.batches):
            self.optimiser.zero_grad()
            marks = [time.perf_counter()]
            loss = self.task.loss(rows, self.epoch, number)
            marks.append(time.perf_counter())
            loss.backward()
            marks.append(time.perf_counter())
            self.optimiser.clip(self.config.gradient_clip)
            self.optimiser.step(self.config.learning_rate)
            total += np.diff([*marks, time.perf_counter()])
        means = (total / len(self.batches)).tolist()
        return {**dict(zip(_PARTS, means, strict=True)), "whole step": sum(means)}


def measure_training(options: SpeedOptions) -> Measured:
    """The fast form and the plain form at both widths, with gradients of all scores."""
    data, steps = pairs_of(options), max(1, options.steps // 10)
    ways = {}
    for width in WIDTHS:
        plan = _plan(options, "galm", of_width(width))
        forms = {"fast": Galm, "plain": PlainGalm}
        ways[f"width {width}"] = {name: TrainingSteps(plan, data, steps, kind=kind) for name, kind in forms.items()}
    return _measured(options, data, steps, ways)


def measure_rows(options: SpeedOptions) -> Measured:
    """Both ways of moving the rows of word tables, with a small and a large table."""
    data, ways = pairs_of(options), {}
    for buckets in BUCKETS:
        plan = _plan(options, "galm_plus", {"words.unknown_buckets": buckets})
        forms = {"rows wait": True, "every row moves": False}
        ways[f"galm_plus, {int(buckets):,} vectors for unknown words"] = {
            name: TrainingSteps(
                replace(plan, train=replace(plan.train, lazy_embedding_updates=lazy)), data, options.steps
            )
            for name, lazy in forms.items()
        }
    return _measured(options, data, options.steps, ways)


def measure_selected(options: SpeedOptions) -> Measured:
    """Gradients of few scores and of all, for graphs of several sizes and for co-attention."""
    data, ways = pairs_of(options), {}
    for name, (model, settings) in MODELS.items():
        plan = _plan(options, model, settings)
        forms = {"scores that the loss reads": True, "all scores": False}
        ways[name] = {
            form: TrainingSteps(plan, data, options.steps, epoch=plan.loss.warmup_epochs, selects=selects)
            for form, selects in forms.items()
        }
    return _measured(options, data, options.steps, ways)


def _plan(options: SpeedOptions, model: str, settings: dict[str, str]) -> Configuration:
    return plan_of(options, model, {**settings, "train.threads": "1"})


def _measured(
    options: SpeedOptions, data: PreparedData, steps: int, ways: Mapping[str, Mapping[str, TrainingSteps]]
) -> Measured:
    rows, facts = [], {}
    for name, runs in ways.items():
        rows += compare(name, {way: run.run for way, run in runs.items()}, options.rounds)
        one = next(iter(runs.values()))
        facts[name] = {"parameters": sum(weight.numel() for weight in one.model.parameters())}
    about = f"{data.manifest['origin']}, {steps} steps of {one.config.batch_size} pairs a round, one thread."
    return Measured(about=about, unit="a training step", rows=rows, facts=facts)
