import numpy as np
import pytest

from evaluation.score_scales import Scale, weighted, z_scores


def test_z_scores_are_of_each_query():
    np.testing.assert_allclose(z_scores(np.array([1.0, 3.0], np.float32)), [-1, 1])
    scores = np.random.default_rng(0).normal(3, 2, (4, 50))
    found = z_scores(scores)
    np.testing.assert_allclose(found.mean(1), 0, atol=1e-12)
    np.testing.assert_allclose(found.std(1), 1)
    np.testing.assert_allclose(found[2], z_scores(scores[2]))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_equal_scores_and_none_are_no_trouble(kind):
    assert z_scores(np.full((2, 3), 7, kind)).tolist() == [[0, 0, 0]] * 2
    assert z_scores(np.empty(0, kind)).tolist() == []
    assert z_scores(np.array([1, 2], kind)).dtype == kind


def test_a_scale_is_fixed_by_the_scores_it_is_of():
    scale = Scale.of(np.array([[1.0, 3.0], [5.0, 7.0]]))
    np.testing.assert_allclose(scale(np.array([[4.0, 4 + np.sqrt(5)]])), [[0, 1]], atol=1e-6)
    assert Scale.of(np.ones((2, 2)))(np.ones((1, 2))).tolist() == [[0, 0]]


def test_a_weight_shares_out():
    one, two = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert weighted(one, two, 1.0).tolist() == [1, 0]
    assert weighted(one, two, 0.25).tolist() == [0.25, 0.75]
