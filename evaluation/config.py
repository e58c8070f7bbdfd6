"""Configuration of the evaluation (section ``evaluate``)."""

from dataclasses import dataclass
from typing import Final, Literal

from data_prep.bounds import COUNT, PROCESSES, SEED, check_bounds, whole
from data_prep.config import named_sets


@dataclass(frozen=True, slots=True)
class EvaluateConfig:
    """Over which pool the queries are ranked, and what is saved of it."""

    split: Literal["test", "valid"] = "test"
    """Pairs to test on: those kept for the test, or validation's, while settings are still being chosen."""
    pool: int = 0
    """Methods to rank, drawn from the split together with their queries; 0, or more than there are: the whole split."""
    pool_seed: int = 0
    """Seed that draws a smaller pool; the same for every model."""
    also: str = ""
    """Other data sets whose test pairs are ranked too: comma-separated DATASET or DATASET:PATH."""
    run_depth: int = 100
    """Best methods kept for each query, which the TREC run file lists."""
    shards: int = 1
    """Processes that share the queries, in `bash run.sh evaluate`; a run tests in its `--train.processes`."""
    products: Literal["float32", "bfloat16"] = "float32"
    """Precision of a model's large matrix products while it scores; bfloat16 is quicker and moves some ranks."""
    mix: str = ""
    """A ranker without training, such as bm25_tuned, whose scores are added to the model's, both on one scale, by the
    weight that is best on validation."""
    mix_on: str = ""
    """Data set whose validation pairs choose that weight: DATASET or DATASET:PATH; empty: the one trained on. For tests
    on other projects take one of other projects: within its own a model earns more weight than elsewhere."""
    resamples: int = 10_000
    """Bootstrap samples behind the interval of a difference in MRR."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS, "evaluate")
        if not all(name for name, _ in self.also_sets):
            raise ValueError(f"--evaluate.also takes comma-separated DATASET or DATASET:PATH, not {self.also!r}")
        if len(self.mix_sets) > 1 or not all(name for name, _ in self.mix_sets):
            raise ValueError(f"--evaluate.mix_on takes one DATASET or DATASET:PATH, not {self.mix_on!r}")
        if self.mix_sets and not self.mix:
            raise ValueError(
                f"--evaluate.mix_on={self.mix_on} says where the weight of --evaluate.mix is chosen: name both"
            )

    @property
    def also_sets(self) -> tuple[tuple[str, str], ...]:
        """The data sets of ``also`` with their paths, "" where none is given."""
        return named_sets(self.also)

    @property
    def mix_sets(self) -> tuple[tuple[str, str], ...]:
        """The data set of ``mix_on`` with its path; none where it is empty."""
        return named_sets(self.mix_on)


_BOUNDS: Final = {
    "pool": COUNT,
    "pool_seed": SEED,
    "run_depth": whole(1, 100_000),
    "shards": PROCESSES,
    "resamples": whole(100, 1_000_000),
}
