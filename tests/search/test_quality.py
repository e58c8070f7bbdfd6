from dataclasses import replace

import numpy as np
import pytest

from search.engine import Ranking
from search.quality import FEWEST, measure_quality, quality_lines, question_rows, without_comments


class Knows:
    """A model that scores one row of each query above all others."""

    def __init__(self, index, golds):
        self.golds = {tuple(index.split.word_list("query", row)): row for row in golds}

    def scores(self, words, rows):
        return np.where(rows == self.golds[tuple(words)], 1.0, 0.0).astype(np.float32)

    def alignment(self, *_):
        return None


def test_questions_are_comments_that_can_be_asked_each_once(index):
    rows = question_rows(index, 0, 0)
    asked = [tuple(index.split.word_list("query", row)) for row in rows.tolist()]
    assert len(set(asked)) == len(asked) == len(rows) > 300
    assert index.asks[rows].all()
    assert {tuple(index.split.word_list("query", row)) for row in np.flatnonzero(index.asks).tolist()} == set(asked)
    drawn = question_rows(index, 50, 1)
    assert set(drawn.tolist()) < set(rows.tolist())
    assert len(drawn) == 50
    assert (question_rows(index, 50, 1) == drawn).all()
    assert (question_rows(index, 50, 2) != drawn).any()


def test_bm25_alone_ranks_without_comments_over_all_rows(index):
    rows = question_rows(index, 60, 0)
    (found,) = measure_quality(index, {}, Ranking(test=0.0, generated=0.0), rows)
    lexical = without_comments(index).lexical
    for row, rank in zip(rows.tolist(), found.ranks.tolist(), strict=True):
        scores = lexical.scores(index.split.word_list("query", row))
        best = np.sort(np.argpartition(-scores, 199)[:200])
        if row in best:
            assert rank == (scores[best] >= scores[row]).sum()
        else:
            assert rank > 200
    assert found.measures.mrr == pytest.approx(np.mean(1 / found.ranks))
    easy = index.lexical.scores(index.split.word_list("query", int(rows[0])))
    hidden = lexical.scores(index.split.word_list("query", int(rows[0])))
    assert easy[rows[0]] > hidden[rows[0]]


def test_a_model_that_knows_the_answers_leads(index):
    rows = question_rows(index, 60, 0)
    bm25, found = measure_quality(index, {"knows": Knows(index, rows.tolist())}, Ranking(weight=1.0), rows)
    assert found.lead.mean == pytest.approx(found.measures.mrr - bm25.measures.mrr)
    assert found.lead.mean > 0.2
    assert found.lead.p_value < 0.01
    assert (found.ranks[bm25.ranks <= 100] == 1).all()
    lines = quality_lines([bm25, found], len(index))
    assert lines[0].startswith(f"60 methods whose comment became a query, each ranked among {len(index):,}")
    assert f"{found.measures.mrr:.3f}" in lines[3]


def test_too_few_questions_are_refused(index):
    few = np.zeros_like(index.asks)
    few[question_rows(index, 0, 0)[: FEWEST - 1]] = 1
    with pytest.raises(ValueError, match=f"expected {FEWEST} or more methods .* found {FEWEST - 1}"):
        question_rows(replace(index, asks=few), 0, 0)
