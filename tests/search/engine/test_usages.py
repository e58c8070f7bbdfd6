"""Who uses a name, over an index, on the command line and from Python."""

import json

import pytest
from repositories import commit, write
from serving import index_of, indexed

from cli.main import main
from data_prep.errors import UserError
from neural_code_search.folder_index import open_index
from search.engine.engine import Engine
from search.engine.usages import find_usages
from search.engine.using_file import _types
from search.index.index_file import open_index as opened
from search.terminal.usages import as_record, said

FILES = {
    "shop/till.py": (
        "from shop import money\n\n\nclass Till:\n    def close(self):\n        return money.rounded(self.total())\n\n"
        "    def total(self):\n        return 1\n\n\n"
        "class Door:\n    def close(self):\n        return self.close()\n\n\n"
        "def shut(till: Till, door: Door, thing):\n    till.close()\n    door.close()\n    thing.close()\n\n\n"
        "class Drawer(Till):\n    def lock(self):\n        self.total()\n"
    ),
    "shop/money.py": "def rounded(amount):\n    # rounded(2) is 2\n    return round(amount)\n\n\nONE = rounded(1)\n",
    "shop/other.py": (
        "import shop.money as m\nfrom shop.money import rounded\nfrom elsewhere import close\n\n\n"
        "def run():\n    box = Till()\n    box.close()\n"
        "    m.rounded(1)\n    close()\n    return map(rounded, [rounded(2)])\n"
    ),
    "tests/test_till.py": "from shop.till import Till\n\n\n"
    "def test_close():\n    Till().close()\n    Till().close()\n    x.close()\n",
    "go/shop.go": (
        "package shop\n\ntype Shelf struct{}\n\nfunc (s *Shelf) Fill() {}\n\n"
        "func NewShelf() *Shelf { return &Shelf{} }\n\n"
        "func Use() {\n\ta := NewShelf()\n\ta.Fill()\n\tb := shop.NewCrate()\n\tb.Fill()\n\tc := Found()\n\tc.Fill()\n"
        "\t(*Shelf).Fill(a)\n}\n"
    ),
    "ex/mail.ex": "defmodule Post.Mail do\n  def send!(x), do: x\n\n  def go(x) do\n    send!(x)\n  end\nend\n",
    "sh/work.sh": "do-work() {\n  :\n}\ndo-work 1\n",
    "web/page.ts": "import { rounded } from './money';\nexport const shown = () => rounded(3) + `${rounded(4)}`;\n",
}  # fmt: skip
TESTED = {("tests/test_till.py", 5), ("tests/test_till.py", 6)}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return write(tmp_path_factory.mktemp("usages") / "tree", FILES)


@pytest.fixture(scope="module")
def engine(tree):
    return Engine(opened(index_of(tree, tree.parent / "index")), None)


def lines(engine, found, *kinds):
    index = engine.index
    return {
        (index.files[file.place].path, each.line)
        for file in found.files
        for each in file.usages
        if each.kind in (kinds or ("call", "import", "mention"))
    }


def test_calls_and_mentions_are_found_by_file_with_what_holds_them(engine, tree):
    found = find_usages(engine, "rounded", tree)
    assert [engine.index.names[row] for row in found.definitions] == ["rounded"]
    assert lines(engine, found, "call") == {
        ("shop/till.py", 6), ("shop/money.py", 6), ("shop/other.py", 9), ("shop/other.py", 11), ("web/page.ts", 2),
    }  # fmt: skip
    assert lines(engine, found, "import") == {("shop/other.py", 2), ("web/page.ts", 1)}
    assert found.in_text == 1
    told = as_record(engine.index, found, 50)
    (till,) = (each for each in told["files"] if each["path"] == "shop/till.py")
    assert (till["usages"][0]["name"], till["usages"][0]["text"]) == (
        "Till.close",
        "return money.rounded(self.total())",
    )
    assert told["left_out"] == 0
    assert said(found).startswith("rounded: 1 definition; 9 usages in 4 files, 6 calls; 1 in comments")


def test_tests_stand_last_and_calls_are_shown_before_mentions(engine, tree):
    found = find_usages(engine, "Till", tree)
    assert [engine.index.files[each.place].path for each in found.files][-1] == "tests/test_till.py"
    assert lines(engine, found, "call") == {("shop/other.py", 7), *TESTED}
    (first,) = found.first(1)
    assert (engine.index.files[first.place].path, first.usages[0].kind) == ("shop/other.py", "call")
    assert sum(len(each.usages) for each in found.first(4)) == 4
    assert as_record(engine.index, found, 2)["left_out"] == found.count - 2


def test_a_type_narrows_by_what_the_text_tells(engine, tree):
    found = find_usages(engine, "Till.close", tree)
    assert [engine.index.names[row] for row in found.definitions] == ["Till.close"]
    assert lines(engine, found) == {("shop/till.py", 18), ("shop/other.py", 8), *TESTED}
    assert (found.untold, found.others) == (2, 4)
    door = find_usages(engine, "Door#close()", tree)
    assert lines(engine, door) == {("shop/till.py", 14), ("shop/till.py", 19)}
    assert find_usages(engine, "close", tree).count == 10
    total = find_usages(engine, "Till.total", tree)
    assert lines(engine, total) == {("shop/till.py", 6), ("shop/till.py", 25)}  # of what extends it too
    inherited = find_usages(engine, "Drawer.total", tree)
    assert [engine.index.names[row] for row in inherited.definitions] == ["Till.total"]
    assert lines(engine, inherited) == {("shop/till.py", 25)}


def test_a_module_narrows_by_imports(engine, tree):
    found = find_usages(engine, "money.rounded", tree)
    assert lines(engine, found, "call") == {
        ("shop/till.py", 6), ("shop/money.py", 6), ("shop/other.py", 9), ("shop/other.py", 11), ("web/page.ts", 2),
    }  # fmt: skip
    assert lines(engine, find_usages(engine, "elsewhere.close", tree)) == {("shop/other.py", 3), ("shop/other.py", 10)}


@pytest.mark.parametrize(
    ("name", "found", "untold", "others"),
    [
        ("Shelf.Fill", {("go/shop.go", 11), ("go/shop.go", 16)}, 1, 1),
        ("shop.(*Shelf).Fill", {("go/shop.go", 11), ("go/shop.go", 16)}, 1, 1),
        ("Post.Mail.send!/1", {("ex/mail.ex", 5)}, 0, 0),
        ("do-work", {("sh/work.sh", 4)}, 0, 0),
    ],
)
def test_names_are_written_and_told_as_their_languages_do(engine, tree, name, found, untold, others):
    got = find_usages(engine, name, tree)
    assert (lines(engine, got), got.untold, got.others) == (found, untold, others)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("c = httpx.Client()", "Client"),
        ("auto c = geo::Grid<int>::make();", "Grid"),
        ("let c = Ring::new(3)", "Ring"),
        ("c = Store::Cart.build()", "Cart"),
        ("c = pool.acquire()", None),
    ],
)
def test_the_type_of_a_value_is_told_behind_its_module(text, kind):
    assert next((each for _, each, _ in _types(text, "c")), None) == kind


def test_a_name_that_does_not_exist_is_said_with_the_nearest(engine, tree):
    found = find_usages(engine, "ronuded", tree)
    assert not found.is_there
    assert said(found) == "nothing found: nothing is called ronuded, and no file has it; nearest: rounded"
    assert find_usages(engine, "Til.close", tree).nearest[0] == "Till.close"
    hidden = find_usages(engine, "lang:typescript shut", tree)
    assert hidden.hidden
    assert "only other files than those asked for have shut" in said(hidden)


def test_filters_leave_files_out(engine, tree):
    assert {path for path, _ in lines(engine, find_usages(engine, "test:no Till", tree))} == {
        "shop/till.py",
        "shop/other.py",
    }
    assert lines(engine, find_usages(engine, "lang:typescript rounded", tree), "call") == {("web/page.ts", 2)}
    assert find_usages(engine, "rounded", tree, path="shop/").count == 6
    for typed, line in (("two words", "expected one name"), ("type:class Till", "leave it out")):
        with pytest.raises(UserError, match=line):
            find_usages(engine, typed, tree)


def test_files_that_cannot_be_read_are_seen_by_their_functions(engine, tmp_path):
    found = find_usages(engine, "rounded", None)
    assert lines(engine, found, "call") >= {("shop/till.py", 6), ("shop/other.py", 9), ("shop/other.py", 11)}
    changed = find_usages(engine, "rounded", write(tmp_path, {"shop/till.py": "rounded(1)\n" * 9}))
    assert lines(engine, changed) == lines(engine, found)


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    root = commit(tmp_path / "tree", FILES)
    indexed(root)
    monkeypatch.chdir(root)
    capsys.readouterr()
    return root


def told(capsys, *arguments):
    code = main(["search", *arguments, "--model=none"])
    return code, capsys.readouterr()


def test_the_command_lists_usages_in_each_form(folder, capsys):
    code, output = told(capsys, "--usages", "Till.close")
    assert code == 0
    assert "shop/till.py:5  def close(self)" in output.out
    assert "shop/till.py:18  shut  till.close()" in output.out
    assert "by name, not by type" in output.out
    assert told(capsys, "--usages=shut", str(folder))[0] == 0
    code, output = told(capsys, "rounded", "--usages", "--vimgrep", "--top=2")
    assert output.out.splitlines() == [
        "shop/other.py:9:7:m.rounded(1)",
        "shop/other.py:11:26:return map(rounded, [rounded(2)])",
    ]
    code, output = told(capsys, "--usages", "test:no Till", "--files")
    assert {*output.out.splitlines()} == {"shop/other.py", "shop/till.py"}
    code, output = told(capsys, "--usages", "rounded", "--json", "--path=web/")
    answer = json.loads(output.out)
    assert (answer["calls"], answer["files"][0]["path"]) == (2, "web/page.ts")
    code, output = told(capsys, "--usages", "ronuded")
    assert (code, "nearest: rounded" in output.out) == (1, True)
    code, output = told(capsys, "--usages", "ronuded", "--files")
    assert (code, output.out, "nearest: rounded" in output.err) == (1, "", True)
    for arguments, line in ((["--usages"], "expected a name"), (["--usages", "a", "--explain"], "leave it out")):
        code, output = told(capsys, *arguments)
        assert (code, line in output.err) == (2, True)


def test_python_has_them_too(folder):
    index = open_index(folder)
    assert index.usages("money.rounded", top=2)["left_out"] == index.usages("money.rounded")["count"] - 2
    with pytest.raises(UserError, match="top"):
        index.usages("rounded", top=0)
