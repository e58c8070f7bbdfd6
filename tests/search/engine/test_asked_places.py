"""A question that is a line of a file leads to what is at that line, and one beyond its end is said."""

import pytest
from repositories import write
from serving import index_of

from search.engine.engine import Engine
from search.index.index_file import open_index

FILES = {
    "web/context.go": (
        "package web\n\nimport (\n\t\"fmt\"\n)\n\ntype Context struct {\n\tindex int\n}\n\n"
        "// Copy returns a copy.\nfunc (c *Context) Copy() *Context {\n\tfmt.Println(c)\n\treturn c\n}\n\n"
        "func (c *Context) reset() {\n\tc.index = -1\n}\n"
    ),
    "web/context_test.go": "package web\n\nfunc TestCopy() {\n\tnew(Context).Copy()\n}\n",
    "lib/_models.py": (
        "class Response:\n    def raised(self):\n        return self\n\n    def closed(self):\n        return 1"
    ),
    "tree/twin.go": "package main\n\nfunc inner() {\n\tweb.Run()\n}\n",
    "twin.go": "package main\n\nfunc outer() {\n\tweb.Run()\n}\n",
    "main.go": "package main\n\nfunc main() {\n\tweb.Run()\n}\n",
    "my tools/count files.py": "def files():\n    return 1\n\n\ndef other():\n    return 2\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("places")
    engine = Engine(open_index(index_of(write(folder / "tree", FILES), folder / "index")), None)
    engine.names.paths.folder, engine.names.paths.here = folder / "tree", folder / "tree" / "web"
    return engine


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("context.go:13", "Context.Copy"),
        ("context.go:11", "Context.Copy"),  # its comment
        ("web/context.go:18", "Context.reset"),
        ("web/context.go:8", "Context"),
        ("context.go:13:5", "Context.Copy"),
        ("context.go:12-14", "Context.Copy"),
        ("context.go#L13", "Context.Copy"),
        ("context.go#L12-L14", "Context.Copy"),
        ("context.go(13)", "Context.Copy"),
        ("context.go(13,5)", "Context.Copy"),
        ("context.go line 13", "Context.Copy"),
        ("context.go, line 13", "Context.Copy"),
        ("context.go at line 13", "Context.Copy"),
        ("line 13 of context.go", "Context.Copy"),
        ('"web/context.go", line 13', "Context.Copy"),
        ("`context.go:13`", "Context.Copy"),
        (r"web\context.go:13", "Context.Copy"),
        ("_models.py:3", "Response.raised"),
        ("_models.py:6", "Response.closed"),
        ("context_test.go:4", "TestCopy"),
        ("my tools/count files.py:6", "other"),
        ("count files.py line 6", "other"),
        (r"C:\old tree\my tools\count files.py:6", "other"),
        ("/srv/old tree/my tools/count files.py:6:3: error: no such name", "other"),
    ],
)
def test_what_is_at_a_line_is_first(engine, question, name):
    hits = engine.search(question)
    assert engine.index.names[hits[0].row] == name
    assert engine.certainty(question, hits).level == "strong"


def test_an_import_is_of_the_whole_file(engine):
    assert engine.index.is_whole_file(engine.search("context.go:4")[0].row)


@pytest.mark.parametrize(("place", "said"), [("context.go", "19"), ("_models.py", "6")])
@pytest.mark.parametrize("form", ["{}:9999", "{} line 9999", "{}#L9999"])
def test_a_line_beyond_the_end(engine, place, said, form):
    question = form.format(place)
    found = engine.certainty(question, engine.search(question))
    assert found.line.startswith("nothing found: ")
    assert f"/{place} has {said} lines" in found.line


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("context.go:13: undefined: fmtt", "Context.Copy"),
        ("web/context.go:18:2: missing return in copied request", "Context.reset"),
        ("lib/_models.py:3: F821 undefined name 'raise'", "Response.raised"),
        ("context.go(13,5): error: copy is not allowed", "Context.Copy"),
        ("context.go:8: copies returned by reset", "Context"),
        ("error: web/context.go:18: missing return", "Context.reset"),
        ("  --> web/context.go:13:9", "Context.Copy"),
        ("vet: ./context.go:13:2: fmtt is not declared", "Context.Copy"),
        ("at context.go:18", "Context.reset"),
        ("what is called in [web/context.go:13] and why", "Context.Copy"),
        ("E   lib/_models.py:3: AssertionError", "Response.raised"),
        ("see lib/_models.py#L6", "Response.closed"),
    ],
)
def test_the_place_before_a_message_is_first(engine, question, name):
    hits = engine.search(question)
    assert engine.index.names[hits[0].row] == name
    assert engine.certainty(question, hits).level == "strong"


def test_a_line_beyond_the_end_is_not_that_of_a_message(engine):
    assert not engine.names.read("context.go:9999: copies returned by reset")


@pytest.mark.parametrize(
    ("question", "name", "near"),
    [
        ("contxt.go:13", "Context.Copy", "web/context.go"),
        ("web/contexts.go:18", "Context.reset", "web/context.go"),
        ("lib/context.go:13", "Context.Copy", "web/context.go"),
        ("_model.py, line 3", "Response.raised", "lib/_models.py"),
        ("line 3 of _modles.py", "Response.raised", "lib/_models.py"),
        ("lib/_model.py:6: error: name is not defined", "Response.closed", "lib/_models.py"),
    ],
)
def test_a_line_of_a_file_that_is_misspelt(engine, question, name, near):
    hits = engine.search(question)
    assert engine.index.names[hits[0].row] == name
    said = engine.certainty(question, hits)
    assert said.level == "weak"
    assert said.nearest[0] == near
    assert said.name in question


def test_no_line_of_a_file_that_is_not_there(engine):
    question = "nowhere.go:13"
    assert engine.certainty(question, engine.search(question)).level != "strong"


@pytest.mark.parametrize(
    ("form", "path"),
    [
        ("{folder}/lib/_models.py", "lib/_models.py"),
        ("{folder}/main.go", "main.go"),
        ("{folder}/lib/../main.go", "main.go"),
        ("file://{folder}/main.go", "main.go"),
        ("../lib/_models.py", "lib/_models.py"),
        ("../main.go", "main.go"),
        ("./context.go", "web/context.go"),
        ("tree/lib/_models.py", "lib/_models.py"),
        ("tree/main.go", "main.go"),
        ("tree/twin.go", "tree/twin.go"),
        ("{folder}/twin.go", "twin.go"),
        ("/srv/build/lib/_models.py", "lib/_models.py"),
        (r"C:\build\lib\_models.py", "lib/_models.py"),
        ("{folder}/main.go:4", "main.go"),
        ("../web/context.go line 13", "web/context.go"),
        ("tree/lib/_models.py:2", "lib/_models.py"),
        ("where is it run in {folder}/main.go", "main.go"),
        ("where is it run in ../main.go", "main.go"),
    ],
)
def test_a_path_that_begins_above_the_folder(engine, form, path):
    question = form.format(folder=engine.names.paths.folder)
    hits = engine.search(question)
    assert engine.index.file(hits[0].row).path == path
    said = engine.certainty(question, hits)
    assert "nothing is called" not in said.line
    assert said.level == "strong" or " " in question


@pytest.mark.parametrize("question", ["/srv/other.go", "../../main.go", "trees/main.go", "{folder}/lib/main.go"])
def test_a_path_that_leads_elsewhere(engine, question):
    question = question.format(folder=engine.names.paths.folder)
    assert engine.certainty(question, engine.search(question)).line.startswith(("weak match: nothing", "nothing found"))


def test_a_path_through_a_link_to_the_folder(engine, tmp_path):
    (tmp_path / "link").symlink_to(engine.names.paths.folder)
    question = f"{tmp_path}/link/main.go"
    assert engine.index.file(engine.search(question)[0].row).path == "main.go"
