"""The settings by which hits are ranked. Light to import: no numpy."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ranking:
    """How hits are ranked; chosen on validation data (docs/search.md)."""

    shortlist: int = 200
    """Rows that the model reads of a query, the best by BM25."""
    read_all_below: int = 1000
    """Size of an index below which the model reads all of it."""
    weight: float = 0.7
    """Of the model's score; the rest is BM25's, both on one scale."""
    test: float = 1.0
    """Taken from the score of a test's code, unless the query speaks of tests."""
    generated: float = 0.5
    """Taken from the score of code that a program wrote."""
    file: float = 0.2
    """Share added of the best other score in the same file, where that is above 0 and a model has read it."""
    comments: int = 3
    """How many times each word of a method's comment counts in BM25, where comments are read."""

    def __post_init__(self) -> None:
        for flag, least in (("shortlist", 1), ("read_all_below", 0), ("comments", 0)):
            if getattr(self, flag) < least:
                raise ValueError(f"--{flag} takes a whole number of {least} or more, not {getattr(self, flag)}")
        if not 0 <= self.weight <= 1:
            raise ValueError(f"--weight takes a number from 0 to 1, not {self.weight}")
