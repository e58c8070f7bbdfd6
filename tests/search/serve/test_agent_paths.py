"""Places of code as agents name them."""

import os
import re

import pytest

from data_prep.errors import UserError
from search.engine.asked_places import nearest_paths, place_of
from search.serve.agent_tools import AgentTools
from tests.search.serving import fresh, settled


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    for path in ("src/store.py", "src/deep/queue pool.py", "lib/store.py", "odd:12.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("import os\n\n\ndef keep(value):\n    return value\n")
    (root / "notes.txt").write_text("no source")
    (root.parent / "outside.py").write_text("def outside():\n    return 1\n")
    (root.parent / "link").symlink_to(root)
    return root


@pytest.fixture(scope="module")
def index(root):
    with fresh(root) as made:
        return settled(made).current().engine.index


@pytest.mark.parametrize(
    ("typed", "path", "line"),
    [
        ("src/store.py", "src/store.py", 4),
        ("./src/store.py", "src/store.py", 4),
        (".//src/./deep/../store.py", "src/store.py", 4),
        ("{root}/src/store.py", "src/store.py", 4),
        ("{root}/../{name}/src/store.py", "src/store.py", 4),
        ("{link}/src/store.py", "src/store.py", 4),
        ("file://{root}/src/deep/queue%20pool.py", "src/deep/queue pool.py", 4),
        ("src\\store.py", "src/store.py", 4),
        (".\\src\\deep\\queue pool.py", "src/deep/queue pool.py", 4),
        ("  src/store.py ", "src/store.py", 4),
        ("deep/queue pool.py", "src/deep/queue pool.py", 4),
        ("{name}/src/store.py", "src/store.py", 4),
        ("src/store.py:5", "src/store.py", 5),
        ("src/store.py:5:9", "src/store.py", 5),
        ("src/store.py:4-5", "src/store.py", 4),
        ("src/store.py#L5", "src/store.py", 5),
        ("src/store.py#L4-L5", "src/store.py", 4),
        ("{root}/src/store.py:5", "src/store.py", 5),
        ("src\\store.py:5:", "src/store.py", 5),
        ("src/store.py:5:9: a message", "src/store.py", 5),
        ("src/store.py(5,9)", "src/store.py", 5),
        ("src/store.py(5): error: a message", "src/store.py", 5),
        ("src/store.py#L5C1-L5C9", "src/store.py", 5),
        ("src/store.py:5-9", "src/store.py", 5),
        ("file://{root}/src/store.py#L5", "src/store.py", 5),
        ("C:\\work\\{name}\\src\\store.py:5:9", "src/store.py", 5),
        ("c:/dev/lib/store.py(5)", "lib/store.py", 5),
        ("file:///C:/dev/src/store.py:5", "src/store.py", 5),
        ("\\\\wsl$\\x\\src\\store.py:5", "src/store.py", 5),
        ("odd:12.py", "odd:12.py", 4),
        ("odd:12.py:5", "odd:12.py", 5),
    ],
)
def test_an_indexed_file_is_found_however_it_is_named(index, root, typed, path, line):
    typed = typed.format(root=root, name=root.name, link=root.parent / "link")
    assert place_of(index, root, typed, 0 if re.search(r"\.py[:#(]", typed) else 4) == (path, line)


def test_a_line_of_its_own_counts_more(index, root):
    assert place_of(index, root, "src/store.py:5", 1) == ("src/store.py", 1)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("src/stor.py:4", "there is no indexed file 'src/stor.py'; the nearest are 'src/store.py', 'lib/store.py'"),
        ("store.py:4", "2 indexed files end in 'store.py': name one of 'lib/store.py', 'src/store.py'"),
        ("{root}/src/Store.py:4", "the nearest are 'src/store.py'"),
        ("notes.txt:1", "'notes.txt' is not indexed"),
        ("{root}/notes.txt:1", "is not indexed"),
        ("{root}/../outside.py:1", ": it lies outside of the indexed folder"),
        ("../outside.py:1", "there is no indexed file '../outside.py': it lies outside of the indexed folder"),
        ("C:\\other\\store.py:1", "there is no indexed file 'C:\\\\other\\\\store.py'"),
        ("../../../../etc/passwd:1", "there is no indexed file"),
        ("/etc/passwd:1", "there is no indexed file '/etc/passwd'"),
        (":1", "there is no indexed file ':1'"),
        (".:1", "there is no indexed file"),
        ("/:1", "there is no indexed file"),
        ("a\0b:1", "there is no indexed file 'a\\x00b'"),
        ("/a\0b:1", "there is no indexed file"),
        ("\n\x1b[31m:1", "there is no indexed file '\\x1b[31m'"),
        ("a/" * 2000 + "b.py:1", "there is no indexed file"),
        ("x" * 4000 + ":1", "there is no indexed file"),
        ("src/store.py", "expected a line, from 1: give line, or the path as src/store.py:12"),
        ("src/store.py:0", "expected a line"),
    ],
)
def test_a_path_outside_the_index_gets_one_line(index, root, typed, message):
    with pytest.raises(UserError) as told:
        place_of(index, root, typed.format(root=root), 0)
    assert message in str(told.value)
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 380


def test_the_tools_take_such_paths(root):
    with fresh(root) as made:
        tools = AgentTools(settled(made))
        assert tools.read_unit(f"{root}/src/store.py:5")["name"] == "keep"
        assert tools.related("src\\store.py", 5)["place"]["path"] == "src/store.py"
        assert tools.explain("keep a value", "./lib/store.py:4")["rank"]
        assert tools.read_unit(os.path.relpath(root / "lib/store.py", root.parent), 4)["path"] == "lib/store.py"


@pytest.mark.parametrize(
    "typed", ["{root}/lib", "{root}/lib/", "{root}/lib/*.py", "file://{root}/lib/store.py", "{link}/lib"]
)
def test_a_question_takes_absolute_folders_and_patterns(root, typed):
    path = typed.format(root=root, link=root.parent / "link")
    with fresh(root) as made:
        found = AgentTools(settled(made)).search("keep", path=path)["results"]
    assert [hit["path"] for hit in found] == ["lib/store.py"]


@pytest.mark.parametrize("typed", ["{root}", "{root}/", ".", "./", "/", "{root}/*"])
def test_the_folder_itself_is_all_of_it(root, typed):
    with fresh(root) as made:
        found = AgentTools(settled(made)).search("keep", path=typed.format(root=root))["results"]
    assert "lib/store.py" in [hit["path"] for hit in found] or found[0].get("copies")


@pytest.mark.parametrize("typed", ["/etc/passwd", "../..", "{root}-other/lib", "{root}/../outside.py"])
def test_a_folder_outside_has_nothing(root, typed):
    with fresh(root) as made, pytest.raises(UserError, match="matches nothing in the index's 4 files"):
        AgentTools(settled(made)).search("keep", path=typed.format(root=root))


def test_paths_like_one_are_named_by_name_and_folder(index):
    assert nearest_paths(index, "lib/stores.py")[0] == "lib/store.py"
    assert nearest_paths(index, "zzzz.rs") == []


@pytest.mark.parametrize("typed", ["src/store.py:5", "{root}/src/store.py:5:9", "src/store.py#L5", "src/store.py(5)"])
def test_a_line_behind_a_path_is_cut_off(root, typed):
    with fresh(root) as made:
        tools = AgentTools(settled(made))
        found = tools.search("keep a value", path=typed.format(root=root))
        assert {hit["path"] for hit in found["results"]} == {"src/store.py"}
        assert tools.search("keep a value", path="odd:12.py")["results"][0]["path"] == "odd:12.py"


@pytest.mark.parametrize("typed", ["nosuch/", "nosuch.py", "nosuch.py:5", "{root}/nosuch/", "*.zig"])
def test_a_path_that_no_file_matches_is_said(root, typed):
    with fresh(root) as made:
        tools = AgentTools(settled(made))
        for ask in (tools.search, tools.usages):
            with pytest.raises(UserError, match=r"\Apath '.*' matches nothing in the index's 4 files, such as \S+\Z"):
                ask("keep", path=typed.format(root=root))


@pytest.mark.parametrize(
    ("typed", "more"),
    [
        ("src/stores.py", "; the nearest are 'src/store.py', 'lib/store.py'"),
        ("{root}/src/deep/queue_pool.py:3", "; the nearest are 'src/deep/queue pool.py'"),
        ("/elsewhere/src/", "; the indexed folder is '{root}'"),
        ("{root}/../other/", "; the indexed folder is '{root}'"),
    ],
)
def test_what_was_meant_instead_of_a_path_that_no_file_matches_is_said(root, typed, more):
    with fresh(root) as made:
        tools = AgentTools(settled(made))
        for ask in (tools.search, tools.usages):
            with pytest.raises(UserError) as told:
                ask("keep", path=typed.format(root=root))
            assert str(told.value).endswith(more.format(root=root))
