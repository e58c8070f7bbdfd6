"""The sets of posts as texts: pools to test on, with rankers that need no training, and SnippeR's training pairs.

A pool has queries, the documents they are ranked over, and which of these are relevant or not counted. A training pair
is a query of code and errors, and a document.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from jaxtyping import Float32, Int64
from tqdm import tqdm

from baselines.bm25 import TokenBm25
from baselines.snipper_texts import (
    QueryParts,
    QueryText,
    code_words,
    cut_middle,
    document_text,
    okapi_words,
    part_words,
)
from data_prep.errors import UserError, reason_and_file
from data_prep.posts.sets import Post, PostSets, Query
from data_prep.store.prepared_data import open_prepared
from evaluation.metrics import best_ranks
from experiments.posts.config import LoopConfig, PostsBm25Config, ZeroShotConfig
from modeling.ranker import Scores, VectorScores, best_device
from modeling.transformers.pretrained import load_sentence_model

TextPair: TypeAlias = tuple[QueryText, str]
SAME_TEXT: Final = 0.8
"""Jaccard similarity of the words of two questions from which they count as the same text posted twice."""


@dataclass(frozen=True)
class Pool:
    """Queries against a corpus."""

    name: str
    queries: Sequence[QueryText]
    documents: tuple[str, ...]
    posts: Sequence[int]  # the row of each document
    relevant: Sequence[tuple[int, ...]]  # documents sought by each query
    ignored: Sequence[tuple[int, ...]]  # its own post
    rows: Sequence[int]  # of the queries

    def ranks(self, scores: Scores) -> Int64[np.ndarray, " queries"]:
        """The rank of each query's best relevant document."""
        return best_ranks(scores.blocks(), self.relevant, self.ignored)

    def of_first_link(self) -> "Pool":
        """The same where a query's first link alone leads to what is sought."""
        return replace(self, relevant=[places[:1] for places in self.relevant])

    def part(self, size: int, seed: int) -> "Pool":
        """The same queries over their relevant documents and random others, ``size`` together; 0: all."""
        sought = {place for places in self.relevant for place in places}
        if not 0 < size < len(self.documents):
            return self
        order = np.random.default_rng((seed, size)).permutation(len(self.documents)).tolist()
        others = [place for place in order if place not in sought][: max(0, size - len(sought))]
        kept = sorted([*sought, *others])
        place = {old: new for new, old in enumerate(kept)}
        return replace(
            self,
            documents=tuple(self.documents[old] for old in kept),
            posts=[self.posts[old] for old in kept],
            relevant=[tuple(place[old] for old in places) for places in self.relevant],
            ignored=[tuple(place[old] for old in places if old in place) for places in self.ignored],
        )


def evaluation_pool(
    sets: PostSets, parts: QueryParts, *, body: bool, of: Literal["full", "closed"] = "full", titles: bool = False
) -> Pool:
    """The evaluation set; with ``titles`` the titles are the queries."""
    corpus = sets.corpus if of == "full" else sets.closed_corpus
    return _pool(of, sets, sets.evaluation, corpus, parts, body=body, titles=titles)


def development_pools(sets: PostSets, parts: QueryParts, *, body: bool) -> list[Pool]:
    """The development sets that have queries.

    ``same_post``: training questions, their code and errors against title and accepted answer of all; ``duplicate``,
    the last one and most like the evaluation set: linked questions, over the same documents as the evaluation.
    """
    queries = [Query(row, (row,)) for row in sets.dev_same_post]
    same = _pool("same_post", sets, queries, sets.corpus, parts, body=False)
    same = replace(same, ignored=[()] * len(same.queries))
    linked = _pool("duplicate", sets, sets.dev_duplicates, sets.corpus, parts, body=body)
    return [pool for pool in (same, linked) if pool.queries]


def _pool(
    name: str,
    sets: PostSets,
    queries: Sequence[Query],
    corpus: Sequence[int],
    parts: QueryParts,
    *,
    body: bool,
    titles: bool = False,
) -> Pool:
    posts, place = sets.posts, {row: number for number, row in enumerate(corpus)}
    kept = [query for query in queries if titles or QueryText.of(posts[query.row], parts).text]
    return Pool(
        name,
        [QueryText(posts[q.row].title, "") if titles else QueryText.of(posts[q.row], parts) for q in kept],
        tuple(document_text(posts[row], body=body) for row in corpus),
        corpus,
        [tuple(place[row] for row in query.relevant) for query in kept],
        [(place[query.row],) if query.row in place else () for query in kept],
        [query.row for query in kept],
    )


def query_kinds(sets: PostSets, pool: Pool) -> dict[str, list[int]]:
    """Places of the queries of each kind: only code, only an error, both; and those that repeat their original."""
    kinds: dict[str, list[int]] = {"code": [], "error": [], "both": [], "same_text": [], "other_text": []}
    for place, row in enumerate(pool.rows):
        post = sets.posts[row]
        if post.has_query:
            kinds["both" if post.code and post.error else "code" if post.code else "error"].append(place)
        originals = (sets.posts[pool.posts[column]] for column in pool.relevant[place])
        repeated = any(is_same_text(post, original) for original in originals)
        kinds["same_text" if repeated else "other_text"].append(place)
    return kinds


def is_same_text(one: Post, other: Post) -> bool:
    """Whether title and body of two questions have nearly the same words."""
    left, right = ({*re.findall(r"\w+", f"{post.title} {post.text}".lower())} for post in (one, other))
    return len(left & right) >= SAME_TEXT * max(1, len(left | right))


@dataclass(frozen=True)
class LoopPairs:
    """The pairs of a data set, as the loop's options select them."""

    config: LoopConfig
    sets: PostSets

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The questions of the training pairs, as rows of the posts."""
        parts, limit = self.config.parts, self.config.train_limit
        rows = [row for row in self.sets.training if QueryText.of(self.sets.posts[row], parts).text]
        if 0 < limit < len(rows):
            chosen = np.random.default_rng(self.sets.config.seed).permutation(len(rows))[:limit]
            rows = [rows[place] for place in sorted(chosen.tolist())]
        return tuple(rows)

    @cached_property
    def training(self) -> list[TextPair]:
        """A question's code and errors, and its own title and accepted answer."""
        found = []
        for row in self.rows:
            post = self.sets.posts[row]
            between = post.prose if self.config.document == "prose" else ""
            document = "\n".join(filter(None, (post.title, between, post.best_answer)))
            found.append((QueryText.of(post, self.config.parts), document))
        return found

    def pretraining(self) -> list[TextPair]:
        """The code and errors of a question, and another with its body that it duplicates, or is linked to."""
        kind, parts, posts = self.config.pretrain, self.config.parts, self.sets.posts
        pairs = [*self.sets.pretraining] if kind in ("duplicates", "both") else []
        pairs += [*self.sets.linked_pretraining] if kind in ("linked", "both") else []
        found = [(QueryText.of(posts[one], parts), document_text(posts[other], body=True)) for one, other in pairs]
        return [pair for pair in found if pair[0].text]

    def duplicates(self) -> list[frozenset[int]]:
        """For each training pair, the places of the duplicates of its question: no hard negatives."""
        place = {row: number for number, row in enumerate(self.rows)}
        others = (self.sets.duplicates_of.get(row, frozenset()) for row in self.rows)
        return [frozenset(place[other] for other in rows if other in place) for rows in others]


def checksum(pairs: Sequence[TextPair]) -> str:
    """The sha256 of all texts, with their lengths."""
    digest = hashlib.sha256()
    for query, document in pairs:
        for text in (query.code, query.error, document):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def docstring_pairs(folder: Path) -> list[TextPair]:
    """Pairs of a function and its docstring, of a prepared data set; an encoder may be tuned on them before all others.

    The paper's baseline is GraphCodeBERT tuned on CodeSearchNet, without syntax trees or data flow (section 5). Here
    the words of a function, which exclude its docstring, take the place of a query's code, and the first sentence of
    the docstring that of a document.

    Raises:
        UserError: the folder has no prepared data set, or a damaged one.
    """
    try:
        split = open_prepared(folder).splits["train"]
    except (OSError, UserError) as error:
        raise UserError(
            f"--loop.docstrings takes the folder of a prepared data set, such as data/installed-python after bash "
            f"run.sh prepare installed --data.language=python, not {folder} ({reason_and_file(error)})"
        ) from error
    pairs = []
    for row in range(len(split)):
        words = [*split.word_list("name", row), *split.word_list("tokens", row)]
        pairs.append((QueryText(" ".join(words), ""), split.text(row).query_text))
    return pairs


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
        queries = [" ".join(cut_middle(query.text.split(" "), self.config.max_length)) for query in pool.queries]
        return VectorScores(self._vectors(queries), self._vectors(pool.documents))

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
