"""Options of fine-tuning a cross-encoder. Light to import, for the help."""

import math
from dataclasses import dataclass, replace
from typing import Final

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
    checkpoint_minutes: float = 5.0
    """Minutes between checkpoints."""
    valid_pairs: int = 500
    """Validation pairs of the accuracy, at most."""
    valid_queries: int = 100
    """Validation pairs of the MRR, at most."""
    valid_distractors: int = 19
    """Codes that a validation pair's own is ranked with."""

    def __post_init__(self) -> None:
        for name in ("epochs", "learning_rate", "weight_decay", "sort_window", "seed", "threads", "checkpoint_minutes"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"--{name} takes a number of 0 or more, not {getattr(self, name)}")
        for name in ("batch_size", "valid_pairs", "valid_queries", "valid_distractors"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name} takes a number of 1 or more, not {getattr(self, name)}")

    def of_base(self, base: str) -> "FineTuneOptions":
        """The same with what the paper says of ``base`` where nothing was given."""
        epochs, rate = PAPER.get(base, PAPER["roberta-base"])
        return replace(self, epochs=self.epochs or epochs, learning_rate=self.learning_rate or rate)
