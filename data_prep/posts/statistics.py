"""Sizes of the fields of posts, as in the paper's table of statistics (arXiv 2305.11625, section 3).

For a subset of the questions: the mean number of characters of a question's text, and of the fields in question. The
percentage is the second over the first. The paper does not say what the total of a question is; its numbers exclude
that the answer is part of it (questions with an answer have a smaller total than all), so here it is the question's
text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from data_prep.posts.records import Post


@dataclass(frozen=True, slots=True)
class SizeRow:
    """Mean sizes in characters of a subset."""

    subset: str
    posts: int
    total: float
    field: float

    @property
    def percent(self) -> float:
        """Size of the fields in percent of the total."""
        return 100 * self.field / self.total if self.total else 0.0


_SUBSETS: Final[dict[str, Callable[[Post], int]]] = {
    "all posts": lambda post: len(post.text),
    "with code": lambda post: len(post.code),
    "with error": lambda post: len(post.error),
    "with code and error": lambda post: (len(post.code) + len(post.error)) * bool(post.code and post.error),
    "with best_answer": lambda post: len(post.best_answer),
}
"""Subset -> size of its fields in a post, 0 if the post is not part of it."""


def size_rows(posts: Sequence[Post]) -> list[SizeRow]:
    """The rows of the paper's table for ``posts``."""
    rows = []
    for subset, size in _SUBSETS.items():
        found = [(len(post.text), size(post)) for post in posts if size(post) or subset == "all posts"]
        count = max(1, len(found))
        total, field = (sum(column) / count for column in zip(*found, strict=True)) if found else (0.0, 0.0)
        rows.append(SizeRow(subset, len(found), total, field))
    return rows
