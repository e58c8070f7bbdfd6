import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from evaluation import metrics

RANKS = npst.arrays(np.int64, st.integers(1, 40), elements=st.integers(1, 60))
SCORES = st.integers(1, 12).flatmap(lambda n: npst.arrays(np.float32, (n, n), elements=st.integers(-3, 3)))  # many ties


@settings(deadline=None)
@given(SCORES)
def test_counts_are_those_of_a_double_loop(scores):
    better, tied = metrics.count_better_and_tied(scores, np.arange(len(scores)))
    for query, row in enumerate(scores):
        others = [score for code, score in enumerate(row) if code != query]
        assert better[query] == sum(score > row[query] for score in others)
        assert tied[query] == sum(score == row[query] for score in others)


def test_gold_may_be_any_column():
    better, tied = metrics.count_better_and_tied(np.array([[1.0, 2.0, 2.0, 3.0]]), np.array([2]))
    assert (better.item(), tied.item()) == (1, 1)


@pytest.mark.parametrize("place", [(0, 0), (1, 0), (2, 2)])
def test_nan_is_refused_whether_gold_or_not(place):
    scores = np.zeros((3, 3), np.float32)
    scores[place] = np.nan
    with pytest.raises(ValueError, match=f"query {place[0]} of this block scores NaN against code {place[1]}"):
        metrics.count_better_and_tied(scores, np.arange(3))


@settings(deadline=None)
@given(RANKS)
def test_measures_are_those_of_a_loop(ranks):
    def mean(values):
        values = list(values)
        return pytest.approx(sum(values) / len(values))

    for k in (1, 5, 10):
        assert metrics.top_at_k(ranks, k) == mean(rank <= k for rank in ranks)
        assert metrics.mrr_at_k(ranks, k) == mean(1 / rank if rank <= k else 0 for rank in ranks)
        assert metrics.ndcg_at_k(ranks, k) == mean(1 / math.log2(1 + rank) if rank <= k else 0 for rank in ranks)
    assert metrics.mrr(ranks) == mean(1 / rank for rank in ranks)


@settings(deadline=None)
@given(RANKS)
def test_published_convention_is_one_place_generous_and_cuts_mrr(ranks):
    published = metrics.published_convention(ranks)
    tops = [published[name] for name in ("top1", "top5", "top10")]
    assert tops == [metrics.top_at_k(ranks, k) for k in (2, 6, 11)]
    assert published["mrr"] == metrics.mrr_at_k(ranks, 10) <= metrics.exact(ranks)["mrr"] + 1e-12


@settings(deadline=None)
@given(SCORES)
def test_tie_rules_are_ordered(scores):
    better, tied = metrics.count_better_and_tied(scores, np.arange(len(scores)))
    ours = metrics.exact(1 + better + tied)
    average = metrics.exact(metrics.average_ranks(better, tied))
    best = metrics.exact(metrics.optimistic_ranks(better))
    for name in ours:
        assert ours[name] <= average[name] <= best[name]


def test_a_constant_scorer_gets_no_credit():
    better, tied = metrics.count_better_and_tied(np.ones((50, 50)), np.arange(50))
    found = metrics.exact(1 + better + tied)
    assert [found[name] for name in ("top1", "top5", "top10", "mrr")] == pytest.approx([0, 0, 0, 1 / 50])


def test_chance_is_the_mean_over_random_orders():
    pool, rng = 30, np.random.default_rng(0)
    scores = rng.random((20_000, pool))
    better, tied = metrics.count_better_and_tied(scores, np.zeros(len(scores), np.int64))
    found, chance = metrics.exact(1 + better + tied), metrics.exact(metrics.chance_ranks(pool))
    for name in found:
        assert found[name] == pytest.approx(chance[name], abs=0.01)
    assert chance["top5"] == pytest.approx(5 / pool)
    assert chance["mrr"] == pytest.approx(sum(1 / rank for rank in range(1, pool + 1)) / pool)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("stuvwxyz")), min_size=1, max_size=8))
def test_no_scores_beat_the_ceiling_and_some_reach_it(pairs):
    queries, codes = zip(*pairs, strict=True)
    reached = sum(  # by a ranker that finds the first code of each group that no other code equals
        any(own == query and codes.count(code) == 1 for own, code in pairs) for query in set(queries)
    )
    assert metrics.ceiling_top1(queries, codes) == reached / len(pairs)


def test_repeated_codes_are_never_first():
    assert metrics.ceiling_top1(["a", "b", "c"], ["x", "x", "y"]) == pytest.approx(1 / 3)
    assert metrics.ceiling_top1(["a", "a"], ["x", "y"]) == pytest.approx(1 / 2)
    assert metrics.ceiling_top1(["a", "b"], ["x", "x"]) == 0


@pytest.mark.parametrize(
    ("ranks", "message"),
    [([], "at least one query"), ([1, 0], "1 or more, not 0"), ([1.0, math.nan], "1 or more, not nan")],
)
def test_ranks_that_are_none_are_refused(ranks, message):
    with pytest.raises(ValueError, match=message):
        metrics.mrr(np.array(ranks))
