"""The training loop, which depends only on the interface :class:`training.task.TrainingTask`."""

import contextlib
import gc
import logging
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final, NoReturn

import torch
from tqdm import tqdm

from data_prep.errors import UserError
from modeling import distributed as processes
from training.board import Board
from training.checkpoint import put_weights
from training.config import TrainConfig
from training.optimiser import learning_rate
from training.state import EpochRecord, Rows, RunState, TrainingTask

CHECKPOINT: Final = "checkpoint.pt"

_log = logging.getLogger(__name__)


class HeldInterrupt:
    """Context manager that delays the first Ctrl-C and sets ``pending``; a second one interrupts at once.

    Outside the main thread, where Python delivers no signals, it does nothing.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.pending = False
        self._say = say
        self._before: Any = None

    def __enter__(self) -> "HeldInterrupt":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        if self.pending:
            raise KeyboardInterrupt
        self.pending = True
        with contextlib.suppress(RuntimeError):  # the signal may have come in the middle of a line being written
            self._say("stopping after this step, with a checkpoint (Ctrl-C again: at once, without)")


class DivergedError(UserError):
    """The loss or a gradient is no longer finite."""


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """Summary of a run; the model has the weights of the best epoch."""

    best_epoch: int  # 1-based
    epochs_run: int
    seconds: float  # in training steps, without validation and checkpoints
    pairs: int  # of the training split
    pairs_per_second: float
    history: list[
        dict[str, int | float]
    ]  # one per epoch: epoch, loss, learning_rate, seconds, and the validation's measures


def train(
    task: TrainingTask,
    config: TrainConfig,
    run_dir: Path,
    *,
    board: Board | None = None,
    say: Callable[[str], None] = _log.info,
    plan: Mapping[str, Any] | None = None,
    section: str = "train.",
    begin: Callable[[RunState], None] | None = None,
) -> TrainingReport:
    """Train the task's model; afterwards it has the weights of its best validation epoch.

    The caller seeds the random generators (:func:`training.state.seed_everything`). A checkpoint is saved in
    ``run_dir``. With ``config.resume`` the run continues from there, with the same results as an uninterrupted run;
    a run that was interrupted before its first checkpoint starts anew.

    Args:
        task: model, examples, loss and validation; for a resumed run, built in the same way.
        config: section ``train``.
        run_dir: an existing folder.
        board: TensorBoard writer; None: no events.
        say: prints a line for the user.
        plan: other settings that determine the results, stored in the checkpoint.
        section: prefix of the option names that messages suggest.
        begin: gives the state that a run begins with, where no checkpoint of its own is resumed; None: a new one.

    Raises:
        DivergedError: the loss or the gradients are no longer finite.
        UserError: the checkpoint is damaged or belongs to another run, or there are too few examples.
        OSError: the checkpoint cannot be written.
        KeyboardInterrupt: Ctrl-C, after a checkpoint.
    """
    processes.same_weights(task.model)
    state = RunState(task, config, plan)
    gc.freeze()  # else each full collection visits all that was prepared
    try:
        _Run(task, state, run_dir / CHECKPOINT, board, say, section).go(begin)
    finally:
        gc.unfreeze()
    done = state.progress
    speed = done.pairs / max(done.seconds, 1e-9)
    return TrainingReport(done.best_epoch, done.epoch, done.seconds, len(task), speed, done.history)


@dataclass
class _Run:
    task: TrainingTask
    state: RunState
    path: Path  # of the checkpoint
    board: Board | None
    say: Callable[[str], None]
    section: str

    def __post_init__(self) -> None:
        self.config, self.model = self.state.config, self.task.model
        self.steps = -(-self.task.batch_count // self.config.accumulate)  # of the optimiser, per epoch
        self.saved_at = time.monotonic()

    def go(self, begin: Callable[[RunState], None] | None) -> None:
        if not (self.config.resume and self._resumed()) and begin:
            begin(self.state)
        if self.board:
            self.board.open(self.state.progress.pairs)
        with closing(self.state.optimiser), HeldInterrupt(self._print) as interrupt, self._bar() as bar:
            while not self._ended():
                self._epoch(interrupt, bar)
        self._say_early()
        put_weights(self.model, self.state.best, str(self.path))

    def _ended(self) -> bool:
        done, patience = self.state.progress, self.config.patience
        stale = done.epoch - done.best_epoch if done.best_epoch else 0  # epochs
        return done.epoch >= self.config.epochs or 0 < patience <= stale

    def _say_early(self) -> None:
        done, config = self.state.progress, self.config
        if done.epoch < config.epochs:
            self._print(
                f"stopped early, after epoch {done.epoch} of {config.epochs}: no validation was above "
                f"{done.best_mrr:.4f}, that of epoch {done.best_epoch}, for {done.epoch - done.best_epoch} epochs "
                f"(--{self.section}patience={config.patience})"
            )

    def _epoch(self, interrupt: HeldInterrupt, bar: "tqdm[NoReturn]") -> None:
        done, together = self.state.progress, self.config.accumulate
        self.model.train()
        batches = self.task.batches(done.epoch)[done.batch :]
        for start in range(0, len(batches), together):
            group = batches[start : start + together]
            self._step(group)
            bar.set_postfix(epoch=done.epoch + 1, loss=f"{done.loss:.4f}", refresh=False)
            bar.update(sum(map(len, group)))
            if processes.broadcast(interrupt.pending):
                self._stop()
            if 0 < self.config.checkpoint_minutes * 60 <= time.monotonic() - self.saved_at:
                self._save()
        self._end_epoch()
        between = self.config.checkpoint_epochs
        if between and (done.epoch % between == 0 or self._ended()):
            self._save()
        if processes.broadcast(interrupt.pending):
            self._stop()

    def _step(self, batches: Sequence[Rows]) -> None:
        """One optimiser step, with the gradients of one batch or several."""
        started, done, count = time.perf_counter(), self.state.progress, sum(map(len, batches))
        rate = learning_rate(self.config, done.step, self.config.epochs * self.steps)
        self.state.optimiser.zero_grad()
        loss = sum(self._backward(rows, count, number) for number, rows in enumerate(batches))
        processes.sum_gradients(self.model)
        norm = self.state.optimiser.clip(self.config.gradient_clip)
        self._check_finite(loss, norm)
        self.state.optimiser.step(rate)
        seconds = time.perf_counter() - started
        done.batch, done.step, done.pairs = done.batch + len(batches), done.step + 1, done.pairs + count
        done.loss_sum, done.loss_pairs = done.loss_sum + loss * count, done.loss_pairs + count
        done.seconds += seconds
        if self.board:
            self.board.training(done.step, done.pairs, loss, rate, norm, seconds)

    def _backward(self, rows: Rows, count: int, number: int) -> float:
        """Add the gradients of batch ``number`` of a step over ``count`` examples; return its share of the loss."""
        done, share = self.state.progress, len(rows) / count
        epochs = done.epoch + (done.batch + number) / self.task.batch_count
        device = next(self.model.parameters()).device.type
        with torch.autocast(device, torch.bfloat16, enabled=self.config.precision == "bfloat16"):
            loss = self.task.loss(rows, epochs, done.step * self.config.accumulate + number) * share
        loss.backward()
        return loss.item()

    def _check_finite(self, loss: float, norm: float) -> None:
        if math.isfinite(loss) and math.isfinite(norm):
            return
        done, config = self.state.progress, self.config
        what = f"the gradient's norm is {norm}" if math.isfinite(loss) else f"the loss is {loss}"
        where = f"epoch {done.epoch + 1}, batch {done.batch + 1} of {self.task.batch_count}"
        option = f"--{self.section}"
        raise DivergedError(
            f"{what} in {where} (step {done.step + 1}): "
            f"try {option}learning_rate={config.learning_rate / 3:.1g} (was {config.learning_rate:g}), "
            f"{option}warmup_steps={self.steps} (was {config.warmup_steps}) or {option}gradient_clip=1 "
            f"(was {config.gradient_clip:g})"
        )

    def _end_epoch(self) -> None:
        done, config = self.state.progress, self.config
        self.state.optimiser.flush()
        done.epoch, done.batch = done.epoch + 1, 0
        record: EpochRecord = {
            "epoch": done.epoch,
            "loss": done.loss,
            "learning_rate": self.state.optimiser.rate,
            "seconds": done.seconds,
        }
        line = f"epoch {done.epoch} of {config.epochs}: loss {done.loss:.4f}"
        rises = bool(done.history) and done.loss > done.history[-1].get("loss", math.inf)
        line += f" ({why})" if rises and (why := self.task.remark(done.epoch)) else ""
        if done.epoch % config.validate_every == 0 or done.epoch == config.epochs:
            measures = self._validated()
            record |= measures
            best = self.state.validated(measures.get("selection", measures["mrr"]))
            line += "; validation " + ", ".join(
                f"{name} {value:.4f}" for name, value in measures.items() if "/" not in name
            )
            line += " (best so far)" if best else ""
        done.loss_sum, done.loss_pairs = 0.0, 0
        done.history.append(record)
        self._print(line)

    def _validated(self) -> dict[str, float]:
        self.model.eval()
        with torch.no_grad():
            measures = {name: float(value) for name, value in self.task.validate().items()}
        if self.board:
            self.board.validation(measures)
        return measures

    def _resumed(self) -> bool:
        """Restore the run's checkpoint, if it has one."""
        run = self.path.parent
        if not run.is_dir():
            raise UserError(f"--train.resume takes the folder of a run, but there is no folder {run}")
        if not self.path.exists():
            self.say(f"{run} has no checkpoint yet: starting from the beginning")
            return False
        self.state.restore(self.path)
        done = self.state.progress
        self.say(f"resuming after epoch {done.epoch}, batch {done.batch} of {self.task.batch_count}")
        return True

    def _save(self) -> None:
        if self.board:
            self.board.flush()
        if processes.is_first():
            self.state.save(self.path)
        self.saved_at = time.monotonic()

    def _stop(self) -> NoReturn:
        self._save()
        done = self.state.progress
        self._print(f"stopped after epoch {done.epoch}, batch {done.batch}; its checkpoint is {self.path}")
        raise KeyboardInterrupt

    def _print(self, line: str) -> None:
        with tqdm.external_write_mode(file=sys.stderr):
            self.say(line)

    def _bar(self) -> "tqdm[NoReturn]":
        wait = 0.5 if sys.stderr.isatty() else 30.0  # seconds between updates: few lines in a log
        total, done = self.config.epochs * len(self.task), self.state.progress.pairs
        bar: tqdm[NoReturn] = tqdm(
            desc="train", total=total, initial=done, unit=" examples", unit_scale=True, dynamic_ncols=True,
            mininterval=wait, maxinterval=2 * wait, smoothing=0.1, disable=not processes.is_first(),
        )  # fmt: skip
        return bar
