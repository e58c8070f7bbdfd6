"""Options of fine-tuning a cross-encoder. Light to import, for the help."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from data_prep.bounds import SEED, THREADS, check_bounds, real, whole
from training.config import TrainConfig

PAPER: Final = {
    "roberta-base": (5, 2e-5),
    "microsoft/codebert-base": (8, 1e-5),
    "Salesforce/codet5p-110m-embedding": (10, 2e-5),
}
"""Epochs and learning rate of each base in the paper; another base takes RoBERTa's."""


@dataclass(frozen=True, slots=True)
class FineTuneOptions:
    """How a cross-encoder is fine-tuned; what is not said otherwise is the paper's."""

    epochs: int = 0
    """Passes over all rows; 0: as many as in the paper."""
    learning_rate: float = 0.0
    """Of the first step; 0: the paper's."""
    batch_size: int = 32
    """Rows of a step; half of them match on average."""
    weight_decay: float = 0.01
    """Of AdamW."""
    max_length: int = 512
    """Most tokens of a pair, the special ones included."""
    sort_window: int = 0
    """Batches whose rows are sorted by length together, so that less is padding; 0: none, the paper's way."""
    freeze_words: bool = False
    """Whether the word vectors stay as they are, which is quicker."""
    seed: int = 42
    """Of the head's first weights, negatives, shuffling and dropout."""
    threads: int = 0
    """Threads that compute; 0: torch's own choice."""
    warmup_steps: int = 0
    """Steps over which the rate rises in a line from nothing; 0: none."""
    gradient_clip: float = 0.0
    """Largest norm of all gradients together, longer ones are shortened to it; 0: none."""
    accumulate: int = 1
    """Batches whose gradients are added up before a step."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Numbers that the model computes with; of bfloat16 weights and loss stay float32 (torch.autocast)."""
    checkpoint_minutes: float = 5.0
    """Minutes between checkpoints inside an epoch; 0: only after each epoch."""
    valid_pairs: int = 500
    """Validation pairs of the accuracy, at most."""
    valid_queries: int = 100
    """Validation pairs of the MRR, at most."""
    valid_distractors: int = 19
    """Codes that a validation pair's own is ranked with."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS)

    def of_base(self, base: str) -> "FineTuneOptions":
        """The same with what the paper says of ``base`` where nothing was given."""
        epochs, rate = PAPER.get(base, PAPER["roberta-base"])
        return replace(self, epochs=self.epochs or epochs, learning_rate=self.learning_rate or rate)

    def training(self, resume: str) -> TrainConfig:
        """What the trainer is told: a rate that falls linearly to 0, and these options."""
        return TrainConfig(
            epochs=self.epochs, seed=self.seed, resume=resume, batch_size=self.batch_size, schedule="linear",
            learning_rate=self.learning_rate, late_rate=0.0, warmup_steps=self.warmup_steps,
            gradient_clip=self.gradient_clip, weight_decay=self.weight_decay, accumulate=self.accumulate,
            precision=self.precision, checkpoint_minutes=self.checkpoint_minutes, threads=self.threads,
        )  # fmt: skip


_PAIRS: Final = whole(1, 1_000_000)
_BOUNDS: Final = {
    "epochs": whole(0, 100_000, zero="the paper's"),
    "learning_rate": real(0, 1, below=True),
    "batch_size": whole(2, 65_536),
    "weight_decay": real(0, 1000),
    "max_length": whole(1, 1_000_000),
    "sort_window": whole(0, 1_000_000),
    "seed": SEED,
    "threads": THREADS,
    "warmup_steps": whole(0, 1_000_000_000),
    "gradient_clip": real(0, 1_000_000),
    "accumulate": whole(1, 65_536),
    "checkpoint_minutes": real(0, 100_000),
    "valid_pairs": _PAIRS,
    "valid_queries": _PAIRS,
    "valid_distractors": _PAIRS,
}
