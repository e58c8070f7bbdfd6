"""A model of one's own: one file, and one line in the registry, which these tests add for a while."""

import re

import pytest

from cli.help import help_lines
from cli.main import main
from evaluation.results import load_result
from experiments.recipes.models import MODELS, Recipe
from tests.tiny_models import tiny_bert

OWN = {
    "mean_words": Recipe(
        "examples.own_models:MeanWords",
        "examples.own_models:MeanWordsConfig",
        "means of words",
        {"loss.kind": "cross_entropy", "loss.temperature": "0.1"},
    ),
    "largest_tokens": Recipe(
        "examples.own_models:LargestOfTokens",
        "modeling.transformers.bi_encoder:TransformerConfig",
        "a sentence transformer, pooled by its largest entries",
        {"loss.kind": "cross_entropy", "loss.temperature": "0.05"},
    ),
}


@pytest.mark.parametrize("name", OWN)
def test_one_line_trains_tests_and_describes_it(name, java_folder, small_data, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(MODELS, name, OWN[name])
    assert help_lines([name])[0] == f"model {name}: {OWN[name].about}"
    options = [f"--data.path={java_folder}", f"--data.root={small_data.folder.parent}", "--data.limit=240"]
    options += [
        "--data.valid_share=0.2",
        "--data.test_share=0.2",
        "--data.processes=1",
        "--evaluate.bootstrap_samples=200",
    ]
    options += ["--train.epochs=4", "--train.learning_rate=0.001", "--train.threads=1", f"--out={tmp_path / 'run'}"]
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
