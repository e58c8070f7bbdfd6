"""What this program uses of matplotlib, with matplotlib's own settings: other modules import it from here alone.

Matplotlib obeys a file ``matplotlibrc`` of the current folder, which may be anybody's: with it, a picture may run the
programs of LaTeX. That file is not read, and the user's own does not change pictures.
"""

import os
from unittest import mock

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
