"""Options of the commands about GenCodeSearchNet. Light to import, for the help."""

from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from data_prep.errors import COUNT, SEED, THREADS, Bounded, UserError, real, shown, whole
from training.config import TrainConfig

ERRORS: Final = {
    "D-1": "CoSQA: docstrings of pairs that were labelled as no match, in place of web queries that match (with D-2)",
    "D-4": "CodeSearchNet's matching: a space between all characters of the negatives, but not of the matches",
    "D-5": "ranking by a cross-encoder: the gold's logit of no match against the others' logit of a match",
    "D-6": "ranking: distractors from what was compared last in place of the whole subset",
    "D-7": "ranking by a cross-encoder: both logits are counted",
    "D-8": "matching: accuracy over the pairs that match alone, which is recall",
}
"""Deviations of the released scripts from the paper, by their names in docs/gencodesearchnet.md."""

_DISTRACTORS: Final = whole(1, 1_000_000)
_PAIRS: Final = whole(1, 1_000_000)
PAPER: Final = {
    "roberta-base": (5, 2e-5),
    "microsoft/codebert-base": (8, 1e-5),
    "Salesforce/codet5p-110m-embedding": (10, 2e-5),
}
"""Epochs and learning rate of each base in the paper; other bases get RoBERTa's."""


@dataclass(frozen=True, slots=True)
class BenchmarkOptions(Bounded):
    """Options of ``gencodesearchnet``."""

    path: str = "data/raw/gencodesearchnet"
    """Folder with the benchmark's raw files, such as test_statcodesearch.jsonl (docs/gencodesearchnet.md)."""
    subsets: tuple[str, ...] = ()
    """Subsets to test; empty: all of the benchmark's that are in the folder."""
    tasks: Literal["both", "ranking", "matching"] = "both"
    """Tasks to test."""
    distractors: Annotated[int, _DISTRACTORS] = 99
    """Distractors per query (99 in the paper)."""
    limit: Annotated[int, COUNT] = 0
    """Rank only the first queries of a subset, with all codes as distractors; 0: all queries."""
    protocol: str = "canonical"
    """canonical: the task package's draws, gold and distractors scored alike; released: with all errors of the released
    scripts; or with some of them, such as D-5,D-6."""
    seed: Annotated[int, SEED] = 42
    """Seed of the draws (42 in the task package)."""
    endpoint: str = ""
    """For a prompted model: address of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1."""
    second_model: str = ""
    """For a prompted model: the model for prompts that are too long for it; empty: the code is truncated."""
    max_length: Annotated[int, whole(0, 1_000_000, zero="the model's")] = 0
    """Maximum tokens that a pretrained model reads; 0: 256 per text or code for sentence encoders, the length of
    fine-tuning for cross-encoders."""
    batch_size: Annotated[int, whole(1, 65_536)] = 32
    """Batch size of pretrained models: texts, codes or pairs."""
    out: str = "runs/gencodesearchnet"
    """Output folder, with a folder of results and TREC files for each model."""
    save: str = ""
    """Folder of saved results to add each result to, such as experiments/results/gencodesearchnet; `table` writes their
    page. Empty: none."""

    def __post_init__(self) -> None:
        super(BenchmarkOptions, self).__post_init__()
        if unknown := [name for name in self.protocol.split(",") if name not in (*ERRORS, "canonical", "released")]:
            raise UserError(
                f"--protocol takes canonical, released or some of {', '.join(ERRORS)}, not {shown(unknown[0])}"
            )

    @property
    def errors(self) -> frozenset[str]:
        """The errors of the released scripts to reproduce."""
        if self.protocol == "canonical":
            return frozenset()
        return frozenset(ERRORS) if self.protocol == "released" else frozenset(self.protocol.split(","))


@dataclass(frozen=True, slots=True)
class FineTuneOptions(Bounded):
    """Options of fine-tuning a cross-encoder; unless stated otherwise, the defaults are the paper's."""

    epochs: Annotated[int, whole(0, 100_000, zero="the paper's")] = 0
    """Epochs; 0: as many as in the paper."""
    learning_rate: Annotated[float, real(0, 1, below=True)] = 0.0
    """Initial learning rate; 0: the paper's."""
    batch_size: Annotated[int, whole(2, 65_536)] = 32
    """Rows per batch, half of which match on average."""
    weight_decay: Annotated[float, real(0, 1000)] = 0.01
    """Weight decay of AdamW."""
    max_length: Annotated[int, whole(1, 1_000_000)] = 512
    """Maximum tokens of a pair, special tokens included."""
    sort_window: Annotated[int, whole(0, 1_000_000)] = 0
    """Number of batches whose rows are sorted by length together, which reduces padding; 0: none, as in the paper."""
    freeze_words: bool = False
    """Whether to freeze the word embeddings, which is faster."""
    seed: Annotated[int, SEED] = 42
    """Seed of the head's initial weights, negatives, shuffling and dropout."""
    threads: Annotated[int, THREADS] = 0
    """Threads of torch; 0: its default."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Precision of the computation; with bfloat16 (torch.autocast), weights and loss remain float32."""
    checkpoint_minutes: Annotated[float, real(0, 100_000)] = 5.0
    """Minutes between checkpoints within an epoch; 0: only after each epoch."""
    valid_pairs: Annotated[int, _PAIRS] = 500
    """Maximum number of validation pairs for the accuracy."""
    valid_queries: Annotated[int, _PAIRS] = 100
    """Maximum number of validation pairs for the MRR."""
    valid_distractors: Annotated[int, _PAIRS] = 19
    """Distractors per validation query."""

    def of_base(self, base: str) -> "FineTuneOptions":
        """The same options, with the paper's epochs and learning rate for ``base`` where none are given."""
        epochs, rate = PAPER.get(base, PAPER["roberta-base"])
        return replace(self, epochs=self.epochs or epochs, learning_rate=self.learning_rate or rate)

    def training(self, resume: str) -> TrainConfig:
        """The trainer's configuration: these options, and a learning rate that decays linearly to 0."""
        return TrainConfig(
            epochs=self.epochs, seed=self.seed, resume=resume, batch_size=self.batch_size, schedule="linear",
            learning_rate=self.learning_rate, final_learning_rate=0.0, warmup_steps=0, gradient_clip=0.0,
            weight_decay=self.weight_decay, precision=self.precision, checkpoint_minutes=self.checkpoint_minutes,
            threads=self.threads,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class FineTuneCommand(FineTuneOptions):
    """Options of ``fine_tune``."""

    path: str = "data/raw/gencodesearchnet"
    """Folder with the fine-tuning set, train_adv.jsonl, and the test sets, whose code is left out of it."""
    out: str = ""
    """Output folder of the model; a run that was stopped is resumed in its folder."""


@dataclass(frozen=True, slots=True)
class StatisticsOptions:
    """Options of ``statistics``."""

    path: str = "data/raw/gencodesearchnet"
    """Folder with the benchmark's raw files."""
    out: str = "runs/gencodesearchnet"
    """Output folder of the table, statistics.md, and of the heat map of distances, statistics.png."""


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """Options of ``format_pairs``."""

    out: str = ""
    """Raw file to write, such as test_java.jsonl."""


@dataclass(frozen=True, slots=True)
class SampleOptions(Bounded):
    """Options of ``sample_pairs``."""

    task: Literal["ranking", "matching"] = "ranking"
    """ranking: each pair, then its text with other codes; matching: each pair, then its text with one."""
    distractors: Annotated[int, _DISTRACTORS] = 99
    """Distractors per query of a ranking."""
    seed: Annotated[int, SEED] = 42
    """Seed of the draws (42 in the task package)."""
    out: str = ""
    """JSON Lines file to write."""


@dataclass(frozen=True, slots=True)
class RPairsOptions:
    """Options of ``r_pairs``."""

    out: str = ""
    """Output folder of the pairs and of their counts by package."""
    mode: Literal["released", "clean"] = "clean"
    """released: exactly the rules of the release; clean: without their errors (docs/gencodesearchnet.md)."""
