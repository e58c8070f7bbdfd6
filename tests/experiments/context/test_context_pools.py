"""Pools of equal size, ties against the query."""

import numpy as np
import pytest

from data_prep.store.arrays import z_scores
from experiments.context.finished_run import pool_ranks, pools
from experiments.context.measure import fused

SCORES = np.random.default_rng(0).integers(0, 4, (25, 25)).astype(np.float32)


def scores(part):
    """Of row i of all pairs against row j."""
    return SCORES[np.ix_(part.own, part.rows)]


def test_every_pair_is_asked_once_in_a_pool_of_full_size():
    found = pools(np.arange(25), 10, seed=3)
    assert [(len(each.rows), len(set(each.rows.tolist())), each.asked) for each in found] == [
        (10, 10, 10),
        (10, 10, 10),
        (10, 10, 5),
    ]
    assert sorted(np.concatenate([each.own for each in found]).tolist()) == list(range(25))
    assert [(len(each.rows), each.asked) for each in pools(np.arange(7), 10, seed=3)] == [(7, 7)]
    with pytest.raises(ValueError, match="2 functions or more"):
        pools(np.arange(1), 10, seed=0)


def test_pools_of_some_rows_have_no_others():
    rows = np.array([3, 5, 8, 13, 21])
    found = pools(rows, 3, seed=0)
    assert sorted(np.concatenate([each.own for each in found]).tolist()) == rows.tolist()
    assert all({*each.rows.tolist()} <= {*rows.tolist()} for each in found)


def test_ranks_are_those_by_definition_within_the_pool():
    parts = pools(np.arange(25), 10, seed=1)
    found = pool_ranks({"fixed": scores, "worse": lambda part: -scores(part)}, parts, 25)
    for part in parts:
        for row in part.own:
            assert found["fixed"][row] == sum(SCORES[row, other] >= SCORES[row, row] for other in part.rows)
            assert found["worse"][row] == sum(SCORES[row, other] <= SCORES[row, row] for other in part.rows)


def test_fused_scores_are_the_weighted_sum_of_standardised_ones():
    (part,) = pools(np.arange(25), 25, seed=0)
    both = fused(scores, lambda part: -2 * scores(part) + 1, 0.75)(part)
    np.testing.assert_allclose(both, 0.5 * z_scores(scores(part)), atol=1e-6)
