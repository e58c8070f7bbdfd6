"""Statistics of test queries, their classes by these, and the difference in MRR between two rankers in each class.

The statistics are numbers of words, and how many of these also occur in their method. They are saved beside the
results, so that ranks can be analysed by kind of query without the data.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import Stemmer
from jaxtyping import Bool, Float, Int

from data_prep.errors import UserError
from data_prep.installation import without_paths
from data_prep.languages.identifiers import split_identifier
from data_prep.pipeline.overlap import word_sets
from data_prep.records import UNKNOWN
from data_prep.store.prepared_data import words_sha256
from data_prep.store.split import Split
from evaluation.comparison import Entry, Pool
from evaluation.significance import RunDifference, Runs, compare_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFacts:
    """Numbers of each query of a split, in its order."""

    dataset: str
    origin: str  # e.g. "jdk-17.0.21"
    fingerprint: str  # of the words of the split, as in results
    split: str
    words: Sequence[int]  # of the query
    distinct: Sequence[int]  # stems of the query; words that a release has lost are none
    shared: Sequence[int]  # of these stems, those that stand in its method too
    files: Sequence[int]  # a number for the file of its method; where files are not known one for each query
    code_words: Sequence[int] = ()  # tokens of its method; none: not counted when this was saved
    texts: Sequence[int] = ()  # a number for its words, the same for queries of equal words; none: as above
    nearest: Sequence[float] = ()  # Jaccard similarity of its method's tokens with the nearest training method's
    read: Sequence[int] = ()  # 1: ablations before those of today were judged on it
    asked: Sequence[int] = ()  # 1: a training pair has a query of the same words

    def __post_init__(self) -> None:
        if not len(self.words) == len(self.distinct) == len(self.shared) == len(self.files) > 0:
            raise UserError("the facts of queries are four lists of the same length, of one query or more")
        for further in (self.code_words, self.texts, self.nearest, self.read, self.asked):
            if len(further) not in (0, len(self.words)):
                raise UserError("the facts of queries have a further number for each query, or for none")
        rows = zip(self.shared, self.distinct, self.words, strict=True)
        if not all(0 <= shared <= distinct <= words for shared, distinct, words in rows):
            raise UserError("a query shares at most its distinct words with its method, and has at most its words")

    @property
    def lengths(self) -> Int[np.ndarray, " queries"]:
        """Number of words of each query."""
        return np.asarray(self.words)

    @property
    def overlap(self) -> Float[np.ndarray, " queries"]:
        """Fraction of each query's distinct stems that also occur in its method; 0 for a query without words."""
        return np.asarray(self.shared) / np.maximum(1, self.distinct)

    def fits(self, pool: Pool) -> bool:
        """Whether these are the queries of ``pool``."""
        return (self.fingerprint, len(self.words)) == (pool.fingerprint, pool.queries)


def query_facts(
    split: Split, *, dataset: str, origin: str, train: Split | None = None, read: Sequence[int] = ()
) -> QueryFacts:
    """The facts of the queries of ``split``, with words read as in BM25: stemmed, and API words split.

    Args:
        split: the queries with their methods.
        dataset: its name.
        origin: where it is from.
        train: the training pairs as models were trained on them; None: not to be looked at.
        read: for each query, whether earlier ablations were judged on it.

    Raises:
        UserError: the split has no pairs.
    """
    stem = Stemmer.Stemmer("english").stemWord
    rows = range(len(split))
    asked = [_stems(split, ("query",), row, stem) for row in rows]
    return QueryFacts(
        dataset=dataset,
        origin=without_paths(origin),
        fingerprint=words_sha256(split),
        split=split.name,
        words=split.words["query"].lengths.tolist(),
        distinct=[len(stems) for stems in asked],
        shared=[len(asked[row] & _stems(split, ("name", "tokens", "api"), row, stem)) for row in rows],
        files=_files(split),
        code_words=split.words["tokens"].lengths.tolist(),
        texts=numbered([tuple(split.words["query"][row].tolist()) for row in rows]),
        nearest=nearest_tokens(split, train) if train is not None and len(train) else [],
        read=[*read],
        asked=asked_in(split, train) if train is not None and len(train) else [],
    )


def asked_in(split: Split, train: Split) -> list[int]:
    """For each query of ``split`` 1 if a query of ``train`` has the same words in the same order."""
    known = {tuple(train.word_list("query", row)) for row in range(len(train))}
    return [int(tuple(split.word_list("query", row)) in known) for row in range(len(split))]


def nearest_tokens(split: Split, train: Split) -> list[float]:
    """The highest Jaccard similarity of each method's tokens with those of a training method, to a thousandth below."""
    from scipy.sparse import csr_array  # slow to import

    numbers: dict[str, int] = {}
    tables = []
    for each in (split, train):
        rows = [[numbers.setdefault(word, len(numbers)) for word in words] for words in word_sets(each, "tokens")]
        tables.append((np.concatenate([np.asarray(row, np.int64) for row in rows]), [len(row) for row in rows]))
    own, other = (
        csr_array((np.ones(len(words)), words, np.append(0, np.cumsum(sizes))), shape=(len(sizes), len(numbers)))
        for words, sizes in tables
    )
    best = np.zeros(len(split))
    for start in range(0, len(split), _BLOCK):
        shared = (own[start : start + _BLOCK] @ other.T).tocoo()
        total = np.asarray(tables[0][1])[shared.row + start] + np.asarray(tables[1][1])[shared.col]
        np.maximum.at(best, shared.row + start, shared.data / (total - shared.data))
    return (np.floor(1000 * best + 1e-9) / 1000).tolist()


def _files(split: Split) -> list[int]:
    """A number for each row, the same for methods of one file; a release that names no files has one path for all."""
    texts = [split.text(row) for row in range(len(split))]
    found = numbered([(text.origin, text.path) for text in texts])
    return found if any(found) else [*range(len(split))]


def numbered(keys: Sequence[Hashable]) -> list[int]:
    """A number for each key, the same for equal ones, in the order of the first of each."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _stems(split: Split, fields: Sequence[str], row: int, stem: Callable[[str], str]) -> set[str]:
    words = ((field, word) for field in fields for word in split.word_list(field, row) if word != UNKNOWN)
    return {stem(part) for field, word in words for part in (split_identifier(word) if field == "api" else (word,))}


LEAST: Final = 20
"""Minimum number of queries of a class; with fewer, an interval is not informative."""

LENGTH: Final = "query length"
OVERLAP: Final = "overlap with its method"
CODE: Final = "length of its method"
TRAINED: Final = "nearest training method"
READ: Final = "earlier ablations"
ASKED: Final = "same query in training"
KINDS: Final = (LENGTH, OVERLAP, CODE, TRAINED, ASKED, READ)
"""The kinds of classes."""

_LENGTHS: Final = {"up to 3": 3, "4-5": 5, "6-8": 8, "9-12": 12, "13-18": 18}
"""Label -> maximum words; longer queries are a separate class."""
_CODES: Final = {"up to 5": 5, "6-10": 10, "11-20": 20, "21-40": 40}
"""Label -> maximum tokens of a method."""
_NEAREST: Final = {"below 1/2": 0.4999, "1/2 to 4/5": 0.7999}
"""Label -> maximum similarity; above is "4/5 or more", of methods that training would leave out if names were equal."""
_BLOCK: Final = 256
"""Methods compared with all others at a time."""
_OVERLAPS: Final = {"none": 0.0, "up to 1/4": 0.25, "up to 1/2": 0.5, "up to 3/4": 0.75}
"""Label -> maximum share; above these are "not all" and "all"."""


@dataclass(frozen=True, eq=False, slots=True)
class QueryClass:
    """Queries with a property in common."""

    kind: str  # one of KINDS, or "" for all queries
    label: str
    rows: Bool[np.ndarray, " queries"]  # which of all queries

    @property
    def size(self) -> int:
        """Number of queries."""
        return int(np.count_nonzero(self.rows))


def query_classes(facts: QueryFacts) -> list[QueryClass]:
    """All queries, then for each of ``KINDS`` the classes of at least ``LEAST`` queries, in ascending order.

    Those of a class are of two files or more: of one alone nothing follows about others.
    """
    files = np.asarray(facts.files)
    everything = QueryClass("", "all queries", np.ones(len(facts.words), dtype=np.bool_))
    found = [*length_classes(facts.lengths), *overlap_classes(facts.overlap)]
    if facts.code_words:
        found += _by_number(CODE, _CODES, np.asarray(facts.code_words))
    if facts.nearest:
        edges = (-1.0, *_NEAREST.values(), 1.0)
        found += _between(TRAINED, (*_NEAREST, "4/5 or more"), edges, np.asarray(facts.nearest, dtype=np.float64))
    either = (-1.0, 0.0, 1.0)
    if facts.asked:
        found += _between(ASKED, ("no", "yes"), either, np.asarray(facts.asked, dtype=np.float64))
    if facts.read:
        labels = ("not judged on it", "judged on it")
        found += _between(READ, labels, either, np.asarray(facts.read, dtype=np.float64))
    sizes = range(LEAST, everything.size)
    return [everything, *(each for each in found if each.size in sizes and len(np.unique(files[each.rows])) > 1)]


def length_classes(lengths: Int[np.ndarray, " queries"]) -> list[QueryClass]:
    """Classes by the number of words."""
    return _by_number(LENGTH, _LENGTHS, lengths)


def _by_number(kind: str, most: Mapping[str, int], numbers: Int[np.ndarray, " queries"]) -> list[QueryClass]:
    labels = (*most, f"{max(most.values()) + 1} or more")
    return _between(kind, labels, (-1.0, *map(float, most.values()), float("inf")), numbers.astype(np.float64))


def overlap_classes(shares: Float[np.ndarray, " queries"]) -> list[QueryClass]:
    """Classes by a share from 0 to 1; 0 and 1 are separate classes."""
    edges = (-1.0, *_OVERLAPS.values(), math.nextafter(1.0, 0.0), 1.0)
    return _between(OVERLAP, (*_OVERLAPS, "not all", "all"), edges, shares)


def _between(
    kind: str, labels: Sequence[str], edges: Sequence[float], values: Float[np.ndarray, " queries"]
) -> list[QueryClass]:
    """A class for each two adjacent edges: above the first, up to and including the second."""
    bounds = zip(labels, pairwise(edges), strict=True)
    return [QueryClass(kind, label, (low < values) & (values <= high)) for label, (low, high) in bounds]


def gain(entry: Entry, other: Entry, rows: Bool[np.ndarray, " queries"], files: Sequence[int]) -> RunDifference:
    """How much higher the MRR of ``entry`` is than that of ``other`` over the queries ``rows``.

    ``files``: a number for the file of each query, of all of them.
    """
    first, second = (Runs(each.values[:, rows], trained=each.trained) for each in (entry.runs, other.runs))
    return compare_runs(first, second, np.asarray(files)[rows])
