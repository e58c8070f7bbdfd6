"""A later test on other data looks for the run's training pairs in them, and says the figure without these."""

import json

import numpy as np
import pytest

from cli.main import main
from data_prep.pipeline.overlap import copies_in
from data_prep.records import Pair
from data_prep.store.split import Split
from evaluation.query_files import load_query_ranks
from evaluation.results import load_result
from tests.evaluation.real_data import _pair


def pairs(*rows: tuple[str, str, str]) -> Split:
    made: list[Pair] = [_pair("it", row, *(text.split() for text in texts)) for row, texts in enumerate(rows)]
    return Split.of("test", made)


def test_copies_are_exact_near_or_by_their_query():
    tokens = "alpha beta gamma delta epsilon zeta"
    train = pairs(
        ("adds an element", "add", tokens),
        ("sorts the list quickly", "sort", tokens),
        ("closes every open file", "close", "eta theta"),
    )
    tests = pairs(
        ("puts something at the end", "add", tokens),
        ("orders all numbers", "sort", f"{tokens} more"),
        ("closes every open file", "shut", "iota kappa"),
        ("adds an element", "add", tokens),
        ("reads a line", "read", tokens),
    )
    found = copies_in(tests, train)
    assert found.exact.tolist() == [0, 3]
    assert found.near.tolist() == [1]
    assert found.queries.tolist() == [2, 3]
    assert found.rows.tolist() == [0, 1, 2, 3]


@pytest.fixture(scope="module")
def project(java_folder):
    """A part of the folder that the run is trained on."""
    return java_folder / "java.base" / "java" / "util" / "stream"


@pytest.fixture(scope="module")
def run(java_folder, small_data, project, tmp_path_factory):
    """A run, tested again on a project of which it has seen a part."""
    out = tmp_path_factory.mktemp("seen") / "run"
    typed = {
        "data.path": java_folder,
        "data.root": small_data.folder.parent,
        "data.valid_share": 0.2,
        "data.test_share": 0.2,
        "data.processes": 1,
        "data.train_limit": 200,
        "train.epochs": 1,
        "train.threads": 1,
        "evaluate.pool": 20,
        "evaluate.bootstrap_samples": 100,
        "out": out,
    }
    assert main(["folder", "unif", *(f"--{name}={value}" for name, value in typed.items())]) == 0
    again = ["--evaluate.pool=0", f"--evaluate.extra_tests=project:{project}"]
    assert main(["evaluate", str(out), *again]) == 0
    return out


def test_the_training_pairs_are_found_and_left_out_of_the_second_figure(run):
    (file,) = run.glob("metrics-*.json")
    (also,) = load_result(file).also.values()
    (folder,) = (file.with_suffix("") / "also").iterdir()
    lines = load_query_ranks(folder)
    assert also.seen is not None
    assert 0 < also.seen.exact < len(also.seen.queries) < also.queries < also.pool_size
    assert [place for place, line in enumerate(lines) if line.seen] == [*also.seen.queries]
    others = [line.rank for line in lines if not line.seen]
    assert also.seen.without["mrr"] == pytest.approx(np.mean(1 / np.array(others)))
    log = (run / "log.txt").read_text(encoding="utf-8")
    assert f"{len(also.seen.queries):,} of {also.queries:,} queries are of pairs that it was trained on" in log


def test_its_own_test_split_is_not_looked_into(run):
    assert load_result(run / "metrics.json").seen is None


def test_where_the_training_pairs_are_gone_it_is_said(run, project, java_folder, tmp_path, capsys):
    before = (run / "config.json").read_text()
    config = json.loads(before)
    config["data"]["path"] = str(tmp_path / "gone")
    (run / "config.json").write_text(json.dumps(config))
    here = [f"--data.path={java_folder}", f"--evaluate.extra_tests=project:{project}"]
    assert main(["evaluate", str(run), *here]) == 0
    (run / "config.json").write_text(before)
    said = capsys.readouterr()
    assert "its training pairs are not looked for in other tests, since they cannot be had" in said.out + said.err
