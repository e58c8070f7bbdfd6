"""BM25 over raw text in any language: words of the text against words of the code, without training.

Runs of letters, digits and underscores are split like identifiers (camel case, snake case) and lower-cased. Each
occurrence of a word in the text adds the word's score in the code, as in :mod:`baselines.bm25.formula`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from jaxtyping import Float32, Int32, Int64
from tqdm import tqdm

from baselines.bm25.formula import gains, idf, length_norms
from data_prep.errors import UserError
from data_prep.languages.identifiers import split_identifier
from data_prep.store.prepared_data import Split
from data_prep.store.ragged_lists import edges
from modeling.ranker import Ranker, Scores

_RUN: Final = re.compile(r"\w+")
_AT_ONCE: Final = 1 << 20
"""Most words of candidates processed at once: about 20 MiB."""


def text_words(text: str) -> list[str]:
    """The words of a text or a code, in order: ``read.csv(myFile2)`` -> read, csv, my, file, 2."""
    return [part for run in _RUN.findall(text) for part in split_identifier(run)]


@dataclass(frozen=True, slots=True)
class TextBm25(Ranker):
    """Scores texts against codes by BM25."""

    k1: float = 1.2
    """Term frequency saturation: larger values saturate more slowly (Lucene's 1.2)."""
    b: float = 0.75
    """Length normalisation, 0 to 1 (Lucene's 0.75)."""

    def __post_init__(self) -> None:
        if not 0 <= self.k1 < float("inf"):
            raise UserError(f"k1 takes a number of 0 or more, not {self.k1}")
        if not 0 <= self.b <= 1:
            raise UserError(f"b takes a number from 0 to 1, not {self.b}")

    def over(self, queries: Split, corpus: Split) -> "TextBm25Scores":
        """Count the words of all code for the term weights, and tokenize the queries."""
        counts = _Counts.of([corpus.text(row).source for row in range(len(corpus))])
        known = counts.terms
        texts = (queries.text(row).query_text for row in range(len(queries)))
        asked = [Counter(known[word] for word in text_words(text) if word in known) for text in texts]
        return TextBm25Scores(counts, self._weights(counts), asked)

    def _weights(self, counts: "_Counts") -> Float32[np.ndarray, " entries"]:
        """The contribution of each word of each code to its score."""
        codes = len(counts.offsets) - 1
        holders = np.bincount(counts.numbers, minlength=len(counts.terms))
        of_code = np.repeat(np.arange(codes), np.diff(counts.offsets))
        lengths = np.bincount(of_code, weights=counts.often, minlength=codes).astype(np.float64)
        norms = length_norms(lengths, self.k1, self.b)
        return gains(idf(holders, codes)[counts.numbers], counts.often, norms[of_code]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class _Counts:
    """The distinct words of every code, concatenated, with their counts."""

    terms: dict[str, int]
    numbers: Int32[np.ndarray, " entries"]
    often: Int32[np.ndarray, " entries"]
    offsets: Int64[np.ndarray, " edges"]  # codes + 1

    @classmethod
    def of(cls, codes: Sequence[str]) -> "_Counts":
        terms: dict[str, int] = {}
        numbers, often, distinct = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], []
        for code in tqdm(codes, desc="BM25", unit=" codes", disable=None):
            counted = Counter(terms.setdefault(word, len(terms)) for word in text_words(code))
            numbers.append(np.fromiter(counted, np.int32, len(counted)))
            often.append(np.fromiter(counted.values(), np.int32, len(counted)))
            distinct.append(len(counted))
        offsets = edges(np.array(distinct, np.int64))
        return cls(terms, np.concatenate(numbers), np.concatenate(often), offsets)


class TextBm25Scores(Scores):
    """Scores of candidates: the summed weights of their words that occur in the text."""

    def __init__(
        self, counts: "_Counts", weights: Float32[np.ndarray, " entries"], asked: Sequence[Counter[int]]
    ) -> None:
        """``weights``: of each entry of ``counts``; ``asked``: the count of each word in each text."""
        super().__init__(len(asked), len(counts.offsets) - 1)
        self._numbers, self._offsets, self._terms = counts.numbers, counts.offsets, len(counts.terms)
        self._weights, self._asked = weights, asked

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The score of every candidate of each query."""
        scores = np.zeros(candidates.shape, np.float32)
        times = np.zeros(self._terms, np.float32)  # count of each term in the current query
        for row, query in enumerate(queries.tolist()):
            asked = self._asked[query]
            places = np.fromiter(asked, np.int64, len(asked))
            times[places] = np.fromiter(asked.values(), np.float32, len(asked))
            for part in self._parts(candidates[row]):
                scores[row, part] = self._sums(times, candidates[row, part])
            times[places] = 0
        return scores

    def _parts(self, codes: Int64[np.ndarray, " candidates"]) -> Iterator[slice]:
        """Slices of ``codes``, each with a bounded number of words."""
        lengths = self._offsets[codes + 1] - self._offsets[codes]
        part = np.cumsum(lengths) // _AT_ONCE
        cuts = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(codes)]
        return (slice(start, end) for start, end in pairwise(cuts) if start < end)

    def _sums(
        self, times: Float32[np.ndarray, " terms"], codes: Int64[np.ndarray, " part"]
    ) -> Float32[np.ndarray, " part"]:
        starts, lengths = self._offsets[codes], self._offsets[codes + 1] - self._offsets[codes]
        ends = np.cumsum(lengths)
        entries = np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1])
        added = times[self._numbers[entries]] * self._weights[entries]
        return np.bincount(np.repeat(np.arange(len(codes)), lengths), added, len(codes)).astype(np.float32)
