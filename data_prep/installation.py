"""Where this program runs from: a checkout, with its rooms side by side, or a wheel, with them inside one package."""

from pathlib import Path
from typing import Final

OUTER: Final = __name__.rpartition("data_prep.")[0]
"""Name of the package around the rooms, with a dot; empty in a checkout."""
INSTALLED: Final = OUTER != ""
IMPORT_ROOT: Final = Path(__file__).resolve().parents[__name__.count(".")]
"""What this program is imported from: the checkout, or the folder of installed packages."""


def workspace() -> Path:
    """The folder in which ``data``, ``runs`` and results lie: the checkout or, of a wheel, the current folder."""
    if not INSTALLED:
        return IMPORT_ROOT
    try:
        return Path.cwd()
    except FileNotFoundError:  # it was deleted, which every command tells of before it does anything
        return Path()
