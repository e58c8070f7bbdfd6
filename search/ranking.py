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
    comments: int = 3
    """How many times each word of a method's comment counts in BM25."""
