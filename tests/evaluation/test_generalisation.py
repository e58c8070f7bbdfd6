"""The paper's own numbers: what its tables 2 and 5 give for table 3 (Diera et al. 2023), where its cells hold."""

import pytest

from evaluation.generalisation import by_type
from evaluation.published_generalisation import PUBLISHED, RECOMPUTED_APART

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
