import numpy as np
import pytest

from evaluation.matching import best_threshold, matching
from evaluation.metrics import mrr_over_ties


def test_measures_by_hand():
    said = np.array([1, 1, 1, 0, 0, 0], bool)
    true = np.array([1, 1, 0, 1, 0, 0], bool)
    found = matching(said, true)
    assert (found.accuracy, found.precision, found.recall) == pytest.approx((4 / 6, 2 / 3, 2 / 3))
    assert found.f1 == pytest.approx(2 / 3)
    nothing = matching(np.zeros(6, bool), true)
    assert (nothing.accuracy, nothing.precision, nothing.recall, nothing.f1) == (0.5, 0, 0, 0)
    with pytest.raises(ValueError, match="at least one pair that matches"):
        matching(said, np.zeros(6, bool))


def test_no_other_threshold_is_better():
    rng = np.random.default_rng(0)
    for size in (1, 2, 7, 40):
        scores, true = rng.integers(0, 9, size=size).astype(np.float64), rng.integers(0, 2, size=size).astype(bool)
        found = best_threshold(scores, true)
        right = {value: ((scores >= value) == true).mean() for value in (*set(scores.tolist()), 99.0)}
        assert ((scores >= found) == true).mean() == max(right.values())
    with pytest.raises(ValueError, match="scores that are numbers"):
        best_threshold(np.array([np.nan, 1.0]), np.array([True, False]))


def test_ties_share_their_places():
    better, tied = np.array([0, 0, 2]), np.array([0, 3, 1])
    expected = [1, (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, (1 / 3 + 1 / 4) / 2]
    assert mrr_over_ties(better, tied) == pytest.approx(np.mean(expected))
    assert mrr_over_ties(np.array([0]), np.array([99])) == pytest.approx(0.05187, abs=1e-5)  # chance among 100
