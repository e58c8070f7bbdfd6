"""The command ``context``: finished runs, or what its first word names."""

from collections.abc import Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Final

from data_prep.errors import UserError
from experiments.context.options import ContextOptions
from experiments.terminal.options import parsed

OTHERS: Final = {
    "annotate": "experiments.context.study:annotate",
    "ndcg": "experiments.context.labels:judge",
    "study": "experiments.context.study:study",
    "table": "experiments.context.page:table",
    "turns": "experiments.context.turns:turns",
}
"""First words that are no runs."""


def context(arguments: Sequence[str]) -> None:
    """Test finished runs with the contexts of their queries and with others, or do what the first word names.

    Raises:
        UserError: no run is named, a run is not finished, or an option is wrong.
    """
    named = [each for each in arguments if not each.startswith("-")]
    if named and named[0] in OTHERS:
        place = arguments.index(named[0])
        resolve_name(OTHERS[named[0]])([*arguments[:place], *arguments[place + 1 :]])
        return
    words, options = parsed(arguments, ContextOptions)
    if not words:
        raise UserError(
            f"expected finished runs, or one of {', '.join(OTHERS)}: bash run.sh context RUN_DIR [RUN_DIR ...]"
        )
    from experiments.context.measure import context as measure

    for word in words:
        measure(Path(word), options)
