"""The files of a test: every query with its rank and its pair, those of other rankers, and TREC files of each."""

import csv
import json

import numpy as np
import pytest

from data_prep.errors import UserError
from evaluation import metrics
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from evaluation.queries import query_facts
from evaluation.query_files import facts_of, folder_of_test, load_query_ranks, write_evaluation
from evaluation.reading import TestReading
from tests.evaluation.rankers import Chosen
from tests.evaluation.real_data import jdk_split
from tests.evaluation.test_results import SIZE, evaluated


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A test over a sample of a split, with another ranker, and its folder."""
    folder = tmp_path_factory.mktemp("files") / "also" / "it"
    noise = np.random.default_rng(1).random((SIZE, SIZE)).astype(np.float32)
    model, control = (evaluated(ranker, pool=6) for ranker in (Chosen(noise[:6, :6]), None))
    write_evaluation(model, folder, tag="a model", controls={"bm25": control}, seen=[1, 4])
    return model, control, folder


def test_every_query_has_its_rank_and_its_pair(written):
    model, control, folder = written
    lines = [json.loads(line) for line in (folder / "ranks.jsonl").read_text().splitlines()]
    assert [line["query"] for line in lines] == [f"q{row}" for row in model.rows]
    assert [line["text"] for line in lines] == [model.pool.text(row).query_text for row in range(6)]
    assert [line["code"] for line in lines] == [model.pool.text(row).method_name for row in range(6)]
    assert [line["rank"] for line in lines] == [1 + line["better"] + line["tied"] for line in lines]
    assert metrics.mrr(np.array([line["rank"] for line in lines])) == metrics.mrr(model.ranks)
    assert [line["controls"]["bm25"] for line in lines] == control.ranks.tolist()
    assert [line["seen"] for line in lines] == [False, True, False, False, True, False]


def test_the_same_is_in_a_table_and_in_trec_files(written):
    model, control, folder = written
    rows = [*csv.DictReader((folder / "ranks.csv").read_text(encoding="utf-8").splitlines())]
    assert [int(row["rank"]) for row in rows] == model.ranks.tolist()
    assert [int(row["rank of bm25"]) for row in rows] == control.ranks.tolist()
    assert rows[0]["text"] == model.pool.text(0).query_text
    golds = [line.split()[2] for line in (folder / "qrels.trec").read_text().splitlines()]
    assert golds == [row["place"] for row in rows]
    for name, found in {"run.trec": model, "run-bm25.trec": control}.items():
        listed = [line.split() for line in (folder / name).read_text().splitlines()]
        for query, gold, rank in zip(found.rows, golds, found.ranks, strict=True):
            (own,) = (int(line[3]) for line in listed if line[0] == f"q{query}" and line[2] == gold)
            assert own == rank


def test_queries_among_candidates_without_one_are_theirs(tmp_path):
    split = jdk_split(10)
    asked = np.array([1, 3, 8])
    empty = np.setdiff1d(np.arange(10), asked)
    words = dict(split.words)
    lists = [[] if row in empty else split.words["query"][row].tolist() for row in range(10)]
    words["query"] = type(split.words["query"]).of(lists)
    scores = np.random.default_rng(0).random((10, 10)).astype(np.float32)
    reading = TestReading(candidates_without_query=True)
    found = evaluate(
        Chosen(scores[asked]), type(split)("test", split.lexicon, words, split.texts), EvaluateConfig(),
        reading=reading, progress=False,
    )  # fmt: skip
    write_evaluation(found, tmp_path, tag="it", controls={})
    assert [line.text for line in load_query_ranks(tmp_path)] == [split.text(row).query_text for row in asked.tolist()]


def test_facts_of_saved_queries_are_those_of_the_split(written):
    model, _, folder = written
    facts = facts_of(load_query_ranks(folder), "0a1b", "test")
    own = query_facts(model.pool, dataset="", origin="")
    assert facts is not None
    for name in ("words", "distinct", "shared", "code_words", "files"):
        assert getattr(facts, name) == getattr(own, name), name


def test_ranks_of_an_earlier_version_have_no_facts_and_a_damaged_file_is_said(tmp_path):
    line = {"query": "q0", "rank": 2, "better": 1, "tied": 0, "text": "sorts"}
    (tmp_path / "ranks.jsonl").write_text(json.dumps(line) + "\n")
    (found,) = load_query_ranks(tmp_path)
    assert (found.rank, found.text, found.code) == (2, "sorts", "")
    assert facts_of([found], "", "test") is None
    (tmp_path / "ranks.jsonl").write_text('{"query": "q0", "rank": "second"}\n')
    with pytest.raises(UserError, match="line 1: rank: expected a whole number"):
        load_query_ranks(tmp_path)
    with pytest.raises(UserError, match="cannot be read"):
        load_query_ranks(tmp_path / "none")


def test_other_tests_have_folders_of_their_own(tmp_path):
    assert folder_of_test(tmp_path, "csn_tabcs") == tmp_path / "also" / "csn_tabcs"
    assert folder_of_test(tmp_path, "folder:/home/me/../src") == folder_of_test(tmp_path, "folder:src")
