"""Lengths and distances against loops, hand-computed values, and what is known of the released subsets."""

import itertools
import math
from collections import Counter

import pytest
from released import rows

from data_prep.gencodesearchnet.records import Example, example
from data_prep.gencodesearchnet.statistics import (
    PUBLISHED,
    PUBLISHED_COMBINED,
    TRUE_PAIRS,
    ByteLevelBpe,
    Row,
    combined,
    distances,
    row_of,
    statistics_table,
    subset_statistics,
    total_variation,
)

BYTES = ByteLevelBpe([])  # every byte is a token


def released(name, file, step=1):
    return subset_statistics(name, (example(row["query"], row["code"]) for row in rows(file)[::step]))


def test_the_distance_s_definition_and_known_value():
    assert total_variation(Counter(a=5, b=5), Counter(a=1, c=1)) == 0.5
    left, right = Counter(a=1, b=2, c=3), Counter(b=7, c=1, d=2)
    by_hand = (abs(1 / 6) + abs(2 / 6 - 7 / 10) + abs(3 / 6 - 1 / 10) + abs(2 / 10)) / 2
    assert total_variation(left, right) == pytest.approx(by_hand, abs=1e-15)


def test_the_distance_is_symmetric_within_bounds_and_blind_to_size():
    counters = [Counter("aabbc"), Counter("abc" * 7), Counter("xyz"), Counter("aabbc" * 3)]
    for left, right in itertools.product(counters, repeat=2):
        assert total_variation(left, right) == total_variation(right, left)
        assert 0 <= total_variation(left, right) <= 1
    assert total_variation(counters[0], counters[3]) == 0
    assert total_variation(counters[0], counters[2]) == 1
    assert total_variation(counters[0], counters[1]) > 0


def test_no_distance_to_nothing():
    with pytest.raises(ValueError, match="needs a token on both sides"):
        total_variation(Counter("a"), Counter())


def test_lengths_are_of_the_halves_as_they_stand_with_two_special_tokens():
    found = subset_statistics("few", [example("ab", "x=1"), Example("", "y")], BYTES)
    assert (found.pairs, found.mean_tokens("text"), found.mean_tokens("code")) == (2, 3 / 2 + 2, 5 / 2 + 2)
    assert found.counts["text"] == Counter({"a": 1, "b": 1, "Ġ": 1})
    with pytest.raises(ValueError, match="subset 'none' is empty"):
        subset_statistics("none", [], BYTES)


def test_the_matrix_holds_the_distance_of_every_two():
    texts = {"one": ("ab", "aa"), "two": ("bc", "ab"), "three": ("a", "zz")}
    subsets = [subset_statistics(name, [Example(*pair)], BYTES) for name, pair in texts.items()]
    for side in ("text", "code"):
        found = distances(subsets, side)
        for (row, left), (column, right) in itertools.product(enumerate(subsets), repeat=2):
            assert found[row, column] == total_variation(left.counts[side], right.counts[side])
    assert distances(subsets, "code").tolist() == [[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]]


def truncated(value: float, places: int) -> float:
    """The value cut after so many decimals, as the paper prints its means; what binary fractions lose is no loss."""
    return math.floor(round(value * 10**places, 6)) / 10**places


def test_the_published_combined_line_is_the_cut_mean_of_the_subsets():
    found = combined(PUBLISHED)
    assert found.pairs == PUBLISHED_COMBINED.pairs == TRUE_PAIRS["combined"] + 1_000
    assert 29_391 - TRUE_PAIRS["php"] == 1_000
    assert truncated(found.text_tokens, 2) == PUBLISHED_COMBINED.text_tokens == 21.01  # 21.015
    assert truncated(found.code_tokens, 2) == PUBLISHED_COMBINED.code_tokens == 159.20
    assert truncated(found.text_tvd, 4) == PUBLISHED_COMBINED.text_tvd == 0.3386  # .33869
    assert truncated(found.code_tvd, 3) == PUBLISHED_COMBINED.code_tvd == 0.585  # .5853


def test_of_a_subset_without_distance_the_mean_has_none():
    assert combined([Row("a", 1, 2.0, 4.0, 0.25, None), Row("b", 9, 4.0, 8.0, 0.75, 0.1)]) == Row(
        "combined", 10, 3.0, 6.0, 0.5, None
    )
    with pytest.raises(ValueError, match="needs a subset"):
        combined([])


def test_the_table_has_ours_and_theirs():
    train = subset_statistics("train_adv", [example("ab", "x")], BYTES)
    php = subset_statistics("php", [example("ab", "yy")], BYTES)
    lines = statistics_table([row_of(train, None), row_of(php, train), Row("own", 1234, 1.0, 2.0, 0.25, 1.0)])
    assert lines.splitlines()[2:5] == [
        "| train_adv | 1 (251,820) | 5.00 (15.97) | 4.00 (166.94) | - (0) | - (0) |",
        "| php | 1 (29,391\\*) | 5.00 (14.73) | 5.00 (189.00) | 0.0000 (0.2858) | 0.6667 (0.581) |",
        "| own | 1,234 | 1.00 | 2.00 | 0.2500 | 1.0000 |",
    ]
    assert "28,391" in lines


def test_released_cosqa_has_the_published_code_length_and_docstrings_as_texts():
    found = released("cosqa", "cosqa/gencsn_mrr_test")
    assert found.pairs == 10_293
    assert found.mean_tokens("code") == pytest.approx(53.9356 + 2, abs=1e-4)  # printed as 55.93
    assert found.mean_tokens("text") == pytest.approx(14.0356 + 2, abs=1e-4)  # printed as 10.42, of other texts


def test_statcodesearch_is_near_its_published_lengths_and_far_from_cosqa():
    """749 of the 1,070 pairs: lengths and distances of all are 24.55 and 134.02, .5583 and .6940."""
    found = released("statcodesearch", "statcodesearch/test_70")
    assert found.pairs == 749
    assert found.mean_tokens("text") == pytest.approx(23.9159, abs=1e-4)
    assert found.mean_tokens("code") == pytest.approx(129.9840, abs=1e-4)
    cosqa = released("cosqa", "cosqa/gencsn_mrr_test")
    assert total_variation(found.counts["text"], cosqa.counts["text"]) == pytest.approx(0.5583, abs=0.005)
    assert total_variation(found.counts["code"], cosqa.counts["code"]) == pytest.approx(0.6940, abs=0.005)
