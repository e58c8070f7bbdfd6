"""Pools of equal size, ties against the query."""

import numpy as np
import pytest

from experiments.context.pools import pool_ranks, pools


class Fixed:
    """Scores that were decided before: of row i of all pairs against row j."""

    def __init__(self, scores):
        self.scores = scores

    def over(self, queries, corpus):
        return self._Blocks(self.scores[np.ix_(queries.rows, corpus.rows)])

    class _Blocks:
        def __init__(self, scores):
            self._scores = scores

        def blocks(self):
            yield from np.array_split(self._scores, 2)


class Rows:
    def __init__(self, rows):
        self.rows = np.asarray(rows)

    def __len__(self):
        return len(self.rows)

    def take(self, rows):
        return Rows(self.rows[rows])


def test_every_pair_is_asked_once_in_a_pool_of_full_size():
    found = pools(25, 10, seed=3)
    assert [(len(each.rows), len(set(each.rows.tolist())), each.asked) for each in found] == [
        (10, 10, 10),
        (10, 10, 10),
        (10, 10, 5),
    ]
    assert sorted(np.concatenate([each.rows[: each.asked] for each in found]).tolist()) == list(range(25))
    assert [(len(each.rows), each.asked) for each in pools(7, 10, seed=3)] == [(7, 7)]
    with pytest.raises(ValueError, match="2 functions or more"):
        pools(1, 10, seed=0)


def test_ranks_are_those_by_definition_within_the_pool():
    scores = np.random.default_rng(0).integers(0, 4, (25, 25)).astype(np.float32)
    parts = pools(25, 10, seed=1)
    found = pool_ranks(Fixed(scores), Rows(range(25)), Rows(range(25)), parts)
    for part in parts:
        for row in part.rows[: part.asked]:
            assert found[row] == sum(scores[row, other] >= scores[row, row] for other in part.rows)
