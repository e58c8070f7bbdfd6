"""Weights of whole files, fitted with each project left out."""

import json
from dataclasses import replace

import numpy as np
import pytest

from cli.main import main
from search.engine.engine import Engine
from search.engine.file_ranking import FileWeights
from search.engine.question import RankingSettings
from search.index.build import refresh
from search.index.index_file import open_index
from search.quality.query_file import read_query_files
from search.quality.typed_queries import measure_queries
from search.quality.weight_fit import FILES as PLAN
from search.quality.weight_fit import LEAST, FileProject, fitted

FILES = {
    "src/parser.py": "def split(text): return text.split()\n",
    "src/notes.py": "def note(): return 'parse tokens'\n" + "# the parser reads tokens\n" * 20,
    "src/unrelated.py": "def colour(): return 'red'\n",
    "tests/test_parser.py": "def test_parse(): assert parse('a tokens b') == parser\n",
}


def question(text, path):
    return {"query": text, "relevant": [{"path": path}]}


BY_NAME = [question("parser of tokens", "src/parser.py"), question("colours", "src/unrelated.py")]
BY_TEXT = [question("parser of tokens", "src/notes.py"), question("parse these tokens", "src/notes.py")]


@pytest.fixture
def folder(tmp_path):
    """Two projects, and questions about them and one that is not there."""
    for project in ("one", "two"):
        for path, content in FILES.items():
            place = tmp_path / project / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content)
    return tmp_path


def asked(folder, **projects):
    path = folder / "queries.json"
    path.write_text(json.dumps({name: {"queries": queries} for name, queries in projects.items()}))
    return path


def fit(folder, capsys, *options, **projects):
    path = asked(folder, **projects)
    assert main(["quality", str(folder), f"--queries={path}", "--fit=files", *options]) == 0
    return capsys.readouterr()


def test_questions_of_a_project_have_no_part_in_what_it_gets(folder, capsys):
    one, other = (
        json.loads(fit(folder, capsys, "--json", one=queries, two=BY_NAME).out)["settings"][-1]
        for queries in (BY_NAME, BY_TEXT)
    )
    assert one["weights"]["one"] == other["weights"]["one"]
    assert one["weights"]["two"] != other["weights"]["two"]
    for each in (one, other):
        assert each["mean"] == pytest.approx(np.mean([*each["ndcg"].values()]))


def test_a_fit_is_a_local_best_of_the_grid(folder):
    refresh(folder / "one", folder / "index", processes=0, tell=lambda *_: None)
    index = open_index(folder / "index")
    files = read_query_files(asked(folder, one=BY_TEXT, two=BY_NAME))
    project = FileProject(files["two"], index)
    found = fitted([project], PLAN)
    assert project.smooth_ndcg(found) > project.smooth_ndcg(PLAN.start)
    others = [replace(found, **{name: value}) for name, each in PLAN.tried.items() for value in each.values]
    assert max(map(project.smooth_ndcg, others)) <= project.smooth_ndcg(found) + LEAST


def test_files_are_ranked_as_the_search_ranks_them_without_passages(folder):
    ranking = RankingSettings(phrases=0.0, phrases_of_file=0.0)
    refresh(folder / "one", folder / "index", processes=0, tell=lambda *_: None)
    index = open_index(folder / "index")
    for asked_about in read_query_files(asked(folder, one=BY_TEXT, two=BY_NAME)).values():
        (whole,) = measure_queries({"whole": Engine(index, None, ranking)}, asked_about)["stages"]
        assert FileProject(asked_about, index).ndcg(FileWeights()) == pytest.approx(whole["categories"]["all"]["ndcg"])


def test_missing_projects_are_left_out_in_one_line(folder, capsys):
    output = fit(folder, capsys, one=BY_NAME, gone=BY_NAME, two=BY_TEXT, **{"..": BY_NAME})
    (told,) = (line for line in output.err.splitlines() if "left out" in line)
    assert told.endswith("left out, since they are no folders of it: gone, ..")
    lines = output.out.splitlines()
    assert lines[0].startswith("4 queries about 2 projects; NDCG@10 by file")
    assert lines[1].split() == ["one", "two", "mean"]
    assert [line.split("  ")[0] for line in lines[4:23]] == [
        "default", "k1 1.5", "without stem", "without folders", "without lead", "without has", "without head",
        "without subject", "without callers", "without defines", "without around",
        "most_terms 1000", "test_share 1.0", "gathering_share 1.0", "header_share 1.0",
        "without stem_times", "without folder_times", "without spelling", "fitted on the others",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ({"one": BY_NAME, "gone": BY_NAME}, [], "--fit needs 2 or more projects"),
        ({"one": BY_NAME, "two": BY_NAME[:1]}, [], "'two': queries: expected a list of 2 or more"),
        ({"one": BY_NAME, "two": BY_NAME}, ["--project=one"], "leave out --project"),
        ({"one": BY_NAME, "two": BY_NAME}, ["--files=1"], "leave out --files"),
    ],
)
def test_a_fit_that_cannot_be_made_is_told_in_one_line(folder, content, options, message, capsys):
    path = asked(folder, **content)
    assert main(["quality", str(folder), f"--queries={path}", "--fit=files", *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_single_project_and_made_queries_cannot_be_fitted(folder, capsys):
    path = folder / "queries.json"
    path.write_text(json.dumps({"queries": BY_NAME}))
    assert main(["quality", str(folder), f"--queries={path}", "--fit=files"]) == 2
    assert "expected several projects" in capsys.readouterr().err
    assert main(["quality", str(folder), "--fit=files"]) == 2
    assert "--fit is for typed queries" in capsys.readouterr().err
