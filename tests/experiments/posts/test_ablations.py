"""The table of an ablation, and that every variant can be run."""

import numpy as np
import pytest

from experiments.posts.ablations import ABLATIONS, BASE
from experiments.posts.config import resolve_plan
from experiments.posts.results import PostsResult, ablation_page, difference_line, table


def result(ranks, queries=None, ranker="a", pool="full"):
    keys = queries or [str(number) for number in range(len(ranks))]
    return PostsResult(ranker, pool, 100, tuple(keys), tuple(ranks), {"5": 0, "10": 0, "20": 0, "50": 0}, {"code": [0]})


@pytest.mark.parametrize("name", [*ABLATIONS])
def test_every_variant_is_a_plan_of_its_own(name):
    plans = [resolve_plan(BASE, settings) for settings in ABLATIONS[name].variants.values()]
    assert resolve_plan(BASE, {}) not in plans
    assert len({repr(plan) for plan in plans}) == len(plans)


def test_means_over_seeds_and_the_difference_with_its_interval():
    good, bad = [1] * 30 + [99] * 10, [1] * 10 + [99] * 30
    page = ablation_page("Why?", {"base": [result(bad), result(bad)], "better": [result(good), result(good)],
                                  "others": [result([1], ["x"]), result([1], ["x"])]})  # fmt: skip
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert rows[1].startswith("| base | 40 | 0.250 ± 0.000 |")
    assert rows[2].startswith("| better | 40 | 0.750 ± 0.000 | +0.500 (+0.3")
    assert rows[3] == "| others | 1 | 1.000 ± 0.000 | | |"


def test_results_of_other_queries_are_not_compared():
    with pytest.raises(AssertionError, match="same queries"):
        difference_line(result([1, 2]), result([1, 2], ["x", "y"]))
    assert "Recall@10: +0.333 (" in difference_line(result([1, 1, 50]), result([1, 50, 50]))


def test_a_table_has_kinds_only_where_there_are_queries():
    page = table([result([1, 99])], ("code", "error"))
    assert "| a | code | 1 | 1.000" in page
    assert "error" not in page
    assert result([1, 99]).row().endswith(f"| {np.mean([1, 1 / 99]):.3f} |")
