"""Source trees of a training split that are also in a test, and copies of test pairs whose words were degraded.

A published test may have bags of words without stop words, with words replaced by ``UNKNOWN`` and with another choice
of tokens, so that ``data_prep.pairs.overlap`` misses copies. Here a pair is a copy also if the name is the same and the
known words of the queries nearly are; and since a project that is in a test is there with many methods, of which some
are always missed, a source tree with several copies is left out as a whole.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from bm25s.stopwords import STOPWORDS_EN_PLUS
from jaxtyping import Int

from data_prep.pairs.overlap import Words, crossing
from data_prep.records import UNKNOWN
from data_prep.store.prepared_data import Split

LEAST_COPIES: Final = 5
"""Copies of test pairs from which a source tree counts as being in the test."""
SIMILAR_QUERIES: Final = 0.75
"""Jaccard similarity of queries from which methods of one name are copies: one of four words may be unknown."""
LEAST_WORDS: Final = 3
"""Known words of a query, without stop words, from which it is compared."""
_COMMON: Final = frozenset(STOPWORDS_EN_PLUS)


@dataclass(frozen=True, eq=False, slots=True)
class TreeOverlap:
    """What of a split is in tests."""

    copies: Int[np.ndarray, " copies"]  # rows, of source trees only
    trees: dict[str, int]  # source tree with LEAST_COPIES or more -> copies
    rows: Int[np.ndarray, " rows"]  # copies, and all rows of these trees


def tree_of(origin: str) -> str:
    """The source tree in an origin of the form NAME@REVISION; "" if it has another form."""
    name, mark, revision = origin.rpartition("@")
    return name if mark and revision else ""


def tree_overlap(split: Split, others: Sequence[Split]) -> TreeOverlap:
    """The copies in ``split`` of pairs of ``others``, and the source trees with several; none without source trees."""
    if not len(split) or (not tree_of(split.text(0).origin) and not tree_of(split.text(len(split) - 1).origin)):
        nothing = np.zeros(0, np.int64)
        return TreeOverlap(nothing, {}, nothing)
    trees = [tree_of(split.text(row).origin) for row in range(len(split))]
    found = np.union1d(crossing(split, others).rows, degraded_copies(split, others))
    copies = np.array([row for row in found.tolist() if trees[row]], np.int64)
    counts = Counter(trees[row] for row in copies.tolist())
    in_tests = {name: number for name, number in counts.most_common() if number >= LEAST_COPIES}
    whole = np.array([row for row, name in enumerate(trees) if name in in_tests], np.int64)
    return TreeOverlap(copies, in_tests, np.union1d(copies, whole))


def degraded_copies(split: Split, others: Sequence[Split]) -> Int[np.ndarray, " rows"]:
    """The rows whose name is that of a pair of ``others``, and whose query has nearly its words."""
    by_name: dict[Words, set[Words]] = defaultdict(set)
    for other in others:
        for name, query in zip(known_words(other, "name"), known_words(other, "query"), strict=True):
            if len(query) >= LEAST_WORDS and name:
                by_name[name].add(query)
    pairs = zip(known_words(split, "name"), known_words(split, "query"), strict=True)
    found = [
        row
        for row, (name, query) in enumerate(pairs)
        if len(query) >= LEAST_WORDS and any(_similar(query, other) for other in by_name.get(name, ()))
    ]
    return np.array(found, np.int64)


def known_words(split: Split, field: str) -> list[Words]:
    """The words of a field of each row in lower case, without unknown ones, and of queries without stop words."""
    left_out = _COMMON if field == "query" else frozenset[str]()
    words = [word.lower() if word != UNKNOWN and any(map(str.isalnum, word)) else "" for word in split.lexicon]
    words = ["" if word in left_out else word for word in words]
    lists = split.words[field]
    return [frozenset(words[number] for number in lists[row].tolist()) - {""} for row in range(len(lists))]


def _similar(one: Words, other: Words) -> bool:
    shared = len(one & other)
    return shared >= SIMILAR_QUERIES * (len(one) + len(other) - shared)
