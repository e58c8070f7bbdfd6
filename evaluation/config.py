"""Configuration of the evaluation (section ``evaluate``)."""

from dataclasses import dataclass
from typing import Final, Literal

from data_prep.bounds import COUNT, PROCESSES, SEED, check_bounds, whole
from data_prep.config import named_sets
from data_prep.errors import UserError


@dataclass(frozen=True, slots=True)
class EvaluateConfig:
    """The pool that queries are ranked over, and what is saved."""

    split: Literal["test", "valid"] = "test"
    """Pairs to test on: the test split, or the validation split while settings are still being tuned."""
    pool: int = 0
    """Number of methods to rank, sampled from the split with their queries; 0, or more than it has: the whole split."""
    pool_seed: int = 0
    """Seed for sampling a smaller pool; the same for every model."""
    also: str = ""
    """Other data sets whose test pairs are also ranked: comma-separated DATASET or DATASET:PATH."""
    run_depth: int = 100
    """Number of best methods saved per query, which the TREC run file lists."""
    shards: int = 1
    """Processes that share the queries, in `bash run.sh evaluate`; a run tests in its `--train.processes`."""
    products: Literal["float32", "bfloat16"] = "float32"
    """Precision of a model's large matrix products in scoring; bfloat16 is faster and changes some ranks."""
    mix: str = ""
    """A ranker without training, such as bm25_tuned, to fuse with the model: a weighted sum of their standardised
    scores, with the fusion weight tuned on validation."""
    mix_on: str = ""
    """Data set on whose validation pairs that weight is tuned: DATASET or DATASET:PATH; empty: the one trained on. For
    tests on other projects, choose one of other projects: on its own a model gets more weight than elsewhere."""
    resamples: int = 10_000
    """Number of bootstrap samples for the interval of a difference in MRR."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS, "evaluate")
        if not all(name for name, _ in self.also_sets):
            raise UserError(f"--evaluate.also takes comma-separated DATASET or DATASET:PATH, not {self.also!r}")
        if len(self.mix_sets) > 1 or not all(name for name, _ in self.mix_sets):
            raise UserError(f"--evaluate.mix_on takes one DATASET or DATASET:PATH, not {self.mix_on!r}")
        if self.mix_sets and not self.mix:
            raise UserError(
                f"--evaluate.mix_on={self.mix_on} names the data that --evaluate.mix is tuned on: name both"
            )

    @property
    def also_sets(self) -> tuple[tuple[str, str], ...]:
        """The data sets of ``also`` with their paths, "" if none is given."""
        return named_sets(self.also)

    @property
    def mix_sets(self) -> tuple[tuple[str, str], ...]:
        """The data set of ``mix_on`` with its path; empty if there is none."""
        return named_sets(self.mix_on)


_BOUNDS: Final = {
    "pool": COUNT,
    "pool_seed": SEED,
    "run_depth": whole(1, 100_000),
    "shards": PROCESSES,
    "resamples": whole(100, 1_000_000),
}
