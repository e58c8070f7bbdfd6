"""Training pairs that also occur in another data set's test split, to be removed before testing on it.

Words are compared by spelling, case-insensitively and as sets: the published CodeSearchNet test has bags of words
without the text's order. English stop words are ignored, since that test lacks most of them.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from bm25s.stopwords import STOPWORDS_EN_PLUS
from jaxtyping import Int

from data_prep.store.prepared_data import Split

_COMMON: Final = frozenset(STOPWORDS_EN_PLUS)


@dataclass(frozen=True, eq=False, slots=True)
class Overlap:
    """Rows of a split that also occur in other splits."""

    queries: Int[np.ndarray, " queries"]  # rows with a query of another split
    codes: Int[np.ndarray, " codes"]  # rows with the name and tokens of a method of another split

    @property
    def rows(self) -> Int[np.ndarray, " rows"]:
        """The union of both."""
        return np.union1d(self.queries, self.codes)


def overlap(split: Split, others: Iterable[Split]) -> Overlap:
    """The rows of ``split`` whose query, or whose name and tokens, are those of a pair of ``others``."""
    found = list(others)
    queries = set().union(*(filter(None, _queries(other)) for other in found))
    codes = set().union(*(filter(None, _codes(other)) for other in found))
    return Overlap(_rows(_queries(split), queries), _rows(_codes(split), codes))


def without(split: Split, left_out: Int[np.ndarray, " rows"]) -> Split:
    """``split`` without some rows, in order."""
    return split.take(np.setdiff1d(np.arange(len(split)), left_out)) if len(left_out) else split


def _rows(keys: Iterable[Hashable], known: set[Hashable]) -> Int[np.ndarray, " rows"]:
    return np.fromiter((row for row, key in enumerate(keys) if key in known), dtype=np.int64)


def _queries(split: Split) -> list[Hashable]:
    """A key of each query: its words; None if it is empty."""
    return [words - _COMMON or words or None for words in _sets(split, "query")]


def _codes(split: Split) -> list[Hashable]:
    """A key of each method: the words of its name and of its tokens; None without tokens."""
    names, tokens = _sets(split, "name"), _sets(split, "tokens")
    return [(name, body) if body else None for name, body in zip(names, tokens, strict=True)]


def _sets(split: Split, field: str) -> list[frozenset[str]]:
    words, lists = [word.lower() for word in split.lexicon], split.words[field]
    return [frozenset(words[number] for number in lists[row].tolist()) for row in range(len(lists))]
