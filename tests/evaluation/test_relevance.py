"""Ranks with several relevant documents, and recall, against their definitions."""

import numpy as np
import pytest

from evaluation.metrics import best_ranks, chance_recall, recall_at


def test_ranks_against_a_loop():
    random = np.random.default_rng(0)
    scores = random.integers(0, 5, (30, 12)).astype(np.float32)  # many ties
    relevant = [tuple(random.choice(12, 1 + row % 3, replace=False).tolist()) for row in range(30)]
    ignored = [tuple({int(random.integers(12))} - {*relevant[row]}) for row in range(30)]
    found = best_ranks([scores[:11], scores[11:]], relevant, ignored)
    for row in range(30):
        best = max(scores[row, column] for column in relevant[row])
        others = [column for column in range(12) if column not in (*relevant[row], *ignored[row])]
        assert found[row] == 1 + sum(scores[row, column] >= best for column in others)


def test_a_constant_scorer_gets_no_credit():
    assert best_ranks([np.zeros((1, 9), np.float32)], [(3,)], [()]).tolist() == [9]


def test_nan_and_queries_without_an_answer_are_refused():
    with pytest.raises(ValueError, match="must be numbers"):
        best_ranks([np.full((1, 2), np.nan, np.float32)], [(0,)], [()])
    with pytest.raises(ValueError, match="no relevant document"):
        best_ranks([np.zeros((1, 2), np.float32)], [()], [()])


def test_recall_is_a_mean_over_queries_with_its_interval():
    found = recall_at(np.array([1, 5, 6, 50]), 5)
    assert found.value == 0.5
    assert found.low == pytest.approx(0.15, abs=0.005)  # Wilson, 2 of 4
    assert found.high == pytest.approx(0.85, abs=0.005)


def test_chance_against_draws():
    random = np.random.default_rng(1)
    draws = [min(random.permutation(20).tolist().index(place) for place in (0, 1)) < 5 for _ in range(4000)]
    assert chance_recall(20, [(3, 4)], 5) == pytest.approx(np.mean(draws), abs=0.03)
    assert chance_recall(1369, [(0,)], 50) == pytest.approx(0.0365, abs=1e-4)
    assert chance_recall(3, [(0,)], 50) == 1
