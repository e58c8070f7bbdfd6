import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from baselines.bm25 import Bm25, Bm25Config
from evaluation import metrics
from evaluation.config import EvaluateConfig
from evaluation.evaluator import Evaluation, evaluate
from evaluation.query_files import code_ids, strictly_decreasing, write_qrels, write_run
from tests.evaluation.rankers import Chosen
from tests.evaluation.real_data import jdk_split, published_split

ir_measures = pytest.importorskip("ir_measures", reason="none of its wheels is for Linux on ARM")
RR, SUCCESS, NDCG = ir_measures.RR, ir_measures.Success, ir_measures.nDCG


def assert_tools_agree(evaluation: Evaluation, folder) -> None:
    """ir_measures, which reads with trec_eval's code, finds each query's rank as far as the run goes."""
    write_qrels(evaluation, folder / "qrels.txt")
    write_run(evaluation, folder / "run.txt", tag="a tag")
    wanted = [RR, NDCG @ 10, *(SUCCESS @ k for k in (1, 2, 5, 6, 10))]
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
    run = list(ir_measures.read_trec_run(str(folder / "run.txt")))
    depth, ranks = evaluation.top_codes.shape[1], evaluation.ranks
    by_query = {each.query_id: each.value for each in ir_measures.iter_calc([RR], qrels, run)}
    ours = {f"q{row}": 1 / rank if rank <= depth else 0 for row, rank in zip(evaluation.rows, ranks, strict=True)}
    assert by_query == pytest.approx(ours)
    found = ir_measures.calc_aggregate(wanted, qrels, run)
    assert found[RR] == pytest.approx(metrics.mrr_at_k(ranks, depth))
    assert found[NDCG @ 10] == pytest.approx(metrics.ndcg_at_k(ranks, min(depth, 10)))
    for k in (1, 2, 5, 6, 10):
        assert found[SUCCESS @ k] == pytest.approx(metrics.top_at_k(ranks, min(depth, k)))


def test_ir_measures_agrees_on_bm25_over_a_published_test_set(tmp_path):
    config = EvaluateConfig(pool=1000, run_depth=50)
    evaluation = evaluate(Bm25(Bm25Config()), published_split("csn_tabcs"), config, progress=False)
    assert (evaluation.tied > 0).any()
    assert_tools_agree(evaluation, tmp_path)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("levels", [1, 2, 20])
def test_ir_measures_agrees_where_nearly_all_is_tied(tmp_path, seed, levels):
    scores = np.random.default_rng(seed).integers(levels, size=(30, 30)).astype(np.float32)
    for depth in (5, 100):
        evaluation = evaluate(Chosen(scores), jdk_split(30), EvaluateConfig(run_depth=depth), progress=False)
        assert_tools_agree(evaluation, tmp_path)


EXTREMES = st.one_of(st.floats(width=32, allow_nan=False), st.sampled_from([0.0, 1.0, -1e-45, 5e-9, -np.inf, np.inf]))


@settings(deadline=None)
@given(npst.arrays(np.float32, (1, 12), elements=EXTREMES))
def test_exported_scores_decrease_in_single_precision_even_as_text(scores):
    scores = -np.sort(-scores, axis=1)
    lowered = strictly_decreasing(scores)
    read = np.array([float(f"{score:.9g}") for score in lowered[0]], np.float32)
    assert np.isfinite(read).all()
    assert (np.diff(read) < 0).all()


def test_scores_that_decrease_already_are_kept():
    scores = np.array([[3.5, 2.25, 1e-3, -7.0]], np.float32)
    assert strictly_decreasing(scores).tolist() == scores.tolist()


def test_code_ids_are_unique_and_without_white_space(tmp_path):
    ids = code_ids(jdk_split(25))
    assert ids[0] == "jdk/java%20base/0.java:0"
    assert ids[10] == "jdk/java%20base/0.java:0#2"
    assert len(set(ids)) == 25
    evaluation = evaluate(Chosen(np.eye(25, dtype=np.float32)), jdk_split(25), EvaluateConfig(), progress=False)
    write_qrels(evaluation, tmp_path / "qrels")
    write_run(evaluation, tmp_path / "run", tag="a tag")
    lines = (tmp_path / "run").read_text(encoding="ascii").splitlines()
    assert all(len(line.split(" ")) == len(line.split()) == 6 for line in lines)
    assert lines[0] == "q0 Q0 jdk/java%20base/0.java:0 1 1 a%20tag"
    assert (tmp_path / "qrels").read_text().splitlines()[24] == f"q24 0 {ids[24]} 1"
