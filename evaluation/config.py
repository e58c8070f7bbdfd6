"""Configuration of the evaluation (section ``evaluate``)."""

from dataclasses import dataclass
from typing import Annotated, Literal

from data_prep.config import named_sets
from data_prep.errors import COUNT, PROCESSES, SEED, Bounded, UserError, whole


@dataclass(frozen=True, slots=True)
class EvaluateConfig(Bounded, section="evaluate"):
    """The pool that queries are ranked over, and what is saved."""

    split: Literal["test", "valid"] = "test"
    """Pairs to test on: the test split, or the validation split while settings are still being tuned."""
    pool: Annotated[int, COUNT] = 0
    """Number of methods to rank, sampled from the split with their queries; 0, or more than it has: the whole split."""
    pool_seed: Annotated[int, SEED] = 0
    """Seed for sampling a smaller pool; the same for every model."""
    extra_tests: str = ""
    """Other data sets whose test pairs are also ranked: comma-separated DATASET or DATASET:PATH."""
    run_depth: Annotated[int, whole(1, 100_000)] = 100
    """Number of best methods saved per query, which the TREC run file lists."""
    shards: Annotated[int, PROCESSES] = 1
    """Processes that share the queries, in `bash run.sh evaluate`; a run tests in its `--train.processes`."""
    matmul_precision: Literal["float32", "bfloat16"] = "float32"
    """Precision of a model's large matrix products in scoring; bfloat16 is faster and changes some ranks."""
    fuse_with: str = ""
    """A ranker without training, such as bm25_tuned, to fuse with the model: a weighted sum of their standardised
    scores, with the fusion weight tuned on validation."""
    fuse_tuned_on: str = ""
    """Data set on whose validation pairs that weight is tuned: DATASET or DATASET:PATH; empty: the one trained on. For
    tests on other projects, choose one of other projects: on its own a model gets more weight than elsewhere."""
    bootstrap_samples: Annotated[int, whole(100, 1_000_000)] = 10_000
    """Number of bootstrap samples for the interval of a difference in MRR."""

    def __post_init__(self) -> None:
        super(EvaluateConfig, self).__post_init__()
        if not all(name for name, _ in self.also_sets):
            raise UserError(
                f"--evaluate.extra_tests takes comma-separated DATASET or DATASET:PATH, not {self.extra_tests!r}"
            )
        if len(self.mix_sets) > 1 or not all(name for name, _ in self.mix_sets):
            raise UserError(f"--evaluate.fuse_tuned_on takes one DATASET or DATASET:PATH, not {self.fuse_tuned_on!r}")
        if self.mix_sets and not self.fuse_with:
            raise UserError(
                f"--evaluate.fuse_tuned_on={self.fuse_tuned_on} names the data that --evaluate.fuse_with is tuned "
                f"on: name both"
            )

    @property
    def also_sets(self) -> tuple[tuple[str, str], ...]:
        """The data sets of ``extra_tests`` with their paths, "" if none is given."""
        return named_sets(self.extra_tests)

    @property
    def mix_sets(self) -> tuple[tuple[str, str], ...]:
        """The data set of ``fuse_tuned_on`` with its path; empty if there is none."""
        return named_sets(self.fuse_tuned_on)
