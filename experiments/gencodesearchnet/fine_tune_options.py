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
"""Epochs and learning rate of each base in the paper; other bases get RoBERTa's."""


@dataclass(frozen=True, slots=True)
class FineTuneOptions:
    """Options of fine-tuning a cross-encoder; unless stated otherwise, the defaults are the paper's."""

    epochs: int = 0
    """Epochs; 0: as many as in the paper."""
    learning_rate: float = 0.0
    """Initial learning rate; 0: the paper's."""
    batch_size: int = 32
    """Rows per batch, half of which match on average."""
    weight_decay: float = 0.01
    """Weight decay of AdamW."""
    max_length: int = 512
    """Maximum tokens of a pair, special tokens included."""
    sort_window: int = 0
    """Number of batches whose rows are sorted by length together, which reduces padding; 0: none, as in the paper."""
    freeze_words: bool = False
    """Whether to freeze the word embeddings, which is faster."""
    seed: int = 42
    """Seed of the head's initial weights, negatives, shuffling and dropout."""
    threads: int = 0
    """Threads of torch; 0: its default."""
    warmup_steps: int = 0
    """Steps of linear warm-up of the learning rate; 0: none."""
    gradient_clip: float = 0.0
    """Maximum norm of the gradient, to which longer ones are scaled; 0: no clipping."""
    accumulate: int = 1
    """Batches whose gradients are accumulated before a step."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Precision of the computation; with bfloat16 (torch.autocast), weights and loss remain float32."""
    checkpoint_minutes: float = 5.0
    """Minutes between checkpoints within an epoch; 0: only after each epoch."""
    valid_pairs: int = 500
    """Maximum number of validation pairs for the accuracy."""
    valid_queries: int = 100
    """Maximum number of validation pairs for the MRR."""
    valid_distractors: int = 19
    """Distractors per validation query."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS)

    def of_base(self, base: str) -> "FineTuneOptions":
        """The same options, with the paper's epochs and learning rate for ``base`` where none are given."""
        epochs, rate = PAPER.get(base, PAPER["roberta-base"])
        return replace(self, epochs=self.epochs or epochs, learning_rate=self.learning_rate or rate)

    def training(self, resume: str) -> TrainConfig:
        """The trainer's configuration: these options, and a learning rate that decays linearly to 0."""
        return TrainConfig(
            epochs=self.epochs, seed=self.seed, resume=resume, batch_size=self.batch_size, schedule="linear",
            learning_rate=self.learning_rate, final_learning_rate=0.0, warmup_steps=self.warmup_steps,
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
