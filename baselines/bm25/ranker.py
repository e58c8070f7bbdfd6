"""BM25, the baseline without training: words of the query against words of the method.

Each query word found in a method contributes, in Lucene's variant of the formula (Kamphuis et al., ECIR 2020),

    ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / average_length))

where N is the number of methods, n the number that contain the word, f its count in this method, and length the number
of words. A method is read as its name (``name_weight`` times), its tokens, and its API words split like identifiers; a
query as a set. Words that are missing from a release (``UNKNOWN``) are ignored on both sides.

With ``reads="text"`` the words are those of the whole source and of the whole sentence, in any language: what tests
without fields need, such as GenCodeSearchNet.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Literal

import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN

from baselines.bm25.token_bm25 import TokenBm25, TokenBm25Scores, text_words
from data_prep.bounds import check_bounds, real, whole
from data_prep.errors import UserError
from data_prep.languages.identifiers import split_identifier
from data_prep.records import UNKNOWN
from data_prep.store.prepared_data import Split
from data_prep.store.ragged_lists import Ragged
from modeling.ranker import Ranker


@dataclass(frozen=True, slots=True)
class Bm25Config:
    """Configuration of BM25 (section ``model``)."""

    k1: float = 1.2
    """Term frequency saturation: larger values saturate more slowly (Lucene's 1.2)."""
    b: float = 0.75
    """Length normalisation, 0 to 1 (Lucene's 0.75)."""
    method: Literal["lucene", "atire"] = "lucene"
    """Variant of the formula: Lucene's, or ATIRE's with ln(N / n) and the second factor times k1 + 1."""
    name_weight: int = 2
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

    def __post_init__(self) -> None:
        check_bounds(self, {"k1": real(0, 1000), "b": real(0, 1), "name_weight": whole(0, 1000)}, "model")


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
        """The words of each method's source."""
        found = [[*map(self._stem, text_words(corpus.text(row).source))] for row in range(len(corpus))]
        return [list(dict.fromkeys(words)) for words in found] if self.config.distinct else found, []

    def _queries(self, queries: Split) -> list[list[str]]:
        if self.config.reads == "fields":
            return self._read(queries, "query", [])
        texts = (text_words(queries.text(row).query_text) for row in range(len(queries)))
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
