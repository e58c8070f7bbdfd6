"""The time of a training step of GALM's fast and plain forms, and the training time to reach BM25's MRR."""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from baselines.bm25.ranker import Bm25, Bm25Config
from data_prep.store.prepared_data import PreparedData
from data_prep.store.tokenizing import TokenizedPairs, WordTokenizer
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from evaluation.metrics import exact
from experiments.recipes.config import resolve
from experiments.speed.rounding import Rounding, measure_rounding
from experiments.speed.scoring import WIDTHS, galm_of_width, plan_of_width
from experiments.speed.timing import Spread, in_turn
from experiments.terminal.console import say
from galm.all_pairs import EncodedWords
from galm.model import Galm
from modeling.base import NeuralRanker
from modeling.losses import build_loss
from modeling.pool_ranker import PoolRanker
from training.batches import epoch_batches, negatives_mask
from training.pair_task import PairTask
from training.seeding import seed_everything
from training.state import RunState
from training.trainer import train

BATCH: Final = 64
"""Queries, and methods, per step."""
BATCHES: Final = 4
"""Steps timed together, since batches differ in length."""
EPOCHS: Final = 2

Score = Callable[[Galm, EncodedWords, EncodedWords], Float[Tensor, "queries codes"]]

FORMS: Final[dict[str, Score]] = {"fast": Galm.score_matrix, "plain": NeuralRanker.score_matrix}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSeconds:
    """Seconds of a training step by its parts."""

    forward_and_loss: Spread
    backward: Spread
    clipping: Spread
    optimiser: Spread
    whole: Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A step of both forms at one graph width."""

    fast: StepSeconds
    plain: StepSeconds
    speedup: Spread  # forward, loss and backward
    step_speedup: Spread  # the whole step
    gradient_difference: float  # norm of the difference, as a share of the gradient's norm; the largest of the batches


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """The state after an epoch: seconds of training steps so far, and the MRR on validation."""

    epoch: int
    seconds: float
    mrr: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """Training until GALM's validation MRR reaches that of BM25."""

    pool: int
    bm25_mrr: float
    history: Sequence[Epoch]
    seconds: float | None  # None: not within the epochs
    epochs: int | None
    rounding: Rounding  # of the final model's ranks

    @classmethod
    def of(cls, pool: int, bm25_mrr: float, history: Sequence[Epoch], rounding: Rounding) -> "Reached":
        """The result, with the first epoch of ``history`` that is at least as good as BM25."""
        first = next((each for each in history if each.mrr >= bm25_mrr), None)
        seconds, epochs = (None, None) if first is None else (first.seconds, first.epoch)
        return cls(pool=pool, bm25_mrr=bm25_mrr, history=history, seconds=seconds, epochs=epochs, rounding=rounding)


class Steps:
    """Training steps as in the trainer, in either form."""

    def __init__(self, model: Galm, ids: TokenizedPairs, width: int) -> None:
        """Use ``ids`` as the data, with the optimiser and the loss of the recipe."""
        plan = plan_of_width(width)
        self.model, self.ids, self.config = model.train(), ids, plan.train
        self.loss = build_loss(plan.loss)
        task = PairTask(model, self.loss, ids, lambda _: {}, plan.train)
        self.optimiser = RunState(task, plan.train).optimiser

    def loss_of(self, rows: Int[np.ndarray, " rows"], score: Score) -> Float[Tensor, ""]:
        """The loss of a batch in the first epoch."""
        queries, codes = self.model.encode_query(self.ids.queries(rows)), self.model.encode_code(self.ids.codes(rows))
        negatives = torch.from_numpy(negatives_mask(self.ids.query_keys[rows], self.ids.code_keys[rows]))
        return self.loss(score(self.model, queries, codes), negatives, 0.0)

    def gradient(self, rows: Int[np.ndarray, " rows"], score: Score) -> Float[Tensor, " weights"]:
        """The gradient of all weights, concatenated."""
        self.optimiser.zero_grad()
        self.loss_of(rows, score).backward()
        gradients = [weight.grad for weight in self.model.parameters() if weight.grad is not None]
        return torch.cat([gradient.to_dense().flatten() for gradient in gradients])

    def seconds(self, batches: Sequence[Int[np.ndarray, " rows"]], score: Score) -> Float[np.ndarray, " parts"]:
        """Seconds per step: forward and loss, backward, clipping, the optimiser's step."""
        return np.mean([self._step(rows, score) for rows in batches], axis=0)

    def _step(self, rows: Int[np.ndarray, " rows"], score: Score) -> Float[np.ndarray, " parts"]:
        marks = [time.perf_counter()]
        loss = self.loss_of(rows, score)
        marks.append(time.perf_counter())
        self.optimiser.zero_grad()
        loss.backward()
        marks.append(time.perf_counter())
        self.optimiser.clip(self.config.gradient_clip)
        marks.append(time.perf_counter())
        self.optimiser.step(self.config.learning_rate)
        return np.diff([*marks, time.perf_counter()])


def measure_training(tokenizer: WordTokenizer, ids: TokenizedPairs, repeats: int) -> dict[int, Training]:
    """Seconds of a step at every width."""
    batches = epoch_batches(ids, BATCH, seed=0, epoch=0)[:BATCHES]
    forms, differences = {}, {}
    for width in WIDTHS:
        steps = Steps(galm_of_width(width, tokenizer, ids), ids, width)
        differences[width] = max(_difference(steps, rows) for rows in batches)
        for name, score in FORMS.items():
            forms[f"{name} step {width}"] = partial(steps.seconds, batches, score)
    found = in_turn(forms, repeats)
    runs = {width: {name: np.stack(found[f"{name} step {width}"]) for name in FORMS} for width in WIDTHS}
    return {width: _training(runs[width], differences[width]) for width in WIDTHS}


def _difference(steps: Steps, rows: Int[np.ndarray, " rows"]) -> float:
    fast, plain = (steps.gradient(rows, score) for score in FORMS.values())
    return float((fast - plain).norm() / plain.norm())


def _training(runs: dict[str, Float[np.ndarray, "repeats parts"]], difference: float) -> Training:
    fast, plain = runs["fast"], runs["plain"]
    return Training(
        fast=_step_seconds(fast),
        plain=_step_seconds(plain),
        speedup=Spread.of((plain[:, :2].sum(1) / fast[:, :2].sum(1)).tolist()),
        step_speedup=Spread.of((plain.sum(1) / fast.sum(1)).tolist()),
        gradient_difference=difference,
    )


def _step_seconds(run: Float[np.ndarray, "repeats parts"]) -> StepSeconds:
    forward, backward, clipping, optimiser = (Spread.of(part.tolist()) for part in run.T)
    return StepSeconds(
        forward_and_loss=forward,
        backward=backward,
        clipping=clipping,
        optimiser=optimiser,
        whole=Spread.of(run.sum(1).tolist()),
    )


def measure_reached(data: PreparedData) -> Reached:
    """Train galm for ``EPOCHS`` epochs, and compare its validation MRR with BM25's after each."""
    plan = resolve("jdk", "galm", {"train.epochs": str(EPOCHS)})
    valid = data.splits["valid"]
    pool = EvaluateConfig(pool=min(plan.train.validate_pool, len(valid)), run_depth=1)
    bm25 = exact(evaluate(Bm25(Bm25Config()), valid, pool, progress=False).ranks)["mrr"]
    tokenizer = WordTokenizer.build(data.splits["train"], plan.words)
    ids = tokenizer.encode(data.splits["train"])
    model = galm_of_width(plan.model.gcn_dim, tokenizer, ids)

    def validate(trained: NeuralRanker) -> dict[str, float]:
        return {"mrr": exact(evaluate(PoolRanker(trained, tokenizer), valid, pool, progress=False).ranks)["mrr"]}

    with tempfile.TemporaryDirectory() as folder:
        task = PairTask(model, build_loss(plan.loss), ids, validate, plan.train)
        seed_everything(plan.train.seed, plan.train.threads)
        report = train(task, plan.train, Path(folder), say=say)
    history = [Epoch(epoch=int(each["epoch"]), seconds=each["seconds"], mrr=each["mrr"]) for each in report.history]
    return Reached.of(pool.pool, bm25, history, measure_rounding(model, tokenizer, valid, pool))
