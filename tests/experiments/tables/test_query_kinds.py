"""Facts of queries are kept once, renewed when the data change, and used only for the pool that they are of."""

from dataclasses import replace

import numpy as np
import pytest

from data_prep.files.json_text import to_json
from data_prep.pipeline.overlap import overlap, without
from evaluation.queries import query_facts
from evaluation.result_store import ROWS, ResultStore
from evaluation.results import DataSource
from experiments.run import data
from experiments.tables import query_kinds as kept
from experiments.tables.answers import answers_of
from experiments.tables.cells import Cell
from experiments.tables.query_kinds import saved_facts, write_query_facts
from tests.evaluation.real_data import jdk_split
from tests.evaluation.test_results import SIZE, result

CELLS = (Cell("folder", "bm25", 0, "bm25"), Cell("folder", "galm", 0, "galm"))


@pytest.fixture
def typed(java_folder, small_data):
    root = str(small_data.folder.parent)
    data = {"path": str(java_folder), "root": root, "valid_share": "0.2", "test_share": "0.2", "processes": "1"}
    return {f"data.{name}": value for name, value in data.items()}


@pytest.fixture
def prepared(monkeypatch):
    """How often data were prepared."""
    calls, stage = [], data.prepare_stage
    monkeypatch.setattr(data, "prepare_stage", lambda *given: (calls.append(given), stage(*given))[1])
    return calls


def test_they_are_of_the_whole_test_split(typed, small_data, prepared, tmp_path):
    write_query_facts(CELLS, tmp_path, typed)
    test = small_data.splits["test"]
    train = small_data.splits["train"]
    train = without(train, overlap(train, [test, small_data.splits["valid"]], named=True).rows)
    expected = query_facts(test, dataset="folder", origin=small_data.manifest["origin"], train=train)
    assert saved_facts(tmp_path)["folder"] == expected
    assert len(expected.words) == len(expected.nearest) == len(test) > 30
    assert 1 < len(set(expected.files)) < len(test)
    assert len(prepared) == 1


def test_other_data_replace_them_and_the_same_leave_them(typed, tmp_path):
    write_query_facts(CELLS, tmp_path, typed)
    path = tmp_path / "queries" / ROWS
    facts, before = saved_facts(tmp_path)["folder"], path.stat().st_mtime_ns
    write_query_facts(CELLS, tmp_path, typed)
    assert path.stat().st_mtime_ns == before
    ResultStore(tmp_path / "queries").save("folder", to_json(replace(facts, fingerprint="of other data")))
    write_query_facts(CELLS, tmp_path, typed)
    assert saved_facts(tmp_path) == {"folder": facts}


def test_data_are_not_prepared_where_all_is_there(typed, prepared, tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "finished", lambda *_: True)
    write_query_facts(CELLS, tmp_path, typed)
    assert len(prepared) == 1
    write_query_facts(CELLS, tmp_path, typed)
    assert len(prepared) == 1


def test_sets_that_are_tested_too_have_theirs(typed, prepared, tmp_path, java_folder):
    cell = Cell("folder", "bm25", 0, "bm25", {"evaluate.extra_tests": f"folder:{java_folder}"})
    write_query_facts([cell], tmp_path, typed)
    assert len(prepared) == 1  # of the same name
    assert [*saved_facts(tmp_path)] == ["folder"]


def test_facts_are_used_for_the_pool_that_they_are_of():
    facts = query_facts(jdk_split(SIZE), dataset="jdk", origin="jdk-17.0.21")
    other = result(also={})
    same = replace(other, data=DataSource(origin="jdk-17.0.21", fingerprint=facts.fingerprint))
    for tested, known in ((same, facts), (other, None)):
        (found,) = answers_of([("galm", tested), ("bm25_tuned", tested)], [facts], {}).values()
        assert found.facts == known


def test_queries_that_training_has_too_are_known():
    split = jdk_split(SIZE)
    facts = query_facts(split, dataset="jdk", origin="jdk", train=split.take(np.array([0, 3])))
    words = [tuple(split.word_list("query", row)) for row in range(SIZE)]
    assert facts.asked == [int(each in (words[0], words[3])) for each in words]
    assert 0 < sum(facts.asked) < SIZE
    assert query_facts(split, dataset="jdk", origin="jdk").asked == []
