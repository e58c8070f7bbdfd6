"""The command ``posts``: a model, or what its first word names."""

from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Final

OTHERS: Final = {
    "index": "search.posts.cli:index",
    "search": "search.posts.cli:search",
    "statistics": "experiments.posts.cli:statistics",
    "tune": "experiments.posts.cli:tune",
    "table": "experiments.posts.cli:table",
}
"""First words that are no models."""


def posts(arguments: Sequence[str]) -> bool:
    """Test a model on a dump, or do what another first word names; returns whether something was found.

    Raises:
        UserError: there is no such model or option, or the data are not available.
    """
    words = [each for each in arguments if not each.startswith("-")]
    if words and words[0] in OTHERS:
        place = arguments.index(words[0])
        return resolve_name(OTHERS[words[0]])([*arguments[:place], *arguments[place + 1 :]]) is not False
    from experiments.posts.cli import test_model

    test_model(arguments, [*OTHERS])
    return True
