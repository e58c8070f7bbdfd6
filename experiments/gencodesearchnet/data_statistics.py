"""Sizes of GenCodeSearchNet's sets and distances of their tokens, as in the paper's table 1, for the sets available."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from jaxtyping import Float
from numpy import ndarray

from data_prep.errors import UserError
from data_prep.gencodesearchnet.fine_tuning import find_fine_tuning
from data_prep.gencodesearchnet.statistics import (
    SIDES,
    SubsetStatistics,
    combined,
    distances,
    row_of,
    statistics_table,
    subset_statistics,
)
from data_prep.gencodesearchnet.subsets import find_subsets
from evaluation.benchmark import COSQA
from experiments.tables.comparison_pictures import as_png
from experiments.terminal.console import say
from training.drawing import Axes, Figure

_DARK: Final = 0.6
"""Distance from which on a cell is dark, and its number white."""


def measured(path: Path) -> tuple[str, bytes]:
    """The table in Markdown, with the published numbers, and the heat map of all distances (PNG).

    Raises:
        ValueError: no subset is in the folder ``path``, or a file is damaged.
    """
    subsets, missing = find_subsets(path)
    try:
        source = find_fine_tuning(path, subsets).train
    except UserError as error:
        say(f"no distances to the fine-tuning set: {error}")
        source = None
    sets = [*([source] if source else []), *subsets]
    found = [subset_statistics(each.name, each.examples) for each in sets]
    rows = [row_of(each, found[0] if source else None) for each in found]
    tested = [row for row, each in zip(rows, sets, strict=True) if each is not source and each.name != COSQA[0]]
    origins = "\n".join(f"- {each.name}: {each.origin}" for each in sets)
    gone = f"\n\nMissing: {', '.join(missing)}." if missing else ""
    return f"{statistics_table([*rows, combined(tested)])}\n\n{origins}{gone}\n", distance_picture(found)


def distance_picture(subsets: Sequence[SubsetStatistics]) -> bytes:
    """A PNG with the pairwise distances of the subsets: of texts on the left, of codes on the right.

    Raises:
        UserError: there are fewer than two subsets.
    """
    if len(subsets) < 2:
        raise UserError(f"a matrix of distances needs two subsets or more, there are {len(subsets)}")
    names = [subset.name for subset in subsets]
    side = 2.2 + 0.62 * len(subsets)
    figure = Figure(figsize=(2 * side + 1.5, side + 1.2), dpi=110, layout="constrained")
    panels = figure.subplots(1, len(SIDES), sharey=True)
    for axes, each in zip(panels, SIDES, strict=True):
        _draw(axes, names, distances(subsets, each), f"{each}s")
    figure.colorbar(panels[-1].images[0], ax=panels, label="0: same frequencies, 1: no token shared", shrink=0.8)
    figure.suptitle("Total variation distance of the subsets' token frequencies")
    return as_png(figure)


def _draw(axes: Axes, names: Sequence[str], found: Float[ndarray, "subsets subsets"], title: str) -> None:
    axes.imshow(found, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    places = range(len(names))
    axes.set_xticks(places, names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(places, names)
    axes.set_title(title)
    for row in places:
        for column in places:
            value = float(found[row, column])
            colour = "white" if value >= _DARK else "black"
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=9)
