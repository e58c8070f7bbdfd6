"""Saved results become tables of means over seeds."""

import pytest

from evaluation.result_store import ResultStore
from experiments.posts.results import grouped, save_results, summary, write_summaries
from tests.experiments.posts.test_ablations import result

GOOD, BAD = [1] * 30 + [99] * 10, [1] * 10 + [99] * 30


def write_results(folder):
    for seed, weight in enumerate((0.3, 0.5)):
        ranks = [1 + seed] * 30 + [99] * 10
        rows = [result(ranks, ranker=f"a + b (weight {weight})"), result(BAD, ranker="bm25_tuned")]
        save_results(folder, f"a-seed{seed}", rows, {"model": "a"})


def test_seeds_are_averaged_and_the_control_is_counted_once(tmp_path):
    write_results(tmp_path / "site")
    found = grouped(ResultStore(tmp_path / "site").load())
    assert {ranker: len(each) for ranker, each in found["full"].items()} == {"a + b": 2, "bm25_tuned": 1}
    page = summary("site", found)
    assert "| a + b | 2 | 0.750 ± 0.000 (" in page
    assert "| bm25_tuned | 1 | 0.250 (" in page
    assert "| a + b | +0.500 (+0.3" in page
    (written,) = write_summaries(tmp_path)
    assert written.read_text() == page


def test_saved_ablations_have_a_page(tmp_path):
    write_results(tmp_path / "site")
    place = tmp_path / "site" / "ablations" / "snipper_rounds"
    for label, ranks in (("snipper_light", BAD), ("3_rounds", GOOD)):
        for seed in range(2):
            rows = [result(BAD), result(ranks), result(ranks, pool="closed")]
            save_results(place / label, f"snipper_light-seed{seed}", rows, {})
    _, page = write_summaries(tmp_path)
    assert page.name == "site-ablations.md"
    lines = page.read_text().splitlines()
    assert lines[0] == "# site: ablations"
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
