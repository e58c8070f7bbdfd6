"""Rankers held against each other: means over seeds, and Holm's correction against a hand count."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.comparison import by_pool, leads
from evaluation.significance import holm
from tests.evaluation.test_results import SIZE, result


def ranked(model: str, seed: int, ranks: list[int]):
    found = result(model=model, seed=seed, also={})
    exact = replace(found.exact, mrr=float(np.mean(1 / np.array(ranks))))
    return replace(found, ranks=ranks, exact=exact)


def test_holm_is_its_definition():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]) == [1, 1]
    assert holm([]) == []


def test_seeds_are_averaged_and_the_best_stands_first():
    worse, better = [2] * SIZE, [1] * SIZE
    results = [("a", ranked("a", 0, worse)), ("b", ranked("b", 0, worse)), ("b", ranked("b", 1, better))]
    ((pool, entries),) = by_pool(results).items()
    assert pool.size == SIZE
    assert [(entry.label, entry.seeds) for entry in entries] == [("b", 2), ("a", 1)]
    assert entries[0].reciprocal_ranks.tolist() == [0.75] * SIZE
    assert entries[0].mean("exact").mrr == 0.75
    assert entries[0].mrr_deviation == pytest.approx(np.std([0.5, 1], ddof=1))
    assert entries[1].mrr_deviation is None


def test_a_lead_holds_where_it_is_more_than_chance():
    rng = np.random.default_rng(0)
    base = rng.integers(1, 10, SIZE)
    same, better = base.copy(), np.maximum(1, base - 5)
    same[:2] = same[:2][::-1]
    named = {"base": base, "same": same, "better": better}
    results = [(name, ranked(name, 0, ranks.tolist())) for name, ranks in named.items()]
    ((_, entries),) = by_pool(results).items()
    found = leads(entries, "base", resamples=2000)
    assert found.keys() == {"same", "better"}
    assert found["better"].holds
    assert found["better"].difference.mean == pytest.approx(np.mean(1 / better - 1 / base))
    assert not found["same"].holds
    assert found["better"].adjusted_p >= found["better"].difference.p_value


def test_other_data_sets_have_tables_of_their_own():
    found = by_pool([("a", result())])
    assert [pool.dataset for pool in found] == ["jdk", "folder:java"]


def test_without_the_reference_nothing_is_compared():
    ((_, entries),) = by_pool([("a", ranked("a", 0, [1] * SIZE))]).items()
    assert leads(entries, "galm") == {}
    assert leads(entries, "a") == {}
