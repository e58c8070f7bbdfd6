"""What this program uses of matplotlib, with matplotlib's own settings, and heat maps of words against words.

Other modules import matplotlib from here alone. It obeys a file ``matplotlibrc`` of the current folder, which may be
anybody's: with it, a picture may run the programs of LaTeX. That file is not read, and the user's own does not change
pictures.
"""

import os
import textwrap
from collections.abc import Sequence
from functools import cache
from typing import Final
from unittest import mock

import numpy as np
from jaxtyping import Float, UInt8

from data_prep.errors import UserError

_exists = os.path.exists


def _exists_elsewhere(path: str) -> bool:
    return path != "matplotlibrc" and _exists(path)


with mock.patch("os.path.exists", _exists_elsewhere):
    import matplotlib

    matplotlib.rcdefaults()
    from matplotlib import colormaps
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties, findfont, get_font
    from matplotlib.patches import Patch
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import LogLocator, MaxNLocator

__all__ = [
    "Axes",
    "Figure",
    "FigureCanvasAgg",
    "FontProperties",
    "LogLocator",
    "MaxNLocator",
    "Patch",
    "colormaps",
    "findfont",
    "get_font",
    "withStroke",
]


MOST_COLUMNS: Final = 40
"""Most code words in a figure; more would be unreadable."""

_FONT: Final = "DejaVu Sans"
_CELL: Final = 0.3  # inches per word
_LONGEST: Final = 24  # characters of a word
_LETTERS_AN_INCH: Final = 10  # of a title


def alignment_picture(
    weights: Float[np.ndarray, "query code"],
    query: Sequence[str],
    code: Sequence[str],
    fields: Sequence[str],
    title: str,
) -> Figure:
    """The alignment of a query's words (rows) and a method's words (columns).

    Of a long method only the ``MOST_COLUMNS`` words with the largest weights are drawn, in their order.

    Args:
        weights: any real numbers; with negative ones, a diverging colour map is used, white at 0.
        query: the query's words.
        code: the method's words.
        fields: the field of each code word; words of a field are contiguous.
        title: one line.
    """
    _fit(weights, query, code)
    if len(fields) != len(code):
        raise UserError(f"expected a field for each of {len(code)} code words, but got {len(fields)}")
    kept = strongest(weights, MOST_COLUMNS)
    if len(kept) < len(code):
        title = f"{title}\n(the {len(kept)} strongest of {len(code)} code words)"
    figure = heat_map(weights[:, kept], query, [code[place] for place in kept], title)
    _head(figure, [fields[place] for place in kept])
    return figure


def edges_picture(weights: Float[np.ndarray, "words words"], words: Sequence[str], title: str) -> Figure:
    """The edge weights of a graph over ``words``, to each row's word from each column's word."""
    return heat_map(weights, words, words, title, rows_are="to", columns_are="from")


def strongest(weights: Float[np.ndarray, "rows columns"], most: int) -> list[int]:
    """The columns with the largest absolute weight in any row, at most ``most``, in their order."""
    strength = np.abs(weights).max(axis=0, initial=0.0)
    return sorted(np.argsort(-strength, kind="stable")[:most].tolist())


def heat_map(
    weights: Float[np.ndarray, "rows columns"],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    rows_are: str = "query",
    columns_are: str = "code",
) -> Figure:
    """A heat map with one cell per weight, a colour bar, and a word at every row and column.

    Raises:
        UserError: the numbers of words and of rows and columns differ, or there is nothing to draw.
    """
    _fit(weights, rows, columns)
    width = 3.0 + _CELL * len(columns)  # inches
    lines = [part for line in title.splitlines() for part in textwrap.wrap(line, int(_LETTERS_AN_INCH * width))]
    height = 2.5 + _CELL * len(rows) + 0.2 * len(lines)
    figure = Figure(figsize=(width, height), dpi=110, layout="constrained")
    axes = figure.add_subplot()
    furthest = float(np.abs(weights).max()) or 1.0
    signed = bool((weights < 0).any())
    image = axes.imshow(
        weights, cmap="RdBu_r" if signed else "Blues", vmin=-furthest if signed else 0.0, vmax=furthest, aspect="equal"
    )
    axes.set_xticks(
        range(len(columns)), [readable(word) for word in columns], rotation=90, fontsize=10, parse_math=False
    )
    axes.set_yticks(range(len(rows)), [readable(word) for word in rows], fontsize=10, parse_math=False)
    axes.set_xlabel(columns_are, fontsize=10)
    axes.set_ylabel(rows_are, fontsize=10)
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="0.88", linewidth=0.6)
    axes.tick_params(which="minor", length=0)
    figure.suptitle(readable("\n".join(lines), longest=400), fontsize=11, parse_math=False)
    figure.colorbar(image, ax=axes, fraction=0.03, pad=0.02)
    return figure


def pixels(figure: Figure) -> UInt8[np.ndarray, "height width 3"]:
    """The figure as RGB pixels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()  # type: ignore[no-untyped-call]


def readable(text: str, longest: int = _LONGEST) -> str:
    """``text`` restricted to characters of the font, and cut to ``longest`` characters."""
    shown = "".join(letter if letter == "\n" or ord(letter) in _letters() else "□" for letter in text)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


@cache
def _letters() -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties(family=_FONT))).get_charmap())


def _head(figure: Figure, fields: Sequence[str]) -> None:
    """Write each field's name above its first column, and a separating line before it."""
    axes = figure.axes[0]
    for place, name in enumerate(fields):
        if place == 0 or fields[place - 1] != name:
            axes.text(place - 0.4, -0.7, name, rotation=55, ha="left", va="bottom", fontsize=10, fontweight="bold")
            if place:
                axes.axvline(place - 0.5, color="0.2", linewidth=1.2)


def _fit(weights: Float[np.ndarray, "rows columns"], rows: Sequence[str], columns: Sequence[str]) -> None:
    if weights.shape != (len(rows), len(columns)) or not weights.size:
        raise UserError(f"expected weights of {len(rows)} x {len(columns)} words, but got the shape {weights.shape}")
