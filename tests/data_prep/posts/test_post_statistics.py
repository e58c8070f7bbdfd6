"""Sizes of posts against sums by hand."""

from dataclasses import replace

from data_prep.posts.records import NOBODY, Post
from data_prep.posts.sets import size_rows

POST = Post("s", 1, "t", (), "", "x" * 10, "", "", "", (), "", None, (), (), "", NOBODY, NOBODY)


def test_means_over_the_posts_that_have_the_field():
    posts = [
        POST,
        replace(POST, text="y" * 30, code="c" * 6, best_answer="b" * 15),
        replace(POST, text="z" * 50, code="c" * 4, error="e" * 16),
    ]
    rows = {row.subset: (row.posts, row.total, row.field) for row in size_rows(posts)}
    assert rows == {
        "all posts": (3, 30, 30),
        "with code": (2, 40, 5),
        "with error": (1, 50, 16),
        "with code and error": (1, 50, 20),
        "with best_answer": (1, 30, 15),
    }
    assert size_rows([])[1].percent == 0
