"""How do all models of the GALM paper do on the same data, trainer, evaluator and convention?

``bash run.sh compare DATASET`` runs the cells of a data set that are missing (on 2 cores from a few minutes to an hour
each); ``bash run.sh table`` writes ``experiments/results/main.md`` and the README's tables from what is kept.
"""

from dataclasses import replace
from typing import Final

from experiments.cells import Cell

REFERENCE: Final = "galm"
"""The ranker that all others are compared with."""

MIXED_WITH: Final = "bm25_tuned"

_SEEDS: Final = {"galm": 3, "galm_plus": 3, "tabcs": 3, "unif": 3}
"""How often a model is trained; once where nothing is said."""

_ALL: Final = (
    "bm25_tuned",
    "bm25",
    "bm25_no_stems",
    "galm",
    "galm_plus",
    "unif",
    "deepcs",
    "tabcs",
    "tabcs_no_ast",
    "carlcs_cnn",
    "carlcs_ts",
    "fcarcs",
    "fcarcs_no_ast",
)


def _cells(dataset: str, models: tuple[str, ...]) -> tuple[Cell, ...]:
    """Every model's first seed, then the other seeds, so that a table with all rows is there early."""
    wanted = [(seed, model) for model in models for seed in range(_SEEDS.get(model, 1))]
    return tuple(Cell(dataset, model, seed, model) for seed, model in sorted(wanted, key=lambda each: each[0]))


def _mixtures(cells: tuple[Cell, ...], models: tuple[str, ...]) -> tuple[Cell, ...]:
    """The weights of some models, their scores mixed with BM25's."""
    return tuple(
        replace(
            cell,
            label=f"{cell.label} + {MIXED_WITH}",
            settings={**cell.settings, "evaluate.mix": MIXED_WITH},
            weights_of=cell,
        )
        for cell in cells
        if cell.model in models
    )


_JDK: Final = _cells("jdk", _ALL)

CELLS: Final[dict[str, tuple[Cell, ...]]] = {"jdk": (*_JDK, *_mixtures(_JDK, ("galm", "galm_plus")))}
"""The cells of each data set."""
