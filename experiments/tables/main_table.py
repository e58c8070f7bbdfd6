"""How do all models of the GALM paper do on the same data, trainer, evaluator and convention?

``bash run.sh compare PART`` runs the cells of a part that are missing (on 2 cores from a few minutes to an hour
each); ``bash run.sh table`` writes ``experiments/results/main.md`` and the README's tables from what is saved.
"""

from dataclasses import replace
from typing import Final

from experiments.tables.cells import Cell

REFERENCES: Final = ("galm", "bm25_tuned")
"""All others on a pool are held against the first of these that was tested on it."""

MIXED_WITH: Final = "bm25_tuned"

_SEEDS: Final = {"galm": 3, "galm_plus": 3, "tabcs": 3, "unif": 3}
"""How often a model is trained; once where nothing is said."""

_CONTROLS: Final = ("bm25_tuned", "bm25", "bm25_no_stems")
_ALL: Final = (
    *_CONTROLS,
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
_NODE_KINDS: Final = Cell(
    "jdk", "fcarcs", 0, "fcarcs, node kinds", {"data.statements": "false", "model.structure": "ast"}
)
"""FcarCS with the field that TabCS reads in place of its statement trees."""

_MORE: Final = {"data.extra": "debian_sample,open_java", "evaluate.also": "csn_tabcs,jcg_tabcs"}
"""Beside the JDK's pairs all other Java at hand, without what stands in the published tests."""


def _cells(dataset: str, models: tuple[str, ...]) -> tuple[Cell, ...]:
    """Every model's first seed, then the other seeds, so that a table with all rows is there early."""
    wanted = [(seed, model) for model in models for seed in range(_SEEDS.get(model, 1))]
    return tuple(Cell(dataset, model, seed, model) for seed, model in sorted(wanted, key=lambda each: each[0]))


def _mixtures(cells: tuple[Cell, ...], models: tuple[str, ...], weighed_on: str = "") -> tuple[Cell, ...]:
    """The weights of some models, their scores mixed with BM25's by what is best on a data set's validation pairs."""
    elsewhere = {"evaluate.mix_on": weighed_on} if weighed_on else {}
    return tuple(
        replace(
            cell,
            label=f"{cell.label} + {MIXED_WITH}" + (f", weighed on {weighed_on}" if weighed_on else ""),
            settings={**cell.settings, "evaluate.mix": MIXED_WITH, **elsewhere},
            weights_of=cell,
        )
        for cell in cells
        if cell.model in models
    )


_JDK: Final = _cells("jdk", _ALL)
_DEBIAN: Final = _cells("debian_sample", (*_CONTROLS, "galm", "galm_plus", "unif", "tabcs"))
_TRANSFER: Final = tuple(
    Cell("jdk", model, 0, f"{model}, more Java", _MORE)
    for model in ("galm_plus", "tabcs", "tabcs_no_ast", "galm", "unif")
)

CELLS: Final[dict[str, tuple[Cell, ...]]] = {
    "jdk": (*_JDK, _NODE_KINDS, *_mixtures(_JDK, ("galm", "galm_plus", "tabcs"))),
    "debian_sample": (*_DEBIAN, *_mixtures(_DEBIAN, ("galm", "galm_plus", "tabcs"))),
    "transfer": (
        *_cells("csn_tabcs", _CONTROLS),
        *_cells("jcg_tabcs", _CONTROLS),
        *_TRANSFER,
        *_mixtures(_TRANSFER, ("galm", "galm_plus", "tabcs", "tabcs_no_ast")),
        *_mixtures(_TRANSFER, ("galm", "galm_plus", "tabcs", "tabcs_no_ast"), "debian_sample"),
    ),
}
"""The cells of each part of the table: by the data set they are trained on, or ``transfer`` to the published tests."""
