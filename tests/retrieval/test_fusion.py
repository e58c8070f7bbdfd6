"""Two rankers as one: scales, blocks of different sizes, and the weight that ranks best."""

from collections.abc import Iterator

import numpy as np
import pytest

from data_prep.store.prepared_data import Split
from modeling.contract import Ranker
from retrieval.fusion import WEIGHTS, FusedRanker, best_weight
from tests.evaluation.real_data import jdk_split

SIZE = 12


class Fixed:
    """Gives scores that are known, some rows at a time."""

    def __init__(self, scores: np.ndarray, step: int) -> None:
        self.all, self.step = scores, step

    def index(self, corpus: Split) -> None:
        assert len(corpus) == SIZE

    def scores(self, queries: Split) -> Iterator[np.ndarray]:
        for start in range(0, len(queries), self.step):
            yield self.all[start : start + self.step]


@pytest.fixture(scope="module")
def pool() -> Split:
    return jdk_split(SIZE)


def rankers(first_step: int, second_step: int) -> tuple[Fixed, Fixed]:
    rng = np.random.default_rng(0)
    gold = np.eye(SIZE, dtype=np.float32)
    first = (rng.random((SIZE, SIZE)) + 0.4 * gold).astype(np.float32)
    second = (100 * (rng.random((SIZE, SIZE)) + 0.4 * gold)).astype(np.float32)
    return Fixed(first, first_step), Fixed(second, second_step)


def z(scores: np.ndarray) -> np.ndarray:
    return np.stack([(row - row.mean()) / row.std() for row in scores])


@pytest.mark.parametrize(("first_step", "second_step"), [(12, 12), (5, 3), (3, 5), (1, 12), (12, 1), (7, 8)])
def test_scores_are_the_weighted_sum_of_standard_scores(pool, first_step, second_step):
    first, second = rankers(first_step, second_step)
    mixture = FusedRanker(first, second, 0.3)
    assert isinstance(mixture, Ranker)
    mixture.index(pool)
    found = np.concatenate(list(mixture.scores(pool)))
    np.testing.assert_allclose(found, 0.3 * z(first.all) + 0.7 * z(second.all), rtol=1e-4, atol=1e-5)


def test_equal_scores_add_nothing(pool):
    first, _ = rankers(4, 4)
    mixture = FusedRanker(first, Fixed(np.full((SIZE, SIZE), 7, np.float32), 5), 0.5)
    found = np.concatenate(list(mixture.scores(pool)))
    np.testing.assert_allclose(found, 0.5 * z(first.all), rtol=1e-4, atol=1e-5)


def reciprocal_ranks(block: np.ndarray, row: int) -> float:
    gold = block[np.arange(len(block)), row + np.arange(len(block))]
    return float((1 / (block >= gold[:, None]).sum(axis=1)).sum())


def test_the_best_weight_is_that_of_the_best_whole_ranking(pool):
    first, second = rankers(5, 3)
    by_hand = {w: reciprocal_ranks(w * z(first.all) + (1 - w) * z(second.all), 0) for w in WEIGHTS}
    found = best_weight(first, second, pool, reciprocal_ranks)
    assert by_hand[found] == pytest.approx(max(by_hand.values()))
    assert by_hand[found] > max(by_hand[0.0], by_hand[1.0])


def test_a_ranker_that_knows_is_left_alone(pool):
    first, _ = rankers(5, 3)
    knows = Fixed(np.eye(SIZE, dtype=np.float32), 4)
    assert best_weight(knows, Fixed(-knows.all, 4), pool, reciprocal_ranks) == 1
    assert best_weight(Fixed(-knows.all, 4), knows, pool, reciprocal_ranks) < 0.5
    assert best_weight(first, Fixed(np.zeros((SIZE, SIZE), np.float32), 4), pool, reciprocal_ranks) == 1
