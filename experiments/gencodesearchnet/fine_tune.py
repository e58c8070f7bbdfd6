"""Fine-tuning of a cross-encoder on matching pairs, as GenCodeSearchNet's baselines were (Diera et al., GenBench 2023).

AdamW with weight decay 0.01, a learning rate that falls linearly to 0 without warm-up, batches of 32 shuffled rows,
cross-entropy over two logits, one negative a pair drawn once, no clipping of gradients.

*Departures from the paper*: the seed is fixed; a negative never has the code of its pair; after each epoch validation
pairs are measured, and the weights of the best epoch by MRR are kept, where the release keeps the last.
"""

import json
import math
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Int64
from safetensors.torch import save as safetensors_save
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from data_prep.files.atomic import naming, write_atomically
from data_prep.files.folder_lock import sole_writer
from data_prep.files.json_text import parse_json
from data_prep.files.reading import read_whole
from data_prep.gencodesearchnet.records import Example
from evaluation.provenance import code_version, machine
from experiments.gencodesearchnet.fine_tune_options import FineTuneOptions
from experiments.gencodesearchnet.training_rows import TrainingRows, Validation, fingerprint
from modeling.transformers.cross_encoder import CrossEncoder, kinds_of, load_classifier, load_tokenizer, save_tokenizer
from modeling.transformers.pair_tokens import PairTokens
from modeling.transformers.pretrained import best_device
from recipes.config import REPOSITORY
from terminal.console import say
from training.checkpoint import load_checkpoint, put_weights, save_checkpoint, weights_copy
from training.interrupt import HeldInterrupt
from training.progress import Progress
from training.seeding import random_state, restore_random_state, seed_everything
from training.stored_state import part_of, put_optimiser, tensors_of

CHECKPOINT: Final = "checkpoint.pt"
RECORD: Final = "fine_tuning.json"
WEIGHTS: Final = "model.safetensors"

_OF_EPOCH: Final = ("epoch", "loss")
"""Numbers that a run keeps of each epoch, beside its measures."""
_ARRIVING: Final = ".arriving."
"""How the name of a folder begins whose files are not yet whole."""
_FREE: Final = ("checkpoint_minutes",)
"""Options that a run which goes on may change."""


def fine_tune(
    train: Sequence[Example],
    valid: Sequence[Example],
    base: str,
    out: Path,
    options: FineTuneOptions,
    *,
    command: str = "",
    tell: Callable[[str], None] = say,
) -> dict[str, Any]:
    """Fine-tune ``base`` and leave in ``out`` the best epoch's model, its tokenizer, and :data:`RECORD`.

    A run that was killed goes on from its checkpoint in ``out`` and ends with the numbers of one that was not; one that
    ended is not repeated.

    Args:
        train: matching pairs.
        valid: matching pairs, of other code, that choose the epoch.
        base: a folder, an installed package or a name of a hub.
        out: a folder that is absent or empty, or of this same run.
        options: how.
        command: what the user typed, for the record; empty: this program's arguments.
        tell: takes a line for the person who waits.

    Returns:
        The record: how it was made, each epoch's measures, the best epoch, seconds.

    Raises:
        ValueError: there are fewer than two pairs, ``out`` holds something else, another process is writing it, or the
            base cannot be had.
        OSError: ``out`` cannot be written.
        KeyboardInterrupt: Ctrl-C, after a checkpoint.
    """
    if min(len(train), len(valid)) < 2:
        raise ValueError(f"expected two training and two validation pairs or more, got {len(train)} and {len(valid)}")
    plan = _Plan.of(train, valid, base, options)
    with sole_writer(out):
        _check(out, plan)
        if (out / RECORD).exists():
            return _kept_record(out)
        return _Run(train, valid, plan, out, tell).go(command or shlex.join(sys.argv))


@dataclass(frozen=True, slots=True)
class _Plan:
    """What decides a run's numbers."""

    base: str
    options: FineTuneOptions
    data: dict[str, dict[str, int | str]]

    @classmethod
    def of(cls, train: Sequence[Example], valid: Sequence[Example], base: str, options: FineTuneOptions) -> "_Plan":
        named = {"train": train, "valid": valid}
        data: dict[str, dict[str, int | str]] = {
            name: {"pairs": len(pairs), "sha256": fingerprint(pairs)} for name, pairs in named.items()
        }
        return cls(base, options.of_base(base), data)

    def kept(self) -> dict[str, Any]:
        """All of it as a file holds it."""
        return {"base": self.base, "options": asdict(self.options), "data": self.data}

    def same_as(self, kept: Mapping[str, Any]) -> bool:
        """Whether a run with ``kept`` has the numbers of this one."""
        own, other = self.kept(), {name: kept.get(name) for name in self.kept()}
        for each in (own, other):
            options = each["options"] if isinstance(each["options"], dict) else {}
            each["options"] = {key: value for key, value in options.items() if key not in _FREE}
        return own == other


def _kept_record(out: Path) -> dict[str, Any]:
    """The record of a fine-tuning that has ended.

    Raises:
        ValueError: it is damaged.
    """
    try:
        kept = parse_json(read_whole(out / RECORD))
    except ValueError as error:
        raise ValueError(f"{out / RECORD} is damaged ({error}): name another folder") from error
    return kept if isinstance(kept, dict) else {}


def _check(out: Path, plan: _Plan) -> None:
    """Refuse to write where something else is."""
    there = [path.name for path in out.iterdir() if not path.name.startswith(".")] if out.is_dir() else []
    kept: Any
    if RECORD in there:
        kept = _kept_record(out)
    elif CHECKPOINT in there:
        kept = load_checkpoint(out / CHECKPOINT).get("plan")
    elif there or (out.exists() and not out.is_dir()):
        raise ValueError(f"{out} is no empty folder, and no fine-tuning that could go on: name another one")
    else:
        return
    if not isinstance(kept, dict) or not plan.same_as(kept):
        raise ValueError(f"{out} holds a fine-tuning of another base, other options or other pairs: name another one")


class _Run:
    def __init__(
        self, train: Sequence[Example], valid: Sequence[Example], plan: _Plan, out: Path, tell: Callable[[str], None]
    ) -> None:
        self.plan, self.options, self.out, self.tell = plan, plan.options, out, tell
        options = self.options
        seed_everything(options.seed, options.threads)
        self.tokenizer = load_tokenizer(plan.base)
        self.model = load_classifier(plan.base, new_head=True).to(best_device())
        encoder = CrossEncoder(self.model, self.tokenizer, options.max_length)
        if options.freeze_words:
            self.model.get_input_embeddings().weight.requires_grad_(False)
        texts, codes = [pair.text for pair in train], [pair.code for pair in train]
        self.tokens = PairTokens.of(self.tokenizer, texts, codes, options.max_length)
        self.rows = TrainingRows.of(train, self.tokens, options.seed)
        self.validation = Validation.of(
            encoder, valid, options.seed,
            most=options.valid_pairs, queries=options.valid_queries, distractors=options.valid_distractors,
        )  # fmt: skip
        learnt = [weight for weight in self.model.parameters() if weight.requires_grad]
        self.optimiser = torch.optim.AdamW(learnt, weight_decay=options.weight_decay, fused=True)
        self.steps = options.epochs * math.ceil(len(self.rows.texts) / options.batch_size)
        self.done = Progress()
        self.saved_at = time.monotonic()

    def go(self, command: str) -> dict[str, Any]:
        if (self.out / CHECKPOINT).exists():
            self._restore()
        with HeldInterrupt(self._say) as interrupt, self._bar() as bar:
            while self.done.epoch < self.options.epochs:
                self._epoch(interrupt, bar)
        record = self.plan.kept() | {
            "command": command,
            "rows": len(self.rows.texts),
            "steps": self.steps,
            "seconds": round(self.done.seconds, 1),
            "best_epoch": self.done.best_epoch,
            "history": self.done.history,
            "code": code_version(REPOSITORY),
            "machine": asdict(machine()),
        }
        write_atomically(self.out / RECORD, json.dumps(record, indent=1) + "\n")
        (self.out / CHECKPOINT).unlink(missing_ok=True)
        return record

    def _epoch(self, interrupt: HeldInterrupt, bar: "tqdm[Any]") -> None:
        options, done = self.options, self.done
        batches = self.rows.batches(options.batch_size, options.seed, done.epoch, options.sort_window)
        self.model.train()
        for rows in batches[done.batch :]:
            self._step(rows)
            bar.set_postfix(epoch=done.epoch + 1, loss=f"{done.loss:.4f}", refresh=False)
            bar.update(len(rows))
            if interrupt.pending:
                self._save()
                raise KeyboardInterrupt
            if time.monotonic() - self.saved_at >= options.checkpoint_minutes * 60:
                self._save()
        self._save()  # what comes now takes time, too
        self._validate()
        self._save()

    def _step(self, rows: Int64[np.ndarray, " batch"]) -> None:
        started, done = time.perf_counter(), self.done
        for group in self.optimiser.param_groups:
            group["lr"] = self.options.learning_rate * (1 - done.step / self.steps)
        batch = self.tokens.batch(self.rows.texts[rows], self.rows.codes[rows], kinds_of(self.model))
        device = self.model.device
        logits = self.model(**{name: ids.to(device) for name, ids in batch.items()}).logits  # [batch, 2]
        loss = cross_entropy(logits, torch.from_numpy(self.rows.labels[rows]).to(device))
        if not math.isfinite(loss.item()):
            raise ValueError(f"the loss is {loss.item()} in step {done.step + 1}: try a lower learning_rate")
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        done.batch, done.step, done.pairs = done.batch + 1, done.step + 1, done.pairs + len(rows)
        done.loss_sum, done.loss_pairs = done.loss_sum + loss.item() * len(rows), done.loss_pairs + len(rows)
        done.seconds += time.perf_counter() - started

    def _validate(self) -> None:
        done = self.done
        measures = self.validation.measure()
        record = {"epoch": done.epoch + 1, "loss": done.loss, **measures}
        if best := measures["mrr"] > done.best_mrr:
            done.best_mrr, done.best_epoch = measures["mrr"], done.epoch + 1
            self._keep()
        done.history.append(record)
        done.epoch, done.batch, done.loss_sum, done.loss_pairs = done.epoch + 1, 0, 0.0, 0
        told = ", ".join(f"{name} {value:.4f}" for name, value in measures.items())
        best_so_far = " (best so far)" if best else ""
        self._say(
            f"epoch {done.epoch} of {self.options.epochs}: loss {record['loss']:.4f}; validation {told}{best_so_far}"
        )

    def _keep(self) -> None:
        """Write the model as it is, each file whole or not at all; a run that is killed here writes the same again."""
        for left in self.out.glob(f"{_ARRIVING}*"):
            shutil.rmtree(left, ignore_errors=True)
        with TemporaryDirectory(dir=self.out, prefix=_ARRIVING) as arriving, naming(self.out, Path(arriving)):
            save_tokenizer(self.tokenizer, Path(arriving), self.options.max_length)
            self.model.config.save_pretrained(arriving)
            for path in Path(arriving).iterdir():
                path.replace(self.out / path.name)
        write_atomically(self.out / WEIGHTS, safetensors_save(weights_copy(self.model), {"format": "pt"}))

    def _save(self) -> None:
        state = {
            "plan": self.plan.kept(),
            "progress": asdict(self.done),
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "random": random_state(),
        }
        save_checkpoint(state, self.out / CHECKPOINT)
        self.saved_at = time.monotonic()

    def _restore(self) -> None:
        state = load_checkpoint(self.out / CHECKPOINT)
        with part_of(self.out / CHECKPOINT):
            weights = tensors_of(state.get("model"), "the model's weights")
            self.done = Progress.checked(state.get("progress"), _OF_EPOCH)
        put_weights(self.model, weights, str(self.out / CHECKPOINT))
        with part_of(self.out / CHECKPOINT):
            put_optimiser(self.optimiser, state.get("optimiser"))
            restore_random_state(state.get("random"))
        self._say(f"going on after epoch {self.done.epoch}, batch {self.done.batch}")

    def _say(self, line: str) -> None:
        with tqdm.external_write_mode(file=sys.stderr):
            self.tell(line)

    def _bar(self) -> "tqdm[Any]":
        wait = 0.5 if sys.stderr.isatty() else 30.0  # seconds between drawings: few lines in a log
        return tqdm(
            desc="fine-tune", total=self.options.epochs * len(self.rows.texts), initial=self.done.pairs, unit=" rows",
            dynamic_ncols=True, mininterval=wait, maxinterval=2 * wait, smoothing=0.1,
        )  # fmt: skip
