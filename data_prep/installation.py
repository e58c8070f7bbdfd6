"""Whether the program runs from a checkout, with top-level packages, or from a wheel, with all in one package."""

import os
from pathlib import Path
from typing import Final

OUTER: Final = __name__.rpartition("data_prep.")[0]
"""Name of the enclosing package, with a trailing dot; empty in a checkout."""
INSTALLED: Final = OUTER != ""
IMPORT_ROOT: Final = Path(__file__).resolve().parents[__name__.count(".")]
"""The folder on the import path: the checkout, or the folder of installed packages."""
DISTRIBUTION: Final = "neural-code-search"
"""The name by which it is installed."""


def program_version() -> str:
    """The version of the program, also in a checkout that is not installed."""
    if not INSTALLED:
        import tomllib

        return str(tomllib.loads((IMPORT_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"


def workspace() -> Path:
    """The folder that contains ``data``, ``runs`` and results: the checkout or, for a wheel, the current folder."""
    if not INSTALLED:
        return IMPORT_ROOT
    try:
        return Path.cwd()
    except FileNotFoundError:  # it was deleted, which every command reports first
        return Path()


def absolute_path() -> str:
    """``PATH`` without relative and empty entries, which mean the current folder, whoever filled it."""
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(place for place in places if Path(place).is_absolute())
