"""Options of the commands about contexts. Light to import."""

from dataclasses import dataclass
from typing import Annotated, Literal

from data_prep.errors import COUNT, SEED, Bounded, UserError, whole


@dataclass(frozen=True, slots=True)
class ContextOptions(Bounded):
    """Options of ``context``."""

    pools: str = "1000,5000"
    """Functions of a pool, comma-separated (the paper: 5,000; its scripts: 1,000)."""
    split: Literal["test", "valid"] = "test"
    """The pairs that are asked for."""
    seed: Annotated[int, SEED] = 0
    """Seed of the pools and of the exchange of contexts."""
    rarest: Annotated[int, whole(1, 10_000)] = 5
    """Context words that BM25 adds to a query, the rarest of the split."""
    limit: Annotated[int, COUNT] = 0
    """At most this many pairs of the split, sampled; 0: all."""
    ablate: bool = False
    """Whether parts and lengths of the contexts are tested too, for models that read words."""
    save: str = ""
    """Folder for the results, one JSON file per run, language and pool; empty: none."""
    model: str = ""
    """FILE.py:CLASS of a model of one's own."""

    def __post_init__(self) -> None:
        super(ContextOptions, self).__post_init__()
        _ = self.sizes

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the pools.

        Raises:
            UserError: they are no numbers of 2 or more.
        """
        parts = [part.strip() for part in self.pools.split(",")]
        if not all(part.isascii() and part.isdecimal() and len(part) < 8 and int(part) > 1 for part in parts):
            raise UserError(f"--pools takes numbers of 2 or more, comma-separated, not {self.pools!r:.60}")
        return tuple(dict.fromkeys(map(int, parts)))


@dataclass(frozen=True, slots=True)
class AnnotateOptions(Bounded):
    """Options of ``context annotate``."""

    out: str = ""
    """CSV file for the set, to be labelled; it must not exist."""
    queries: Annotated[int, whole(1, 100_000)] = 50
    """Queries of each language (the paper: 50)."""
    top: Annotated[int, whole(1, 1000)] = 5
    """First functions of each run (the paper: 5)."""
    seed: Annotated[int, SEED] = 0
    """Seed of the sample of queries."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Options of ``context ndcg``."""

    annotations: str = ""
    """CSV file with labels, as ``context annotate`` writes it or as CodeSearchNet has it."""
    save: str = ""
    """JSON file for the numbers; empty: none."""


@dataclass(frozen=True, slots=True)
class StudyOptions(Bounded):
    """Options of ``context study``."""

    out: str = ""
    """JSON file of the study: made from two runs, then answered in the terminal."""
    queries: Annotated[int, whole(1, 100_000)] = 50
    """Queries of each language (the paper: 50)."""
    seed: Annotated[int, SEED] = 0
    """Seed of the sample and of the order of the two functions."""
