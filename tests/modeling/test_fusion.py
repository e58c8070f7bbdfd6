"""Two rankers as one: scales, blocks of different sizes, and the weight that ranks best."""

import numpy as np
import pytest

from data_prep.store.arrays import weighted, z_scores
from data_prep.store.split import Split
from modeling.ranker import WEIGHTS, FusedRanker, Ranker, Scale, best_weight
from tests.evaluation.rankers import Chosen
from tests.evaluation.real_data import jdk_split

SIZE = 12


@pytest.fixture(scope="module")
def pool() -> Split:
    return jdk_split(SIZE)


def rankers(first_step: int, second_step: int) -> tuple[Chosen, Chosen]:
    rng = np.random.default_rng(0)
    gold = np.eye(SIZE, dtype=np.float32)
    first = (rng.random((SIZE, SIZE)) + 0.4 * gold).astype(np.float32)
    second = (100 * (rng.random((SIZE, SIZE)) + 0.4 * gold)).astype(np.float32)
    return Chosen(first, first_step), Chosen(second, second_step)


def z(scores: np.ndarray) -> np.ndarray:
    return np.stack([(row - row.mean()) / row.std() for row in scores])


@pytest.mark.parametrize(("first_step", "second_step"), [(12, 12), (5, 3), (3, 5), (1, 12), (12, 1), (7, 8)])
def test_scores_are_the_weighted_sum_of_standard_scores(pool, first_step, second_step):
    first, second = rankers(first_step, second_step)
    mixture = FusedRanker(first, second, 0.3)
    assert isinstance(mixture, Ranker)
    scores = mixture.over(pool, pool)
    found = np.concatenate([*scores.blocks()])
    np.testing.assert_allclose(found, 0.3 * z(first.matrix) + 0.7 * z(second.matrix), rtol=1e-4, atol=1e-5)
    some = np.array([[3, 3, 0], [11, 5, 2]])
    np.testing.assert_allclose(scores(np.array([4, 0]), some), found[[[4], [0]], some], rtol=1e-4, atol=1e-5)


def test_equal_scores_add_nothing(pool):
    first, _ = rankers(4, 4)
    mixture = FusedRanker(first, Chosen(np.full((SIZE, SIZE), 7, np.float32), 5), 0.5)
    found = np.concatenate([*mixture.over(pool, pool).blocks()])
    np.testing.assert_allclose(found, 0.5 * z(first.matrix), rtol=1e-4, atol=1e-5)


def reciprocal_ranks(block: np.ndarray, row: int) -> float:
    gold = block[np.arange(len(block)), row + np.arange(len(block))]
    return float((1 / (block >= gold[:, None]).sum(axis=1)).sum())


def chosen(first: Ranker, second: Ranker, pool: Split) -> float:
    return best_weight(first.over(pool, pool), second.over(pool, pool), reciprocal_ranks)


def test_the_best_weight_is_that_of_the_best_whole_ranking(pool):
    first, second = rankers(5, 3)
    by_hand = {w: reciprocal_ranks(w * z(first.matrix) + (1 - w) * z(second.matrix), 0) for w in WEIGHTS}
    found = chosen(first, second, pool)
    assert by_hand[found] == pytest.approx(max(by_hand.values()))
    assert by_hand[found] > max(by_hand[0.0], by_hand[1.0])


def test_a_ranker_that_knows_is_left_alone(pool):
    first, _ = rankers(5, 3)
    knows = Chosen(np.eye(SIZE, dtype=np.float32), 4)
    assert chosen(knows, Chosen(-knows.matrix, 4), pool) == 1
    assert chosen(Chosen(-knows.matrix, 4), knows, pool) < 0.5
    assert chosen(first, Chosen(np.zeros((SIZE, SIZE), np.float32), 4), pool) == 1


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
