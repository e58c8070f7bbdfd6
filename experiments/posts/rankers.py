"""The rankers of posts: BM25 and its tuning, and encoders that give one vector per text, trained or not."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Final, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32
from tqdm import tqdm

from baselines.bm25 import TokenBm25
from baselines.snipper_encoder import SnippetEncoder, SnippetTokenizer, encode_texts
from baselines.snipper_texts import code_words, cut_middle, okapi_words, part_words
from data_prep.errors import UserError
from data_prep.posts.sets import PostSets
from data_prep.posts.store import prepare_posts
from data_prep.store.arrays import Ragged
from evaluation.metrics import mrr, top_at_k
from experiments.posts.config import PostsBm25Config, PostsPlan, ZeroShotConfig
from experiments.posts.pools import Pool, development_pools
from modeling.ranker import Scores, VectorScores, best_device
from modeling.transformers.sentence_encoder import load_sentence_model

WORDS: Final[dict[str, Callable[[str], list[str]]]] = {
    "okapi": okapi_words, "parts": part_words, "code": code_words
}  # fmt: skip
_CHARACTERS_PER_TOKEN: Final = 16


@runtime_checkable
class PostRanker(Protocol):
    """Scores the queries of a pool against its documents."""

    def over(self, pool: Pool) -> Scores:
        """The scores of all queries."""


@dataclass
class Bm25Ranker:
    """BM25; the index of a corpus is made once."""

    config: PostsBm25Config

    def __post_init__(self) -> None:
        self._index_of = cache(self.index)

    def over(self, pool: Pool) -> Scores:
        """The scores of all queries of a pool."""
        return self._index_of(pool.documents).over([self.query(query.text) for query in pool.queries])

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


def tuned_page(plan: PostsPlan, command: str, say: Callable[[str], None]) -> str:
    """A table of settings, the best by mean MRR over both development sets first.

    Raises:
        UserError: the dump is not available, or has no development queries.
    """
    sets = PostSets(prepare_posts(plan.data, command=command, say=say).posts, plan.data)
    pools = development_pools(sets, plan.loop.parts, body=plan.evaluate.body)
    if not pools:
        raise UserError("there are no development queries to tune on: take a larger dump")
    rows = []
    for config in _settings(plan.model):
        cells, total = "", 0.0
        for pool in pools:
            ranks = pool.ranks(Bm25Ranker(config).over(pool))
            cells += f" {top_at_k(ranks, 10):.3f} | {mrr(ranks):.4f} |"
            total += mrr(ranks) / len(pools)
        rows.append(
            (total, f"| {config.words} | {config.k1} | {config.b} | {config.title_weight} |{cells} {total:.4f} |")
        )
        say(rows[-1][1])
    heads = " | ".join(f"{pool.name} Recall@10 | MRR" for pool in pools)
    best = [line for _, line in sorted(rows, reverse=True)]
    rule = "|---" * (5 + 2 * len(pools)) + "|"
    return "\n".join([f"| words | k1 | b | title weight | {heads} | mean MRR |", rule, *best])


def _settings(config: PostsBm25Config) -> Iterator[PostsBm25Config]:
    yield replace(config, words="okapi", k1=1.2, b=0.75, title_weight=1)
    for k1, b, weight in product((1.2, 2.5), (0.5, 0.75, 1.0), (1, 3)):
        yield replace(config, k1=k1, b=b, title_weight=weight)


@dataclass
class EncoderRanker:
    """A trained encoder."""

    model: SnippetEncoder
    tokenizer: SnippetTokenizer
    ids_of: Callable[[tuple[str, ...]], Ragged]
    """The documents of a corpus as ids, which rankers with the same tokenizer share."""

    def __post_init__(self) -> None:
        self._vectors_of = cache(lambda documents: self.documents(self.ids_of(documents)))

    def over(self, pool: Pool) -> Scores:
        """The scores of all queries of a pool; the documents of a corpus are encoded once."""
        return VectorScores(self.queries(self.tokenizer.queries(pool.queries)), self._vectors_of(pool.documents))

    def queries(self, ids: Ragged) -> Float32[np.ndarray, "queries dim"]:
        """The vectors of queries."""
        return encode_texts(self.model, ids, "query")

    def documents(self, ids: Ragged) -> Float32[np.ndarray, "docs dim"]:
        """The vectors of documents."""
        return encode_texts(self.model, ids, "code")


@dataclass
class ZeroShotRanker:
    """Cosines of a sentence encoder's vectors; documents that were encoded before are not encoded again."""

    config: ZeroShotConfig

    def __post_init__(self) -> None:
        self._model = load_sentence_model(self.config.base, best_device())
        self._model.max_seq_length = self.config.max_length
        self._known: dict[str, Float32[np.ndarray, " dim"]] = {}

    def over(self, pool: Pool) -> VectorScores:
        """The scores of all queries of a pool; a query that is too long loses its middle, a document its end."""
        queries = [self._shortened(query.text) for query in pool.queries]
        return VectorScores(self._vectors(queries), self._vectors(pool.documents))

    def _shortened(self, text: str) -> str:
        """``text`` without the middle of its words, as many as fit for sure."""
        return " ".join(cut_middle(text.split(" "), self.config.max_length))

    def _vectors(self, texts: Sequence[str]) -> Float32[np.ndarray, "texts dim"]:
        most = self.config.max_length * _CHARACTERS_PER_TOKEN
        cut = [text[:most] for text in texts]
        new = sorted({text for text in cut if text not in self._known}, key=len)
        step = self.config.batch_size
        for at in tqdm(range(0, len(new), step), desc="encoding", unit=" batches", disable=None, leave=False):
            part = new[at : at + step]
            found = self._model.encode(part, batch_size=step, normalize_embeddings=True, show_progress_bar=False)
            self._known.update(zip(part, found, strict=True))
        return np.stack([self._known[text] for text in cut]).astype(np.float32)
