"""Every published number that arithmetic can check."""

import pytest

from evaluation.published_snippets import COUNTS, ERRORS, PERCENTAGES, RECALLS, SIZES


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


def test_an_untrained_encoder_below_the_chance_of_a_small_corpus():
    assert RECALLS["GraphCodeBERT"][3] < 50 / COUNTS["evaluation queries"]  # so the corpus was larger


def test_recall_rises_with_depth():
    assert all([*recalls] == sorted(recalls) for recalls in RECALLS.values())
