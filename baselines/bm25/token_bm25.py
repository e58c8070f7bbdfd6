"""BM25 over lists of words, or over raw text in any language; bm25s computes the weights.

Formula and parameters are those of :mod:`baselines.bm25.formula`. A word that occurs several times in a query counts
each time, unless the caller removes repetitions.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import bm25s
import numpy as np
from jaxtyping import Float32, Int64

from data_prep.errors import UserError
from data_prep.languages.identifiers import split_identifier
from modeling.ranker import Scores

_BLOCK_BYTES: Final = 1 << 25
"""Maximum size of a block of scores, 32 MiB."""
_FREQUENT: Final = 16
"""A word is frequent if one of this many documents has it."""
_WIDE_BYTES: Final = 1 << 28
"""Most memory for the weights of frequent words in all documents."""
_RUN: Final = re.compile(r"\w+")
_ARRAYS: Final = ("data", "indices", "indptr")


class TokenBm25:
    """The index of a corpus."""

    _wide: dict[int, Float32[np.ndarray, " documents"]]

    def __init__(
        self,
        documents: Iterable[Sequence[str]],
        *,
        k1: float = 1.2,
        b: float = 0.75,
        method: str = "lucene",
        terms: Iterable[str] = (),
    ) -> None:
        """Index the words of each document.

        Args:
            documents: their words.
            k1: saturation of the frequency.
            b: length normalisation.
            method: "lucene", or "atire" with ln(N / n) and the second factor times k1 + 1.
            terms: words that get the first numbers, in this order.

        Raises:
            UserError: there are no documents.
        """
        self.terms: dict[str, int] = {"": 0}  # so that there is a term even if all documents are empty
        for term in terms:
            self.terms.setdefault(term, len(self.terms))
        ids = [[self.terms.setdefault(word, len(self.terms)) for word in words] for words in documents]
        if not ids:
            raise UserError("BM25 ranks at least one document, but there is none")
        self.size, self._wide = len(ids), {}
        scorer = bm25s.BM25(k1=k1, b=b, method=method, dtype="float32", auto_compile=False)
        with np.errstate(invalid="ignore"):  # the average length is 0 if all documents are empty
            scorer.index((ids, self.terms), create_empty_token=False, show_progress=False)
        self.arrays: dict[str, np.ndarray] = {name: np.asarray(scorer.scores[name]) for name in _ARRAYS}
        """The weights of all terms in all documents, as a compressed sparse matrix by columns."""

    @classmethod
    def restored(cls, terms: Sequence[str], arrays: Mapping[str, np.ndarray], size: int) -> "TokenBm25":
        """An index of ``size`` documents from its terms in order and :attr:`arrays`, possibly memory-mapped.

        Raises:
            UserError: they do not fit each other.
        """
        data, indices, indptr = (arrays[name] for name in _ARRAYS)
        whole = len(indptr) == len(terms) + 1 and indptr[0] == 0 and indptr[-1] == len(data) == len(indices)
        if (
            not whole
            or (np.diff(indptr) < 0).any()
            or (len(indices) and not 0 <= indices.min() <= indices.max() < size)
        ):
            raise UserError("the arrays of BM25 are damaged")
        index = cls.__new__(cls)
        index.terms, index.size = {term: number for number, term in enumerate(terms)}, size
        index._wide = {}
        index.arrays = dict(arrays)
        return index

    def scores(self, words: Sequence[str]) -> Float32[np.ndarray, " documents"]:
        """The score of each document; 0 if it has no word of the query."""
        found = np.zeros(self.size, np.float32)
        data, indices, indptr = (self.arrays[name] for name in _ARRAYS)
        for word, times in Counter(words).items():
            if not (number := self.terms.get(word)):
                continue
            part = slice(indptr[number], indptr[number + 1])
            wide = self._wide_weights(number, part)
            added = data[part] if wide is None else wide
            if times != 1:
                added = times * added
            if wide is None:
                np.add.at(found, indices[part], added)
            else:
                found += added
        return found

    def _wide_weights(self, number: int, part: slice) -> Float32[np.ndarray, " documents"] | None:
        """The weights of a frequent word in all documents, which are added several times faster than by document.

        They are retained for further queries; None if the word is not frequent, or no more may be retained.
        """
        if number in self._wide:
            return self._wide[number]
        if (part.stop - part.start) * _FREQUENT < self.size or 4 * self.size * (len(self._wide) + 1) > _WIDE_BYTES:
            return None
        wide = np.zeros(self.size, np.float32)
        wide[self.arrays["indices"][part]] = self.arrays["data"][part]
        self._wide[number] = wide
        return wide

    def over(self, queries: Sequence[Sequence[str]]) -> "TokenBm25Scores":
        """The scores of queries against all documents."""
        return TokenBm25Scores(self, queries)


class TokenBm25Scores(Scores):
    """BM25 scores, computed query by query."""

    def __init__(self, index: TokenBm25, queries: Sequence[Sequence[str]]) -> None:
        """``queries``: their words."""
        super().__init__(len(queries), index.size)
        self._index, self._queries = index, queries

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The score of every candidate of each query."""
        scores = np.empty(candidates.shape, np.float32)
        for row, query in enumerate(queries.tolist()):
            scores[row] = self._index.scores(self._queries[query])[candidates[row]]
        return scores

    def blocks(self) -> Iterator[Float32[np.ndarray, "block documents"]]:
        """Every query against every document."""
        step = max(1, _BLOCK_BYTES // (4 * self.codes))
        for start in range(0, self.queries, step):
            part = self._queries[start : start + step]
            yield np.stack([self._index.scores(words) for words in part])


def text_words(text: str) -> list[str]:
    """The words of a text or a code, in order: ``read.csv(myFile2)`` -> read, csv, my, file, 2."""
    return [part for run in _RUN.findall(text) for part in split_identifier(run)]
