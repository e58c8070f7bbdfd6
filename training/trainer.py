"""Training: pairs in batches, a score matrix, a loss. It knows the contract of a matcher and no model."""

import logging
import math
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from tqdm import tqdm

from data_prep.store.batching import Batch, PairIds
from modeling import distributed as processes
from modeling.contract import Matcher
from training.batches import batch_count, epoch_batches, negatives_mask
from training.board import Board
from training.checkpoint import put_weights
from training.config import TrainConfig
from training.interrupt import HeldInterrupt
from training.progress import EpochRecord
from training.schedule import learning_rate
from training.seeding import seed_everything
from training.state import RunState

CHECKPOINT: Final = "checkpoint.pt"

Loss = Callable[[Float[Tensor, "queries codes"], Bool[Tensor, "queries codes"], float], Float[Tensor, ""]]
"""(scores, negatives, epochs passed) -> the batch's loss; query i's own code is code i."""

Validate = Callable[[Matcher], Mapping[str, float]]
"""Model -> measures on validation pairs, ``mrr`` among them; higher is better."""

_log = logging.getLogger(__name__)


class DivergedError(ValueError):
    """The loss or a gradient is not finite any more."""


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What came of a run; the best epoch's weights are in the model."""

    best_epoch: int  # 1-based
    epochs_run: int
    seconds: float  # in training steps, without validation and checkpoints
    pairs: int  # of the training split: all of them in each epoch
    pairs_per_second: float
    history: list[
        dict[str, int | float]
    ]  # an epoch each: epoch, loss, learning_rate, seconds, and the validation's measures


def train(
    matcher: Matcher,
    loss: Loss,
    train_ids: PairIds,
    validate: Validate,
    config: TrainConfig,
    run_dir: Path,
    *,
    board: Board | None = None,
    device: torch.device | str = "cpu",
    say: Callable[[str], None] = _log.info,
) -> TrainingReport:
    """Train ``matcher`` on ``train_ids`` and leave the weights of its best validation epoch in it.

    A checkpoint is kept in ``run_dir``. With ``config.resume`` the run goes on from there and ends with the numbers of
    one that was never stopped; one that was stopped before its first checkpoint begins anew.

    Args:
        matcher: freshly built; for a resumed run built the same way.
        loss: reads the score matrix of each batch.
        train_ids: the training split.
        validate: called in evaluation mode without gradients; its ``mrr`` chooses the best epoch.
        config: section ``train``.
        run_dir: an existing folder.
        board: where curves are drawn; None: nowhere.
        device: where the model computes.
        say: takes a line for the person who waits.

    Raises:
        DivergedError: the loss or the gradients are no longer finite.
        ValueError: the checkpoint is damaged or of another run, or there are fewer than two pairs.
        OSError: the checkpoint cannot be written.
        KeyboardInterrupt: Ctrl-C, after a checkpoint.
    """
    seed_everything(config.seed, config.threads)
    processes.same_weights(matcher)
    state = RunState(matcher.to(device), config, train_ids)
    run = _Run(state, loss, train_ids, validate, run_dir / CHECKPOINT, board, device, say)
    run.go()
    done = state.progress
    speed = done.pairs / max(done.seconds, 1e-9)
    return TrainingReport(done.best_epoch, done.epoch, done.seconds, len(train_ids), speed, done.history)


@dataclass
class _Run:
    state: RunState
    loss: Loss
    pairs: PairIds
    validate: Validate
    path: Path  # of the checkpoint
    board: Board | None
    device: torch.device | str
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        self.config = self.state.config
        self.batches = batch_count(len(self.pairs), self.config.batch_size, self.config.processes)  # an epoch
        self.saved_at = time.monotonic()

    def go(self) -> None:
        if self.config.resume:
            self._resume()
        if self.board:
            self.board.open(self.state.progress.step)
        with HeldInterrupt(self._tell) as interrupt, self._bar() as bar:
            while not self._ended():
                self._epoch(interrupt, bar)
        put_weights(self.state.matcher, self.state.best, str(self.path))

    def _ended(self) -> bool:
        done, patience = self.state.progress, self.config.patience
        stale = done.epoch - done.best_epoch if done.best_epoch else 0  # epochs
        return done.epoch >= self.config.epochs or 0 < patience <= stale

    def _epoch(self, interrupt: HeldInterrupt, bar: "tqdm[NoReturn]") -> None:
        done = self.state.progress
        self.state.matcher.train()
        for rows in self._batches(done.epoch)[done.batch :]:
            self._step(rows)
            bar.set_postfix(epoch=done.epoch + 1, loss=f"{done.loss:.4f}", refresh=False)
            bar.update(len(rows))
            if processes.of_first(interrupt.pending):
                self._stop()
            if 0 < self.config.checkpoint_minutes * 60 <= time.monotonic() - self.saved_at:
                self._save()
        self._end_epoch()
        self._save()
        if processes.of_first(interrupt.pending):
            self._stop()

    def _batches(self, epoch: int) -> list[Int[np.ndarray, " _"]]:
        config = self.config
        return epoch_batches(self.pairs, config.batch_size, config.seed, epoch, config.neighbours, config.processes)

    def _step(self, rows: Int[np.ndarray, " rows"]) -> None:
        started, done, matcher = time.perf_counter(), self.state.progress, self.state.matcher
        rate = learning_rate(self.config, done.step, self.config.epochs * self.batches)
        for group in self.state.optimiser.param_groups:
            group["lr"] = rate
        scores = self._scores(rows)  # [queries, codes]
        negatives = torch.from_numpy(negatives_mask(self.pairs.query_keys[rows], self.pairs.code_keys[rows]))
        loss = self.loss(scores, negatives.to(self.device), done.epoch + done.batch / self.batches)
        self.state.optimiser.zero_grad()
        loss.backward()
        processes.sum_gradients(matcher)
        norm = torch.nn.utils.clip_grad_norm_(matcher.parameters(), self.config.gradient_clip or math.inf).item()
        self._check_finite(loss.item(), norm)
        self.state.optimiser.step()
        seconds = time.perf_counter() - started
        done.batch, done.step, done.pairs = done.batch + 1, done.step + 1, done.pairs + len(rows)
        done.loss_sum, done.loss_pairs = done.loss_sum + loss.item() * len(rows), done.loss_pairs + len(rows)
        done.seconds += seconds
        if self.board:
            self.board.training(done.step, loss.item(), rate, norm, len(rows) / seconds)

    def _scores(self, rows: Int[np.ndarray, " rows"]) -> Float[Tensor, "rows rows"]:
        """Every query of the batch against every code; each process encodes its share, and scores its queries."""
        matcher, own = self.state.matcher, rows[processes.share(len(rows))]
        if processes.count() > 1:  # dropout that depends on the step and the process alone, so that a run can go on
            step = self.config.seed * 1_000_003 + self.state.progress.step
            torch.manual_seed(step * processes.count() + processes.rank())
        queries = matcher.encode_query(self._moved(self.pairs.queries(own)))
        codes = processes.all_encoded(matcher.encode_code(self._moved(self.pairs.codes(own))))
        return processes.all_rows(matcher.score_matrix(queries, codes))

    def _check_finite(self, loss: float, norm: float) -> None:
        if math.isfinite(loss) and math.isfinite(norm):
            return
        done, config = self.state.progress, self.config
        what = f"the gradient's norm is {norm}" if math.isfinite(loss) else f"the loss is {loss}"
        raise DivergedError(
            f"{what} in epoch {done.epoch + 1}, batch {done.batch + 1} of {self.batches} (step {done.step + 1}): "
            f"try --train.learning_rate={config.learning_rate / 3:.1g} (was {config.learning_rate:g}), "
            f"--train.warmup_steps={self.batches} (was {config.warmup_steps}) or --train.gradient_clip=1 "
            f"(was {config.gradient_clip:g})"
        )

    def _end_epoch(self) -> None:
        done, config = self.state.progress, self.config
        rate = self.state.optimiser.param_groups[0]["lr"]
        done.epoch, done.batch = done.epoch + 1, 0
        record: EpochRecord = {
            "epoch": done.epoch,
            "loss": done.loss,
            "learning_rate": rate,
            "seconds": done.seconds,
        }
        line = f"epoch {done.epoch} of {config.epochs}: loss {done.loss:.4f}"
        if done.epoch % config.validate_every == 0 or done.epoch == config.epochs:
            measures = self._validated()
            record |= measures
            best = self.state.validated(measures["mrr"])
            line += "; validation " + ", ".join(f"{name} {value:.4f}" for name, value in measures.items())
            line += " (best so far)" if best else ""
        done.loss_sum, done.loss_pairs = 0.0, 0
        done.history.append(record)
        self._tell(line)

    def _validated(self) -> dict[str, float]:
        self.state.matcher.eval()
        with torch.no_grad():
            measures = {name: float(value) for name, value in self.validate(self.state.matcher).items()}
        if self.board:
            self.board.validation(measures)
        return measures

    def _moved(self, batch: Batch) -> Batch:
        return {name: words.to(self.device) for name, words in batch.items()}

    def _resume(self) -> None:
        run = self.path.parent
        if not run.is_dir():
            raise ValueError(f"--train.resume takes the folder of a run, but there is no folder {run}")
        if not self.path.exists():
            self.say(f"{run} has no checkpoint yet: starting from the beginning")
            return
        self.state.restore(self.path)
        done = self.state.progress
        self.say(f"going on after epoch {done.epoch}, batch {done.batch} of {self.batches}")

    def _save(self) -> None:
        if self.board:
            self.board.flush()
        if processes.is_first():
            self.state.save(self.path)
        self.saved_at = time.monotonic()

    def _stop(self) -> NoReturn:
        self._save()
        done = self.state.progress
        self._tell(f"stopped after epoch {done.epoch}, batch {done.batch}: --train.resume={self.path.parent} goes on")
        raise KeyboardInterrupt

    def _tell(self, line: str) -> None:
        with tqdm.external_write_mode(file=sys.stderr):
            self.say(line)

    def _bar(self) -> "tqdm[NoReturn]":
        wait = 0.5 if sys.stderr.isatty() else 30.0  # seconds between drawings: few lines in a log
        total, done = self.config.epochs * len(self.pairs), self.state.progress.pairs
        bar: tqdm[NoReturn] = tqdm(
            desc="train", total=total, initial=done, unit=" pairs", unit_scale=True, dynamic_ncols=True,
            mininterval=wait, maxinterval=2 * wait, smoothing=0.1, disable=not processes.is_first(),
        )  # fmt: skip
        return bar
