"""Tables of results and of ablations, whose every variant can be run; saved results become means over seeds."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from evaluation.result_store import ResultStore
from experiments.posts.config import resolve_plan
from experiments.posts.pages import ablation_page, cost, summary, write_summaries
from experiments.posts.results import (
    ABLATIONS,
    BASE,
    PostsResult,
    compared,
    difference_line,
    grouped,
    save_results,
    table,
)

GOOD, BAD = [1] * 30 + [99] * 10, [1] * 10 + [99] * 30


TRAINED = "snipper_light round-2"


def result(ranks, queries=None, ranker=TRAINED, pool="full", thread=1):
    """A result whose queries are in threads of ``thread``, one after the other."""
    keys = queries or [str(number) for number in range(len(ranks))]
    chance, threads = dict.fromkeys(("5", "10", "20", "50"), 0), [number // thread for number in range(len(keys))]
    return PostsResult(ranker, pool, 100, tuple(keys), tuple(ranks), chance, {"code": [0]}, tuple(threads))


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
    assert rows[3] == "| others | 1 | 1.000 ± 0.000 |  |"


def test_results_of_other_queries_are_not_compared():
    with pytest.raises(AssertionError, match="same queries"):
        difference_line(result([1, 2]), result([1, 2], ["x", "y"]))
    fixed = partial(result, ranker="minilm + bm25_tuned")
    assert "Recall@10: +0.333 (" in difference_line(fixed([1, 1, 50]), fixed([1, 50, 50]))
    assert ", 2.00 times, p" in difference_line(fixed([1, 1, 50]), fixed([1, 50, 50]))
    assert "times" not in difference_line(fixed([1, 1, 50]), fixed([50, 50, 50]))  # of nothing


@pytest.mark.parametrize("ranker", [TRAINED, "snipper_minilm round-2 + bm25_tuned (weight 0.5)", "snipper untrained"])
def test_a_trained_model_with_one_seed_gets_no_verdict(ranker):
    one, control = result(GOOD, ranker=ranker), result(BAD, ranker="bm25_tuned")
    (lead,) = compared({"it": [one]}, [control]).values()
    assert (lead.side, lead.difference.mean) == ("one seed", 0.5)
    line = difference_line(one, control)
    assert "+0.500, 3.00 times, one seed or one thread of duplicates: no interval and no verdict" in line
    page = summary("site", {"full": {ranker: [one], "bm25_tuned": [control]}})
    assert f"| {ranker} | 1 | +0.500 | 3.00 times |  | one seed |" in page
    assert f"- No verdict, with one seed: `{ranker}` +0.500.\n" in page
    assert "with a verdict," not in page


def test_queries_of_one_thread_say_no_more_than_one_query():
    for ranks in ([1], [1, 1, 99]):
        line = difference_line(*(result(each, ranker="minilm", thread=9) for each in (ranks, [99] * len(ranks))))
        assert line.endswith("one seed or one thread of duplicates: no interval and no verdict")


def test_other_tests_of_a_ranker_are_not_compared():
    rows = [
        result(BAD, ranker=name) for name in ("bm25", "bm25_tuned", "bm25, first link only", "bm25, titles as queries")
    ]
    found = summary("site", {"full": {each.ranker: [each] for each in rows}}).partition("## full corpus")[0]
    assert "| bm25 | 1 | +0.000 (" in found
    assert "only" not in found
    assert "titles" not in found


def test_intervals_are_over_seeds_and_threads():
    def lead(thread, *rows):
        control = result(BAD, ranker="bm25_tuned", thread=thread)
        return compared({"it": [result(ranks, thread=thread) for ranks in rows]}, [control])["it"].difference

    alone, in_threads, differing = lead(1, GOOD, GOOD), lead(10, GOOD, GOOD), lead(1, GOOD, [1] * 40)
    assert in_threads.mean == alone.mean == 0.5
    assert in_threads.low < alone.low
    assert differing.low < alone.low < alone.mean < differing.mean


def test_level_needs_an_interval_within_the_margin():
    control, other = ([*BAD, *[1, 99] * 3], [*BAD, *[99, 1] * 3])
    rows = {"as many": [result(other, ranker="minilm")], "the same": [result(control, ranker="minilm")]}
    found = compared(rows, [result(control, ranker="bm25_tuned")])
    assert {name: lead.side for name, lead in found.items()} == {"as many": "not shown", "the same": "level"}


def test_a_table_has_kinds_only_where_there_are_queries():
    page = table([result([1, 99])], ("code", "error"))
    assert f"| {TRAINED} | code | 1 | 1.000" in page
    assert "error" not in page
    assert result([1, 99]).row().endswith(f"| {np.mean([1, 1 / 99]):.3f} |")


def write_results(folder):
    for seed, weight in enumerate((0.3, 0.5)):
        ranks = [1 + seed] * 30 + [99] * 10
        rows = [result(ranks, ranker=f"{TRAINED} + b (weight {weight})"), result(BAD, ranker="bm25_tuned")]
        save_results(folder, f"a-seed{seed}", rows, {"model": "a"})


def test_seeds_are_averaged_and_the_control_is_counted_once(tmp_path):
    write_results(tmp_path / "site")
    found = grouped(ResultStore(tmp_path / "site").load())
    assert {ranker: len(each) for ranker, each in found["full"].items()} == {f"{TRAINED} + b": 2, "bm25_tuned": 1}
    page = summary("site", found)
    assert page.startswith("# site: does an encoder find posts by code and an error better than BM25 does?\n")
    assert f"| {TRAINED} + b | 2 | 0.750 ± 0.000 (" in page
    assert "| bm25_tuned | 1 | 0.250 (" in page
    assert f"| {TRAINED} + b | 2 | +0.500 (+0.3" in page
    assert f"- Ahead: `{TRAINED} + b` +0.500 (+0.3" in page
    assert "\nOf 1 ranker with a verdict, 1 is ahead of `bm25_tuned`.\n" in page
    (written,) = write_summaries(tmp_path)
    spent = "Cost: 0 trained stages, 0.0 hours in all; times of ranking are not saved."
    assert written.read_text() == summary("site", found, spent)


def test_saved_ablations_have_a_page(tmp_path):
    write_results(tmp_path / "site")
    place = tmp_path / "site" / "ablations" / "snipper_rounds"
    for label, ranks in (("snipper_light", BAD), ("3_rounds", GOOD)):
        for seed in range(2):
            rows = [result(BAD), result(ranks), result(ranks, pool="closed")]
            save_results(place / label, f"snipper_light-seed{seed}", rows, {})
    _, page = write_summaries(tmp_path)
    assert page.name == "site-ablations_on_test.md"
    lines = page.read_text().splitlines()
    assert lines[0] == "# site: what do parts of the loop change, on the queries of the main test?"
    assert lines[2].startswith("**Nothing is concluded here.** These tables read the queries of the main test")
    assert "The largest difference in Recall@10: `3 rounds`, +0.500 (+0.3" in lines[2]
    assert not any("better" in line or "ahead" in line for line in lines)
    assert [line for line in lines if line.startswith("## ")] == ["## snipper_rounds"]
    assert any(line.startswith("| 3 rounds | 40 | 0.750 ± 0.000 | +0.500 (+0.3") for line in lines)
    assert not any("1 round" in line for line in lines)  # not run


def test_damaged_and_missing_results(tmp_path):
    with pytest.raises(ValueError, match="there are none"):
        write_summaries(tmp_path)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.json").write_text('{"results": [{}]}')
    with pytest.raises(ValueError, match="is no result"):
        grouped(ResultStore(tmp_path / "site").load())


def test_titles_are_compared_with_code_and_errors_of_the_same_ranker():
    rows = {"bm25": BAD, "bm25, titles as queries": GOOD, "bm25_tuned": BAD}
    page = summary("site", {"full": {name: [result(ranks, ranker=name)] for name, ranks in rows.items()}})
    assert "## Recall@10 by titles minus that by code and errors, full corpus" in page
    assert "\n| bm25 | +0.500 (+0.3" in page.partition("## Recall@10 by titles")[2]


def test_kinds_of_query_have_differences_with_intervals():
    rows = {"bm25": GOOD, "bm25_tuned": BAD}
    full = {
        name: [replace(result(ranks, ranker=name), kinds={"error": [*range(20)], "code": [*range(30)]})]
        for name, ranks in rows.items()
    }
    page = summary("site", {"full": full})
    line = next(each for each in page.splitlines()[::-1] if each.startswith("| bm25 |"))
    assert line.startswith("| bm25 | +0.667 (")
    assert " | +0.500 (" in line
    assert line.count("ahead") == 2


def test_a_stage_that_two_runs_share_costs_once(tmp_path):
    stages = [{"key": "pretrain-1", "seconds": 1800.0}, {"key": "round-1", "seconds": 5400.0}]
    for seed, own in enumerate((stages, stages[:1])):
        save_results(tmp_path, f"a-seed{seed}", [result(BAD)], {"stages": own})
    runs = ResultStore(tmp_path).load().values()
    assert cost(runs) == "Cost: 2 trained stages, 2.0 hours in all; times of ranking are not saved."
