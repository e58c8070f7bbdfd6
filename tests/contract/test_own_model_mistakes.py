"""Mistakes in a model of one's own: each is one line that says what was expected and what came, before any training."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.main import main
from experiments.recipes.models import MODELS, OWN

ASKED = 'return _mean(self.query, [queries["query"]])'
FIELDS = 'return "name", "tokens"'
OPTION = "    dim: int = 16"
TABLES = "        self.query = nn.Embedding(len(vocabularies.query), config.dim)\n"
MODEL = f"""from dataclasses import dataclass

import torch
from torch import nn

from modeling.base import BiEncoder, Encoded


@dataclass(frozen=True, slots=True)
class OwnConfig:
{OPTION}


class Own(BiEncoder):
    config_type = OwnConfig

    def __init__(self, config, vocabularies):
        super().__init__(config, vocabularies)
{TABLES}        self.code = nn.Embedding(len(vocabularies.code), config.dim)

    @property
    def code_fields(self):
        {FIELDS}

    def query_vectors(self, queries):
        {ASKED}

    def code_vectors(self, codes):
        return _mean(self.code, [codes[field] for field in self.code_fields])


def _mean(table, fields):
    mask = torch.cat([words.mask for words in fields], dim=1)[:, :, None]
    states = table(torch.cat([words.ids for words in fields], dim=1))
    return torch.sum(states * mask, dim=1) / mask.sum(1).clamp(min=1)
"""
PARTLY = "    def score_pairs(self, queries, codes):\n        return {}\n\n    def query_vectors"
VECTOR = "Own.query_vectors: expected a float tensor [3, dim], a vector for each, got "
NUMBERS = "Own.score_pairs: expected a float tensor [3], a score for each pair, got "

IN_THE_FILE = [
    ("class Own(BiEncoder):", "class Own((BiEncoder):", "my.py:14 is no Python: "),
    ("import torch\n", "import torch\nimport no_such_module\n", "my.py fails: No module named 'no_such_module'"),
    ("import BiEncoder,", "import BiEncoders,", "my.py fails: cannot import name 'BiEncoders'"),
    (
        "(self, config, vocabularies)",
        "(self, config)",
        "expected __init__(self, config, vocabularies), got __init__(self,",
    ),
    (
        "config_type = OwnConfig",
        'config_type = OwnConfig\n    reads = "chars"',
        "reads to be words or subwords, got 'chars'",
    ),
    (OPTION, "    dim: int", "expected a default of the option OwnConfig.dim"),
    (OPTION, '    dim: "Number" = 16', "a type of OwnConfig is unknown: name 'Number' is not defined"),
    (OPTION, "    dim: list = None", "expected the option OwnConfig.dim to be bool, int, float, str, a Literal"),
    (OPTION, "    dim: int | None = 16", "a Literal, or tuple[TYPE, ...] of one of these, got int | None"),
    (OPTION, '    dim: int = "16"', "the default of OwnConfig.dim: --model.dim takes a whole number, not '16'"),
]
IN_ITS_ANSWERS = [
    (TABLES, "", "attribute 'query'"),
    (
        FIELDS,
        'return "name", "body"',
        "Own.code_fields: expected fields among name, tokens, api, ast, statements, got 'body'",
    ),
    ("    @property\n", "", "Own.code_fields: expected a property that returns a tuple of fields, got a method"),
    (ASKED, "self.query", f"{VECTOR}None"),
    (ASKED, f"{ASKED}.tolist()", f"{VECTOR}a list"),
    (ASKED, f"{ASKED}.long()", f"{VECTOR}a tensor of int64 [3, 16]"),
    (ASKED, f"{ASKED}[:-1]", f"{VECTOR}a tensor of float32 [2, 16]"),
    (
        ASKED,
        f"{ASKED}[:, :-1]",
        "Own.code_vectors: expected vectors of 15 numbers as query_vectors, got a tensor of float32",
    ),
    (ASKED, f"{ASKED}.double()", "Own.encode_code: expected states of float64 as those of encode_query, got a tensor"),
    (ASKED, f"{ASKED} * float('nan')", "Own.score_pairs: expected numbers, got nan before any training"),
    ("    def query_vectors", PARTLY.format("[0.0] * len(codes)"), f"{NUMBERS}a list"),
    (
        "    def query_vectors",
        PARTLY.format("(queries.states * codes.states).sum(2)"),
        f"{NUMBERS}a tensor of float32 [3, 1]",
    ),
    (
        "    def query_vectors",
        PARTLY.format("(queries.states * codes.states).sum((1, 2)).detach()"),
        "Own.score_pairs: expected scores with a gradient, got none",
    ),
    (
        "    def query_vectors",
        PARTLY.format("5 + (queries.states * codes.states).sum((1, 2))"),
        "Own.score_matrix: expected the scores of score_pairs, got ",
    ),
    (
        "    def query_vectors",
        PARTLY.replace("score_pairs", "score_matrix").format("codes.states[:, 0] @ queries.states[:, 0].T"),
        "Own.score_matrix: expected a float tensor [3 queries, 2 codes], got ",
    ),
    (
        "    def query_vectors",
        PARTLY.replace("score_pairs", "encode_query").replace(", codes", "").format("self.query_vectors(queries)"),
        "Own.encode_query: expected modeling.base.Encoded(states, mask), got a tensor of float32 [3, 16]",
    ),
    (
        "    def query_vectors",
        PARTLY.replace("score_pairs", "alignment").format("torch.zeros(3, 3)"),
        "Own.alignment: expected None or a float tensor [3, 1, 1], got a tensor of float32 [3, 3]",
    ),
]


@pytest.fixture
def folder(tmp_path) -> Iterator[Path]:
    """A folder with a few pairs, in which a model is written that is forgotten afterwards."""
    rows = [{"query": f"add {word} to a number", "code": f"def f(a): return a + {word}"} for word in "abcdefghijklmn"]
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    yield tmp_path
    for names in (MODELS, OWN):
        names.pop("Own", None)


def trained(folder: Path, text: str) -> int:
    (folder / "my.py").write_text(text)
    options = [f"--data.path={folder / 'pairs.jsonl'}", f"--data.root={folder / 'data'}", "--data.processes=1"]
    options += ["--train.epochs=1", "--train.threads=1", "--evaluate.bootstrap_samples=200", f"--out={folder / 'run'}"]
    return main(["pairs", f"--model={folder / 'my.py'}:Own", *options])


def changed(old: str, new: str) -> str:
    assert old in MODEL
    return MODEL.replace(old, new)


def test_without_a_mistake_it_is_trained(folder):
    assert trained(folder, MODEL) == 0
    assert (folder / "run" / "metrics.json").is_file()


@pytest.mark.parametrize(("old", "new", "message"), IN_THE_FILE, ids=[each[2] for each in IN_THE_FILE])
def test_a_mistake_in_the_file_is_one_line(folder, capsys, old, new, message):
    assert trained(folder, changed(old, new)) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (folder / "run").exists()


@pytest.mark.parametrize(("old", "new", "message"), IN_ITS_ANSWERS[1:], ids=[each[2] for each in IN_ITS_ANSWERS[1:]])
def test_a_wrong_answer_is_one_line_and_leaves_nothing(folder, capsys, old, new, message):
    assert trained(folder, changed(old, new)) == 2
    error = capsys.readouterr().err
    assert message in error.splitlines()[-1]
    assert "Traceback" not in error
    assert not (folder / "run").exists() or not any((folder / "run").iterdir())


def test_what_its_code_raises_is_a_traceback_and_leaves_nothing(folder, capsys):
    old, new, message = IN_ITS_ANSWERS[0]
    assert trained(folder, changed(old, new)) == 70
    assert message in capsys.readouterr().err
    assert not (folder / "run").exists() or not any((folder / "run").iterdir())
