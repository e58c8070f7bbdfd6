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

__all__ = [
    "Axes",
    "Figure",
    "FigureCanvasAgg",
    "FontProperties",
    "Patch",
    "colormaps",
    "findfont",
    "get_font",
    "withStroke",
]


MOST_ROWS: Final = 9
MOST_COLUMNS: Final = 10
"""Most words of a query and of a method in a picture: more would be too small where TensorBoard shows it."""

_FONT: Final = "DejaVu Sans"
_SIZE: Final = 10  # of the font, in points, and nearly so in TensorBoard, which scales pictures to its cards' width
_WIDTH: Final = 4.7  # inches
_LETTER, _LINE_HEIGHT, _HEAD, _GAP = 0.085, 0.165, 0.65, 0.12  # inches
_LONGEST: Final = 12  # characters of a word
_LINE: Final = 58  # characters of a title's line
_LINES: Final = 5  # of a question


def alignment_picture(
    weights: Float[np.ndarray, "query code"],
    query: Sequence[str],
    code: Sequence[str],
    fields: Sequence[str],
    title: str,
    edges: Float[np.ndarray, "query query"] | None = None,
) -> Figure:
    """The alignment of a query's words (rows) and a method's words (columns), and beside it the edges between the rows.

    Of many words, only those with the largest weights are drawn, in their order.

    Args:
        weights: any real numbers; with negative ones, a diverging colour map is used, white at 0.
        query: the query's words.
        code: the method's words.
        fields: the field of each code word; words of a field are contiguous.
        title: the question, and a line about the method.
        edges: the weights of a graph over the query's words, to each row's word from each column's; None: no graph.

    Raises:
        UserError: the numbers of words and of rows and columns differ, or there is nothing to draw.
    """
    _fit(weights, query, code)
    if len(fields) != len(code):
        raise UserError(f"expected a field for each of {len(code)} code words, but got {len(fields)}")
    rows, columns = strongest(weights.T, MOST_ROWS), strongest(weights, MOST_COLUMNS)
    asked, named = [query[row] for row in rows], [code[column] for column in columns]
    figure = _empty(asked, named, title, graph=edges is not None)
    attention, *graph = figure.axes
    of_code = f"{len(columns)} of {len(code)} code words" if len(columns) < len(code) else "code"
    _heat_map(attention, weights[np.ix_(rows, columns)], named, of_code)
    attention.set_yticks(range(len(rows)), [readable(word) for word in asked], fontsize=_SIZE, parse_math=False)
    _head(attention, [fields[column] for column in columns])
    if edges is not None:
        _fit(edges, query, query)
        _heat_map(graph[0], edges[np.ix_(rows, rows)], asked, "edges from")
    return figure


def strongest(weights: Float[np.ndarray, "rows columns"], most: int) -> list[int]:
    """The columns with the largest absolute weight in any row, at most ``most``, in their order."""
    strength = np.abs(weights).max(axis=0, initial=0.0)
    return sorted(np.argsort(-strength, kind="stable")[:most].tolist())


def _empty(rows: Sequence[str], columns: Sequence[str], title: str, *, graph: bool) -> Figure:
    """A figure with its title, and axes that leave room for the words of rows and columns; a second for the graph."""
    wrapped = [textwrap.wrap(line, _LINE, max_lines=_LINES, placeholder=" …") for line in title.splitlines()]
    lines = [line for part in wrapped for line in part]
    left, below = (_LETTER * max(len(readable(word)) for word in words) for words in (rows, [*rows, *columns]))
    left, below = left + _GAP, below + _GAP + 2.5 * _LINE_HEIGHT
    wide = max(4, len(columns))  # four leave room for what is written below
    cell = min(0.3, (_WIDTH - left - 2 * _GAP) / (wide + graph * len(rows)))  # inches per word
    high = cell * len(rows)
    height = below + high + _HEAD + _LINE_HEIGHT * len(lines)
    figure = Figure(figsize=(_WIDTH, height), dpi=150)
    for start, words in [(left, columns), (left + cell * wide + _GAP, rows)][: 1 + graph]:
        figure.add_axes((start / _WIDTH, below / height, cell * len(words) / _WIDTH, high / height)).set_yticks([])
    shown = readable("\n".join(lines), longest=600)
    figure.suptitle(shown, x=0.02, y=1 - 0.05 / height, ha="left", fontsize=_SIZE, parse_math=False)
    return figure


def _heat_map(axes: Axes, weights: Float[np.ndarray, "rows columns"], columns: Sequence[str], about: str) -> None:
    """One cell per weight, a word at every column, and below them what they are and the weight of the darkest cell."""
    furthest = float(np.abs(weights).max()) or 1.0
    signed = bool((weights < 0).any())
    lowest, colours = (-furthest, "RdBu_r") if signed else (0.0, "Blues")
    axes.imshow(weights, cmap=colours, vmin=lowest, vmax=furthest, aspect="equal")
    words = [readable(word) for word in columns]
    axes.set_xticks(range(len(columns)), words, rotation=90, fontsize=_SIZE, parse_math=False)
    axes.set_xlabel(f"{about}\n(darkest: {furthest:.2g})", fontsize=_SIZE)
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(weights) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="0.88", linewidth=0.6)
    axes.tick_params(which="both", length=0)


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


def _head(axes: Axes, fields: Sequence[str]) -> None:
    """Write each field's name above its first column, and a separating line before it."""
    for place, name in enumerate(fields):
        if place == 0 or fields[place - 1] != name:
            axes.text(place - 0.4, -0.7, name, rotation=55, ha="left", va="bottom", fontsize=_SIZE, fontweight="bold")
            if place:
                axes.axvline(place - 0.5, color="0.2", linewidth=1.2)


def _fit(weights: Float[np.ndarray, "rows columns"], rows: Sequence[str], columns: Sequence[str]) -> None:
    if weights.shape != (len(rows), len(columns)) or not weights.size:
        raise UserError(f"expected weights of {len(rows)} x {len(columns)} words, but got the shape {weights.shape}")
