"""Runs that begin with another one: warm starts, and finished runs that are trained on."""

import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from cli.main import main
from data_prep.store.split import Split
from evaluation.evaluator import Evaluation
from evaluation.results import load_result
from experiments.recipes.config import Configuration, resolve, typed_again
from experiments.recipes.models import MODELS
from experiments.recipes.run_folder import load_run
from experiments.run import training
from experiments.run.training import doubts
from training.checkpoint import saved_weights

VERBS, NOUNS = ("read", "write", "open", "close", "count", "sort", "merge", "split"), ("file", "list", "tree", "table")
THINGS = ("name", "row", "key", "path", "page", "word", "line", "byte", "node", "price")


def java(folder: Path, *, first: int = 0, files: int = 20) -> Path:
    """A folder of classes of eight documented methods each."""
    for number in range(first, first + files):
        noun, thing = NOUNS[number % len(NOUNS)], THINGS[number % len(THINGS)]
        methods = "\n".join(
            f"    /** {verb.title()}s each {thing} of the {noun} number {number} in its order. */\n"
            f"    public int {verb}{thing.title()}{noun.title()}{number}(int first, int last) {{\n"
            f"        int {thing}{number} = first * {number + place};\n        {noun}.{verb}({thing}{number}, last);\n"
            f"        return {thing}{number} + last;\n    }}\n"
            for place, verb in enumerate(VERBS)
        )
        path = folder / f"C{number}.java"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"package a.b;\n\npublic class C{number} {{\n{methods}}}\n")
    return folder


@pytest.fixture(scope="session")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("earlier runs")


@pytest.fixture(scope="session")
def options(place) -> list[str]:
    data = [f"--data.path={java(place / 'java')}", f"--data.root={place / 'data'}", "--data.processes=1"]
    shares = ["--data.valid_share=0.2", "--data.test_share=0.2", "--words.min_count=1"]
    return [*data, *shares, "--model.dim=16", "--train.threads=1", "--evaluate.bootstrap_samples=200"]


CONSTANT = ["--train.schedule=constant", "--train.batch_size=16"]


@pytest.fixture(scope="session")
def finished(place, options) -> Path:
    """A run of two epochs, with its checkpoint."""
    out = place / "a run"
    more = ["--train.epochs=2", "--train.keep_checkpoint", *CONSTANT, f"--out={out}"]
    assert main(["folder", "unif", *options, *more]) == 0
    return out


def weights(run: Path) -> dict:
    return {name: weight.tolist() for name, weight in saved_weights(run / "weights.safetensors").items()}


def epochs(run: Path) -> list[tuple[int, float]]:
    return [(each.epoch, each.mrr) for each in load_result(run / "metrics.json").history]


def test_a_finished_run_that_is_trained_on_is_the_one_that_was_planned_longer(finished, options, tmp_path, capsys):
    longer, whole = tmp_path / "longer", tmp_path / "whole"
    before = (finished / "metrics.json").read_bytes()
    on = [f"--train.continue_run={finished}", "--train.epochs=4"]
    assert main(["folder", "unif", *on, f"--out={longer}"]) == 0
    told = "".join(capsys.readouterr())
    assert f"continues {finished}, after epoch 2, by its checkpoint" in told
    assert f"a continued run: its first epochs are those of {finished}" in told
    assert main(["folder", "unif", *options, *CONSTANT, "--train.epochs=4", f"--out={whole}"]) == 0
    assert epochs(longer) == epochs(whole)
    assert weights(longer) == weights(whole)
    assert (finished / "metrics.json").read_bytes() == before
    saved = load_result(longer / "metrics.json").config["train"]
    assert (saved["continue_run"].endswith(finished.name), saved["epochs"]) == (True, 4)
    assert (finished / "checkpoint.pt").exists()
    assert not (whole / "checkpoint.pt").exists()
    load_run(longer)


def test_without_its_checkpoint_it_goes_on_from_its_best_weights(finished, tmp_path, capsys):
    bare, longer = tmp_path / "bare", tmp_path / "longer"
    bare.mkdir()
    for each in finished.glob("*.*"):
        if each.name != "checkpoint.pt" and each.is_file():
            (bare / each.name).write_bytes(each.read_bytes())
    assert main(["folder", "unif", f"--train.continue_run={bare}", "--train.epochs=3", f"--out={longer}"]) == 0
    told = "".join(capsys.readouterr())
    assert "after epoch 2, with the weights of epoch" in told
    assert "it was not run with --train.keep_checkpoint" in told
    assert [epoch for epoch, _ in epochs(longer)] == [1, 2, 3]
    assert epochs(longer)[:2] == epochs(finished)


def test_a_warm_start_keeps_the_vocabulary_and_tells_of_pairs_that_were_seen(finished, options, tmp_path, capsys):
    out, other = tmp_path / "warm", java(tmp_path / "other", first=16, files=12)
    typed = [f"--train.from_run={finished}", f"--data.path={other}", "--train.epochs=1", f"--out={out}"]
    data = [each for each in options if not each.startswith(("--words.", "--model.", "--data.path="))]
    assert main(["folder", "unif", *data, *typed]) == 0
    assert (out / "vocabulary.json").read_bytes() == (finished / "vocabulary.json").read_bytes()
    told = "".join(capsys.readouterr())
    assert f"begins with the vocabulary and the weights of {finished}" in told
    assert f"{finished} was trained or validated on " in told
    plan = Configuration.load(out / "config.json")
    assert (plan.model.dim, plan.words.min_count, plan.train.from_run) == (16, 1, str(finished))
    load_run(out)


def test_the_command_of_a_result_makes_the_run_again(finished, place):
    command = shlex.split(json.loads((finished / "metrics.json").read_text())["command"])
    assert command[:4] == ["bash", "run.sh", "folder", "unif"]
    assert main([*command[2:], f"--out={place / 'again'}"]) == 0
    assert weights(place / "again") == weights(finished)


@pytest.mark.parametrize("model", ["galm", "galm_plus", "unif", "bm25", "scotch_light", "minilm"])
def test_the_options_that_are_typed_again_give_the_same_configuration(model):
    assert model in MODELS
    typed = {"data.limit": "7", "data.extra_train_sets": "jdk,debian_sample", "train.lazy_embedding_updates": "false"}
    plan = resolve("folder", model, {**typed, "train.learning_rate": "2e-3", "evaluate.pool": "9"})
    assert resolve("folder", model, typed_again(plan)) == plan


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("unif --train.continue_run={run}", "has 2 epochs: name a larger number, --train.epochs=4"),
        ("unif --train.continue_run={run} --train.epochs=2", "has 2 epochs: name a larger number"),
        ("unif --train.continue_run={run} --train.epochs=9 --train.seed=3", "--train.seed=3 contradicts the run"),
        ("galm --train.continue_run={run} --train.epochs=9", "is a run of folder unif, not of folder galm"),
        ("bm25 --train.from_run={run}", "bm25 is not trained"),
        ("galm --train.from_run={run}", "is a run of folder unif"),
        ("unif --train.from_run={run}/nothing", "expected the configuration of a run"),
        ("unif --train.from_run={run} --words.min_count=3", "--words.min_count=3 contradicts the run"),
        ("unif --train.from_run={run} --train.continue_run={run} --train.epochs=9", "leave one out"),
        ("unif --train.resume={run} --train.epochs=9", "or train it on once it is finished: --train.continue_run="),
        ("unif --train.from_run={run} --model.dim=24", "do not fit the model"),
    ],
)
def test_what_contradicts_the_earlier_run_is_said_in_one_line(finished, options, tmp_path, capsys, typed, message):
    data = [each for each in options if not each.startswith(("--words.", "--model."))]
    words = [each.replace("{run}", str(finished)) for each in typed.split()]
    more = data if "continue_run" not in typed and "resume" not in typed else []
    assert main(["folder", *more, *words, f"--out={tmp_path / 'out'}"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert message in error


@pytest.mark.parametrize(("how", "message"), [
    ("from_run={run}", "cannot be read"),
    ("continue_run={run} --train.epochs=4", "cannot be read"),
    ("continue_run={whole} --train.epochs=4", "the data have changed since the run"),
])  # fmt: skip
def test_what_cannot_be_begun_leaves_a_folder_that_can_be_used(finished, options, tmp_path, capsys, how, message):
    damaged, out = shutil.copytree(finished, tmp_path / "damaged"), tmp_path / "out"
    (damaged / "weights.safetensors").write_bytes((finished / "weights.safetensors").read_bytes()[:500])
    typed = [word.format(run=damaged, whole=finished) for word in f"--train.{how}".split()]
    data = java(tmp_path / "other", first=30) if "whole" in how else finished.parent / "java"
    assert main(["folder", "unif", f"--data.path={data}", *options[1:], *CONSTANT, *typed, f"--out={out}"]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists() or {path.name for path in out.iterdir()} <= {"log.txt"}


def test_what_speaks_against_a_result_is_said_at_the_time(options, tmp_path, capsys):
    hard = ["--loss.kind=ranking", "--loss.negatives=hardest", "--loss.warmup_epochs=1", "--train.patience=1"]
    still = ["--train.learning_rate=1e-9", "--train.epochs=9", "--train.schedule=constant"]
    assert main(["folder", "unif", *options, *hard, *still, f"--out={tmp_path / 'out'}"]) == 0
    told = "".join(capsys.readouterr())
    assert "(higher, since it is now over the hardest negatives, not their average)" in told
    assert told.count("hardest negatives, not") == 1
    assert "stopped early, after epoch 2 of 9: no validation was above " in told
    assert "(--train.patience=1)" in told
    assert re.search(r"java, test split: 32 queries are few: the 95 % interval of the MRR is 0\.\d{3} wide, from", told)


def test_tied_scores_and_a_result_below_chance_are_doubted():
    def evaluation(better, tied):
        empty = np.zeros((4, 1))
        rows = np.arange(4)
        return Evaluation(
            Split.of("pairs", []), rows, rows, 4, np.array(better), np.array(tied), empty.astype(int),
            empty.astype(np.float32), 0.0, 1.0,
        )  # fmt: skip

    assert "100% of the queries" in doubts(evaluation([0] * 4, [3] * 4))[0]
    assert doubts(evaluation([3] * 4, [0] * 4)) == ["the MRR of 0.2500 is below that of a random order, 0.5208"]
    assert doubts(evaluation([0, 1, 0, 3], [0] * 4)) == []
    told = "4 queries are few, and have the same rank: the MRR has no interval"
    assert doubts(evaluation([0] * 4, [0] * 4), claims=True) == [told]


def test_an_interrupted_one_is_resumed_in_its_own_folder(finished, tmp_path, monkeypatch):
    out, whole, evaluate = tmp_path / "stopped", tmp_path / "whole", training.evaluate
    on = [f"--train.continue_run={finished}", "--train.epochs=3"]
    assert main(["folder", "unif", *on, f"--out={whole}"]) == 0

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "evaluate", stop)
    assert main(["folder", "unif", *on, f"--out={out}"]) == 130
    monkeypatch.setattr(training, "evaluate", evaluate)
    assert main(["folder", "unif", f"--train.resume={out}"]) == 0
    assert weights(out) == weights(whole)
    assert epochs(out) == epochs(whole)
    assert main(["evaluate", str(out), "--evaluate.bootstrap_samples=100"]) == 0
    (again,) = out.glob("metrics-*.json")
    assert f"bash run.sh evaluate {out} " in load_result(again).command
