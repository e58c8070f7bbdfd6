import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from baselines.bm25 import Bm25, Bm25Config
from evaluation import metrics
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from evaluation.reading import pool_rows
from modeling.ranker import Ranker
from tests.evaluation.rankers import Chosen, ChosenScores
from tests.evaluation.real_data import jdk_split

SCORES = st.integers(1, 14).flatmap(lambda n: npst.arrays(np.float32, (n, n), elements=st.integers(-2, 2)))


@settings(deadline=None)
@given(SCORES, st.integers(1, 5), st.integers(1, 20))
def test_ranks_and_top_lists_are_those_of_a_sorted_list(scores, rows_per_block, depth):
    size = len(scores)
    evaluation = evaluate(
        Chosen(scores, rows_per_block), jdk_split(size), EvaluateConfig(run_depth=depth), progress=False
    )
    for query in range(size):
        order = sorted(range(size), key=lambda code: (-scores[query, code], code == query, code))
        assert evaluation.ranks[query] == order.index(query) + 1
        assert evaluation.top_codes[query].tolist() == order[:depth]
        assert evaluation.top_scores[query].tolist() == scores[query, order[:depth]].tolist()


def test_a_perfect_and_a_constant_ranker():
    config, split = EvaluateConfig(), jdk_split(20)
    perfect = evaluate(Chosen(np.eye(20, dtype=np.float32)), split, config, progress=False)
    constant = evaluate(Chosen(np.zeros((20, 20), np.float32)), split, config, progress=False)
    assert set(metrics.exact(perfect.ranks).values()) == {1.0}
    assert metrics.exact(constant.ranks)["top10"] == 0
    assert set(constant.ranks) == {20}


def test_a_smaller_pool_keeps_queries_with_their_golds():
    split = jdk_split()
    whole = evaluate(Bm25(Bm25Config()), split, EvaluateConfig(), progress=False)
    part = evaluate(Bm25(Bm25Config()), split, EvaluateConfig(pool=4, pool_seed=3), progress=False)
    assert (whole.pairs, part.pairs, len(part.ranks), part.ranks.max() <= 4) == (100, 16, 4, True)
    for place, row in enumerate(part.rows.tolist()):
        assert part.pool.text(place) == split.text(row)
        assert part.pool.word_list("query", place) == split.word_list("query", row)


def test_the_pool_is_drawn_by_its_seed_alone():
    drawn = pool_rows(5000, EvaluateConfig(pool=1000))
    assert drawn.tolist() == sorted(set(drawn.tolist()))
    assert len(drawn) == 1000
    assert drawn.tolist() == pool_rows(5000, EvaluateConfig(pool=1000, run_depth=5)).tolist()
    assert drawn.tolist() != pool_rows(5000, EvaluateConfig(pool=1000, pool_seed=1)).tolist()


def test_a_pool_larger_than_the_split_is_the_split_and_said(caplog):
    assert pool_rows(7, EvaluateConfig(pool=100)).tolist() == list(range(7))
    assert "--evaluate.pool=100 is more than the 7 available pairs" in caplog.text


def test_memory_holds_blocks_not_the_matrix():
    size = 3000

    class LazyScores(ChosenScores):
        def blocks(self):
            rng = np.random.default_rng(0)
            for _ in range(0, size, 20):
                yield rng.random((20, size), dtype=np.float32)

    class Lazy(Ranker):
        def over(self, *_):
            return LazyScores(np.empty((0, size)), 20)

    split, ranker = jdk_split(size), Lazy()
    tracemalloc.start()
    evaluate(ranker, split, EvaluateConfig(run_depth=10), progress=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6 < 4 * size**2 / 5  # bytes


def test_nan_scores_and_an_empty_split_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        evaluate(Chosen(np.full((10, 10), np.nan, np.float32)), jdk_split(), EvaluateConfig(), progress=False)
    with pytest.raises(ValueError, match="no pairs to test on"):
        evaluate(Chosen(np.empty((0, 0))), jdk_split(0), EvaluateConfig(), progress=False)


def test_a_ranker_that_leaves_queries_out_is_caught():
    with pytest.raises(AssertionError, match="scored 9 of 10 queries"):
        evaluate(Chosen(np.eye(10, dtype=np.float32)[:9]), jdk_split(), EvaluateConfig(), progress=False)


def test_progress_is_shown_in_pairs(capsys):
    evaluate(Chosen(np.eye(10, dtype=np.float32)), jdk_split(), EvaluateConfig(), progress=True)
    shown = capsys.readouterr().err
    assert "ranking test" in shown
    assert "pairs" in shown


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"pool": -1}, "--evaluate.pool takes 0 .* not -1"),
        ({"pool_seed": -1}, "--evaluate.pool_seed"),
        ({"run_depth": 0}, "--evaluate.run_depth takes a whole number from 1 to 100,000, not 0"),
        ({"bootstrap_samples": 5}, "--evaluate.bootstrap_samples"),
        ({"extra_tests": "csn,,jdk"}, "--evaluate.extra_tests takes comma-separated"),
        ({"extra_tests": ":/some/where"}, "--evaluate.extra_tests"),
    ],
)
def test_bad_settings_name_the_flag(fields, message):
    with pytest.raises(ValueError, match=message):
        EvaluateConfig(**fields)


def test_other_data_sets_are_read_with_their_paths():
    assert EvaluateConfig().also_sets == ()
    assert EvaluateConfig(extra_tests="csn, folder:/a/b:c").also_sets == (("csn", ""), ("folder", "/a/b:c"))
