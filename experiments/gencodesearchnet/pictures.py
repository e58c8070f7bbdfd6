"""Heat maps of the total variation distances of the subsets' token distributions."""

from collections.abc import Sequence
from typing import Final

from jaxtyping import Float
from numpy import ndarray

from data_prep.errors import UserError
from data_prep.gencodesearchnet.statistics import SIDES, SubsetStatistics, distances
from experiments.tables.comparison_pictures import as_png
from training.drawing import Axes, Figure

_DARK: Final = 0.6
"""Distance from which on a cell is dark, and its number white."""


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
