"""Published numbers: what arithmetic can check of them, and where they are shown."""

import tomllib

import numpy as np
import pytest

from evaluation.metrics import exact, published_convention
from evaluation.tables import (
    PUBLISHED,
    exact_mrr_bounds,
    exact_top1_bounds,
    mrr_bounds,
    published_mrr,
    shifted_mrr_bounds,
)
from evaluation.tables import SNIPPER_COUNTS as COUNTS
from evaluation.tables import SNIPPER_ERRORS as ERRORS
from evaluation.tables import SNIPPER_PERCENTAGES as PERCENTAGES
from evaluation.tables import SNIPPER_SIZES as SIZES
from tests.conftest import REPOSITORY


def test_published_numbers_are_named_beside_the_whole_set_only():
    told = published_mrr("csn_filtered", 10_955, 40_347)
    assert told == (
        " Published MRR, fine-tuned on its training split: CodeBERT 0.676, GraphCodeBERT 0.691, UniXcoder 0.726."
    )
    assert published_mrr("csn_filtered", 2_568, 15_372) == published_mrr("csn", 10_955, 40_347) == ""


def test_each_has_a_source():
    rows = tomllib.loads((REPOSITORY / "evaluation" / "published.toml").read_text(encoding="utf-8"))["fine_tuned"]
    assert rows
    assert all(0 < row["mrr"] < 1 and len(row["source"].split()) > 2 for row in rows)


def test_code_or_error_is_what_the_other_counts_give():
    both = COUNTS["questions with code"] + COUNTS["questions with error"] - COUNTS["questions with code and error"]
    assert both == COUNTS["questions with code or error"]


@pytest.mark.parametrize("name", [*PERCENTAGES])
def test_shares_of_all_questions(name):
    assert 100 * COUNTS[name] / COUNTS["questions"] == pytest.approx(PERCENTAGES[name], abs=0.0051)


@pytest.mark.parametrize("name", [*SIZES])
def test_percentages_of_sizes(name):
    total, field, percent = SIZES[name]
    assert 100 * field / total == pytest.approx(percent, abs=0.0051)


def test_the_errors_of_the_paper():
    computed = {name: value for name, (_, value) in ERRORS.items()}
    assert [*computed.values()] == ["218.24", "0.03", "3,306", "55.28", "11.69"]
    assert all(printed != value for printed, value in ERRORS.values())


RECALLS = {
    "GraphCodeBERT": (0.001, 0.001, 0.002, 0.009),
    "CodeBERT": (0.001, 0.006, 0.010, 0.013),
    "SynCoBERT": (0.006, 0.010, 0.013, 0.020),
    "GraphCodeBERT + CodeSearchNet": (0.161, 0.221, 0.280, 0.367),
    "BM25": (0.311, 0.406, 0.474, 0.562),
    "SnippeR": (0.338, 0.451, 0.536, 0.657),
}
"""Recall@5, 10, 20, 50 on the 1,369 queries."""


def test_an_untrained_encoder_below_the_chance_of_a_small_corpus():
    assert RECALLS["GraphCodeBERT"][3] < 50 / COUNTS["evaluation queries"]  # so the corpus was larger


def test_recall_rises_with_depth():
    assert all([*recalls] == sorted(recalls) for recalls in RECALLS.values())


HALF = 0.0005  # numbers are printed to three digits


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row.data} {row.model}")
def test_baselines_are_impossible_as_printed_and_possible_shifted_and_galm_the_other_way(row):
    """With the MRR of all ranks and Top@K shifted, GALM's row of CodeSearchNet is possible too."""

    def possible(bounds):
        least, most = bounds
        return least - 3 * HALF <= row.measures["mrr"] <= most + 3 * HALF

    of_galm = row.model == "galm"
    assert possible(mrr_bounds(row.measures)) == of_galm
    assert possible(shifted_mrr_bounds(row.measures)) != of_galm
    assert possible(shifted_mrr_bounds(row.measures, truncated=False)) == (not of_galm or row.data == "csn_tabcs")


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
    least, most = exact_mrr_bounds(shifted)
    assert least - 1e-9 <= measures["mrr"] <= most + 1e-9
    mixed = {**shifted, "mrr": measures["mrr"]}
    least, most = shifted_mrr_bounds(mixed, truncated=False)
    assert least - 1e-9 <= mixed["mrr"] <= most + 1e-9
    least, most = exact_top1_bounds(mixed, truncated=False)
    assert least - 1e-9 <= measures["top1"] <= most + 1e-9


def test_the_exact_top1_behind_a_printed_row():
    deepcs = next(row for row in PUBLISHED if (row.data, row.model) == ("csn_tabcs", "deepcs"))
    assert exact_top1_bounds(deepcs.measures) == pytest.approx((0.197, 0.271), abs=0.001)
