"""The pairs that SnippeR's loop trains on, as texts: a query of code and errors, and a document."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from baselines.snipper.texts import QueryText, document_text
from data_prep.posts.sets import PostSets
from experiments.posts.config import LoopConfig

TextPair: TypeAlias = tuple[QueryText, str]


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
