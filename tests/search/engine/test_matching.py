"""A regular expression leaves the units whose own text matches, in every way to ask."""

import json

import pytest
from repositories import write
from serving import ask, fresh, index_of, indexed, running, settled

from cli.main import main
from data_prep.errors import UserError
from neural_code_search.folder_index import index_folder
from search.engine.engine import Engine
from search.engine.expressions import Pattern
from search.index.index_file import open_index
from search.serve.agent_tools import AgentTools
from search.serve.live_index import LiveIndex

FILES = {
    "b/oven.py": "# TODO: préheat\nimport heat\n\nLEVEL = heat.level(3)\n\n\ndef bake(tray):\n    def turn(side):\n"
    "        return side + 90\n\n    return turn(tray) + 1\n\n\n# a crust\n"
    "# of sugar\ndef glaze(cake):\n    return cake\n",
    "b/Kiln.java": "class Kiln {\r\n  int heat;\r\n\r\n  /** Fires. */\r\n  void fire(int x) {\r\n"
    "    stoke(\r\n      x);\r\n  }\r\n}\r\n",
    "a/stove.py": "def rebake(tray):\n    return tray + 90\n",
    "a/test_oven.py": "def test_bake():\n    assert bake(1) == 90 + 90\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write(tmp_path_factory.mktemp("matching") / "tree", FILES)


@pytest.fixture(scope="module")
def engine(root):
    return Engine(open_index(index_of(root, root.parent / "index")), None)


def found(engine, pattern, root=None, question="", **wanted):
    hits = engine.search(question, pattern=Pattern(pattern, root), **wanted)
    return [(engine.index.names[hit.row].rpartition("/")[2], hit.match_line) for hit in hits]


@pytest.mark.parametrize(
    ("pattern", "rows"),
    [
        ("side", [("turn", 8)]),  # and not the function around it
        (r"turn\(tray\)", [("bake", 11)]),
        (r"\+ 90$", [("turn", 9), ("rebake", 2), ("test_bake", 2)]),
        ("^import", [("oven", 2)]),
        ("préh.at", [("oven", 1)]),
        ("crust|sugar", [("glaze", 14)]),  # the comment above it
        (r"stoke\(\s+x\)", [("Kiln.fire", 6)]),
        ("Fires", [("Kiln.fire", 4)]),
        ("todo", []),
        ("(?i)todo", [("oven", 1)]),
        (r"return cake\n", []),  # the end of a unit's last line is of none
        (r"(?s)import.*cake", []),  # of several units
    ],
)
def test_units_whose_own_text_matches(engine, root, pattern, rows):
    assert sorted(found(engine, pattern, root)) == sorted(rows)


def test_tests_come_last_and_other_places_in_order(engine, root):
    assert found(engine, "90", root) == [("rebake", 2), ("turn", 9), ("test_bake", 2)]
    assert found(engine, "90", root, "test:yes")[1] == ("test_bake", 2)


def test_a_question_orders_all_that_match(engine, root):
    assert found(engine, "return", root, "glaze a cake")[0] == ("glaze", 17)
    assert {name for name, _ in found(engine, "return", root, "glaze a cake")} >= {"bake", "turn", "rebake"}
    assert found(engine, "90", root, "path:b/") == [("turn", 9)]
    assert found(engine, "return", root, '"return cake"') == [("glaze", 17)]
    assert engine.certainty("", engine.search("", pattern=Pattern("90", root))).level == "strong"
    assert engine.certainty("glaze", engine.search("glaze", pattern=Pattern("return", root))).level != "none"


def test_without_the_files_the_units_are_looked_at(engine):
    assert found(engine, "side") == [("turn", 8)]
    assert found(engine, "^import") == []
    sure = engine.certainty("bake", engine.search("bake", pattern=Pattern("^import")))
    assert sure.line == "nothing found: nothing matches '^import'"


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("(bake", "regex takes an expression of RE2, not '(bake': missing ): (bake"),
        ("bake(?=d)", "regex takes an expression of RE2, not 'bake(?=d)': invalid perl operator: (?="),
        (r"(a)\1", r"regex takes an expression of RE2, not '(a)\\1': invalid escape sequence: \1"),
        ("\ud800", "regex takes an expression of RE2 in UTF-8, not '\\ud800'"),
        ("[ab].{500}x", "regex '[ab].{500}x' is too large: repeat less in it"),
        ("a" * 2001, "regex has at most 2,000 characters, this one has 2,001"),
    ],
)
def test_what_is_wrong_is_one_line(pattern, told):
    with pytest.raises(UserError) as error:
        Pattern(pattern)
    assert str(error.value) == told


def test_one_that_takes_too_long_ends(engine, root, monkeypatch):
    monkeypatch.setattr("search.engine.expressions._PATIENCE", -1.0)
    with pytest.raises(UserError, match="takes too long"):
        found(engine, "a", root)


def test_a_terminal_shows_the_line_that_matches(tmp_path, monkeypatch, capsys):
    tree = write(tmp_path / "tree", FILES)
    indexed(tree)
    monkeypatch.chdir(tree)
    capsys.readouterr()
    assert main(["search", r"--regex=LEVEL\b", str(tree), "--model=none"]) == 0
    assert "b/oven.py:4" in capsys.readouterr().out
    assert main(["search", "--regex=sugar", "--vimgrep"]) == 0
    assert capsys.readouterr().out == "b/oven.py:15:1:# of sugar\n"
    assert main(["search", "--regex=sugar", "glaze", "--json"]) == 0
    assert [each["match_line"] for each in json.loads(capsys.readouterr().out)["results"]] == [15]
    assert main(["search", "--regex=nowhere"]) == 1
    assert capsys.readouterr().out.startswith("nothing found: nothing matches 'nowhere'\n")
    assert main(["search", "--regex=(", "glaze"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["search", "--regex=a", "--usages", "bake"]) == 2
    assert "--regex has no part in --usages" in capsys.readouterr().err


def test_the_server_and_python_take_it(root, tmp_path):
    with running(LiveIndex(index_of(root, tmp_path / "index"), lambda _: None), "of the tests", root=root) as port:
        (hit,) = ask(port, "/api/search", {"regex": "sugar"}).told["results"]
        assert (hit["name"], hit["match_line"], hit["preview"]["best_line"]) == ("glaze", 15, 16)
        (hit,) = ask(port, "/api/search", {"q": "heat level", "regex": "^LEVEL"}).told["results"]
        assert hit["preview"]["best_line"] == 4
        answer = ask(port, "/api/search", {"q": "glaze", "regex": "("})
        assert (answer.status, answer.told["error"].startswith("regex takes")) == (400, True)
        answer = ask(port, "/api/explain", {"q": "path:b/", "row": 1})
        assert answer.told["query"] == []
    (hit,) = index_folder(root, out=tmp_path / "other", processes=1).search("", regex="sugar")
    assert (hit.name, hit.match_line) == ("glaze", 15)


def test_an_agent_asks_with_one(tmp_path):
    root = write(tmp_path / "tree", FILES)
    with fresh(root) as made:
        tools = AgentTools(settled(made))
        (hit,) = tools.search(regex="sugar")["results"]
        assert (hit["name"], hit["match_line"]) == ("glaze", 15)
        assert tools.search("bake", regex="nowhere")["certainty"]["level"] == "none"
        with pytest.raises(UserError, match="and not both"):
            tools.search(regex="a", snippet="def f(): pass")
