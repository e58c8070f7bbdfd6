"""Pairs of a split that also occur in other splits, nearly or exactly, to be removed before testing on these.

Words are compared by spelling, case-insensitively and as sets, punctuation aside: the published CodeSearchNet test has
bags of words without the text's order, and the published Java-GitHub test counts a full stop as a word. English stop
words of queries are ignored, since the former lacks most of them. Methods are copies if their names are equal and their
tokens have a Jaccard similarity of :data:`SIMILAR` or more; API words, which overloads and copies for another type
differ in, are not compared.

Of source trees more is removed (:func:`tree_overlap`). A published test may have words replaced by ``UNKNOWN`` and
another choice of tokens, so that copies are missed. There a pair is a copy also if the name is the same and the known
words of the queries nearly are; and since a project that is in a test is there with many methods, of which some are
always missed, a source tree with several copies is left out as a whole.

A large tree has some by chance ("close" with "closes this resource"). So the number must also be larger than chance
explains: the expected number is that of matches with as many pairs of other source trees of the split, which cannot be
copies, and a tree counts as being in the test if a Poisson variable of this mean has so many with a probability below
:data:`SIGNIFICANCE`. That is of each tree, not of any: a tree that is left out for nothing costs little.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from bm25s.stopwords import STOPWORDS_EN_PLUS
from jaxtyping import Int

from data_prep.records import UNKNOWN
from data_prep.store.split import Split

SIMILAR: Final = 0.8
"""Jaccard similarity of tokens from which methods of one name are copies."""
LEAST_COPIES: Final = 5
"""Copies of test pairs, with different names, from which a source tree can count as being in the test."""
SIGNIFICANCE: Final = 0.05
"""Probability that chance alone makes a tree count so."""
CONTROLS: Final = 20
"""Samples of other trees that the expected number is a mean of."""
SIMILAR_QUERIES: Final = 0.75
"""Jaccard similarity of queries from which methods of one name are copies: one of four words may be unknown."""
LEAST_WORDS: Final = 3
"""Known words of a query, without stop words, from which it is compared."""
_COMMON: Final = frozenset(STOPWORDS_EN_PLUS)


Words = frozenset[str]
_Rows = Int[np.ndarray, " _"]


@dataclass(frozen=True, eq=False, slots=True)
class Overlap:
    """Rows of a split that also occur in other splits."""

    queries: Int[np.ndarray, " queries"]  # rows with a query of another split
    codes: Int[np.ndarray, " codes"]  # rows with a copy among the methods of another split

    @property
    def rows(self) -> Int[np.ndarray, " rows"]:
        """The union of both."""
        return np.union1d(self.queries, self.codes)


def overlap(split: Split, others: Sequence[Split], *, named: bool = False) -> Overlap:
    """The rows of ``split`` whose query is that of a pair of ``others``, or whose method is a copy of one of theirs.

    ``named``: a query counts only with the name of its method; within a corpus "returns the size" is common.
    """
    keys = named_queries if named else _queries
    known = set().union(*(filter(None, keys(other)) for other in others))
    return Overlap(_rows(keys(split), known), _copies(split, others))


@dataclass(frozen=True, eq=False, slots=True)
class Copies:
    """Rows of a test split that training has seen, by how they are known."""

    exact: Int[np.ndarray, " exact"]  # name and tokens of a training pair
    near: Int[np.ndarray, " near"]  # others that are copies of one
    queries: Int[np.ndarray, " queries"]  # a query of one

    @property
    def rows(self) -> Int[np.ndarray, " rows"]:
        """All of them."""
        return np.union1d(np.union1d(self.exact, self.near), self.queries)


def copies_in(tests: Split, train: Split) -> Copies:
    """The rows of ``tests`` for which training on ``train`` would have left out a pair, of itself or as a copy."""
    found = overlap(tests, [train])
    known: set[Hashable] = {*zip(word_sets(train, "name"), word_sets(train, "tokens"), strict=True)}
    own = zip(word_sets(tests, "name"), word_sets(tests, "tokens"), strict=True)
    exact = np.intersect1d(_rows(own, known), found.codes)  # methods without tokens are no copies
    trees = np.flatnonzero([tree_of(train.text(row).origin) != "" for row in range(len(train))])
    degraded = np.zeros(0, np.int64)
    if len(trees):
        degraded = _matches(_Keys(tests), np.arange(len(tests)), _Known([_Keys(train)], trees))
    near = np.union1d(found.codes, np.setdiff1d(degraded, found.queries))
    return Copies(exact, np.setdiff1d(near, exact), found.queries)


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


def alike(one: Words, other: Words, similarity: float = SIMILAR) -> bool:
    """Whether two sets of words are those of copies."""
    least, most = sorted((len(one), len(other)))
    if not least or least < similarity * most:  # too different in size
        return False
    shared = len(one & other)
    return shared >= similarity * (least + most - shared)


def word_sets(split: Split, field: str, left_out: Words = frozenset()) -> list[Words]:
    """The words of a field of each row, in lower case, without punctuation and those that are ``left_out``."""
    words = [word.lower() if any(map(str.isalnum, word)) else "" for word in split.lexicon]
    lists, without_these = split.words[field], left_out | {""}
    return [frozenset(words[number] for number in lists[row].tolist()) - without_these for row in range(len(lists))]


@dataclass(frozen=True, slots=True)
class Matched:
    """The copies in a source tree."""

    names: int  # different names of copies
    expected: float  # of them by chance


@dataclass(frozen=True, eq=False, slots=True)
class TreeOverlap:
    """What of a split is in tests."""

    copies: Int[np.ndarray, " copies"]  # rows, of source trees only
    trees: Mapping[str, Matched]  # source trees that are in a test
    by_chance: Mapping[str, Matched]  # source trees with LEAST_COPIES names or more, which chance explains
    rows: Int[np.ndarray, " rows"]  # copies, and all rows of ``trees``


def tree_of(origin: str) -> str:
    """The source tree in an origin of the form NAME@REVISION; "" if it has another form."""
    name, mark, revision = origin.rpartition("@")
    return name if mark and revision else ""


def tree_overlap(split: Split, others: Sequence[Split], *, whole_trees: bool = True) -> TreeOverlap:
    """The copies in ``split`` of pairs of ``others``, and the source trees with several; none without source trees.

    Without ``whole_trees`` the copies alone.
    """
    if not len(split) or (not tree_of(split.text(0).origin) and not tree_of(split.text(len(split) - 1).origin)):
        nothing = np.zeros(0, np.int64)
        return TreeOverlap(nothing, {}, {}, nothing)
    trees = np.array([tree_of(split.text(row).origin) for row in range(len(split))])
    keys = _Keys(split)
    copies = _matches(keys, np.flatnonzero(trees != ""), _Known([_Keys(other) for other in others]))
    if not whole_trees:
        return TreeOverlap(copies, {}, {}, copies)
    from scipy.stats import poisson  # slow to import

    counts = _names(keys, trees, copies)
    several = {name: number for name, number in counts.most_common() if number >= LEAST_COPIES}
    chance = _expected(keys, trees, sum(map(len, others))) if several else {}
    found = {name: Matched(number, chance[name]) for name, number in several.items()}
    in_tests = {name: each for name, each in found.items() if poisson.sf(each.names - 1, each.expected) < SIGNIFICANCE}
    whole = np.flatnonzero(np.isin(trees, [*in_tests]))
    others_by_chance = {name: each for name, each in found.items() if name not in in_tests}
    return TreeOverlap(copies, in_tests, others_by_chance, np.union1d(copies, whole))


class _Keys:
    """What of each row of a split is compared."""

    def __init__(self, split: Split) -> None:
        self.names = word_sets(split, "name")
        self.tokens = word_sets(split, "tokens")
        self.named_queries = named_queries(split)
        self.known_names = word_sets(split, "name", frozenset((UNKNOWN,)))
        self.known_queries = word_sets(split, "query", frozenset((UNKNOWN, *_COMMON)))


class _Known:
    """Pairs to look for copies of."""

    def __init__(self, parts: Sequence[_Keys], rows: _Rows | None = None) -> None:
        """Those of ``parts``; only ``rows`` of the first, if given."""
        self.named_queries = set()
        self.tokens: dict[Words, set[Words]] = defaultdict(set)
        self.queries: dict[Words, set[Words]] = defaultdict(set)
        for keys in parts:
            for row in range(len(keys.names)) if rows is None else rows.tolist():
                self.named_queries.add(keys.named_queries[row])
                self.tokens[keys.names[row]].add(keys.tokens[row])
                if len(keys.known_queries[row]) >= LEAST_WORDS and keys.known_names[row]:
                    self.queries[keys.known_names[row]].add(keys.known_queries[row])
        self.named_queries.discard(None)

    def has(self, keys: _Keys, row: int) -> bool:
        """Whether a row is a copy: of query and name, of name and tokens, or of name and known words of the query."""
        if keys.named_queries[row] in self.named_queries:
            return True
        tokens, query = keys.tokens[row], keys.known_queries[row]
        if any(alike(tokens, other) for other in self.tokens.get(keys.names[row], ())):
            return True
        others = self.queries.get(keys.known_names[row], ()) if len(query) >= LEAST_WORDS else ()
        return any(alike(query, other, SIMILAR_QUERIES) for other in others)


def _matches(keys: _Keys, rows: _Rows, known: _Known) -> _Rows:
    return np.array([row for row in rows.tolist() if known.has(keys, row)], np.int64)


def _names(keys: _Keys, trees: np.ndarray, copies: _Rows) -> Counter[str]:
    """Source tree -> different names among its copies: implementations of one method are one piece of evidence."""
    return Counter(tree for tree, _ in {(trees[row].item(), keys.known_names[row]) for row in copies.tolist()})


def _expected(keys: _Keys, trees: np.ndarray, size: int) -> dict[str, float]:
    """Source tree -> number of different names that match ``size`` pairs of other source trees.

    The trees are divided at random, and each half is compared with pairs of the other; the sum over all divisions
    counts one more than it is, so that the mean of no match is not 0.
    """
    random = np.random.default_rng(0)
    names = sorted(set(trees.tolist()) - {""})
    total: dict[str, float] = dict.fromkeys(names, 1.0)
    for _ in range(CONTROLS):
        first = np.isin(trees, random.permutation(names)[: len(names) // 2])
        for own, other in ((first, ~first), (~first, first)):
            drawn = random.permutation(np.flatnonzero(other & (trees != "")))[:size]
            if not len(drawn):
                continue
            found = _matches(keys, np.flatnonzero(own & (trees != "")), _Known([keys], drawn))
            for name, number in _names(keys, trees, found).items():
                total[name] += number * size / len(drawn)
    return {name: number / CONTROLS for name, number in total.items()}
