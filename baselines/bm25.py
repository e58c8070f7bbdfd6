"""BM25, the baseline without training: words of the query against words of the method.

Each query word found in a method contributes, in Lucene's variant of the formula (Kamphuis et al., ECIR 2020),

    ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / average_length))

where N is the number of methods, n the number that contain the word, f its count in this method, and length the number
of words. A method is read as its name (``name_weight`` times), its tokens, and its API words split like identifiers; a
query as a set. Words that are missing from a release (``UNKNOWN``) are ignored on both sides.

With ``reads="text"`` the words are those of the whole source and of the whole sentence, in any language: what tests
without fields need, such as GenCodeSearchNet.

:class:`TokenBm25` is the same over lists of words; bm25s computes the weights. A word that occurs several times in
a query counts each time, unless the caller removes repetitions.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, ClassVar, Final, Literal

import bm25s
import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN
from jaxtyping import Float32, Int64

from data_prep.errors import Bounded, UserError, real, whole
from data_prep.languages.identifiers import split_identifier
from data_prep.records import UNKNOWN
from data_prep.store.arrays import Ragged
from data_prep.store.split import Split
from modeling.ranker import Ranker, Scores
from modeling.read_texts import texts_read

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


@dataclass(frozen=True, slots=True)
class Bm25Config(Bounded, section="model"):
    """Configuration of BM25 (section ``model``)."""

    k1: Annotated[float, real(0, 1000)] = 1.2
    """Term frequency saturation: larger values saturate more slowly (Lucene's 1.2)."""
    b: Annotated[float, real(0, 1)] = 0.75
    """Length normalisation, 0 to 1 (Lucene's 0.75)."""
    method: Literal["lucene", "atire"] = "lucene"
    """Variant of the formula: Lucene's, or ATIRE's with ln(N / n) and the second factor times k1 + 1."""
    name_weight: Annotated[int, whole(0, 1000)] = 2
    """Number of times that words of the name count; 0: not at all."""
    distinct: bool = False
    """Whether repeated words of a method count only once among its tokens and once among its API words."""
    common_words: bool = True
    """Whether English stop words of a query count; false: they are ignored (bm25s's list)."""
    stem: bool = True
    """Whether words are stemmed (Snowball, English), which is stronger; BM25 in most papers does not stem."""
    reads: Literal["fields", "text"] = "fields"
    """What is read: the fields of a method and the words of a query, or all words of both texts, without a name."""
    repeated: bool = False
    """Whether a word that is repeated in a query counts each time."""


class Bm25(Ranker):
    """Ranks the methods of a corpus by BM25."""

    config_type: ClassVar[type] = Bm25Config

    def __init__(self, config: Bm25Config) -> None:
        """Nothing is trained; :meth:`over` counts words."""
        self.config = config
        self._stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord if config.stem else str

    def over(self, queries: Split, corpus: Split) -> TokenBm25Scores:
        """Index the words of ``corpus``, and tokenize the queries.

        Raises:
            UserError: ``corpus`` is empty.
        """
        if not len(corpus):
            raise UserError(f"BM25 ranks at least one method, but split {corpus.name} has none")
        documents, terms = self._texts(corpus) if self.config.reads == "text" else self._methods(corpus)
        index = TokenBm25(documents, k1=self.config.k1, b=self.config.b, method=self.config.method, terms=terms)
        return index.over([self._known(query, index.terms) for query in self._queries(queries)])

    def _methods(self, corpus: Split) -> tuple[list[list[str]], list[str]]:
        """The words of each method by its fields, and all words in the order of the lexicon."""
        config, terms = self.config, list[str]()
        name, tokens, api = (self._read(corpus, field, terms) for field in ("name", "tokens", "api"))
        if config.distinct:
            tokens, api = ([list(dict.fromkeys(words)) for words in field] for field in (tokens, api))
        return [[*n * config.name_weight, *t, *a] for n, t, a in zip(name, tokens, api, strict=True)], terms

    def _texts(self, corpus: Split) -> tuple[list[list[str]], list[str]]:
        """The words of each method's text."""
        found = [[*map(self._stem, text_words(text.source))] for text in texts_read(corpus)]
        return [list(dict.fromkeys(words)) for words in found] if self.config.distinct else found, []

    def _queries(self, queries: Split) -> list[list[str]]:
        if self.config.reads == "fields":
            return self._read(queries, "query", [])
        texts = (text_words(text.query_text) for text in texts_read(queries))
        return [[self._stem(word) for word in words if not self._ignored(word)] for words in texts]

    def _known(self, query: list[str], places: Mapping[str, int]) -> list[str]:
        """The words of a query that the corpus has; distinct ones in the order of its terms."""
        return query if self.config.repeated else sorted(places.keys() & set(query), key=places.__getitem__)

    def _ignored(self, word: str) -> bool:
        return not self.config.common_words and word in STOPWORDS_EN

    def _read(self, split: Split, field: str, terms: list[str]) -> list[list[str]]:
        """The terms of ``field`` in each row; each is also added to ``terms``, in the order of the lexicon."""
        lists: Ragged = split.words[field]
        forms: dict[int, list[str]] = {}
        for number in np.unique(lists.values).tolist():
            word = split.lexicon[number]
            if word == UNKNOWN or (field == "query" and self._ignored(word)):  # UNKNOWN stands for different words
                forms[number] = []
            else:
                forms[number] = [self._stem(part) for part in (split_identifier(word) if field == "api" else (word,))]
                terms += forms[number]
        return [list(chain.from_iterable(forms[number] for number in lists[row].tolist())) for row in range(len(lists))]
