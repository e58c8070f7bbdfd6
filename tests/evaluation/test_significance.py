import numpy as np
import pytest
from scipy import stats

from evaluation.significance import bootstrap_interval, compare, compare_all


def reciprocal_ranks(seed: int, lead: float, size: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    ranks = rng.geometric(0.1, size)
    return 1 / np.maximum(1, ranks - rng.binomial(5, lead, size)), 1 / np.maximum(1, ranks - rng.binomial(5, 0.2, size))


@pytest.mark.parametrize("lead", [0.2, 0.25, 0.6])
def test_interval_is_scipys_percentile_bootstrap(lead):
    first, second = reciprocal_ranks(1, lead)
    theirs = stats.bootstrap(
        (first - second,), np.mean, method="percentile", n_resamples=20_000, rng=np.random.default_rng(5)
    ).confidence_interval
    ours = bootstrap_interval(first, second, resamples=20_000)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.03 * (theirs.high - theirs.low))


@pytest.mark.parametrize(("seed", "lead"), [(0, 0.2), (1, 0.2), (2, 0.25), (3, 0.3)])
def test_p_value_is_scipys_paired_permutation_test(seed, lead):
    first, second = reciprocal_ranks(seed, lead)
    theirs = stats.permutation_test(
        (first, second),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(5),
    ).pvalue
    assert compare(first, second, resamples=20_000).p_value == pytest.approx(theirs, abs=0.015)


def test_p_value_of_few_queries_is_that_of_all_sign_patterns():
    first, second = np.array([1.0, 0.5, 1.0, 0.25, 1.0]), np.array([0.5, 0.25, 0.2, 0.5, 0.1])
    differences = first - second
    patterns = 1 - 2 * ((np.arange(32)[:, None] >> np.arange(5)) & 1)
    true = np.mean(np.abs(patterns @ differences) >= abs(differences.sum()) - 1e-12)
    assert compare(first, second, resamples=50_000).p_value == pytest.approx(true, abs=0.01)


def test_equal_rankers_differ_by_nothing():
    values = reciprocal_ranks(0, 0.2)[0]
    found = compare(values, values, resamples=200)
    assert (found.mean, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_the_interval_holds_the_true_difference_as_often_as_it_says():
    rng, held = np.random.default_rng(0), 0
    for seed in range(200):
        first, second = rng.normal(0.1, 1, 80), rng.normal(0, 1, 80)
        low, high = bootstrap_interval(first, second, resamples=400, seed=seed)
        held += low <= 0.1 <= high
    assert 0.90 <= held / 200 <= 0.99


def test_the_same_seed_gives_the_same_numbers_and_sides_may_be_swapped():
    first, second = reciprocal_ranks(4, 0.3)
    one, again, swapped = compare(first, second), compare(first, second), compare(second, first)
    assert one == again != compare(first, second, seed=1)
    assert swapped.mean == -one.mean
    assert (swapped.low, swapped.high) == pytest.approx((-one.high, -one.low))
    assert swapped.p_value == one.p_value


def test_many_against_one_are_what_each_is_alone():
    (second, first), (_, other) = reciprocal_ranks(4, 0.3), reciprocal_ranks(5, 0.6)
    found = compare_all([first, other], second, resamples=500, seed=3)
    assert found == [compare(each, second, resamples=500, seed=3) for each in (first, other)]
    assert found[0] != found[1]
    assert compare_all([], second) == []


def test_no_queries_are_refused():
    with pytest.raises(ValueError, match="same queries, but got 0 and 0"):
        compare(np.ones(0), np.ones(0))
