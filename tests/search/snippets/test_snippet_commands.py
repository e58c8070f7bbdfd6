"""Code as the question on the command line: standard input, a file, a place; and what is not code, or not there."""

import io
import json
import os
import random
import sys

import pytest
from failing_programs import PYTHON, python_trace
from repositories import write

from cli.main import main
from search.opening import index_place
from tests.odd_files import KINDS, deadline, odd_thing

COPY = "def repeat(times):\n    return repeat(times - 1) if times else 1 / 0\n"
OTHER = {"other.py": "def again(times):\n    return again(times - 1) if times else 1 / 0\n", "empty.py": ""}
FIELDS = {"rank", "path", "start_line", "end_line", "name", "signature", "score", "license", "url", "overlap", "copy"}


def indexed(root):
    write(root, PYTHON | OTHER)
    assert main(["index", str(root), "--vectors=none"]) == 0
    return root


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """An indexed folder, which no test changes."""
    return indexed(tmp_path_factory.mktemp("projects") / "project")


@pytest.fixture
def folder(project, monkeypatch):
    """The same, which is the current folder."""
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def pasted(monkeypatch):
    """Put bytes on standard input."""

    def put(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return put


def told(capsys, *arguments):
    """What a command prints as JSON."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    """The one line by which a command refuses."""
    assert main([*arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    return output.err


@pytest.mark.usefixtures("folder")
def test_code_on_standard_input(pasted, capsys):
    pasted(COPY.encode())
    found = told(capsys, "search", "-", "--top=5")
    assert (found["kind"], found["language"]) == ("code", "python")
    copies = {each["name"]: each["copy"] for each in found["results"]}
    assert next(iter(copies)) == "repeat"
    assert (copies["repeat"], copies["again"]) == ("exact", "")
    assert all(each.keys() >= FIELDS for each in found["results"])
    pasted(COPY.encode())
    assert main(["search", "-", "--top=1"]) == 0
    assert "repeat" in (shown := capsys.readouterr().out)
    assert "app/store.py:15  copy" in shown


def test_a_trace_on_standard_input(folder, tmp_path, pasted, capsys):
    pasted(python_trace(tmp_path / "run").encode())
    found = told(capsys, "search", "-", "--path=other*")
    assert (found["kind"], found["innermost"], found["frames"], found["frames_in_index"]) == ("trace", "last", 15, 12)
    placed = [frame["unit"]["name"] for frame in found["errors"][-1]["frames"] if frame["unit"]]
    assert placed[0] == "main"
    assert {*placed[2:]} == {"repeat"}
    assert {each["path"] for each in found["results"]} == {"other.py"}
    assert not (folder / ".galm").exists()


def test_a_trace_as_a_question(project, tmp_path, capsys):
    trace = python_trace(tmp_path / "run")
    assert told(capsys, "search", trace, str(project))["frames_in_index"] == 12
    assert main(["search", "again some\ntimes", str(project), "--json"]) == 0
    assert "kind" not in json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("folder")
def test_code_in_a_file(tmp_path, capsys):
    path = tmp_path / "piece.py"
    path.write_bytes(b"\xef\xbb\xbf" + COPY.replace("\n", "\r\n").encode() + b"# \xff\xfe\n")
    found = told(capsys, "search", f"--snippet={path}")
    first = found["results"][0]
    assert (first["name"], first["copy"]) == ("repeat", "exact")


@pytest.mark.parametrize("way", ["stdin", "file"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "expected code or a stack trace"),
        (b" \n\t\n", "expected code or a stack trace"),
        (bytes(range(32)) * 64, "expected code or a stack trace"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 4096, "is no text"),
        (b"\0\xff" * 1000, "expected code or a stack trace"),
        (b"12 + 34 * (56)", "expected code or a stack trace"),
    ],
    ids=["empty", "blank", "controls", "picture", "binary", "numbers"],
)
@pytest.mark.usefixtures("folder")
def test_what_is_no_code_is_refused_in_one_line(tmp_path, pasted, capsys, way, data, message):
    path = tmp_path / "pasted"
    path.write_bytes(data)
    pasted(data)
    asked = ["search", "-"] if way == "stdin" else ["search", f"--snippet={path}"]
    assert message in refused(capsys, *asked)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_are_no_text(tmp_path, pasted, capsys, seed):
    data = random.Random(seed).randbytes(3000)
    pasted(data)
    (tmp_path / "code").write_bytes(data.replace(b"\0", b"x"))
    for asked in (["search", "-"], ["search", f"--snippet={tmp_path / 'code'}"]):
        assert main(asked) == 2
        error = capsys.readouterr().err
        assert "is no text" in error
        assert error.count("\n") == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("before", [b"", b"\0" * 9000, b"\x1b[1m\x1b[31m", "naïve — ".encode("cp1252")])
def test_a_log_of_a_terminal_or_with_bytes_of_nothing_is_text(pasted, capsys, before):
    pasted(b"# " + before + b"\n" + COPY.encode())
    assert told(capsys, "search", "-")["results"]


@pytest.mark.usefixtures("folder")
def test_megabytes_are_answered_without_their_middle(pasted, capsys):
    data = COPY.encode() + b"# filler of a log\n" * 150_000
    assert len(data) > 2_000_000
    pasted(data)
    with deadline(60):
        found = told(capsys, "search", "-", "--top=3")
    assert "repeat" in [each["name"] for each in found["results"]]


@pytest.mark.usefixtures("folder")
def test_files_that_are_not_there_or_none_are_refused(tmp_path, capsys):
    assert str(tmp_path / "gone.py") in refused(capsys, "search", f"--snippet={tmp_path / 'gone.py'}")
    assert str(tmp_path) in refused(capsys, "search", f"--snippet={tmp_path}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("folder")
def test_what_never_ends_is_not_waited_for(tmp_path, capsys, kind):
    path = odd_thing(kind, tmp_path / "odd.py")
    with deadline():
        assert str(path) in refused(capsys, "search", f"--snippet={path}")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["-", "--by=file"], "--by, --at and --regex are for questions in words"),
        (["a thing", "--snippet=x.py"], "expected one question"),
        (["-", "--language=java"], "--language=java matches none of the index's"),
        (["-", "--path=nowhere/*"], "--path=nowhere/* matches none of the index's"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_options_that_have_no_part_are_refused(pasted, capsys, more, message):
    pasted(COPY.encode())
    assert message in refused(capsys, "search", *more)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
@pytest.mark.usefixtures("folder")
def test_a_log_is_decoded_and_says_what_is_not_read_of_it(tmp_path, capsys, encoding):
    log = 'Traceback (most recent call last):\r\n  File "main.py", line 3, in main\r\nKeyError: 1\r\n'
    log += "#0 /a.php(3): f()\r\n"
    (tmp_path / "log.txt").write_bytes(log.encode(encoding))
    found = told(capsys, "search", f"--snippet={tmp_path / 'log.txt'}")
    assert (found["kind"], found["frames"], found["frames_not_read"]) == ("trace", 1, 1)
    assert main(["search", f"--snippet={tmp_path / 'log.txt'}"]) == 0
    assert "1 line looks like a frame and is not read" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_a_question_in_one_line_is_a_trace_only_if_it_has_several_frames(capsys):
    line = 'Traceback (most recent call last): File "app/store.py", line 3, in a b() File "app/store.py", line 16, in b'
    assert [told(capsys, "search", line)[each] for each in ("kind", "frames")] == ["trace", 2]
    assert main(["search", "repeat at first at the start"]) in (0, 1)
    assert "code like" not in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_a_message_alone_is_a_question(monkeypatch, capsys):
    asked = ("ValueError: repeat at the start\n", "where is it repeated at the start?", "repeat\n", "store.repeat")
    code = ("repeat(start, 3)\n", "return start repeat three\n", "repeat = start\n", "how to repeat\nat the start\n")
    for text, key in (*((each, "query") for each in asked), *((each, "kind") for each in code)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert main(["search", "-", "--json"]) in (0, 1)
        assert key in json.loads(capsys.readouterr().out), text


@pytest.mark.usefixtures("folder")
def test_code_like_that_at_a_place(capsys):
    found = told(capsys, "related", "app/store.py:16")
    assert (found["kind"], found["language"]) == ("place", "python")
    assert (found["place"]["name"], found["place"]["start_line"]) == ("repeat", 15)
    names = [each["name"] for each in found["results"]]
    assert "again" in names
    assert "repeat" not in names
    assert main(["related", "app/store.py:16:8"]) == 0  # a column
    assert "again" in capsys.readouterr().out


def test_a_place_is_found_from_elsewhere(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = told(capsys, "related", f"{folder}/app/store.py:16")
    assert found["place"]["path"] == "app/store.py"
    index, near = f"--index={index_place(folder)}", os.path.relpath(folder, tmp_path)
    monkeypatch.setenv("HOME", f"{folder}")
    for place in (
        "store.py:16",
        f"{folder}/app/store.py:16",
        f"./{near}/./app/store.py(16,8)",
        "~/app/store.py#L16",
    ):
        assert told(capsys, "related", place, index)["place"]["path"] == "app/store.py"
    assert told(capsys, "related", "C:\\dev\\app\\store.py:16:8", index)["place"]["path"] == "app/store.py"
    for place in (f"{folder}/../store.py:16", "../store.py:16", "~/../store.py:16"):
        assert "it lies outside of the indexed folder" in refused(capsys, "related", place, index)


def test_a_file_that_has_changed_and_is_not_read_in_time_is_told(tmp_path, capsys, monkeypatch):
    path = indexed(tmp_path / "project") / "app/store.py"
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setattr("search.index.reading_on.brought_up_to_date", lambda _index, _root, known: known)
    capsys.readouterr()
    path.write_text("# more\n" * 3 + path.read_text())
    assert main(["related", "app/store.py:16", "--json"]) == 0
    output = capsys.readouterr()
    assert "app/store.py has changed since it was indexed" in output.err
    assert json.loads(output.out)["place"]["name"] == "repeat"
    path.unlink()
    assert main(["related", "app/store.py:16", "--json"]) == 0
    assert "is no longer there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ([], "expected a file and a line"),
        (["app/store.py"], "expected a file and a line from 1"),
        (["app/store.py:0"], "expected a file and a line from 1"),
        (["app/store.py:-3"], "expected a file and a line from 1"),
        (["app/store.py:ten"], "expected a file and a line from 1"),
        ([f"app/store.py:{'9' * 5000}"], "expected a file and a line from 1"),
        (["app/store.py:100000"], "is in no unit of the index, whose last ends at line"),
        (["empty.py:1"], "empty.py"),
        (["nowhere.py:3"], "there is no indexed file 'nowhere.py'"),
        (["no\x1bwhere.py:3"], "there is no indexed file"),
        (["main.py:3", "more"], "expected a file and a line"),
        (["main.py:3", "--model=x"], "--model takes none or nothing here"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_places_that_are_none_are_refused_in_one_line(capsys, typed, message):
    error = refused(capsys, "related", *typed)
    assert message in error
    assert "\x1b" not in error
    assert len(error) < 400


def test_without_an_index_there_is_one_line(tmp_path, monkeypatch, pasted, capsys):
    monkeypatch.chdir(tmp_path)
    pasted(COPY.encode())
    assert "has no source file" in refused(capsys, "search", "-")
    assert "has no source file" in refused(capsys, "related", "a.py:1")
