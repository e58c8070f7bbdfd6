"""What ``import neural_code_search`` gives, and the examples as a user runs them."""

import json
import os
import re
import runpy
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import neural_code_search

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "examples"
VERBS = ("open", "close", "read", "write", "parse", "join")
NOUNS = ("file", "stream", "buffer", "line", "record", "table", "queue", "packet", "window", "graph")


def run(*arguments: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONSAFEPATH": "1", "GALM_NATIVE": "0"}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_every_name_is_there_and_documented():
    assert dir(neural_code_search) == sorted(neural_code_search.__all__)
    for name in neural_code_search.__all__:
        assert getattr(neural_code_search, name).__doc__


def test_another_name_is_not():
    with pytest.raises(AttributeError, match="has no attribute 'load_modle'"):
        neural_code_search.load_modle  # noqa: B018


def test_every_name_is_on_the_page_about_it():
    page = (REPOSITORY / "docs" / "python-api.md").read_text(encoding="utf-8")
    assert [name for name in neural_code_search.__all__ if f"`{name}" not in page] == []


def test_importing_it_loads_no_library():
    heavy = "{'torch', 'numpy', 'tree_sitter'}"
    done = run("-c", f"import sys, neural_code_search; assert not {heavy} & set(sys.modules)")
    assert done.returncode == 0, done.stderr


def test_pairs_are_scored_and_a_pool_is_ranked(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["score_pairs.py", "read all lines of a file"])
    runpy.run_path(str(EXAMPLES / "score_pairs.py"), run_name="__main__")
    *pairs, question, first, second, third = capsys.readouterr().out.splitlines()
    scores = [float(line.split()[0]) for line in pairs]
    assert scores[0] > scores[1]
    assert scores[3] > scores[2]
    assert question == "read all lines of a file"
    assert "readLines" in first
    assert [line.split()[0] for line in (first, second, third)] == ["1", "2", "3"]


def test_the_folder_is_searched(compiled, tmp_path, monkeypatch):
    compiled(tmp_path / "cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "Sum.java").write_text("class Sum { int total(int[] values) { return IntStream.of(values).sum(); } }")
    done = run(str(EXAMPLES / "search_folder.py"), str(tmp_path), "total of some values")
    assert done.returncode == 0, done.stderr
    about, question, first, *_ = done.stdout.splitlines()
    assert about.startswith("2 functions, types and files of 1 files in ")
    assert question == "total of some values"
    assert "Sum.total  'Sum.java' lines 1-1" in first
    monkeypatch.setattr(sys, "argv", ["search_folder.py", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit) as mistaken:
        runpy.run_path(str(EXAMPLES / "search_folder.py"), run_name="__main__")
    assert str(mistaken.value) == f"search_folder: there is no folder {tmp_path / 'nowhere'}"


def test_pairs_become_a_figure(tmp_path, monkeypatch, capsys):
    pairs = [
        {
            "query": f"Tries to {verb} the {noun} of {number} parts */",
            "code": f"int {verb}{noun}(int {noun}) {{\n  int sum = {noun};\n  return {verb}(sum * {number});\n}}",
        }
        for number, (verb, noun) in enumerate(product(VERBS, NOUNS))
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(pair)}\n" for pair in pairs))
    monkeypatch.setattr(sys, "argv", ["pairs_to_figure.py", str(tmp_path / "pairs.jsonl"), str(tmp_path / "out")])
    runpy.run_path(str(EXAMPLES / "pairs_to_figure.py"), run_name="__main__")
    *_, told = capsys.readouterr().out.splitlines()
    figure = tmp_path / "out" / "mrr.png"
    assert re.fullmatch(rf"{re.escape(str(figure))}: unif [01]\.\d+ after 12 epochs, BM25 [01]\.\d+", told)
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "unif" / "metrics.json").is_file()
    monkeypatch.setattr(sys, "argv", [*sys.argv, "bm25"])
    with pytest.raises(SystemExit, match="expected a model that is trained"):
        runpy.run_path(str(EXAMPLES / "pairs_to_figure.py"), run_name="__main__")


def test_the_saved_results_are_data():
    runs = neural_code_search.load_results("main")
    bm25 = next(run for run in runs if (run.row["label"], run.row["dataset"]) == ("bm25_tuned", "jdk"))
    assert bm25.row["command"].startswith("bash run.sh jdk bm25_tuned")
    assert (1 / bm25.ranks["ranks"]).mean() == pytest.approx(bm25.row["exact"]["mrr"])
    assert bm25.content["ranks"] == bm25.ranks["ranks"].tolist()
