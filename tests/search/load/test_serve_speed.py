"""``bash run.sh speed serve``: the server as it runs, asked by several clients, and what goes wrong there."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock

import pytest
from serving import index_of

from cli.main import main
from experiments.recipes import results_folder
from search.cursor.above import LONGEST
from search.index.index_file import open_index
from search.index.places import index_place
from search.joint.joint_index import JointIndex
from search.joint.opening import opened_list
from search.load import measure
from search.load.clients import Asked, Body, ask_together
from search.load.measure import questions
from search.load.options import ServeSpeedOptions
from search.load.report import load_of
from search.load.server_process import running


@pytest.mark.parametrize(("option", "folder"), [("", "results"), ("--seconds=1", "apart"), ("--index={}", "results")])
def test_only_measurements_with_the_default_options_are_tracked(tree, tmp_path, monkeypatch, option, folder):
    for name, place in (("RESULTS", "results"), ("APART", "apart")):
        monkeypatch.setattr(results_folder, name, tmp_path / place)
    measured, written = mock.Mock(return_value=mock.Mock(loads=[])), []
    monkeypatch.setattr(measure, "measured", measured)
    monkeypatch.setattr(measure, "to_json", lambda _: {})
    monkeypatch.setattr(measure, "markdown", lambda _: "")
    monkeypatch.setattr(measure, "write_atomically", lambda path, _: written.append(path.parent))
    assert main(["speed", "serve", str(tree), *filter(None, [option.format(index_place(tree))])]) == 0
    assert written == [tmp_path / folder] * 2


def test_a_server_is_started_asked_and_measured(tree, tmp_path, capsys):
    index_of(tree, index_place(tree))
    options = ["--clients=2", "--seconds=1", "--questions=30", f"--out={tmp_path / 'out'}"]
    assert main(["speed", "serve", str(tree), *options]) == 0
    found = json.loads((tmp_path / "out" / "serve-speed.json").read_text())
    page = (tmp_path / "out" / "serve-speed.md").read_text()
    assert page in capsys.readouterr().out
    assert (found["name"], found["indexes"], found["questions"]) == ("tree", 1, 30)
    assert found["functions"] == len(open_index(index_place(tree)))  # Java has no rows of files and constants
    assert [load["clients"] for load in found["loads"]] == [1, 2]
    for load in found["loads"]:
        assert (load["errors"], load["first_error"]) == (0, "")
        times = {each["questions"]: each for each in load["times"]}
        assert load["answers"] == times["all"]["answers"] == sum(each["answers"] for each in load["times"]) / 2 > 0
        for each in load["times"]:
            assert 0 < each["own_median"] <= each["median"] <= each["p95"]
    assert f"| 2 | all | {found['loads'][1]['answers']:,} | 0 |" in page
    assert str(tmp_path) not in page


def test_every_other_question_is_asked_under_the_text_above_its_function(tree, tmp_path):
    (tmp_path / "list.tsv").write_text("tree\tteam/streams\n")
    index_of(tree, index_place(tree))
    alone = open_index(index_place(tree))
    joint = opened_list(tmp_path / "list.tsv", "none", near=False, tell=lambda *_: None).index
    assert isinstance(joint, JointIndex)
    options = ServeSpeedOptions(questions=40)
    bodies = questions(alone, tree, options)
    assert questions(joint, None, options) == bodies
    assert [body.in_context for body in bodies] == [False, True] * 20
    texts = [path.read_text() for path in tree.rglob("*.java")]
    for body in bodies:
        asked = json.loads(body.content)
        assert (asked["language"], asked["top"]) == ("java", 15)
        if body.in_context:
            assert asked["context"].endswith("\n")
            assert [text for text in texts if asked["context"] in text and asked["context"] != text]
            assert len(asked["context"]) <= LONGEST


class _Answers(BaseHTTPRequestHandler):
    """Each way in which a question may not be answered, by its query."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        query = json.loads(self.rfile.read(int(self.headers["content-length"])))["query"]
        if query == "cut":
            self.close_connection = True
            self.connection.close()
            return
        status, content = {
            "good": (200, b'{"took_ms": 2.5, "results": [{}]}'),
            "none": (200, b'{"took_ms": 2.5, "results": []}'),
            "busy": (503, b'{"error": "ask again"}'),
            "text": (200, b"<html>"),
        }[query]
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@contextmanager
def answering():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("none", "200: no results"),
        ("busy", "503: ask again"),
        ("text", "200: no JSON: b'<html>'"),
        ("cut", "RemoteDisconnected"),
    ],
)
def test_what_is_not_answered_is_an_error_and_the_client_goes_on(query, error):
    bodies = [Body.of("good", "", "go", 15), Body.of(query, "package p\n", "go", 15)]
    with answering() as port:
        found = ask_together(port, bodies, 2, 0.3, 0)
    assert {each.error.partition(":")[0] if query == "cut" else each.error for each in found} == {"", error}
    assert {each.own for each in found if not each.error} == {2.5}
    load = load_of(found, 2, 0.3)
    assert load.errors == sum(each.in_context for each in found) > 1
    assert load.first_error.startswith(error)
    assert [each.questions for each in load.times] == ["all", "without a context"]


def test_times_are_those_of_the_answers():
    asked = [Asked(False, 10.0, 4.0, ""), Asked(True, 30.0, 8.0, ""), Asked(True, 99.0, 0.0, "503: later")]
    load = load_of(asked, 3, 1.0)
    assert (load.answers, load.errors) == (2, 1)
    assert [(each.answers, each.median, each.own_median) for each in load.times] == [(2, 20, 6), (1, 10, 4), (1, 30, 8)]


def test_a_server_that_does_not_start_is_said(tmp_path, capfd):
    (tmp_path / "index").write_bytes(b"no index")
    line = "the server ended with the exit code 2 before it answered"
    with pytest.raises(ValueError, match=line), running([f"--index={tmp_path / 'index'}"]):
        pass
    assert capfd.readouterr().err.startswith(f"galm: {tmp_path / 'index'}")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "expected an indexed folder, or a list of such: bash run.sh speed serve DIR, or --list=FILE"),
        (["a", "--list=b"], "expected an indexed folder, or a list of such"),
        (["{here}"], "there is no index of {here}"),
        (["{here}", "--clients=0"], "--clients takes a whole number from 1 to 64, not 0"),
        (["--list=b", "--index=c"], "--list names the folders and their indexes: leave out --index"),
    ],
)
def test_a_mistake_is_one_line(arguments, line, tmp_path, capsys):
    assert main(["speed", "serve", *(each.format(here=tmp_path) for each in arguments)]) == 2
    assert capsys.readouterr().err.startswith(f"galm: {line.format(here=tmp_path)}")
