"""The commands as a user types them."""

import json
import os
import socket
import subprocess
import sys

import pytest

from experiments.config import REPOSITORY
from experiments.entry import main
from search.model_folder import DEFAULT_MODEL


@pytest.fixture
def folder(tree, monkeypatch):
    """A folder with an index, and the working folder inside it."""
    assert main(["index", str(tree)]) == 0
    monkeypatch.chdir(tree / "java")
    return tree


def run_sh(*arguments, cwd):
    return subprocess.run(
        ["bash", str(REPOSITORY / "run.sh"), *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "GALM_PYTHON": sys.executable},
        timeout=120,
    )


def test_a_question_is_answered_after_an_index_is_made(tree):
    made = run_sh("index", ".", cwd=tree)
    assert made.returncode == 0, made.stderr
    assert "12 files" in made.stdout
    assert "nothing has changed" in run_sh("index", ".", cwd=tree).stdout
    told = run_sh("search", "returns the base iterator", "--explain", "--top=2", cwd=tree / "java")
    assert told.returncode == 0, told.stderr
    assert told.stdout.count("by model") == 2
    assert "->" in told.stdout
    assert "\x1b" not in told.stdout  # no colours where there is no terminal
    assert "GPL-2.0-only WITH Classpath-exception-2.0" in told.stdout


def test_json_has_the_documented_fields(folder, capsys):
    capsys.readouterr()
    assert main(["search", "close the pipeline", "--json", "--top=3", "--explain"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [each["rank"] for each in answer["results"]] == [1, 2, 3]
    for each in answer["results"]:
        assert {"rank", "path", "start_line", "end_line", "name", "score", "license", "url"} <= set(each)
        lines = (folder / each["path"]).read_text().split("\n")
        assert each["source"].split("\n")[0] in lines[each["start_line"] - 1]
        assert [word["word"] for word in each["alignment"]] == ["close", "the", "pipeline"]


@pytest.mark.usefixtures("folder")
def test_bm25_alone_needs_no_model(capsys):
    capsys.readouterr()
    assert main(["search", "close the pipeline", "--model=none", "--json", "--by=file", "--path=java/util/*"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {each["model"] for each in answer["results"]} == {None}
    assert len({each["path"] for each in answer["results"]}) == len(answer["results"]) > 1


def test_what_a_terminal_would_obey_is_not_printed(tree, monkeypatch, capsys):
    (tree / "Evil.java").write_text(
        'class Evil {\n  /** Opens the \x1b]0;title\x07 window\u202e. */\n  void openWindow() { say("\x1b[2J"); }\n}\n'
    )
    main(["index", str(tree)])
    monkeypatch.chdir(tree)
    capsys.readouterr()
    assert main(["search", "open window", "--top=1"]) == 0
    told = capsys.readouterr().out
    assert "Evil.openWindow" in told
    assert not {"\x1b", "\x07", "\u202e"} & set(told)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["index"], "expected a folder"),
        (["index", "/nowhere at all"], "/nowhere at all"),
        (["search"], "expected one question"),
        (["search", "two", "questions"], "expected one question"),
        (["search", ""], "expected a question in words or a name"),
        (["search", "x" * 100_000], "at most 2,000 characters"),
        (["search", "a thing", "--tpo=3"], "did you mean --top?"),
        (["search", "a thing", "--top=0"], "--top takes a whole number of 1 or more"),
        (["search", "a thing", "--top=many"], "--top takes a whole number, not 'many'"),
        (["search", "a thing", "--by=line"], "--by takes method or file"),
        (["search", "a thing"], "there is no index of"),
        (["search", "a thing", "--index=/nowhere"], "there is no index at /nowhere"),
        (["quality"], "expected a folder"),
        (["quality", "."], "expected 20 or more methods"),
    ],
)
def test_mistakes_are_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert len(error) < 300


def test_a_model_that_is_none_is_one_line(folder, capsys):
    assert main(["search", "a thing", f"--model={folder}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_two_models_of_one_name_stay_apart(tree, tmp_path, capsys):
    names = [tmp_path / place / "model" for place in ("one", "other")]
    for name in names:
        name.parent.mkdir()
        name.symlink_to(DEFAULT_MODEL)
    compared = [f"--model={names[0]}", f"--against={names[1]}"]
    assert main(["quality", str(tree), "--queries=20", *compared]) == 0
    rows = [line.split()[0] for line in capsys.readouterr().out.splitlines()[-4:-1]]
    assert rows == ["bm25", *map(str, names)]


def test_no_connection_is_made(folder, monkeypatch, capsys):
    def refused(*_, **__):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    assert main(["index", str(folder)]) == 0
    assert main(["search", "close the pipeline", "--explain"]) == 0
    assert "AbstractPipeline" in capsys.readouterr().out
