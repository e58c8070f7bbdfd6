import math

import numpy as np
import pytest
from scipy import stats
from scipy.stats import ttest_ind, ttest_rel

from evaluation.significance import Runs, bootstrap_interval, compare, compare_runs


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
    ours = bootstrap_interval(first - second, resamples=20_000)
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
        low, high = bootstrap_interval(first - second, resamples=400, seed=seed)
        held += low <= 0.1 <= high
    assert 0.90 <= held / 200 <= 0.99


def test_the_same_seed_gives_the_same_numbers_and_sides_may_be_swapped():
    first, second = reciprocal_ranks(4, 0.3)
    one, again, swapped = compare(first, second), compare(first, second), compare(second, first)
    assert one == again != compare(first, second, seed=1)
    assert swapped.mean == -one.mean
    assert (swapped.low, swapped.high) == pytest.approx((-one.high, -one.low))
    assert swapped.p_value == one.p_value


def test_no_queries_are_refused():
    with pytest.raises(ValueError, match="same queries, but got 0 and 0"):
        compare(np.ones(0), np.ones(0))


def simulated(rng, seeds: int, queries: int, clusters: np.ndarray, *, seed_noise: float, base=None) -> np.ndarray:
    """Values of one model: what queries have in common, a shift per seed, and noise per seed and query."""
    base = np.zeros(queries) if base is None else base
    of_clusters = rng.normal(0, 0.1, clusters.max() + 1)[clusters]
    shifts = rng.normal(0, seed_noise, (seeds, 1))
    return base + of_clusters + shifts + rng.normal(0, 0.2, (seeds, queries))


def test_without_seeds_it_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    first, second = rng.random((1, 200)), rng.random((1, 200))
    found = compare_runs(Runs(first, trained=False), Runs(second, trained=False))
    expected = ttest_rel(first[0], second[0])
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.degrees_of_freedom == pytest.approx(199)
    low, high = expected.confidence_interval(0.95)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_where_all_queries_agree_it_is_welchs_test_over_seeds():
    rng = np.random.default_rng(1)
    first, second = (np.tile(rng.normal(0, scale, (seeds, 1)), 50) for seeds, scale in ((3, 1), (4, 2)))
    found = compare_runs(Runs(first), Runs(second))
    expected = ttest_ind(first[:, 0], second[:, 0], equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.degrees_of_freedom == pytest.approx(expected.df)


def test_copies_of_queries_in_one_cluster_change_nothing():
    rng = np.random.default_rng(2)
    first, second = rng.random((3, 40)), rng.random((2, 40))
    once = compare_runs(Runs(first), Runs(second))
    clusters = np.repeat(np.arange(40), 5)
    copied = compare_runs(Runs(np.repeat(first, 5, 1)), Runs(np.repeat(second, 5, 1)), clusters)
    assert copied.standard_error == pytest.approx(once.standard_error)
    assert copied.p_value == pytest.approx(once.p_value)
    apart = compare_runs(Runs(np.repeat(first, 5, 1)), Runs(np.repeat(second, 5, 1)))
    assert apart.standard_error < once.standard_error


def test_a_single_seed_gets_no_verdict():
    rng = np.random.default_rng(3)
    one, three = rng.random((1, 30)), rng.random((3, 30))
    for pair in ((Runs(one), Runs(three)), (Runs(three), Runs(one)), (Runs(one), Runs(one, trained=False))):
        found = compare_runs(*pair)
        assert not found.has_verdict
        assert math.isnan(found.low)
        assert found.mean == pytest.approx(pair[0].values.mean() - pair[1].values.mean())
    assert compare_runs(Runs(three), Runs(one, trained=False)).has_verdict


def test_equal_models_do_not_differ():
    values = np.random.default_rng(4).random((1, 30))
    found = compare_runs(Runs(values, trained=False), Runs(values, trained=False))
    assert (found.mean, found.p_value, found.low, found.high) == (0, 1, 0, 0)


@pytest.mark.parametrize("seed_noise", [0.0, 0.02, 0.2])
def test_a_difference_that_is_none_is_found_in_about_one_of_twenty(seed_noise):
    rng, clusters, found = np.random.default_rng(5), np.repeat(np.arange(60), 5), []
    for _ in range(300):
        base = rng.random(300)
        models = [Runs(simulated(rng, 3, 300, clusters, seed_noise=seed_noise, base=base)) for _ in range(2)]
        found.append(compare_runs(*models, clusters).p_value < 0.05)
    assert 0.005 < np.mean(found) < 0.085


def test_a_test_over_queries_alone_would_find_them_often():
    """What the correction is for: the same simulation, seeds averaged away."""
    rng, clusters, found = np.random.default_rng(6), np.repeat(np.arange(60), 5), []
    for _ in range(200):
        models = [simulated(rng, 3, 300, clusters, seed_noise=0.02).mean(0)[None] for _ in range(2)]
        found.append(compare_runs(*(Runs(each, trained=False) for each in models)).p_value < 0.05)
    assert np.mean(found) > 0.15


def test_a_difference_that_is_there_is_found():
    rng, clusters = np.random.default_rng(7), np.arange(3000)
    first, second = (simulated(rng, 3, 3000, clusters, seed_noise=0.003, base=np.full(3000, x)) for x in (0.55, 0.5))
    found = compare_runs(Runs(first), Runs(second), clusters)
    assert found.p_value < 0.01
    assert found.low < 0.05 < found.high


def test_values_of_other_queries_are_refused():
    values = Runs(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="same queries, got 5, 4 and 5"):
        compare_runs(values, Runs(np.zeros((2, 4))))
    with pytest.raises(ValueError, match="two clusters or more, got 1"):
        compare_runs(values, values, [1] * 5)
