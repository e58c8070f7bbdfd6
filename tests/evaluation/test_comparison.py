"""Rankers held against each other: means over seeds, and Holm's correction against a hand count."""

import math
from dataclasses import replace

import numpy as np
import pytest

from evaluation.comparison import Lead, by_pool, counting_copies, leads, paired_leads
from evaluation.significance import RunDifference, holm
from tests.evaluation.test_results import SIZE, result


def ranked(model: str, seed: int, ranks: list[int]):
    found = result(model=model, seed=seed, also={})
    exact = {**found.exact, "mrr": float(np.mean(1 / np.array(ranks)))}
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
    assert entries[0].mrr == 0.75
    assert entries[0].mrr_text == f"{entries[0].mrr:.3f} ± {np.std([0.5, 1], ddof=1):.3f}"
    assert entries[1].mrr_text == f"{entries[1].mrr:.3f}"


def test_a_difference_is_significant_where_it_is_more_than_chance():
    rng = np.random.default_rng(0)
    base = rng.integers(1, 10, SIZE)
    same, better = base.copy(), np.maximum(1, base - 5)
    same[:2] = same[:2][::-1]
    named = {"base": base, "same": same, "better": better}
    results = [(name, ranked(name, seed, ranks.tolist())) for name, ranks in named.items() for seed in (0, 1)]
    results.append(("once", ranked("once", 0, better.tolist())))
    ((_, entries),) = by_pool(results).items()
    found = leads(entries, "base")
    assert {label: lead.verdict for label, lead in found.items()} == {"same": "no", "better": "yes", "once": "one seed"}
    assert found["better"].difference.mean == pytest.approx(np.mean(1 / better - 1 / base))
    assert found["once"].difference.mean == found["better"].difference.mean
    assert found["better"].adjusted_p == min(1, 2 * found["better"].difference.p_value)


def lead(mean, low, high, p):
    return Lead(RunDifference(mean, low, high, p, 0.01, 9.0), p)


@pytest.mark.parametrize(
    ("found", "side"),
    [
        (lead(0.02, 0.01, 0.03, 0.01), "better"),
        (lead(-0.004, -0.006, -0.002, 0.01), "worse"),  # a difference, though a small one
        (lead(0.0, -0.0099, 0.0099, 0.9), "level"),
        (lead(0.004, 0.001, 0.008, 0.06), "level"),
        (lead(0.0, -0.0101, 0.009, 0.9), "not shown"),
        (lead(0.011, 0.002, 0.02, 0.06), "not shown"),  # by the correction
        (lead(0.5, math.nan, math.nan, math.nan), "one seed"),
    ],
)
def test_level_is_said_only_within_the_margin(found, side):
    assert found.side == side


def test_a_pair_is_compared_as_with_a_reference_and_corrected_for_the_pairs():
    rng = np.random.default_rng(2)
    rows = {name: rng.integers(1, 10, SIZE).tolist() for name in ("a", "b", "c")}
    ((_, entries),) = by_pool([(name, ranked(name, seed, of)) for name, of in rows.items() for seed in (0, 1)]).items()
    a, b, c = (next(each for each in entries if each.label == name) for name in "abc")
    pairs = paired_leads([(a, b), (c, b)])
    assert dict(zip("ac", pairs, strict=True)) == leads(entries, "b")
    assert paired_leads([(a, b)])[0].adjusted_p == pairs[0].difference.p_value


def test_copies_have_the_rank_of_the_first_of_their_words():
    ranks = [3, 1, 2, *range(4, SIZE + 1)]
    ((_, (entry,)),) = by_pool([("a", ranked("a", 0, ranks))]).items()
    texts = [7, 7, 5, *range(10, SIZE + 7)]
    found = counting_copies(entry, texts)
    assert [*found.tested[0].ranks] == [1, 1, 2, *range(4, SIZE + 1)]
    assert found.mrr == pytest.approx(np.mean([1 / rank for rank in found.tested[0].ranks]))


def test_queries_of_one_file_count_together():
    rng = np.random.default_rng(1)
    ranks = {name: rng.integers(1, 10, SIZE).tolist() for name in ("base", "other")}
    results = [(name, ranked(name, seed, of)) for name, of in ranks.items() for seed in (0, 1)]
    ((_, entries),) = by_pool(results).items()
    label = entries[0].label
    alone, together = (
        leads(entries, entries[1].label, files)[label] for files in (None, [q // 10 for q in range(SIZE)])
    )
    assert together.difference.mean == alone.difference.mean
    assert together.difference.degrees_of_freedom < alone.difference.degrees_of_freedom


def test_what_is_not_trained_needs_no_seeds():
    base = [replace(ranked("bm25", 0, [2] * SIZE), parameters=0)]
    model = [ranked("galm", seed, [1, *[2] * (SIZE - 1)]) for seed in (0, 1)]
    ((_, entries),) = by_pool([("bm25", base[0]), *(("galm", each) for each in model)]).items()
    assert leads(entries, "bm25")["galm"].verdict == "no"


def test_other_data_sets_have_tables_of_their_own():
    found = by_pool([("a", result())])
    assert [pool.dataset for pool in found] == ["jdk", "folder:java"]


def test_without_the_reference_nothing_is_compared():
    ((_, entries),) = by_pool([("a", ranked("a", 0, [1] * SIZE))]).items()
    assert leads(entries, "galm") == {}
    assert leads(entries, "a") == {}
