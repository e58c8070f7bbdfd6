"""Tuning of the initialization and the loss of each neural model of the paper's table: the same settings for all.

``bash run.sh tune MODEL`` trains every setting that is not saved already on 12,000 pairs of the JDK (half a minute to a
few minutes each on 2 cores) and ranks the validation split; the test split is never used. ``bash run.sh table`` writes
``experiments/results/tuning.md``, and the recipes in ``experiments/recipes/models.py`` follow from it.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from evaluation.results import Result
from experiments.tables.cells import Cell
from experiments.tables.comparison_tables import markdown_table

_BUDGET: Final = {
    "data.limit": "12000",
    "data.clean_splits": "false",  # as the saved results were trained
    "evaluate.split": "valid",
    "evaluate.bootstrap_samples": "100",
}
_RANKING: Final = {"loss.kind": "ranking", "loss.temperature": "1"}
_CROSS_ENTROPY: Final = {"loss.kind": "cross_entropy", "loss.temperature": "0.1"}

SETTINGS: Final[dict[str, Mapping[str, str]]] = {
    "apart, ranking loss": {"model.init": "uniform", **_RANKING},
    "apart, cross-entropy": {"model.init": "uniform", **_CROSS_ENTROPY},
    "shared, ranking loss": {"model.init": "shared", **_RANKING},
    "shared, cross-entropy": {"model.init": "shared", **_CROSS_ENTROPY},
}
"""Label -> settings: initial vectors per side or shared by equal words, and the loss."""

_TUNED_AS: Final = {
    "galm": {"model.layers": "2", "model.init_range": "0.1", "model.gcn_dim": "16"},
    "fcarcs": {"data.statements": "false", "model.structure": "ast"},
}
"""Model -> the form that is tuned, if it is not the recipe's: GALM with two layers, FcarCS with node kinds."""

TUNED: Final = ("galm", "unif", "deepcs", "tabcs", "carlcs_cnn", "fcarcs")
"""Their forms with or without a field take the setting of the tuned form."""


def tuning_cells(model: str) -> tuple[Cell, ...]:
    """Every setting of ``model``, with one seed."""
    return tuple(
        Cell("jdk", model, 0, f"{model}, {label}", {**_BUDGET, **_TUNED_AS.get(model, {}), **settings})
        for label, settings in SETTINGS.items()
    )


def tuning_page(results: Iterable[tuple[str, Result]]) -> str:
    """A table of models and settings, from results with the labels of their cells; "" if there are none.

    The best setting of each model is bold.
    """
    found = dict(results)
    rows = []
    for model in TUNED:
        reached = {label: found.get(f"{model}, {label}") for label in SETTINGS}
        best = max((each.exact["mrr"] for each in reached.values() if each), default=None)
        if best is not None:
            rows.append((model, *(_shown(each, best) for each in reached.values())))
    if not rows:
        return ""
    first = next(iter(found.values()))
    text = (
        f"{first.data.origin}, {first.split} split: MRR of {first.queries:,} queries over as many methods after "
        "training on the training pairs among 12,000 of all splits, seed 0, with the epochs, rates, batches and words "
        "of each model's recipe. Starting vectors of queries and code are drawn apart, or are the same for equal words."
    )
    return f"# Settings by validation\n\n{text}\n\n{markdown_table(('model', *SETTINGS), rows)}\n"


def _shown(result: Result | None, best: float) -> str:
    if result is None:
        return ""
    text = f"{result.exact['mrr']:.3f}"
    return f"**{text}**" if result.exact["mrr"] == best else text
