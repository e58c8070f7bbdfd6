"""The rankers of posts: BM25, and encoders that give one vector per text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Float32, Int64

from baselines.bm25.token_bm25 import TokenBm25
from baselines.snipper.encoder import SnippetEncoder, SnippetTokenizer
from baselines.snipper.encoding import encode_texts
from baselines.snipper.texts import code_words, cut_middle, okapi_words, part_words
from data_prep.store.ragged_lists import Ragged
from experiments.posts.config import PostsBm25Config
from experiments.posts.pools import Pool
from modeling.ranker import SCORES_PER_BLOCK, Scores

Made = TypeVar("Made")
WORDS: Final[dict[str, Callable[[str], list[str]]]] = {
    "okapi": okapi_words, "parts": part_words, "code": code_words
}  # fmt: skip


@runtime_checkable
class PostRanker(Protocol):
    """Scores the queries of a pool against its documents."""

    def over(self, pool: Pool) -> Scores:
        """The scores of all queries."""


class PerCorpus(Generic[Made]):
    """What is made of the documents of a corpus, made once for each: pools share corpora."""

    def __init__(self, make: Callable[[Sequence[str]], Made]) -> None:
        """``make`` takes the documents."""
        self._make = make
        self._known: list[tuple[Sequence[str], Made]] = []

    def of(self, documents: Sequence[str]) -> Made:
        """What belongs to these documents."""
        for known, made in self._known:
            if known == documents:
                return made
        self._known.append((documents, self._make(documents)))
        return self._known[-1][1]


@dataclass
class Bm25Ranker:
    """BM25; the index of a corpus is made once."""

    config: PostsBm25Config

    def __post_init__(self) -> None:
        self._indexes = PerCorpus(self.index)

    def over(self, pool: Pool) -> Scores:
        """The scores of all queries of a pool."""
        return self._indexes.of(pool.documents).over([self.query(query.text) for query in pool.queries])

    def index(self, documents: Sequence[str]) -> TokenBm25:
        """The index of a corpus; the first line of a document is its title."""
        words, weight = WORDS[self.config.words], self.config.title_weight
        texts = (document.partition("\n") for document in documents)
        lists = (words(title) * weight + words(rest) for title, _, rest in texts)
        return TokenBm25(lists, k1=self.config.k1, b=self.config.b)

    def query(self, text: str) -> list[str]:
        """The words of a query."""
        found = WORDS[self.config.words](text)
        found = list(dict.fromkeys(found)) if self.config.distinct else found
        return cut_middle(found, self.config.query_words) if self.config.query_words else found


class VectorScores(Scores):
    """Dot products of vectors."""

    def __init__(self, queries: Float32[np.ndarray, "queries dim"], documents: Float32[np.ndarray, "docs dim"]) -> None:
        """One vector per text."""
        super().__init__(len(queries), len(documents))
        self._queries, self._documents = queries, documents

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The score of every candidate of each query."""
        return np.einsum("qd,qcd->qc", self._queries[queries], self._documents[candidates])

    def blocks(self) -> Iterator[Float32[np.ndarray, "block docs"]]:
        """Every query against every document, as matrix products."""
        step = max(1, SCORES_PER_BLOCK // max(1, self.codes))
        for start in range(0, self.queries, step):
            yield self._queries[start : start + step] @ self._documents.T


@dataclass
class EncoderRanker:
    """A trained encoder."""

    model: SnippetEncoder
    tokenizer: SnippetTokenizer
    tokenized: PerCorpus[Ragged] | None = None
    """The documents of each corpus as ids, which rankers with the same tokenizer share."""

    def __post_init__(self) -> None:
        tokenized = self.tokenized or PerCorpus(self.tokenizer.documents)
        self._vectors = PerCorpus(lambda documents: self.documents(tokenized.of(documents)))

    def over(self, pool: Pool) -> Scores:
        """The scores of all queries of a pool; the documents of a corpus are encoded once."""
        return VectorScores(self.queries(self.tokenizer.queries(pool.queries)), self._vectors.of(pool.documents))

    def queries(self, ids: Ragged) -> Float32[np.ndarray, "queries dim"]:
        """The vectors of queries."""
        return encode_texts(self.model, ids, "query")

    def documents(self, ids: Ragged) -> Float32[np.ndarray, "docs dim"]:
        """The vectors of documents."""
        return encode_texts(self.model, ids, "code")
