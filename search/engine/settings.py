"""The ranking settings. Light to import: no numpy."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from data_prep.bounds import check_bounds, real, whole

if TYPE_CHECKING:
    from search.engine.signals import Retriever

WORD_VECTORS: Final = 0.1
TEXT_VECTORS: Final = 0.3
"""Weights of vectors, by what makes them; the latter was chosen on projects that docs/pretrained.md does not report."""

_ADDED: Final = real(0, 1_000_000)
_BOUNDS: Final = {
    "shortlist": whole(1, 1_000_000),
    "read_all_below": whole(0, 1_000_000_000),
    "weight": real(0, 1),
    **dict.fromkeys(
        (
            "test",
            "constant",
            "old",
            "deprecated",
            "whole",
            "file",
            "files",
            "phrases",
            "phrases_of_file",
            "beside",
            "context",
            "exact_name_boost",
            "mention_boost",
        ),
        _ADDED,
    ),
    "comments": whole(0, 1000),
}


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """How hits are ranked; chosen on validation data (docs/search.md)."""

    shortlist: int = 200
    """Rows that the model scores per query, the best by BM25."""
    read_all_below: int = 1000
    """Size of an index up to which the model scores all of it."""
    weight: float = 0.72
    """Weight of the model's score; the rest is BM25's. Both are standardised."""
    vector_weight: float | None = None
    """Weight of the vectors' cosine, also standardised, which is added to these two if an index has vectors; what it
    has above 0.1 is taken from them. By default 0.1, or 0.3 if a text encoder made the vectors."""
    test: float = 1.0
    """Subtracted from the score of code of tests, unless the query asks for tests."""
    constant: float = 1.5
    """Subtracted from the score of constants, which functions mostly answer better, except where they are named."""
    old: float = 5.0
    """Subtracted from the score of what is of an older generation (search/files/generations.py), unless it is meant."""
    deprecated: float = 2.0
    """The same of declarations that are marked as deprecated."""
    whole: float = 0.5
    """The score of a file as a whole, to which that of the file is added."""
    file: float = 0.1
    """Share of the best other score in the same file that is added, if that is above 0 and a model is used."""
    files: float = 2.0
    """Weight of the score of the whole file (search/engine/file_ranking.py), which is added to that of a row."""
    phrases: float = 2.0
    """Weight of the question's words in their order (search/engine/phrases.py) in a row."""
    phrases_of_file: float = 2.0
    """The same of the best place in the row's file."""
    beside: float = 0.5
    """Subtracted from the score of a row for each better one of its file, so that hits are of several files."""
    context: float = 0.1
    """Weight of BM25 over the rarest words above the cursor, from 0 to 1, which is added if there are any."""
    exact_name_boost: float = 100.0
    """Added to the score of what has the whole query as its name."""
    mention_boost: float = 5.0
    """Added to the scores of the members of a type that the query names, of a method named among other words, and of
    what is in a file or folder that is named among them. For a path of a file it is exact_name_boost."""
    comments: int = 3
    """How many times each word of a comment counts in BM25, if comments are searched."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS if self.vector_weight is None else {**_BOUNDS, "vector_weight": real(0, 1)})

    def weight_of(self, vectors: "Retriever | None") -> float:
        """The weight of the cosine of some vectors."""
        if self.vector_weight is not None:
            return self.vector_weight
        return TEXT_VECTORS if vectors and vectors.reads_text else WORD_VECTORS
