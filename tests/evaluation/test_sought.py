"""Queries that seek several codes, against ir_measures and against a count by hand."""

from pathlib import Path

import numpy as np
import pytest

from data_prep.records import Method, Pair
from data_prep.store.prepared_data import PreparedData
from data_prep.store.split import Split
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from evaluation.query_files import write_qrels, write_run
from evaluation.reading import Sought, TestReading, asked
from evaluation.results import DataSource, measure
from tests.evaluation.rankers import Chosen

ir_measures = pytest.importorskip("ir_measures", reason="none of its wheels is for Linux on ARM")
RR, NDCG, R, AP = ir_measures.RR, ir_measures.nDCG, ir_measures.R, ir_measures.AP
SEVERAL = TestReading.of({"test_reading": {"several": True}})
PAIRS = [("one", "a"), ("one", "b"), ("two", "c"), ("", "d"), ("three", "b"), ("two", "a"), ("", "e"), ("one", "f")]
"""Queries and codes of the rows."""


def split_of(pairs: list[tuple[str, str]]) -> Split:
    made = []
    for query, code in pairs:
        method = Method(
            "it", f"{code}.py", 1, 2, "", code, "method", f"def {code}", "", {"name": (code,), "tokens": (code,)}
        )
        made.append(Pair(method, query, (query,) if query else ()))
    return Split.of("test", made)


def test_equal_queries_and_equal_codes_are_one() -> None:
    split = split_of(PAIRS)
    assert SEVERAL.queries(split).tolist() == [0, 2, 4]
    sought = Sought.of(split, {})
    assert np.flatnonzero(sought.candidates).tolist() == [0, 1, 2, 3, 6, 7]
    assert [codes.tolist() for codes in sought.codes[:5]] == [[0, 1, 7], [0, 1, 7], [2, 0], [], [1]]
    assert sought.most == 3


def test_ranks_by_hand() -> None:
    split = split_of(PAIRS)
    scores = np.zeros((3, 8), np.float32)
    scores[0, [3, 0, 6, 1, 7]] = [5, 4, 4, 2, 1]  # d, then a with e tied, b, f; c last
    found = evaluate(Chosen(scores, 2), split, EvaluateConfig(run_depth=4), reading=SEVERAL, progress=False)
    assert found.sought_ranks is not None
    assert found.sought_ranks[0].tolist() == [3, 4, 5]
    assert (found.better[0], found.tied[0], found.ranks[0], found.candidates) == (1, 1, 3, 6)
    assert found.ranks[1:].tolist() == [5, 6]  # ties count against the ranker
    exact = measure(found, data=DataSource(origin="it", fingerprint="")).exact
    assert exact["mrr"] == pytest.approx((1 / 3 + 1 / 5 + 1 / 6) / 3)
    assert exact["recall5"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert exact["top5"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("rows_per_block", [1, 7, 100])
def test_measures_are_those_of_ir_measures(tmp_path: Path, rows_per_block: int) -> None:
    random = np.random.default_rng(0)
    pairs = [
        (f"q{random.integers(12)}" if random.random() < 0.7 else "", f"c{random.integers(60)}") for _ in range(150)
    ]
    split = split_of(pairs)
    queries = SEVERAL.queries(split)
    code = {name: number for number, name in enumerate({name for _, name in pairs})}
    table = random.permutation(len(queries) * len(code)).reshape(len(queries), -1).astype(np.float32)
    scores = table[:, [code[name] for _, name in pairs]]
    config = EvaluateConfig(run_depth=100)
    found = evaluate(Chosen(scores, rows_per_block), split, config, reading=SEVERAL, progress=False)
    exact = measure(found, data=DataSource(origin="it", fingerprint="")).exact
    write_run(found, tmp_path / "run", tag="it")
    write_qrels(found, tmp_path / "qrels")
    run, qrels = (ir_measures.read_trec_run(f"{tmp_path}/run"), ir_measures.read_trec_qrels(f"{tmp_path}/qrels"))
    other = ir_measures.calc_aggregate([RR, AP, NDCG @ 10, R @ 5, R @ 50], qrels, run)
    for name, each in (("mrr", RR), ("map", AP), ("ndcg10", NDCG @ 10), ("recall5", R @ 5), ("recall50", R @ 50)):
        assert exact[name] == pytest.approx(other[each], abs=1e-6), name
    assert found.candidates == len({name for _, name in pairs})
    assert found.top_codes.shape == (len(queries), found.candidates)


def test_a_sample_of_the_pool_keeps_what_belongs_together() -> None:
    split = split_of(PAIRS).take(np.array([1, 4, 7]))
    assert Sought.of(split, {}).most == 2
    assert SEVERAL.queries(split).tolist() == [0, 1]


def test_all_rows_with_a_query_are_kept_out_of_training(tmp_path: Path) -> None:
    data = PreparedData(tmp_path, {"test_reading": {"several": True}}, {"test": split_of(PAIRS)})
    assert len(asked(data)) == 6
