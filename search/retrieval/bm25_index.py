"""What an index knows of the words of its rows: BM25 over their fields, in Lucene's variant.

A term that occurs in n of N documents, and f times among the length words of this one, contributes ``idf`` times the
saturated frequency (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009; Kamphuis et al., ECIR 2020):

    ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / average_length))

BM25's weights are precomputed, so that a query only sums a few postings lists. Formula and tokenization are those of
:mod:`baselines.bm25` with the settings of ``bm25_tuned``, which were best on validation; an additional field is the
first sentence of a method's comment, if it has one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np

from data_prep.array_types import Float, Float32, Int, Int32, Int64, Num
from data_prep.languages.identifiers import split_identifier
from data_prep.store.prepared_data import Split
from data_prep.store.ragged_lists import Ragged, edges
from search.files.file_words import stems

_LIST: Final = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
will with
"""
STOP_WORDS: Final = frozenset(_LIST.split())
"""Common English words that BM25 leaves out of queries: Lucene's list, as bm25s has it, whose import takes long."""


K1: Final = 2.0
"""Term frequency saturation."""
B: Final = 1.0
"""Length normalisation."""
WEIGHTS: Final[Mapping[str, int]] = {"name": 10, "tokens": 1, "api": 1, "query": 3}
"""Field -> number of times that each of its words counts; ``query`` is the comment's first sentence."""
_REPEATED: Final = ("name",)
"""Fields whose repeated words count each time, not once per field."""


def terms_of(words: Sequence[str]) -> list[str]:
    """The distinct stems of a query without stop words, or of all its words if all are stop words."""
    wanted = [word for word in words if word not in STOP_WORDS] or words
    return list(dict.fromkeys(stem for word in wanted for stem in stems(word)))


@dataclass(frozen=True, eq=False)
class Postings:
    """Where the postings of each term are."""

    terms: Sequence[str]  # sorted
    starts: Int64[np.ndarray, " edges"]  # start of each term's postings; terms + 1

    def part(self, term: str) -> slice:
        """The place of the postings of ``term``; an empty one if it is unknown."""
        number = self._places.get(term)
        return slice(0, 0) if number is None else slice(int(self.starts[number]), int(self.starts[number + 1]))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {term: number for number, term in enumerate(self.terms)}


@dataclass(frozen=True, eq=False)
class Bm25Index(Postings):
    """For each term, the rows that contain it and its contributions to their scores."""

    rows: Int32[np.ndarray, " postings"]
    gains: Float32[np.ndarray, " postings"]
    size: int  # rows of the index

    @classmethod
    def of(cls, split: Split, weights: Mapping[str, int] = WEIGHTS) -> "Bm25Index":
        """Index the words of all rows of ``split``."""
        terms, fields = _as_terms(split, [field for field, weight in weights.items() if weight])
        rows, numbers, counts = _counted(fields, weights)
        lengths = np.bincount(rows, weights=counts, minlength=len(split))
        holding = np.bincount(numbers, minlength=len(terms))  # number of rows per term
        norms = length_norms(lengths.astype(np.float64), K1, B)
        added = gains(idf(holding, len(split))[numbers], counts, norms[rows]).astype(np.float32)
        return cls(terms, edges(holding), rows, added, len(split))

    def scores(self, query: Sequence[str]) -> Float32[np.ndarray, " rows"]:
        """The score of each row: the summed contributions of the terms of ``query``."""
        found = np.zeros(self.size, dtype=np.float32)
        for term in terms_of(query):
            rows, gains = self.postings(term)
            found[rows] += gains
        return found

    def postings(self, term: str) -> tuple[Int32[np.ndarray, " found"], Float32[np.ndarray, " found"]]:
        """The rows that contain ``term``, and its contributions to their scores."""
        part = self.part(term)
        return self.rows[part], self.gains[part]

    def holders(self, term: str) -> int:
        """The number of rows that contain ``term``, without its postings."""
        part = self.part(term)
        return int(part.stop - part.start)

    @cached_property
    def average_length(self) -> float:
        """The mean number of terms of a row, as they are weighted; 0 if there are none.

        With B = 1 the norm of a row is K1 * length / average, so that the counts of its terms divided by its norm, of
        which the length is the sum, sum to average / K1 in every row that has terms.
        """
        assert B == 1
        weights = np.repeat(idf(np.diff(self.starts), self.size), np.diff(self.starts))
        sums = np.bincount(self.rows, counts_by_norm(self.gains.astype(np.float64), weights), self.size)
        known = sums[sums > 0]
        return K1 * float(np.median(known)) if len(known) else 0.0


def _as_terms(split: Split, fields: Sequence[str]) -> tuple[list[str], dict[str, Ragged]]:
    """All terms, sorted, and the fields as term ids."""
    forms = {}
    for field in fields:
        words = {number: split.lexicon[number] for number in np.unique(split.words[field].values).tolist()}
        parts = {number: split_identifier(word) if field == "api" else (word,) for number, word in words.items()}
        forms[field] = {number: [stem for part in each for stem in stems(part)] for number, each in parts.items()}
    terms = sorted({term for each in forms.values() for term in chain.from_iterable(each.values())})
    places = {term: number for number, term in enumerate(terms)}
    return terms, {field: _reworded(split.words[field], forms[field], places) for field in fields}


def _reworded(lists: Ragged, forms: Mapping[int, Sequence[str]], places: Mapping[str, int]) -> Ragged:
    """``lists`` with each word replaced by its terms."""
    seen, inverse = np.unique(lists.values, return_inverse=True)
    spread = Ragged.of([[places[term] for term in forms[number]] for number in seen.tolist()]).take(inverse)
    return Ragged(spread.values, spread.offsets[lists.offsets])


def _counted(
    fields: Mapping[str, Ragged], weights: Mapping[str, int]
) -> tuple[Int32[np.ndarray, " postings"], Int[np.ndarray, " postings"], Int[np.ndarray, " postings"]]:
    """Row, term and weighted count of every term of every row, sorted by term and then by row."""
    keys, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for field, lists in fields.items():
        rows = np.repeat(np.arange(len(lists)), lists.lengths)
        key, count = np.unique(lists.values.astype(np.int64) * len(lists) + rows, return_counts=True)
        keys.append(key)
        counts.append(weights[field] * (count if field in _REPEATED else np.ones_like(count)))
    found, places = np.unique(np.concatenate(keys), return_inverse=True)
    size = max(1, len(next(iter(fields.values()))))
    total = np.bincount(places, weights=np.concatenate(counts), minlength=len(found)).astype(np.int64)
    return (found % size).astype(np.int32), found // size, total


def idf(holders: Int[np.ndarray, " terms"], documents: int) -> Float[np.ndarray, " terms"]:
    """Inverse document frequency of terms that occur in ``holders`` of ``documents`` documents."""
    return np.asarray(np.log1p((documents - holders + 0.5) / (holders + 0.5)))


def length_norms(lengths: Float[np.ndarray, " documents"], k1: float, b: float) -> Float[np.ndarray, " documents"]:
    """Length norm of each document: ``k1 * (1 - b + b * length / average_length)``."""
    average = max(float(lengths.mean()) if len(lengths) else 0.0, 1e-9)
    return np.asarray(k1 * (1 - b + b * (lengths / average)))


def gains(
    weights: Float[np.ndarray, " entries"], counts: Num[np.ndarray, " entries"], norms: Float[np.ndarray, " entries"]
) -> Float[np.ndarray, " entries"]:
    """Contribution of each term of each document: its weight times its saturated frequency."""
    return np.asarray(weights * counts / (counts + norms))


def counts_by_norm(
    gains: Float[np.ndarray, " entries"], weight: float | Float[np.ndarray, " entries"]
) -> Float[np.ndarray, " entries"]:
    """What :func:`gains` was made from: each count divided by its norm, ``gain / (weight - gain)``."""
    return np.asarray(gains / np.maximum(weight - gains, 1e-7 * weight))
