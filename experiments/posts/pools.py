"""Test pools: queries, the documents they are ranked over, and which of these are relevant or not counted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from jaxtyping import Int64

from baselines.snipper.texts import QueryParts, QueryText, document_text
from data_prep.posts.records import Post
from data_prep.posts.sets import PostSets, Query
from evaluation.metrics import best_ranks
from modeling.ranker import Scores

SAME_TEXT: Final = 0.8
"""Jaccard similarity of the words of two questions from which they count as the same text posted twice."""


@dataclass(frozen=True)
class Pool:
    """Queries against a corpus."""

    name: str
    queries: Sequence[QueryText]
    documents: Sequence[str]
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
            documents=[self.documents[old] for old in kept],
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


def duplicate_pool(sets: PostSets, parts: QueryParts, *, body: bool) -> Pool:
    """The development set of linked questions, over the same documents as the evaluation."""
    return _pool("duplicate", sets, sets.dev_duplicates, sets.corpus, parts, body=body)


def same_post_pool(sets: PostSets, parts: QueryParts) -> Pool:
    """The development set of training questions: their code and errors against title and accepted answer of all."""
    queries = [Query(row, (row,)) for row in sets.dev_same_post]
    pool = _pool("same_post", sets, queries, sets.corpus, parts, body=False)
    return replace(pool, ignored=[()] * len(queries))


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
        [document_text(posts[row], body=body) for row in corpus],
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
