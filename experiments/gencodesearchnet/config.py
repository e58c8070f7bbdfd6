"""Options of ``bash run.sh gencodesearchnet``. Light to import, for the help."""

from dataclasses import dataclass
from typing import Final, Literal

from data_prep.bounds import COUNT, SEED, check_bounds, shown, whole
from experiments.gencodesearchnet.fine_tune_options import FineTuneOptions

ERRORS: Final = {
    "D-1": "CoSQA: docstrings of pairs that were labelled as no match, in place of web queries that match (with D-2)",
    "D-4": "CodeSearchNet's matching: a space between all characters of the negatives, but not of the matches",
    "D-5": "ranking by a cross-encoder: the gold's logit of no match against the others' logit of a match",
    "D-6": "ranking: distractors from what was compared last in place of the whole subset",
    "D-7": "ranking by a cross-encoder: both logits are counted",
    "D-8": "matching: accuracy over the pairs that match alone, which is recall",
}
"""What the released scripts do otherwise than the paper says, by the names that docs/gencodesearchnet.md gives them."""

_DISTRACTORS: Final = whole(1, 1_000_000)
_BOUNDS: Final = {
    "distractors": _DISTRACTORS,
    "limit": COUNT,
    "seed": SEED,
    "max_length": whole(0, 1_000_000, zero="the model's"),
    "batch_size": whole(1, 65_536),
}


@dataclass(frozen=True, slots=True)
class BenchmarkOptions:
    """Options of ``gencodesearchnet``."""

    path: str = "data/raw/gencodesearchnet"
    """Folder with the benchmark's raw files, such as test_statcodesearch.jsonl (docs/gencodesearchnet.md)."""
    subsets: tuple[str, ...] = ()
    """Subsets that are tested; empty: all that are there."""
    tasks: Literal["both", "ranking", "matching"] = "both"
    """What is tested."""
    distractors: int = 99
    """Candidates of a query beside its own code (the paper's 99)."""
    limit: int = 0
    """Queries of a subset that are ranked, the first ones, all codes staying distractors; 0: all."""
    protocol: str = "canonical"
    """canonical: the task package's draws, gold and distractors scored alike; released: with all errors of the released
    scripts; or with some, such as D-5,D-6."""
    seed: int = 42
    """Seed of the draws (the task package's 42)."""
    endpoint: str = ""
    """For the model prompted: address of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1."""
    second_model: str = ""
    """For a prompted model: the model that gets what is too long for it; empty: the code is cut."""
    max_length: int = 0
    """Most tokens that a pretrained model reads; 0: for sentence encoders 256 of a text or a code, for cross-encoders
    what they were fine-tuned with."""
    batch_size: int = 32
    """Texts, codes or pairs that a pretrained model reads at once."""
    out: str = "runs/gencodesearchnet"
    """Folder that gets a folder of results and TREC files for each model."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS)
        if unknown := [name for name in self.protocol.split(",") if name not in (*ERRORS, "canonical", "released")]:
            raise ValueError(
                f"--protocol takes canonical, released or some of {', '.join(ERRORS)}, not {shown(unknown[0])}"
            )

    @property
    def errors(self) -> frozenset[str]:
        """The errors of the released scripts that are made on purpose."""
        if self.protocol == "canonical":
            return frozenset()
        return frozenset(ERRORS) if self.protocol == "released" else frozenset(self.protocol.split(","))


@dataclass(frozen=True, slots=True)
class FineTuneCommand(FineTuneOptions):
    """Options of ``fine_tune``: how, of what, and where to."""

    path: str = "data/raw/gencodesearchnet"
    """Folder with the fine-tuning set, train_adv.jsonl, and the test sets whose code is left out of it."""
    out: str = ""
    """Folder that gets the model; a run that was stopped goes on in its folder."""


@dataclass(frozen=True, slots=True)
class StatisticsOptions:
    """Options of ``statistics``."""

    path: str = "data/raw/gencodesearchnet"
    """Folder with the benchmark's raw files."""
    out: str = "runs/gencodesearchnet"
    """Folder that gets the table, statistics.md, and the picture of distances, statistics.png."""


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """Options of ``format_pairs``."""

    out: str = ""
    """Raw file that is written, such as test_java.jsonl."""


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """Options of ``sample_pairs``."""

    task: Literal["ranking", "matching"] = "ranking"
    """ranking: each pair, then its text with other codes; matching: each pair, then its text with one."""
    distractors: int = 99
    """Other codes of a ranking."""
    seed: int = 42
    """Seed of the draws (the task package's 42)."""
    out: str = ""
    """File that is written, JSON Lines."""

    def __post_init__(self) -> None:
        check_bounds(self, {"distractors": _DISTRACTORS, "seed": SEED})


@dataclass(frozen=True, slots=True)
class RPairsOptions:
    """Options of ``r_pairs``."""

    out: str = ""
    """Folder that gets the pairs and, by package, their counts."""
    mode: Literal["released", "clean"] = "clean"
    """released: the release's rules to the letter; clean: without their slips (docs/gencodesearchnet.md)."""
