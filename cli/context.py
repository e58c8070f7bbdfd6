"""The command ``context``: finished runs, tested with and without the contexts of their queries."""

from collections.abc import Sequence
from pathlib import Path

from data_prep.errors import UserError
from experiments.context.options import ContextOptions
from experiments.terminal.options import parsed


def context(arguments: Sequence[str]) -> None:
    """Test finished runs with the contexts of their queries and with others.

    Raises:
        UserError: no run is named, a run is not finished, or an option is wrong.
    """
    words, options = parsed(arguments, ContextOptions)
    if not words:
        raise UserError(
            "expected finished runs: bash run.sh context RUN_DIR [RUN_DIR ...]; see bash run.sh help context"
        )
    from experiments.context.measure import context as measure

    for word in words:
        measure(Path(word), options)
