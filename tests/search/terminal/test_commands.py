"""The forms of an answer, and the filters, as they are typed."""

import json

import pytest
from repositories import commit, write
from serving import indexed

from cli.main import main

FILES = {
    "src/store.py": "def read_netrc_file():\n    return parse()\n",
    "src/other.py": "def write_netrc_file():\n    return 1\n\n\nclass Netrc:\n    pass\n",
    "tests/test_store.py": "def test_read_netrc_file():\n    pass\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    root = commit(tmp_path / "tree", FILES)
    indexed(root)
    monkeypatch.chdir(root / "src")
    capsys.readouterr()
    return root


def told(capsys, *arguments):
    code = main([*arguments, "--model=none"])
    return code, capsys.readouterr()


@pytest.mark.usefixtures("folder")
def test_forms_of_an_answer(capsys):
    code, output = told(capsys, "search", "read a netrc file", "--files", "--path=src/")
    assert (code, output.out.splitlines()) == (0, ["store.py", "other.py"])
    code, output = told(capsys, "search", "read_netrc_file", "--vimgrep", "--top=1")
    assert (code, output.out) == (0, "store.py:1:1:def read_netrc_file()\n")
    code, output = told(capsys, "search", "read_netrc_file", "--json", "--top=1")
    answer = json.loads(output.out)
    assert answer["certainty"].keys() == {"level", "absent", "nearest", "text"}
    assert answer["results"][0]["copies"] == []
    code, output = told(capsys, "related", "store.py:1", "--files")
    assert (code, {*output.out.splitlines()}) == (0, {"../tests/test_store.py", "other.py"})
    code, output = told(capsys, "search", "zzzqqq", "--files")
    assert (code, output.out) == (1, "")
    assert "nothing found" in output.err


@pytest.mark.parametrize(
    "asked", [["search", "netrc file"], ["search", "--usages", "read_netrc_file"], ["related", "store.py:1"]]
)
def test_a_path_may_be_absolute(folder, capsys, asked):
    top = "tests" if "--usages" not in asked else "src"
    code, output = told(capsys, *asked, "--files", f"--path=/{top}/")
    assert (code, output.out) == (0, "../tests/test_store.py\n" if top == "tests" else "")  # there it is defined alone
    for written in (f"{folder}/{top}", f"{folder}/{top}/"):
        again, same = told(capsys, *asked, "--files", f"--path={written}")
        assert (again, same.out) == (0, output.out)
    code, output = told(capsys, *asked, "--files", f"--path={folder.parent}/elsewhere")
    assert (code, output.out) == (2, "")


@pytest.mark.usefixtures("folder")
def test_filters_as_they_are_typed(capsys):
    for arguments in (["-path:tests/ netrc file"], ["netrc", "file", "test:no"], ["netrc file", "path:src/"]):
        code, output = told(capsys, "search", *arguments, "--files")
        assert (code, {*output.out.splitlines()}) == (0, {"store.py", "other.py"})
    code, output = told(capsys, "search", "type:class netrc", "--json")
    assert [each["name"] for each in json.loads(output.out)["results"]] == ["Netrc"]


UNCHANGED = "--changed: git calls none of the 3 files changed"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["search", "netrc file"], "nothing found: only other files than those asked for have it"),
        (["search", "zzqqxx"], "nothing found: no file has zzqqxx"),
        (["search", "--regex=netrc"], "nothing found: nothing matches 'netrc'"),
        (["related", "store.py:1"], "no code like it: only other files than those asked for may have some"),
    ],
)
def test_where_nothing_has_changed_nothing_is_found(capsys, asked, said):
    code, output = told(capsys, *asked, "--changed", "--model=none")
    assert code == 1
    assert said in output.out.splitlines()
    assert output.err.splitlines()[0] == UNCHANGED
    code, output = told(capsys, *asked, "--changed", "--model=none", "--json")
    assert (code, json.loads(output.out)["results"]) == (1, [])
    code, output = told(capsys, *asked, "--changed", "--model=none", "--files")
    assert (code, output.out) == (1, "")


@pytest.mark.usefixtures("folder")
def test_where_nothing_has_changed_there_is_no_usage(capsys):
    code, output = told(capsys, "search", "--usages", "read_netrc_file", "--changed")
    assert (code, output.err.splitlines()[0]) == (1, UNCHANGED)
    assert output.out == "nothing found: only other files than those asked for have read_netrc_file\n"


def test_what_has_changed_is_read_before_it_is_said_that_nothing_has(folder, capsys, monkeypatch):
    write(folder, {"src/new.py": "def paint_the_fence():\n    return 1\n"})
    monkeypatch.setattr("search.index.updating.BUDGET", 0.0)
    code, output = told(capsys, "search", "paint the fence", "--changed", "--files", "--model=none")
    assert (code, output.out) == (0, "new.py\n")
    assert "git calls none" not in output.err


def test_only_what_git_calls_changed(folder, capsys):
    write(folder, {"src/other.py": "def write_netrc_file():\n    return 22\n"})
    code, output = told(capsys, "search", "netrc file", "--changed", "--files")
    assert (code, output.out) == (0, "other.py\n")
    code, output = told(capsys, "related", "store.py:1", "--changed", "--files")
    assert (code, output.out) == (0, "other.py\n")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "netrc", "--json", "--files"], "--json and --files are two forms of one answer"),
        (["related", "store.py:1", "--files", "--vimgrep"], "--files and --vimgrep are two forms of one answer"),
        (["search", "path:src/"], "only says where to search"),
        (["search", "type:klass netrc"], "type: takes one of class, function"),
        (["search", "netrc path:nowhere/"], "path:nowhere/ matches nothing in the index's 3 files"),
    ],
)
def test_mistakes_are_one_line(capsys, arguments, message):
    code, output = told(capsys, *arguments)
    assert (code, output.out) == (2, "")
    assert message in output.err
    assert output.err.count("\n") == 1
