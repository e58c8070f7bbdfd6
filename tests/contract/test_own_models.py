"""A model of one's own: one file, and one line in the registry or none, if ``--model=FILE.py:CLASS`` names it."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.help import help_lines
from cli.main import main
from evaluation.results import load_result
from experiments.recipes.config import REPOSITORY, Configuration, resolve
from experiments.recipes.models import BASELINE, MODELS, Recipe
from experiments.recipes.models import OWN as NAMED
from neural_code_search.scoring import load_model
from tests.tiny_models import tiny_bert

OWN = {
    "mean_words": Recipe(
        "examples.own_models:MeanWords",
        "means of words",
        {"loss.kind": "cross_entropy", "loss.temperature": "0.1"},
    ),
    "largest_tokens": Recipe(
        "examples.own_models:LargestOfTokens",
        "a sentence transformer, pooled by its largest entries",
        {"loss.kind": "cross_entropy", "loss.temperature": "0.05"},
        "modeling.transformers.bi_encoder:TransformerConfig",
    ),
}


JAVA = "int sum(int a, int b) { return a + b; }"


def options_of(java_folder: Path, small_data, out: Path) -> list[str]:
    options = [f"--data.path={java_folder}", f"--data.root={small_data.folder.parent}", "--data.limit=240"]
    options += ["--data.valid_share=0.2", "--data.test_share=0.2", "--data.processes=1", "--train.threads=1"]
    return [*options, "--evaluate.bootstrap_samples=200", f"--out={out}"]


@pytest.fixture
def own_file(tmp_path) -> Iterator[Path]:
    """A file with models, which are forgotten afterwards."""
    (tmp_path / "a model").mkdir()
    path = tmp_path / "a model" / "my.py"
    text = (REPOSITORY / "examples" / "own_models.py").read_text(encoding="utf-8")
    path.write_text(f"{text}\n\nclass Another(MeanWords):\n    pass\n", encoding="utf-8")
    yield path
    for names in (MODELS, NAMED):
        names.pop("MeanWords", None)


def test_a_file_is_trained_tested_and_resumed_without_touching_the_tree(
    own_file, java_folder, small_data, tmp_path, capsys
):
    run, named = tmp_path / "run", f"{own_file}:MeanWords"
    quick = ["--train.epochs=2", "--model.dim", "24"]
    assert main(["folder", "--model", named, *options_of(java_folder, small_data, run), *quick]) == 0
    plan = Configuration.load(run / "config.json")
    assert (plan.model_name, plan.model.dim, plan.train.epochs) == ("MeanWords", 24, 2)
    assert (plan.loss.kind, plan.loss.temperature) == ("cross_entropy", 0.1)
    assert (plan.train.learning_rate, plan.words.stem) == (1e-3, True)
    assert str(own_file) not in (run / "config.json").read_text()
    result = load_result(run / "metrics.json")
    assert shlex.split(result.command)[:4] == ["bash", "run.sh", "folder", f"--model={named}"]
    assert load_model(run, own=named).score_pairs(["sums two numbers"], [JAVA]).shape == (1,)
    assert main(["folder", f"--model={named}", f"--train.resume={run}"]) == 0
    assert main(["evaluate", str(run), f"--model={named}", "--evaluate.bootstrap_samples=200"]) == 0
    (again,) = run.glob("metrics-*.json")
    assert load_result(again).ranks == result.ranks
    assert main(["context", str(run), f"--model={named}", "--pools=20"]) == 0
    del MODELS["MeanWords"], NAMED["MeanWords"]
    assert main(["evaluate", str(run), f"--model={own_file}:Another"]) == 2
    assert f"which is no model of this program nor the one of --model={own_file}:Another: " in capsys.readouterr().err
    del MODELS["Another"], NAMED["Another"]
    for arguments in (["evaluate", str(run)], ["folder", "galm", f"--train.resume={run}"]):
        capsys.readouterr()
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert "'MeanWords', which is no model of this program: if it is your own, name its file, --model=" in error
        assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("{file}", "--model takes a file and a class in it"),
        ("nowhere.py:MeanWords", "--model=nowhere.py:MeanWords: {here}/nowhere.py is no file"),
        (
            "{file}:Nothing",
            "expected a class that extends modeling.base.NeuralRanker (docs/experiments.md); its classes are",
        ),
        ("{file}:MeanWordsConfig", "expected a class that extends modeling.base.NeuralRanker"),
        ("{file}:BiEncoder", "expected the methods code_vectors, query_vectors, which BiEncoder lacks"),
        ("{file}:Bare", "expected config_type to be the dataclass of its options"),
        ("{file}:Half", "expected the methods query_vectors, which Half lacks"),
    ],
)
def test_what_is_no_model_is_one_line(own_file, named, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    half = "    def code_vectors(self, codes):\n        return codes\n"
    bare = half + half.replace("code", "query")
    own_file.write_text(f"{own_file.read_text()}\n\nclass Half(BiEncoder):\n{half}\n\nclass Bare(BiEncoder):\n{bare}")
    assert main(["jdk", f"--model={named.format(file=own_file)}"]) == 2
    error = capsys.readouterr().err
    assert message.format(here=tmp_path) in error
    assert error.count("\n") == 1


def test_a_run_of_another_model_is_refused(own_file, java_folder, small_data, tmp_path, capsys):
    options = options_of(java_folder, small_data, tmp_path / "run")
    assert main(["folder", "bm25", *options]) == 0
    assert main(["evaluate", str(tmp_path / "run"), f"--model={own_file}:MeanWords"]) == 2
    assert "is of bm25, not of --model=" in capsys.readouterr().err


def test_a_fault_in_the_file_is_a_traceback_that_names_it(own_file, java_folder, small_data, tmp_path, capsys):
    line = "        return _mean(self.code, [codes[field] for field in self.code_fields])\n"
    broken = "        name, tokens, _ = [codes[field] for field in self.code_fields]\n"
    text = own_file.read_text()
    assert line in text
    own_file.write_text(text.replace(line, broken + line))
    options = options_of(java_folder, small_data, tmp_path / "run")
    assert main(["folder", f"--model={own_file}:MeanWords", *options]) == 70
    error = capsys.readouterr().err
    assert f'File "{own_file}", line' in error
    assert "ValueError: not enough values to unpack (expected 3, got 2)" in error
    assert error.splitlines()[-1].startswith("galm: this is a fault of the program, or of a model of your own")


def test_shared_settings_pass_by_a_model_without_the_field(monkeypatch):
    monkeypatch.setitem(MODELS, "mean_words", Recipe(OWN["mean_words"].target, "means of words", BASELINE))
    assert resolve("jdk", "mean_words", {}).loss.kind == "cross_entropy"


@pytest.mark.parametrize("name", OWN)
def test_one_line_trains_tests_and_describes_it(name, java_folder, small_data, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(MODELS, name, OWN[name])
    assert help_lines([name])[0] == f"model {name}: {OWN[name].about}"
    options = [
        *options_of(java_folder, small_data, tmp_path / "run"),
        "--train.epochs=4",
        "--train.learning_rate=0.001",
    ]
    if name == "largest_tokens":
        base = tiny_bert(tmp_path / "base", dropout=0.0)
        options += [f"--model.base={base}", "--model.query_length=16", "--model.code_length=48"]
    assert main(["folder", name, *options]) == 0
    result = load_result(tmp_path / "run" / "metrics.json")
    assert result.parameters > 10_000
    losses = re.findall(r"epoch \d+ of 4: loss ([\d.]+)", (tmp_path / "run" / "log.txt").read_text())
    assert float(losses[3]) < float(losses[0])
    assert name in capsys.readouterr().out
    assert main(["evaluate", str(tmp_path / "run"), "--evaluate.bootstrap_samples=200"]) == 0  # from its saved weights
    (again,) = (tmp_path / "run").glob("metrics-*.json")
    assert load_result(again).ranks == result.ranks
