"""The page and picture of a dump's sizes, and the comparison of settings of BM25."""

from dataclasses import replace

import pytest

from experiments.posts.config import resolve_plan
from experiments.posts.run import tuned_page
from experiments.posts.sizes import size_rows, write_statistics
from tests.data_prep.posts.dumps import POST, small_dump


@pytest.fixture
def typed(tmp_path):
    return {
        "data.path": str(small_dump(tmp_path)), "data.root": str(tmp_path / "data"), "loop.out": str(tmp_path / "runs"),
        "data.dev_share": "0.5",
    }  # fmt: skip


def test_sizes_stand_beside_the_papers_and_its_errors(typed, tmp_path):
    shown = write_statistics(resolve_plan("bm25", typed), "a command", lambda _: None)
    page = (tmp_path / "runs" / "statistics.md").read_text()
    assert shown.startswith(page)
    assert "| questions | 8 |  | 948,749 |  |" in page
    assert "| questions with best_answer | 4 | 50.00 | 337,797 | 35.6 |" in page
    assert "| with code | 7 |" in page
    assert "| CodeSearchNet's size in percent of the data set | 200.18 | 218.24 |" in page
    assert (tmp_path / "runs" / "statistics.png").read_bytes().startswith(b"\x89PNG")


def test_settings_of_bm25_are_ordered_by_their_mean(typed):
    page = tuned_page(resolve_plan("bm25_tuned", typed), "a command", lambda _: None)
    rows = [line.split("|") for line in page.splitlines()[2:]]
    means = [float(row[-2]) for row in rows]
    assert len(rows) == 13
    assert means == sorted(means, reverse=True)
    assert all(0 < mean <= 1 for mean in means)
    assert {row[1].strip() for row in rows} == {"okapi", "code"}


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
