"""Training in which only the scores that the loss reads have a gradient, beside training in which all have one.

``bash run.sh speed selected`` trains GALM, with graphs of several sizes, and CARLCS on the JDK in both ways in turn,
after the warm-up of their loss, and writes ``selected-scores.json`` and ``selected-scores.md`` to
``experiments/results/``. Both ways have the same gradients (``tests/training/test_pair_task.py``).
"""

from collections.abc import Mapping
from typing import Final

from experiments.recipes.config import resolve
from experiments.run.data import prepare_stage
from experiments.speed.paired_steps import PairedReport, TrainingSteps, in_both_ways, plan_of, save

SIZES: Final[Mapping[str, tuple[str, dict[str, str]]]] = {
    "galm, L = 1, width 32": ("galm", {}),
    "galm, L = 1, width 64": ("galm", {"model.gcn_dim": "64"}),
    "galm, L = 2, width 64": ("galm", {"model.layers": "2", "model.gcn_dim": "64"}),
    "galm, L = 1, width 256": ("galm", {"model.gcn_dim": "256"}),
    "galm_paper, L = 2, width 256": ("galm_paper", {}),
    "carlcs_cnn": ("carlcs_cnn", {}),
    "carlcs_ts": ("carlcs_ts", {}),
}
"""Name -> model and settings."""


def measure_selected(repeats: int = 5) -> PairedReport:
    """Measure both ways, show the report, and write it to ``experiments/results/``."""
    data = prepare_stage("jdk", resolve("jdk", "galm", {}).data, "bash run.sh speed selected")
    models = []
    for name, (model, settings) in SIZES.items():
        plan = plan_of(model, settings)
        after = plan.loss.warmup_epochs
        fast, plain = (TrainingSteps(plan, data, after, selects=selects) for selects in (True, False))
        models.append(in_both_ways(name, fast, plain, repeats))
    title, ways = "Gradients of the scores that the loss reads", ("those alone", "all scores")
    return save(title, ways, data.manifest["origin"], models, "selected-scores")
