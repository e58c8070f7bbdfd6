"""GenCodeSearchNet: measures of matching, and what tables 2 and 5 of its paper give for table 3 (Diera et al. 2023)."""

import numpy as np
import pytest

from evaluation.benchmark import best_threshold, by_type, matching
from evaluation.metrics import mrr_over_ties
from tests.evaluation.printed_generalisation import PUBLISHED, RECOMPUTED_APART


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


TYPES = ("robustness", "cross_lingual", "domain", "combined")


PRINTED = [(name, kind) for name, each in PUBLISHED.items() for kind in ("accuracy", "mrr") if each.subsets(kind)]


@pytest.mark.parametrize(("model", "measure"), PRINTED)
def test_table_3_follows_from_the_subsets_but_for_seven_cells(model, measure):
    published = PUBLISHED[model]
    values = published.subsets(measure)
    found = by_type(values)
    for kind in TYPES:
        printed = published.printed(measure, kind)
        # subsets are printed to four digits and means cut to four: two units of the last place
        apart = abs(getattr(found, kind) - printed) > 2.5e-4
        assert apart == ((model, measure, kind) in RECOMPUTED_APART), (kind, getattr(found, kind), printed)


def test_the_seven_cells_are_these():
    assert len(RECOMPUTED_APART) == 7
    for (model, measure, kind), value in RECOMPUTED_APART.items():
        assert getattr(by_type(PUBLISHED[model].subsets(measure)), kind) == pytest.approx(value, abs=1e-4)


def test_weights_of_the_combined_mean():
    names = ("adv", "cosqa", "ruby", "go", "php", "java", "javascript", "statcodesearch")
    weights = {name: by_type({other: float(other == name) for other in names}).combined for name in names}
    assert weights["statcodesearch"] == pytest.approx(1 / 2)
    assert weights["adv"] == weights["cosqa"] == pytest.approx(1 / 6)
    assert all(weights[name] == pytest.approx(1 / 30) for name in names[2:7])


def test_a_mean_without_one_of_its_subsets_is_none():
    found = by_type({"adv": 0.5, "statcodesearch": 0.25, "go": 1.0})
    assert (found.csn, found.robustness, found.cross_lingual, found.combined, found.eight) == (None,) * 5
    assert found.domain == 0.25
