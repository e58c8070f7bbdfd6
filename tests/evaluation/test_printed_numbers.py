"""What the printed numbers of the papers can and cannot be."""

import numpy as np
import pytest

from evaluation.metrics import exact, published_convention
from evaluation.published import PUBLISHED, exact_top1_bounds, mrr_bounds, shifted_mrr_bounds

HALF = 0.0005  # numbers are printed to three digits


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row.data} {row.model}")
def test_baselines_are_impossible_as_printed_and_possible_shifted_and_galm_the_other_way(row):
    least, most = mrr_bounds(row.measures)
    as_printed = least - 3 * HALF <= row.measures["mrr"] <= most + 3 * HALF
    least, most = shifted_mrr_bounds(row.measures)
    shifted = least - 3 * HALF <= row.measures["mrr"] <= most + 3 * HALF
    assert (as_printed, shifted) == ((True, False) if row.model == "galm" else (False, True))


@pytest.mark.parametrize("seed", range(20))
def test_real_ranks_keep_to_the_bounds(seed):
    rng = np.random.default_rng(seed)
    ranks = rng.geometric(rng.uniform(0.05, 0.9), 500)
    measures, shifted = exact(ranks), published_convention(ranks)
    least, most = mrr_bounds(measures)
    assert least <= measures["mrr"] <= most
    least, most = shifted_mrr_bounds(shifted)
    assert least - 1e-9 <= shifted["mrr"] <= most + 1e-9
    least, most = exact_top1_bounds(shifted)
    assert least - 1e-9 <= measures["top1"] <= most + 1e-9


def test_the_exact_top1_behind_a_printed_row():
    deepcs = next(row for row in PUBLISHED if (row.data, row.model) == ("csn_tabcs", "deepcs"))
    assert exact_top1_bounds(deepcs.measures) == pytest.approx((0.197, 0.271), abs=0.001)
