"""Fine-tuning of a cross-encoder on matching pairs, as for GenCodeSearchNet's baselines (Diera et al., GenBench 2023).

AdamW with weight decay 0.01, a learning rate that decays linearly to 0 without warm-up, batches of 32 shuffled rows,
cross-entropy over two logits, one negative per pair drawn once, no gradient clipping.

*Departures from the paper*: the seed is fixed; a negative never has the code of its pair; the model is validated after
each epoch, and the weights of the best epoch by MRR are saved, whereas the release saves the last.
"""

import json
import math
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Float, Int64
from safetensors.torch import save as safetensors_save
from torch import Tensor
from torch.nn.functional import cross_entropy

from data_prep.errors import UserError
from data_prep.files.json_text import load_json
from data_prep.files.writing import naming, sole_writer, write_atomically
from data_prep.gencodesearchnet.records import Example
from data_prep.installation import code_version, machine
from data_prep.store.split import TokenizedPairs
from experiments.gencodesearchnet.config import FineTuneOptions
from experiments.gencodesearchnet.tasks import TrainingRows, Validation, fingerprint
from experiments.recipes.config import REPOSITORY
from experiments.terminal.console import say
from modeling.pool_ranker import PoolRanker
from modeling.ranker import best_device
from modeling.transformers.cross_encoder import (
    CrossEncoder,
    CrossEncoderConfig,
    load_classifier,
    load_tokenizer,
    save_tokenizer,
)
from modeling.transformers.subword_pairs import subwords_in
from training.checkpoint import load_checkpoint, weights_copy
from training.state import seed_everything
from training.trainer import CHECKPOINT
from training.trainer import train as run_training

RECORD: Final = "fine_tuning.json"
WEIGHTS: Final = "model.safetensors"

_ARRIVING: Final = ".arriving."
"""Prefix of the name of a folder whose files are not complete yet."""
_FREE: Final = ("checkpoint_minutes",)
"""Options that may differ in a resumed run."""
_SINCE: Final = {"warmup_steps": 0, "gradient_clip": 0.0, "accumulate": 1, "precision": "float32"}
"""Values in runs recorded before or after the option existed."""


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
    """Fine-tune ``base`` and write to ``out`` the best epoch's model, its tokenizer, and :data:`RECORD`.

    A run that was killed is resumed from its checkpoint in ``out``, with the same results as an uninterrupted one; a
    finished run is not repeated.

    Args:
        train: matching pairs.
        valid: matching pairs, of other code, by which the epoch is chosen.
        base: a folder, an installed package or a name on a model hub.
        out: a folder that is absent or empty, or of this same run.
        options: the options of fine-tuning.
        command: the command as typed, for the record; empty: this program's arguments.
        tell: called with lines about the progress.

    Returns:
        The record: options, data, metrics of each epoch, the best epoch, seconds.

    Raises:
        UserError: there are fewer than two pairs, ``out`` has other content, another process is writing it, or the
            base is not available.
        OSError: ``out`` cannot be written.
        KeyboardInterrupt: Ctrl-C, after a checkpoint.
    """
    if min(len(train), len(valid)) < 2:
        raise UserError(f"expected two training and two validation pairs or more, got {len(train)} and {len(valid)}")
    options = options.of_base(base)
    plan = _plan(train, valid, base, options)
    with sole_writer(out):
        _check(out, plan)
        if (out / RECORD).exists():
            found: dict[str, Any] = load_json(out / RECORD, "the record of a fine-tuning")
            return found
        task = ClassifierTask.of(train, valid, base, options)
        resume = str(out) if (out / CHECKPOINT).exists() else ""
        report = run_training(task, options.training(resume), out, say=tell, plan=plan, section="")
        _keep(task, out)
        record = plan | {
            "command": command or shlex.join(sys.argv),
            "rows": len(task),
            "steps": report.epochs_run * task.batch_count,
            "seconds": round(report.seconds, 1),
            "best_epoch": report.best_epoch,
            "history": report.history,
            "code": code_version(REPOSITORY),
            "machine": asdict(machine()),
        }
        write_atomically(out / RECORD, json.dumps(record, indent=1) + "\n")
        (out / CHECKPOINT).unlink(missing_ok=True)
        return record


def _plan(train: Sequence[Example], valid: Sequence[Example], base: str, options: FineTuneOptions) -> dict[str, Any]:
    """What determines a run's results, as stored in its files."""
    data = {
        name: {"pairs": len(pairs), "sha256": fingerprint(pairs)}
        for name, pairs in (("train", train), ("valid", valid))
    }
    return {"base": base, "options": asdict(options), "data": data}


def _same(plan: Mapping[str, Any], kept: object) -> bool:
    """Whether a run with the stored plan ``kept`` has the same results."""
    if not isinstance(kept, dict) or not isinstance(kept.get("options"), dict):
        return False
    own, other = (
        {key: value for key, value in {**_SINCE, **each["options"]}.items() if key not in _FREE}
        for each in (plan, kept)
    )
    return own == other and all(plan[name] == kept.get(name) for name in ("base", "data"))


def _check(out: Path, plan: Mapping[str, Any]) -> None:
    """Refuse a folder with other content."""
    there = [path.name for path in out.iterdir() if not path.name.startswith(".")] if out.is_dir() else []
    kept: Any
    if RECORD in there:
        kept = load_json(out / RECORD, "the record of a fine-tuning")
    elif CHECKPOINT in there:
        kept = load_checkpoint(out / CHECKPOINT).get("plan")
    elif there or (out.exists() and not out.is_dir()):
        raise UserError(f"{out} is not an empty folder, nor a fine-tuning that can be resumed: name another one")
    else:
        return
    if not _same(plan, kept):
        raise UserError(f"{out} has a fine-tuning of another base, other options or other pairs: name another one")


@dataclass(frozen=True)
class ClassifierTask:
    """Classification of pairs of a text and a code as matching or not, by the cross-entropy of two logits."""

    model: CrossEncoder
    tokenizer: Any  # of transformers, saved with the model
    tokens: TokenizedPairs
    rows: TrainingRows
    validation: Validation
    options: FineTuneOptions
    fingerprint: str

    @classmethod
    def of(
        cls, train: Sequence[Example], valid: Sequence[Example], base: str, options: FineTuneOptions
    ) -> "ClassifierTask":
        """Load ``base`` with a new head, and tokenize the pairs; sets the random seed of the options."""
        seed_everything(options.seed, options.threads)
        tokenizer = load_tokenizer(base)
        classifier = load_classifier(base, new_head=True)
        config = CrossEncoderConfig(base, max_length=options.max_length)
        model = CrossEncoder(config, subwords_in(tokenizer), classifier).to(best_device())
        if options.freeze_words:
            classifier.get_input_embeddings().weight.requires_grad_(False)
        reader = config.tokenizer(model.vocabularies)
        tokens = reader.read([pair.text for pair in train], [pair.code for pair in train])
        validation = Validation.of(
            PoolRanker(model, reader, best_device()), valid, options.seed,
            most=options.valid_pairs, queries=options.valid_queries, distractors=options.valid_distractors,
        )  # fmt: skip
        rows = TrainingRows.of(train, tokens, config.room, options.seed)
        return cls(model, tokenizer, tokens, rows, validation, options, fingerprint(train))

    def __len__(self) -> int:
        return len(self.rows.texts)

    @property
    def batch_count(self) -> int:
        return math.ceil(len(self) / self.options.batch_size)

    def batches(self, epoch: int) -> Sequence[Int64[np.ndarray, " batch"]]:
        return self.rows.batches(self.options.batch_size, self.options.seed, epoch, self.options.sort_window)

    def loss(self, rows: Int64[np.ndarray, " batch"], epochs: float, step: int) -> Float[Tensor, ""]:  # noqa: ARG002
        texts, codes = self.tokens.queries(self.rows.texts[rows]), self.tokens.codes(self.rows.codes[rows])
        read = self.model.encode_query(self.model.moved(texts)), self.model.encode_code(self.model.moved(codes))
        logits = self.model.pair_logits(*read)  # [batch, 2]
        return cross_entropy(logits, torch.from_numpy(self.rows.labels[rows]).to(logits.device))

    def remark(self, epoch: int) -> str:  # noqa: ARG002
        return ""

    def validate(self) -> Mapping[str, float]:
        return self.validation.measure()


def _keep(task: ClassifierTask, out: Path) -> None:
    """Write the model, each file atomically; a run that is killed here writes the same files again."""
    for left in out.glob(f"{_ARRIVING}*"):
        shutil.rmtree(left, ignore_errors=True)
    with TemporaryDirectory(dir=out, prefix=_ARRIVING) as arriving, naming(out, Path(arriving)):
        save_tokenizer(task.tokenizer, Path(arriving), task.options.max_length)
        task.model.classifier.config.save_pretrained(arriving)
        for path in Path(arriving).iterdir():
            path.replace(out / path.name)
    write_atomically(out / WEIGHTS, safetensors_save(weights_copy(task.model.classifier), {"format": "pt"}))
