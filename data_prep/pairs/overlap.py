"""Pairs of a split that also occur in other splits, nearly or exactly, to be removed before testing on these.

Words are compared by spelling, case-insensitively and as sets, punctuation aside: the published CodeSearchNet test has
bags of words without the text's order, and the published Java-GitHub test counts a full stop as a word. English stop
words of queries are ignored, since the former lacks most of them. Methods are copies if their names are equal and their
tokens have a Jaccard similarity of :data:`SIMILAR` or more; API words, which overloads and copies for another type
differ in, are not compared.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from bm25s.stopwords import STOPWORDS_EN_PLUS
from jaxtyping import Int

from data_prep.store.prepared_data import Split

SIMILAR: Final = 0.8
"""Jaccard similarity of tokens from which methods of one name are copies."""
_COMMON: Final = frozenset(STOPWORDS_EN_PLUS)

Words = frozenset[str]


@dataclass(frozen=True, eq=False, slots=True)
class Overlap:
    """Rows of a split that also occur in other splits."""

    queries: Int[np.ndarray, " queries"]  # rows with a query of another split
    codes: Int[np.ndarray, " codes"]  # rows with a copy among the methods of another split

    @property
    def rows(self) -> Int[np.ndarray, " rows"]:
        """The union of both."""
        return np.union1d(self.queries, self.codes)


def overlap(split: Split, others: Iterable[Split]) -> Overlap:
    """The rows of ``split`` whose query is that of a pair of ``others``, or whose method is a copy of one of theirs."""
    return _overlap(split, [*others], _queries)


def crossing(split: Split, others: Iterable[Split]) -> Overlap:
    """The same within a corpus, where a query counts only with the name of its method: "returns the size" is common."""
    return _overlap(split, [*others], named_queries)


def _overlap(split: Split, others: Sequence[Split], keys: Callable[[Split], list[Hashable]]) -> Overlap:
    known = set().union(*(filter(None, keys(other)) for other in others))
    return Overlap(_rows(keys(split), known), _copies(split, others))


def without(split: Split, left_out: Int[np.ndarray, " rows"]) -> Split:
    """``split`` without some rows, in order."""
    return split.take(np.setdiff1d(np.arange(len(split)), left_out)) if len(left_out) else split


def _rows(keys: Iterable[Hashable], known: set[Hashable]) -> Int[np.ndarray, " rows"]:
    return np.fromiter((row for row, key in enumerate(keys) if key in known), dtype=np.int64)


def _queries(split: Split) -> list[Hashable]:
    """A key of each query: its words; None if it is empty."""
    return [words - _COMMON or words or None for words in word_sets(split, "query")]


def named_queries(split: Split) -> list[Hashable]:
    """A key of each query with the name of its method; None if it is empty."""
    return [query and (query, name) for query, name in zip(_queries(split), word_sets(split, "name"), strict=True)]


def _copies(split: Split, others: Sequence[Split]) -> Int[np.ndarray, " rows"]:
    """The rows with a copy in ``others``; methods without tokens have none."""
    by_name: dict[Words, set[Words]] = defaultdict(set)
    for other in others:
        for name, tokens in zip(word_sets(other, "name"), word_sets(other, "tokens"), strict=True):
            by_name[name].add(tokens)
    pairs = zip(word_sets(split, "name"), word_sets(split, "tokens"), strict=True)
    found = [row for row, (name, own) in enumerate(pairs) if any(alike(own, other) for other in by_name.get(name, ()))]
    return np.array(found, np.int64)


def alike(one: Words, other: Words) -> bool:
    """Whether two sets of tokens are those of copies."""
    least, most = sorted((len(one), len(other)))
    if not least or least < SIMILAR * most:  # too different in size
        return False
    shared = len(one & other)
    return shared >= SIMILAR * (least + most - shared)


def word_sets(split: Split, field: str) -> list[Words]:
    """The words of a field of each row, in lower case and without punctuation."""
    words = [word.lower() if any(map(str.isalnum, word)) else "" for word in split.lexicon]
    lists = split.words[field]
    return [frozenset(words[number] for number in lists[row].tolist()) - {""} for row in range(len(lists))]
