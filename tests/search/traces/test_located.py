"""Frames of real traces and the rows of an index that they lie in."""

from dataclasses import replace

import pytest
from failing_programs import GO, GO_TRACE, JAVA, JAVASCRIPT, PYTHON, java_trace, javascript_trace, python_trace
from repositories import write
from serving import index_of

from data_prep.traces.trace import Frame, read_trace
from search.index.frame_locator import FrameLocator
from search.index.index_file import open_index


def located(index, frames):
    """Name and line of each frame, the name of its row, and whether it has moved."""
    found = FrameLocator(index).located(frames)
    return [(each.frame.line, None if each.row is None else index.names[each.row], each.moved) for each in found]


def indexed(root, files, folder):
    """The index of files that are written to a folder."""
    return open_index(index_of(write(root / folder, files), root / "index"))


def test_python(tmp_path):
    trace = read_trace(python_trace(tmp_path / "run"))
    index = indexed(tmp_path, PYTHON, "run")
    first, second, third = (located(index, error.frames) for error in trace.errors)
    assert first[:2] == [(21, "load_all", False), (12, "Store.load", False)]
    assert {name for _, name, _ in first[2:-3]} == {"Store.inner", "Store.load"}
    assert [name for _, name, _ in first[-3:]] == [None] * 3  # the library's
    assert second == [(7, "main", False), (5, "main", False), (23, "load_all", False)]
    assert third[:2] == [(12, "main", False), (9, "main", False)]
    assert third[2:] == [(16, "repeat", False)] * 3


def test_python_after_lines_have_moved(tmp_path):
    trace = read_trace(python_trace(tmp_path / "run"))
    moved = {"app/store.py": "# more\n" * 40 + PYTHON["app/store.py"].replace("load_all", "load_everything")}
    index = indexed(tmp_path, moved, "later")
    found = located(index, trace.errors[1].frames)
    assert found == [(7, None, False), (5, None, False), (23, "load_everything", True)]  # by its line of code
    assert located(index, trace.errors[2].frames)[-1] == (16, "repeat", True)


def test_python_of_a_package_that_is_installed_elsewhere(tmp_path):
    index = indexed(tmp_path, {"src/app/store.py": PYTHON["app/store.py"]}, "source")
    trace = read_trace(python_trace(tmp_path / "site-packages"))
    frames = trace.errors[0].frames
    assert located(index, frames)[:2] == [(21, "load_all", False), (12, "Store.load", False)]
    assert [name for _, name, _ in located(index, frames)[-3:]] == [None] * 3
    uncertain = [
        replace(frames[0], code=""),
        replace(frames[0], code="other()"),
        replace(frames[0], path="/b/store.py"),
    ]
    assert [name for _, name, _ in located(index, uncertain)] == [None] * 3


def test_java(tmp_path):
    trace = read_trace(java_trace(tmp_path / "run"))
    index = indexed(tmp_path, {"src/com/acme/Machine.java": JAVA["Machine.java"]}, "src")
    first, cause, suppressed = (located(index, error.frames) for error in trace.errors)
    assert [name for _, name, _ in first[:3]] == ["Machine.outer", "Machine.Object.go", "Machine.main"]
    assert [name for _, name, _ in cause[:3]] == ["Machine.Machine", None, "Machine.Machine"]
    assert suppressed[0][1] == "Machine.Resource.close"
    assert not any(moved for error in (first, cause, suppressed) for _, _, moved in error)


def test_javascript(tmp_path):
    trace = read_trace(javascript_trace(tmp_path / "run"))
    index = indexed(tmp_path, JAVASCRIPT, "run")
    first, cause = (located(index, error.frames) for error in trace.errors)
    assert first[:2] == [(19, "go", False), (2, "main", False)]
    assert [name for _, name, _ in cause[:5]] == ["Runner.step", None, "Runner.step", "Runner.start", "go"]


def test_go(tmp_path):
    index = indexed(tmp_path, GO, "shop")
    found = located(index, read_trace(GO_TRACE).frames)
    names = ["Server.Start", "Server.Start", "Map", "serve", "main", None, "serve"]
    assert [name for _, name, _ in found] == names


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (Frame("/usr/lib/python3/app/store.py", 12, "load"), "Store.load"),  # the path ends as the index's
        (Frame("/usr/lib/json/store.py", 12, "load"), None),  # another folder
        (Frame("store.py", 12, "load"), "Store.load"),
        (Frame("/elsewhere/main.py", 5, "other"), None),  # only the file's name is the same
        (Frame("main.py", 5, "other"), "main"),
        (Frame("app/store.py", 10_000, "other"), None),
        (Frame("", 0, "load"), None),
        (Frame("app/store.py", 0, "repeat"), "repeat"),
    ],
)
def test_how_much_of_a_path_and_a_name_says_enough(tmp_path, frame, expected):
    index = indexed(tmp_path, PYTHON, "run")
    assert located(index, [frame])[0][1] == expected


def test_a_frame_without_evidence_counts_below_the_folder_of_another(tmp_path):
    index = indexed(tmp_path, PYTHON, "run")
    known, other = Frame("/build/main.py", 9, "main"), Frame("/build/main.py", 5, "")
    assert located(index, [other])[0][1] is None
    assert [name for _, name, _ in located(index, [other, known])] == ["main", "main"]


TWINS = """\
class First:
    def __init__(self, path):
        self.path = open(path)


class Second:
    def __init__(self, path):
        self.names = list(path)
"""


@pytest.mark.parametrize("line", [3, 8, 20])
def test_a_line_of_code_tells_functions_of_one_name_apart_wherever_they_are_now(tmp_path, line):
    index = indexed(tmp_path, {"app/twins.py": TWINS}, "twins")
    frames = [
        Frame("/srv/app/twins.py", line, "__init__", "self.path = open(path)"),
        Frame("/srv/app/twins.py", line, "__init__", "self.names = list(path)"),
    ]
    assert [name for _, name, _ in located(index, frames)] == ["First.__init__", "Second.__init__"]


@pytest.mark.parametrize("line", [2, 8])
def test_a_type_tells_functions_of_one_name_apart(tmp_path, line):
    source = "class A {\n  void run() {\n    go();\n  }\n}\nclass B {\n  void run() {\n    stop();\n  }\n}\n"
    index = indexed(tmp_path, {"A.java": source}, "types")
    frames = [Frame("A.java", line, "A.run"), Frame("A.java", line, "B.run"), Frame("A.java", line, "C.run")]
    found = [name for _, name, _ in located(index, frames)]
    assert found == ["A.run", "B.run", "A.run" if line == 2 else "B.run"]  # a subclass has its parent's function
