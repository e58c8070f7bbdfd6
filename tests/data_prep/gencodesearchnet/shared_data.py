"""The public data beside the repository, where it is."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[4] / "shared" / "data"


def shared(*names: str) -> Path:
    """The folder, if it has the files ``names``."""
    if lacking := [name for name in names if not (SHARED / name).is_file()]:
        pytest.skip(f"needs {', '.join(lacking)} beside the repository, in ../shared/data")
    return SHARED
