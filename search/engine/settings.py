"""The settings by which hits are ranked. Light to import: no numpy."""

from dataclasses import dataclass
from typing import Final

from data_prep.bounds import check_bounds, real, whole


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """How hits are ranked; chosen on validation data (docs/search.md)."""

    shortlist: int = 200
    """Rows that the model reads of a query, the best by BM25."""
    read_all_below: int = 1000
    """Size of an index below which the model reads all of it."""
    weight: float = 0.7
    """Of the model's score; the rest is BM25's, both on one scale."""
    near: float = 0.3
    """Of the vectors' score, on the same scale, where an index has vectors; it is added to these two."""
    test: float = 1.0
    """Taken from the score of a test's code, unless the query speaks of tests."""
    file: float = 0.2
    """Share added of the best other score in the same file, where that is above 0 and a model has read it."""
    named: float = 100.0
    """Added to the score of what has the name that is the whole query."""
    mentioned: float = 5.0
    """Added to the scores of the members of a type that the query names, and of a method named among other words."""
    comments: int = 3
    """How many times each word of a method's comment counts in BM25, where comments are read."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS)


_ADDED: Final = real(0, 1_000_000)
_BOUNDS: Final = {
    "shortlist": whole(1, 1_000_000),
    "read_all_below": whole(0, 1_000_000_000),
    "weight": real(0, 1),
    **dict.fromkeys(("near", "test", "file", "named", "mentioned"), _ADDED),
    "comments": whole(0, 1000),
}
