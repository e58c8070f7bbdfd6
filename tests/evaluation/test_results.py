import json
import platform
from dataclasses import replace

import numpy as np
import pytest

from baselines.bm25 import Bm25, Bm25Config
from data_prep.files.json_text import load_record
from evaluation import metrics
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from evaluation.results import DataSource, Result, Seconds, load_result, measure, result_of, save_result
from evaluation.tables import render_table
from tests.evaluation.rankers import Chosen
from tests.evaluation.real_data import jdk_split

SIZE = 30
SOURCE = DataSource(origin="jdk-17.0.21", fingerprint="0a1b")


def evaluated(ranker=None, **settings):
    return evaluate(ranker or Bm25(Bm25Config()), jdk_split(SIZE), EvaluateConfig(**settings), progress=False)


def result(model="galm", seed=7, **settings) -> Result:
    noise = np.random.default_rng(seed).random((SIZE, SIZE), dtype=np.float32)
    controls = {} if model == "bm25" else {"bm25": evaluated()}
    evaluation = evaluated(None if model == "bm25" else Chosen(noise + 2 * np.eye(SIZE, dtype=np.float32)))
    tested = measure(evaluation, data=SOURCE, controls=controls, resamples=200)
    facts = {
        "dataset": "jdk",
        "model": model,
        "seed": seed,
        "command": "bash run.sh folder galm --data.path=/home/someone/java --out=/tmp/x",
        "code_version": "0123456789ab",
        "seconds": Seconds(prepare=1.5, train=2.0, evaluate=evaluation.seconds),
        "train_pairs_per_second": 10.0,
        "parameters": 3,
        "also": {"folder:/home/someone/java": measure(evaluated(pool=5), data=SOURCE)},
        "config": {"data": {"path": "/home/someone/java", "root": "data", "limit": 0}, "list": ["~/x/y"]},
    }
    return result_of(tested, **{**facts, **settings})


def test_the_file_has_what_scripts_rely_on(tmp_path):
    save_result(result(), tmp_path / "metrics.json")
    content = json.loads((tmp_path / "metrics.json").read_text())
    plain = "dataset model seed command code_version split pool_size queries peak_memory_mb train_pairs_per_second"
    assert {*plain.split(), "score_pairs_per_second", "parameters"} <= content.keys()
    for convention in ("exact", "published_convention", "chance"):
        assert {"top1", "top5", "top10", "mrr"} <= content[convention].keys()
    assert content["seconds"].keys() == {"prepare", "train", "evaluate"}
    assert content["exact"] == dict.fromkeys((each.name for each in metrics.METRICS), 1)
    assert content["ceiling_top1"] == 0  # ten methods, over again
    assert content["controls"]["bm25"]["exact"]["top1"] == 0  # each gold has twins
    assert content["controls"]["bm25"]["ties"] == {
        "queries": 1,
        "average": content["controls"]["bm25"]["ties"]["average"],
        "optimistic": content["controls"]["bm25"]["ties"]["optimistic"],
    }


def test_a_result_is_read_as_it_was_written(tmp_path):
    written = result()
    save_result(written, tmp_path / "metrics.json")
    assert load_result(tmp_path / "metrics.json") == written


def test_a_result_names_no_machine_and_no_path_but_in_its_command(tmp_path):
    save_result(result(), tmp_path / "metrics.json")
    content = json.loads((tmp_path / "metrics.json").read_text())
    assert content.pop("command") == "bash run.sh folder galm --data.path=/home/someone/java --out=/tmp/x"
    text = json.dumps(content)
    assert "someone" not in text
    assert "/tmp" not in text
    assert platform.node() not in text
    assert content["config"] == {"data": {"path": "java", "root": "data", "limit": 0}, "list": ["y"]}
    assert list(content["also"]) == ["folder:java"]


def test_the_difference_is_the_models_mrr_minus_the_controls():
    found = result()
    difference = found.controls["bm25"].mrr_difference
    assert difference.mean == pytest.approx(found.exact["mrr"] - found.controls["bm25"].exact["mrr"])
    assert difference.low < difference.mean < difference.high


def test_a_control_on_other_rows_is_refused():
    with pytest.raises(ValueError, match="bm25 was evaluated on other rows"):
        measure(evaluated(pool=5), data=SOURCE, controls={"bm25": evaluated(pool=5, pool_seed=1)})


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["exact", "top1"], None, "exact: top1: expected a number, not None"),
        (["exact", "top1"], 1.5, "from 0 to 1"),
        (["exact", "top1"], float("nan"), "expected a finite number, not nan"),
        (["seconds"], 3, "seconds: expected an object, not 3"),
        (["queries"], "many", "queries: expected a whole number, not 'many'"),
        (["queries"], True, "queries: expected a whole number"),
        (["queries"], 0, "a result has one query or more, not 0"),
        (["queries"], 31, "for each of its 31 queries"),
        (["controls", "bm25", "exact"], [], "controls: bm25: exact: expected an object"),
        (["parameters"], ..., "field parameters is missing"),
    ],
)
def test_a_damaged_result_is_refused_in_one_line(tmp_path, path, value, message):
    file = tmp_path / "metrics.json"
    save_result(result(), file)
    content = place = json.loads(file.read_text())
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    if value is ...:
        del place[path[-1]]
    file.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message) as error:
        load_result(file)
    assert "\n" not in str(error.value)
    assert str(file) in str(error.value)


@pytest.mark.parametrize("text", ["", "{", "[]", None])
def test_a_file_that_is_no_result_is_refused(tmp_path, text):
    if text is not None:
        (tmp_path / "metrics.json").write_text(text)
    with pytest.raises(ValueError, match=r"metrics\.json"):
        load_result(tmp_path / "metrics.json")


def test_fields_of_a_later_version_are_passed_over(tmp_path):
    save_result(result(), tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text())
    (tmp_path / "b.json").write_text(json.dumps({**content, "new": 1}))
    assert load_result(tmp_path / "b.json") == load_result(tmp_path / "a.json")


def test_the_terminal_table_has_model_control_and_chance():
    one = result()
    text = render_table(one)
    table, other = text.split("\n\n")
    lines = table.splitlines()
    assert [line.split()[0] for line in lines[:5]] == ["exact", "ranker", "galm", "bm25", "chance"]
    assert lines[2].split()[1:9] == ["1.000"] * 8
    assert lines[4].split()[1:4] == ["0.033", "0.167", "0.333"]
    assert f"{one.controls['bm25'].mrr_difference.mean:+.3f}" in lines[2]
    caption = " ".join(lines[5:])
    for part in ("jdk-17.0.21", "test split", "30 queries", "pool of 30", "seed 7", "rank <= K + 1", "Top@1 at 0.000"):
        assert part in caption
    assert max(map(len, text.splitlines())) <= 120
    assert "pool of 5" in other
    assert "MRR -" not in other  # no control there


def test_more_queries_than_methods_need_no_groups():
    """Several queries may seek one method, as in CoSQA."""
    told = " ".join(render_table(replace(result(), pool_size=12)).split())
    assert "30 queries each over 12 methods, seed 7" in told


def test_a_mixture_names_both_rankers():
    text = render_table(result(also={}, config={"evaluate": {"fuse_with": "bm25"}}))
    assert [line.split("  ")[0] for line in text.splitlines()[2:5]] == ["galm + bm25", "bm25", "chance"]


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000, "\0", '{"queries": 1' + "0" * 400 + "}", "3"])
def test_what_is_no_result_is_one_line(tmp_path, content):
    path = tmp_path / "metrics.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"metrics\.json") as error:
        load_result(path)
    assert "\n" not in str(error.value)


def test_a_number_beyond_all_is_one_line(tmp_path):
    path = tmp_path / "seconds.json"
    path.write_text('{"prepare": 1' + "0" * 400 + ', "train": 1, "evaluate": 2}')
    with pytest.raises(ValueError, match="prepare: expected a number, not 1000") as error:
        load_record(Seconds, path, "seconds")
    assert "\n" not in str(error.value)
