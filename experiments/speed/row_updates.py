"""Training with rows that wait until a batch reads them, beside training that moves every row at every step.

``bash run.sh speed rows`` trains galm_plus on the JDK in both ways in turn, with its own tables and with ones as large
as the JDK, repositories and open Java together make them (by more vectors for unknown words), and writes
``row-updates.json`` and ``row-updates.md`` to ``experiments/results/``. Both end at the same weights
(``tests/training/test_row_adam.py``).
"""

from typing import Final

from experiments.recipes.config import resolve
from experiments.run.data import prepare_stage
from experiments.speed.paired_steps import PairedReport, TrainingSteps, in_both_ways, plan_of, save

BUCKETS: Final = ("256", "19553")
"""Vectors for unknown words: the recipe's, and as many as make galm_plus as large as it is with the JDK, repositories
and open Java in training, 33,351,490 parameters."""


def measure_rows(repeats: int = 5) -> PairedReport:
    """Measure both ways, show the report, and write it to ``experiments/results/``."""
    data = prepare_stage("jdk", resolve("jdk", "galm_plus", {}).data, "bash run.sh speed rows")
    models = []
    for buckets in BUCKETS:
        waiting, every = (
            TrainingSteps(
                plan_of("galm_plus", {"words.unknown_buckets": buckets}, lazy_rows=lazy), data, 0.0, selects=False
            )
            for lazy in (True, False)
        )
        name = f"galm_plus, {int(buckets):,} vectors for unknown words"
        models.append(in_both_ways(name, waiting, every, repeats))
    title, ways = "Rows that wait until they are read", ("rows wait", "every row moves")
    return save(title, ways, data.manifest["origin"], models, "row-updates")
