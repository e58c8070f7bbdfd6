"""AdvTest's filters of CodeSearchNet functions, as named predicates (Lu et al. 2021)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from data_prep.gencodesearchnet.python_names import parses

FEWEST_WORDS: Final = 3
MOST_WORDS: Final = 256
_SPECIAL: Final = re.compile(r"<img\b|https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """The properties of a documented Python function that the predicates use."""

    documentation: str
    words: Sequence[str]  # of the documentation
    source: str


def _short(candidate: Candidate) -> bool:
    return len(candidate.words) < FEWEST_WORDS


def _long(candidate: Candidate) -> bool:
    return len(candidate.words) > MOST_WORDS


def _special(candidate: Candidate) -> bool:
    return _SPECIAL.search(candidate.documentation) is not None


def _non_english(candidate: Candidate) -> bool:
    """A letter that is not of the English alphabet."""
    return any(sign.isalpha() and not sign.isascii() for sign in candidate.documentation)


def _unparsable(candidate: Candidate) -> bool:
    return not parses(candidate.source)


FILTERS: Final[dict[str, Callable[[Candidate], bool]]] = {
    f"documentation under {FEWEST_WORDS} words": _short,
    f"documentation over {MOST_WORDS} words": _long,
    "documentation with an image or a link": _special,
    "non-English documentation": _non_english,
    "code that does not parse": _unparsable,
}
"""Reasons to drop a function; it is counted under the first that applies."""


def reason_to_drop(candidate: Candidate) -> str | None:
    """The first of FILTERS that applies; None if the function is kept."""
    return next((reason for reason, holds in FILTERS.items() if holds(candidate)), None)
