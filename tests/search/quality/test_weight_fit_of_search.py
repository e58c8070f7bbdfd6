"""Weights of the whole search, fitted with each project left out: the search's own values, each score computed once."""

import json
from dataclasses import replace

import numpy as np
import pytest
from repositories import write

from cli.main import main
from search.engine.engine import Engine
from search.engine.question import RankingSettings
from search.index.build import refresh
from search.index.index_file import open_index
from search.quality.query_file import checked_queries
from search.quality.typed_queries import measure_queries
from search.quality.weight_fit import SEARCH, SearchProject, SearchWeights, fitted

FILES = {
    "src/parser.py": "def split(text):\n    return text.split()\n\n\ndef join(parts):\n    return ' '.join(parts)\n",
    "src/notes.py": "def note():\n    return 'parse tokens'\n" + "# the parser reads tokens\n" * 20,
    "src/Shelf.java": "class Shelf { void putBook(String title) { books.add(title); } int count() { return 0; } }\n",
    "tests/test_parser.py": "def test_parse():\n    assert parse('a tokens b') == parser\n",
}
QUERIES = [("parser of tokens", "src/parser.py"), ("put a book", "src/Shelf.java"), ("notes", "src/notes.py"),
           ("Shelf.putBook", "src/Shelf.java"), ("parse these tokens", "src/notes.py")]  # fmt: skip
ASKED = {"queries": [{"query": text, "relevant": [{"path": path}]} for text, path in QUERIES]}


class Counted:
    """A model and a retriever whose scores are drawn once; it counts what it is asked for."""

    reads_text = True

    def __init__(self, size):
        self.values = np.random.default_rng(0).normal(size=size).astype(np.float32)
        self.asked = []

    def scores(self, query, rows, *_):
        self.asked += [(tuple(query), row) for row in rows.tolist()]
        return self.values[rows] + np.float32(len(query))

    def alignment(self, *_):
        return None

    def nearest(self, query, *_):
        return np.arange(len(query) % len(self.values))


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    root = tmp_path_factory.mktemp("searched")
    refresh(write(root / "tree", FILES), root / "index", processes=0, tell=lambda *_: None)
    return open_index(root / "index")


@pytest.mark.parametrize("read_all_below", [1000, 0])
def test_values_are_those_of_the_search(index, monkeypatch, read_all_below):
    settings = RankingSettings(read_all_below=read_all_below, shortlist=2)
    monkeypatch.setattr("search.quality.weight_fit._DEFAULT", settings)
    asked = checked_queries(ASKED)
    model, vectors = Counted(len(index)), Counted(len(index))
    project = SearchProject(asked, index, model, vectors)
    for ranking in (
        settings,
        replace(settings, weight=0.2, files=0.5, vector_weight=1.0, file=0.0, test=0.0),
    ):
        own = {name: getattr(ranking, name) for name in ("weight", "files", "vector_weight", "file", "test")}
        engine = Engine(index, Counted(len(index)), ranking, Counted(len(index)))
        (whole,) = measure_queries({"whole": engine}, asked)["stages"]
        assert project.ndcg(replace(SEARCH.default, **own)) == pytest.approx(whole["categories"]["all"]["ndcg"])
    assert len(model.asked) == len({*model.asked}) > 0
    assert len(vectors.asked) == len({*vectors.asked}) > 0


def test_default_weights_are_the_settings():
    assert SEARCH.default == SearchWeights()
    assert SEARCH.default.ranking == RankingSettings()


def test_a_model_that_knows_the_files_gets_weight(index):
    """The fit finds that the model alone is right where words are misleading."""
    asked = checked_queries({"queries": [
        {"query": text, "relevant": [{"path": "src/Shelf.java"}]} for text in ("parser of tokens", "these notes")
    ]})  # fmt: skip
    model = Counted(len(index))
    model.values = np.array([float(index.file(row).path == "src/Shelf.java") for row in range(len(index))], np.float32)
    project = SearchProject(asked, index, model)
    found = fitted([project], SEARCH)
    assert project.ndcg(found) == 1.0
    assert project.ndcg(replace(found, weight=0.0)) < 1.0


def test_the_command_measures_each_project_by_weights_of_the_others(tmp_path, capsys):
    for project in ("one", "two"):
        write(tmp_path / project, FILES)
    path = tmp_path / "queries.json"
    path.write_text(json.dumps({"one": ASKED, "two": ASKED}))
    plain = ["quality", str(tmp_path), f"--queries={path}", "--fit=search", "--model=none", "--vectors=none"]
    assert main([*plain, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["measure"] == "NDCG@10 by file, the whole search"
    default, fitted = found["settings"][0], found["settings"][-1]
    assert (default["name"], fitted["name"]) == ("default", "fitted on the others")
    assert fitted["mean"] >= default["mean"]  # the projects are the same, and the default is in the grid's reach
    assert fitted["weights"]["one"] == fitted["weights"]["two"]
    assert main([*plain, "--weight=.5"]) == 2
    assert "--fit=search fits the weights itself, of all projects: leave out --weight" in capsys.readouterr().err
    assert main([*plain[:-2], "--model=/nowhere"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
