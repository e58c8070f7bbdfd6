"""Test sets of which some rows are no queries, or whose queries are ranked in groups, against their definitions."""

import numpy as np
import pytest

from baselines.bm25 import Bm25, Bm25Config
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from evaluation.query_files import write_qrels, write_run
from evaluation.reading import TestReading
from evaluation.results import DataSource, measure
from tests.evaluation.rankers import Chosen
from tests.evaluation.real_data import jdk_split

ONLY = TestReading(candidates_without_query=True)
CONFIG = EvaluateConfig(run_depth=5)


def with_some_queries(size, asked):
    """A split in which only the rows ``asked`` have a query."""
    from dataclasses import replace

    from data_prep.store.arrays import Ragged
    from data_prep.store.split import Split

    split = jdk_split(size)
    lists = [split.words["query"][row].tolist() if row in asked else [] for row in range(size)]
    changed: Split = replace(split, words={**split.words, "query": Ragged.of(lists)})
    return changed


@pytest.mark.parametrize("rows_per_block", [1, 3, 100])
def test_each_query_is_ranked_over_all_candidates(rows_per_block, tmp_path):
    asked, size = [1, 2, 5, 9, 10], 12
    split = with_some_queries(size, asked)
    scores = np.random.default_rng(0).integers(0, 4, (size, size)).astype(np.float32)
    found = evaluate(Chosen(scores[asked], rows_per_block), split, CONFIG, reading=ONLY, progress=False)
    for place, query in enumerate(asked):
        better = sum(score > scores[query, query] for score in scores[query])
        tied = sum(score == scores[query, query] for score in scores[query]) - 1
        assert (found.better[place], found.tied[place]) == (better, tied)
    assert found.rows.tolist() == found.golds.tolist() == asked
    assert (found.candidates, found.pairs) == (size, len(asked) * size)
    tested = measure(found, data=DataSource(origin="it", fingerprint=""))
    assert (tested.queries, tested.pool_size) == (len(asked), size)
    write_qrels(found, tmp_path / "qrels")
    write_run(found, tmp_path / "run", tag="it")
    lines = [line.split() for line in (tmp_path / "qrels").read_text().splitlines()]
    assert [line[0] for line in lines] == [f"q{row}" for row in asked]
    names = {line[2] for line in lines}
    listed = {line.split()[2] for line in (tmp_path / "run").read_text().splitlines()}
    assert len(names) == len(asked)
    assert len(listed | names) <= size


def test_candidates_make_it_harder_for_bm25():
    split = with_some_queries(40, range(0, 40, 4))
    among_all = evaluate(Bm25(Bm25Config()), split, CONFIG, reading=ONLY, progress=False)
    alone = evaluate(Bm25(Bm25Config()), split.take(np.arange(0, 40, 4)), CONFIG, progress=False)
    assert len(among_all.ranks) == len(alone.ranks) == 10
    assert (1 / among_all.ranks).mean() <= (1 / alone.ranks).mean()
    assert among_all.ranks.max() > 1


def test_groups_are_ranked_as_if_there_were_no_other():
    split, reading = jdk_split(50), TestReading(group=8)
    groups = reading.groups(50)
    assert groups.shape == (6, 8)
    assert len(set(groups.reshape(-1).tolist())) == 48  # the two left over are in none
    assert (groups == reading.groups(50)).all()
    assert (groups != np.arange(48).reshape(6, 8)).any()
    found = evaluate(Bm25(Bm25Config()), split, CONFIG, reading=reading, progress=False)
    assert found.rows.tolist() == groups.reshape(-1).tolist()
    for number, group in enumerate(groups):
        alone = evaluate(Bm25(Bm25Config()), split.take(group), CONFIG, progress=False)
        mine = slice(8 * number, 8 * number + 8)
        assert found.ranks[mine].tolist() == alone.ranks.tolist()
        assert (found.top_codes[mine] - 8 * number).tolist() == alone.top_codes.tolist()
        for place, row in enumerate(group.tolist()):
            assert found.pool.text(8 * number + place) == split.text(row)
    tested = measure(found, data=DataSource(origin="it", fingerprint=""))
    assert (tested.queries, tested.pool_size, max(tested.ranks) <= 8) == (48, 8, True)
    ceilings = [
        measure(evaluate(Bm25(Bm25Config()), split.take(group), CONFIG, progress=False), data=tested.data).ceiling_top1
        for group in groups
    ]
    assert tested.ceiling_top1 == pytest.approx(np.mean(ceilings))


def test_too_few_for_a_group_are_one_group():
    assert TestReading(group=1000).groups(7).tolist() == [list(range(7))]


def test_a_reading_comes_from_the_manifest():
    assert TestReading.of({}) == TestReading()
    assert TestReading.of({"test_reading": {"group": 1000}}) == TestReading(group=1000)
    assert TestReading.of({"test_reading": {"candidates_without_query": True}}) == ONLY
    for bad in ({"group": "many"}, {"group": 0}, {"pool": 3}, {"group": 5, "pool": 3}, [], 7):
        with pytest.raises(ValueError, match="states a test_reading that is not known"):
            TestReading.of({"test_reading": bad})


def test_no_query_at_all_is_one_line():
    with pytest.raises(ValueError, match="has no query among its 4 pairs"):
        evaluate(Bm25(Bm25Config()), with_some_queries(4, []), CONFIG, reading=ONLY, progress=False)
