"""``bash run.sh search --at=FILE:LINE``: a question from a terminal under the text above a cursor."""

import json
import os

import pytest
from repositories import write
from serving import indexed

from cli.main import main
from data_prep.errors import UserError
from search.cursor import cursor_at, words_above
from search.opening import index_place

FILES = {
    "json_store.py": "import json\n\n\ndef load(path):\n"
    '    """Load the data of a file."""\n    return json.load(path)\n',
    "pickle_store.py": "import pickle\n\n\ndef load(path):\n"
    '    """Load the data of a file."""\n    return pickle.load(path)\n',
    "work.py": "import json\n\n# search: load data from file\nimport pickle\n\n    #Search :load data from file\n",
    "Work.java": "class Work {\n    // search: load data\n}\n",
}


@pytest.fixture
def root(tmp_path):
    return write(tmp_path / "tree", FILES)


def test_the_comment_is_the_query_and_what_is_above_it_the_context(root):
    found = cursor_at(f"{root}/work.py:3")
    assert (found.query, found.language, found.file) == ("load data from file", "python", root / "work.py")
    assert found.context == ("import", "json")
    assert cursor_at(f"{root}/work.py:6").context == ("json", "import", "pickle")
    given = cursor_at(f"{root}/work.py:5", "other words")
    assert (given.query, given.context) == ("other words", ("json", "import", "pickle"))
    assert cursor_at(f"{root}/work.py:7", "at the end").context == words_above(FILES["work.py"], "python")
    assert cursor_at(f"{root}/Work.java:2").context == ("class", "work")


@pytest.mark.parametrize(
    "place", ["{}:3", "{}:3:7", "{}:3:7:", "{}:3-5", "{}(3,7)", "{}(3): error", "{}#L3", "{}#L3-L5", "file://{}:3"]
)
def test_a_place_as_other_tools_write_it(root, place):
    assert cursor_at(place.format(f"{root}/work.py")).query == "load data from file"


@pytest.mark.parametrize(
    ("name", "data", "language"),
    [
        ("wide.py", "\ufeff# search: load größe\n".encode("utf-16-le"), "python"),
        ("wide.go", "// search: load größe\npackage a\n".encode("utf-16-be"), "go"),
        ("old.py", "# search: load größe\n# über die Maße\n".encode("latin-1"), "python"),
        ("old.rb", b"# search: load gr\xc3\xb6\xc3\x9fe\rx = 1\r", "ruby"),
        ("tool", "#!/usr/bin/env -S python3 -u\n# search: load größe\n".encode(), "python"),
        ("Rakefile", "# search: load größe\n".encode(), "ruby"),
        ("LOUD.PY", "# search: load größe\n".encode(), "python"),
        ("head.h", "// search: load größe\nnamespace a { class B; }\n".encode(), "cpp"),
    ],
)
def test_a_file_is_read_as_it_is_for_an_index(root, name, data, language):
    (root / name).write_bytes(data)
    found = cursor_at(f"{root}/{name}:{2 if name == 'tool' else 1}")
    assert (found.query, found.language) == ("load größe", language)


def test_a_colon_in_a_name_and_any_line_end_and_bytes_are_read(root):
    write(root, {"x:3.py": "# search: y\n", "a:b.py": b"\xef\xbb\xbfimport \xff\xfe\r\n# search: x\r\n"})
    assert cursor_at(f"{root}/a:b.py:2").query == "x"
    assert cursor_at(f"{root}/x:3.py:1").query == "y"
    assert cursor_at(f"{root}/a:b.py:2").context == ("import",)


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("work.py", "--at takes FILE:LINE, such as src/store.py:12, not"),
        ("work.py:", "--at takes FILE:LINE"),
        ("work.py:one", "--at takes FILE:LINE"),
        ("work.py:-1", "--at takes FILE:LINE"),
        ("work.py:9999999999", "--at takes FILE:LINE"),
        ("work.py:0", "has the lines 1 to 6, not 0"),
        ("work.py:8", "has the lines 1 to 6, not 8"),
        ("work.py:1", "is no comment like `# search: retry with backoff`: write one, or give a query"),
        ("work.py:7", "is no comment like"),
        ("Work.java:1", "is no comment like `// search: retry with backoff`"),
        ("none.py:1", "cannot be read: No such file or directory"),
        ("plain:1", "--at takes a source file"),
        ("binary.py:1", "--at takes a source file"),
        ("notes.txt:1", "--at takes a source file (*.py, *.js"),
        (".:1", "--at takes a source file"),
        ("pipe.py:1", "cannot be read: not a regular file"),
        ("folder.py:1", "cannot be read: "),
    ],
)
def test_a_mistake_is_one_line(root, typed, line):
    os.mkfifo(root / "pipe.py")
    (root / "folder.py").mkdir()
    write(root, {"plain": "words\n", "binary.py": b"\0\1\2\n", "notes.txt": "words\n"})
    with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
        cursor_at(f"{root}/{typed}")
    assert line in str(error.value)


def test_the_command_asks_the_index_of_the_file(root, tmp_path, monkeypatch, capsys):
    indexed(root, "")
    monkeypatch.chdir(tmp_path)  # not inside of the indexed folder
    capsys.readouterr()
    asked = ["search", f"--at={root}/work.py:3", "--json", "--model=none"]
    assert main(asked) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["query"] == "load data from file"
    assert told["results"][0]["path"] == "json_store.py"
    assert all(each["path"].endswith(".py") for each in told["results"])
    assert main([*asked, "--language=java"]) in (0, 1)
    assert all(each["path"] == "Work.java" for each in json.loads(capsys.readouterr().out)["results"])
    assert main(["search", "load the data", f"--at={root}/work.py:1", "--json", "--model=none"]) == 0
    assert json.loads(capsys.readouterr().out)["query"] == "load the data"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "expected one question"),
        (["a b", "nowhere", "--at=work.py:3"], "there is no folder nowhere"),
        (["--at=work.py:1"], "is no comment like"),
        (["?!", "--at=work.py:1"], "expected a question in words or a name, got '?!'"),
        (["--at=work.py:3", "--language=go"], "--language=go matches none of the index's 4 files"),
    ],
)
def test_a_mistake_of_the_command_is_one_line(root, monkeypatch, capsys, words, line):
    indexed(root)
    monkeypatch.chdir(root)
    capsys.readouterr()
    assert main(["search", *words]) == 2
    told = capsys.readouterr().err
    assert line in told
    assert told.count("\n") == 1


def test_a_language_that_the_index_lacks_is_one_line(root, tmp_path, monkeypatch, capsys):
    other = write(tmp_path / "other", {"main.go": "package main\n\n// search: x\n"})
    indexed(root)
    monkeypatch.chdir(root)
    capsys.readouterr()
    assert main(["search", f"--at={other}/main.go:3", "--model=none"]) in (0, 1)
    assert f"indexed {other}: " in capsys.readouterr().err
    assert main(["search", f"--at={other}/main.go:3", f"--index={index_place(root)}"]) == 2
    assert "--language=go matches none of the index's 4 files, which are of java, python" in capsys.readouterr().err


def test_a_comment_in_a_cell_of_a_notebook_and_in_a_script_of_a_component_asks(tmp_path):
    source = ["import numpy as np\n", "# search: mean of numbers\n", "x = 1\n"]
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["Text\n"]},
        {"cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": [], "source": source},
    ]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    component = (
        "<b>{{ cart }}</b>\n<script>\nconst prices = [];\n// search: add up\n</script>\n<!-- // search: no\n-->\n"
    )
    root = write(tmp_path / "tree", {"a.ipynb": notebook, "b.vue": component, "c.svelte": component})
    line = next(number for number, each in enumerate(notebook.split("\n"), start=1) if "search:" in each)
    found = cursor_at(f"{root}/a.ipynb:{line}")
    assert (found.query, found.language, found.context) == (
        "mean of numbers",
        "python",
        ("import", "numpy", "as", "np"),
    )
    for name in ("b.vue", "c.svelte"):
        found = cursor_at(f"{root}/{name}:4")
        assert (found.query, found.context) == ("add up", ("const", "prices"))
    for place in ("a.ipynb:2", "b.vue:6"):
        with pytest.raises(UserError, match="is no comment like"):
            cursor_at(f"{root}/{place}")
