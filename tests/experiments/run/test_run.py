"""Whole runs on some real packages of the JDK: what a user types, what is left in the folder."""

import json
import logging
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from cli.main import main
from data_prep.store.tokenizing import Vocabularies, WordTokenizer
from evaluation.results import load_result
from experiments.recipes import run_folder
from experiments.recipes.config import Configuration, resolve
from experiments.run import run as run_module
from experiments.run import training
from experiments.run.run import run
from training.config import TrainConfig

REQUIRED = (
    *("dataset", "model", "seed", "command", "code_version", "split", "pool_size", "queries", "exact"),
    *("published_convention", "seconds", "peak_memory_mb", "train_pairs_per_second", "score_pairs_per_second"),
    "parameters",
)


@pytest.fixture(scope="session")
def options(java_folder, small_data) -> list[str]:
    """Options under which the prepared data of the fixture are found again."""
    split = ["--data.valid_share=0.2", "--data.test_share=0.2", "--data.processes=1"]
    data = [f"--data.path={java_folder}", f"--data.root={small_data.folder.parent}"]
    return [
        *data,
        *split,
        "--data.limit=240",
        "--train.epochs=1",
        "--train.threads=1",
        "--evaluate.bootstrap_samples=200",
    ]


@pytest.fixture(scope="session")
def finished(options, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "a run"
    assert main(["folder", "galm", *options, f"--out={out}"]) == 0
    return out


@pytest.fixture(autouse=True)
def quiet_root():
    yield
    logging.getLogger().handlers[:] = [
        handler for handler in logging.getLogger().handlers if not isinstance(handler, logging.FileHandler)
    ]


def numbers(folder: Path) -> dict:
    metrics = json.loads((folder / "metrics.json").read_text())
    return {name: metrics[name] for name in ("exact", "published_convention", "ties", "queries", "controls")} | {
        "controls": metrics["controls"]["bm25"]["exact"],
        "history": [{**each, "seconds": 0} for each in metrics["history"]],
    }


def test_a_run_folder_holds_everything(finished):
    of_others = "events.out.tfevents.", "metrics-"  # the latter of tests of this run again
    names = {path.name for path in finished.iterdir() if not path.name.startswith(of_others)}
    assert names == {
        "config.json",
        "metrics.json",
        "weights.safetensors",
        "vocabulary.json",
        "ranks.jsonl",
        "ranks.csv",
        "run.trec",
        "run-bm25_tuned.trec",
        "run-bm25.trec",
        "run-bm25_no_stems.trec",
        "qrels.trec",
        "projector_config.pbtxt",
        "vectors",
        "log.txt",
    }
    assert len(list(finished.glob("events.out.tfevents.*"))) == 1  # TensorBoard names a run by its events' folder
    assert "epoch 1" in (finished / "log.txt").read_text()
    assert len(Vocabularies.load(finished / "vocabulary.json").query) > 50


def test_metrics_have_what_scripts_rely_on(finished):
    metrics = json.loads((finished / "metrics.json").read_text())
    assert not [name for name in REQUIRED if name not in metrics]
    assert set(metrics["exact"]) > set(metrics["published_convention"]) == {"top1", "top5", "top10", "mrr"}
    assert set(metrics["seconds"]) == {"prepare", "train", "evaluate"}
    assert (metrics["dataset"], metrics["model"], metrics["seed"], metrics["split"]) == ("folder", "galm", 0, "test")
    assert metrics["queries"] == metrics["pool_size"] > 20
    assert metrics["command"].startswith("bash run.sh folder galm ")
    assert metrics["parameters"] > 0
    assert metrics["train_pairs_per_second"] > 0
    assert load_result(finished / "metrics.json").exact["mrr"] == metrics["exact"]["mrr"]
    (validation,) = metrics["history"]
    assert (validation["epoch"], validation["seconds"]) == (1, metrics["seconds"]["train"])
    assert validation["pairs"] == pytest.approx(metrics["seconds"]["train"] * metrics["train_pairs_per_second"])
    assert 0 <= validation["top1"] < validation["mrr"] < 1


def test_the_saved_configuration_is_the_one_that_ran(finished):
    plan = Configuration.load(finished / "config.json")
    assert (plan.dataset, plan.model_name, plan.train.epochs, plan.data.limit) == ("folder", "galm", 1, 240)


def test_ranks_and_trec_files_give_the_same_numbers(finished):
    metrics = json.loads((finished / "metrics.json").read_text())
    ranks = np.array([json.loads(line)["rank"] for line in (finished / "ranks.jsonl").read_text().splitlines()])
    assert len(ranks) == metrics["queries"]
    assert np.mean(1 / ranks) == pytest.approx(metrics["exact"]["mrr"])
    qrels = list(ir_measures.read_trec_qrels(str(finished / "qrels.trec")))
    run = list(ir_measures.read_trec_run(str(finished / "run.trec")))
    found = ir_measures.calc_aggregate([ir_measures.RR, ir_measures.Success @ 10], qrels, run)
    assert found[ir_measures.Success @ 10] == pytest.approx(metrics["exact"]["top10"])
    assert found[ir_measures.RR] == pytest.approx(np.mean(np.where(ranks <= 100, 1 / ranks, 0)))


def test_a_run_stopped_by_ctrl_c_tells_how_to_go_on_and_ends_the_same_by_the_same_seed(
    finished, options, tmp_path, monkeypatch, capsys
):
    out, evaluate = tmp_path / "stopped run", training.evaluate

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "evaluate", stop)
    assert main(["folder", "galm", *options, f"--out={out}"]) == 130
    assert f"bash run.sh folder galm '--train.resume={out}'" in capsys.readouterr().err
    assert not (out / "metrics.json").exists()
    monkeypatch.setattr(training, "evaluate", evaluate)
    assert main(["folder", "galm", f"--train.resume={out}"]) == 0
    assert numbers(out) == numbers(finished)
    assert (out / "weights.safetensors").read_bytes() == (finished / "weights.safetensors").read_bytes()


def test_a_run_stopped_before_its_configuration_is_saved_begins_anew_by_the_same_command(
    finished, options, tmp_path, monkeypatch, capsys
):
    command, made = ["folder", "galm", *options, f"--out={tmp_path / 'out'}"], run_module.tokenizer_of

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "tokenizer_of", stop)
    assert main(command) == 130
    assert "resume" not in capsys.readouterr().err
    monkeypatch.setattr(run_module, "tokenizer_of", made)
    assert main(command) == 0
    assert numbers(tmp_path / "out") == numbers(finished)


def test_a_finished_run_is_not_run_again(finished, capsys):
    before = (finished / "metrics.json").read_bytes()
    assert main(["folder", "galm", f"--train.resume={finished}"]) == 0
    assert "is finished" in capsys.readouterr().out
    assert (finished / "metrics.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["folder", "galm", "--train.resume={run}", "--train.epochs=9"], "--train.epochs=9 contradicts the run"),
        (["folder", "bm25", "--train.resume={run}"], "is a run of folder galm"),
        (["folder", "galm", "--out={run}", "--data.path=."], "is not an empty folder"),
        (["evaluate", "{run}", "--train.seed=1"], "only --evaluate"),
        (["evaluate", "{run}/nothing"], "expected the configuration of a run"),
    ],
)
def test_what_contradicts_a_run_is_refused_in_one_line(finished, capsys, arguments, message):
    assert main([argument.replace("{run}", str(finished)) for argument in arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_evaluate_writes_beside_the_first_result(finished, capsys):
    before = (finished / "metrics.json").read_bytes()
    assert main(["evaluate", str(finished)]) == 0
    assert main(["evaluate", str(finished), "--evaluate.pool=20"]) == 0
    assert (finished / "metrics.json").read_bytes() == before
    again, smaller = sorted(finished.glob("metrics-*.json"), key=lambda path: -load_result(path).pool_size)
    first = load_result(finished / "metrics.json")
    assert load_result(again).exact == first.exact
    assert load_result(again).seconds.train == first.seconds.train > 0
    assert load_result(smaller).pool_size == 20
    assert "bm25" in capsys.readouterr().out
    again.unlink()
    smaller.unlink()


def test_bm25_is_a_run_without_training(options, java_folder, tmp_path, capsys):
    also = f"--evaluate.extra_tests=folder:{java_folder}"
    assert main(["folder", "bm25", *options, f"--out={tmp_path / 'out'}", also]) == 0
    assert "chance" in capsys.readouterr().out
    names = {path.name for path in (tmp_path / "out").iterdir()}
    files = {"run.trec", "qrels.trec", "ranks.jsonl", "ranks.csv"}
    assert {"config.json", "metrics.json", "log.txt", "also", *files} == names
    (other,) = (tmp_path / "out" / "also").iterdir()
    assert {path.name for path in other.iterdir()} == files
    result = load_result(tmp_path / "out" / "metrics.json")
    assert (result.parameters, result.train_pairs_per_second, result.seconds.train) == (0, 0, 0)
    assert [tested.pool_size > result.pool_size for tested in result.also.values()] == [True]


@pytest.mark.parametrize(("has", "precision"), [(True, "bfloat16"), (False, "float32")])
def test_auto_is_the_precision_that_the_device_has(tmp_path, monkeypatch, has, precision):
    monkeypatch.setattr("experiments.run.run.has_bfloat16", lambda: has)
    monkeypatch.setattr("experiments.run.run._prepared", lambda plan, *_: plan.train.precision)
    plan = resolve("folder", "minilm", {"out": str(tmp_path / "run")})
    assert plan.train.precision == "auto"
    assert run(plan, {}) == precision


def test_hard_negatives_are_mined_by_a_control_or_by_a_run(options, finished, tmp_path, capsys, caplog):
    first = ["folder", "unif", *options, "--data.limit=80", "--train.hard_negatives=1"]
    assert main([*first, f"--out={tmp_path / 'a'}"]) == 0
    assert "queries by bm25_tuned" in caplog.text
    assert main([*first, f"--train.mined_by={finished}", f"--out={tmp_path / 'b'}"]) == 0
    weights = [load_file(tmp_path / run / "weights.safetensors") for run in "ab"]
    assert any(not torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    capsys.readouterr()
    for name in ("unif", "nowhere"):
        assert main([*first, f"--train.mined_by={name}", f"--out={tmp_path / 'c'}"]) == 2
        told = capsys.readouterr()
        assert "--train.mined_by takes a ranker without training, such as bm25_tuned" in told.err
        assert "run folder" not in told.out  # it is said before anything is done


def test_a_mistake_that_only_the_data_show_leaves_no_folder(options, tmp_path, capsys):
    wrong = ["--words.min_count=1000000", f"--out={tmp_path / 'd'}"]
    assert main(["folder", "unif", *options, *wrong]) == 2
    assert "--words.min_count=1000000 leaves no known word" in capsys.readouterr().err
    assert not (tmp_path / "d").exists()


def test_mined_negatives_are_ranked_high_and_no_duplicates(small_data):
    train = small_data.splits["train"].take(np.arange(60))
    ids = WordTokenizer.build(train, resolve("folder", "unif", {}).words).encode(train)
    config = TrainConfig(hard_negatives=2, mined_depth=5)
    found = training.mined_negatives(config, train, ids)
    assert found.shape == (60, 5)
    scores = next(iter(run_folder.miner("bm25_tuned").over(train, train).blocks()))
    for row, mined in enumerate(found):
        others = [
            place
            for place in range(60)
            if ids.query_keys[place] != ids.query_keys[row] and ids.code_keys[place] != ids.code_keys[row]
        ]
        assert not {*mined.tolist()} - {*others}
        assert scores[row, mined].min() >= np.sort(scores[row, others])[-5]
