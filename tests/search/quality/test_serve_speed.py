"""``bash run.sh speed serve``: the server as it runs, asked by several clients, and what goes wrong there."""

import http.client
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from serving import index_of

from cli.main import main
from evaluation.speed import SpeedOptions
from experiments.speed.report import saved_records
from search.cursor import LONGEST
from search.index.index_file import open_index
from search.index.joint_index import JointIndex
from search.opening import index_place
from search.quality.serve_speed import ask, bodies, running
from search.repository_list import opened_list


def test_a_server_is_started_asked_and_measured(tree, tmp_path, capsys):
    index_of(tree, index_place(tree))
    options = ["--clients=2", "--seconds=1", "--rounds=1", "--questions=30", f"--out={tmp_path / 'out'}"]
    assert main(["speed", "serve", str(tree), *options]) == 0
    (record,) = saved_records(tmp_path / "out")
    rows = {row.name: row for row in record.measured.rows}
    for kind in ("all", "in a context", "alone"):
        whole, own = (
            [rows[f"{kind}{what}, {part}"].second_seconds.median for part in ("median", "95 %")]
            for what in ("", ", the search's own")
        )
        assert 0 < own[0] <= whole[0] <= whole[1]
    assert {(row.first, row.second) for row in rows.values()} == {("1 client", "2 clients")}
    functions = len(open_index(index_place(tree)))  # Java has no rows of files and constants
    assert f"tree: {functions:,} functions" in record.measured.about
    page = (tmp_path / "out" / "speed.md").read_text()
    assert "| all, median | 1 client |" in page
    assert "| all, median | 1 client |" in capsys.readouterr().out
    assert str(tmp_path) not in page


def test_every_other_question_is_asked_under_the_text_above_its_function(tree, tmp_path):
    (tmp_path / "list.tsv").write_text("tree\tteam/streams\n")
    index_of(tree, index_place(tree))
    joint = opened_list(tmp_path / "list.tsv", "none", near=False, tell=lambda *_: None).index
    assert isinstance(joint, JointIndex)
    options = SpeedOptions(questions=40)
    found = bodies(open_index(index_place(tree)), tree, options)
    assert bodies(joint, tmp_path, options) == found
    assert [body.in_context for body in found] == [False, True] * 20
    texts = [path.read_text() for path in tree.rglob("*.java")]
    for body in found:
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
        query = self.rfile.read(int(self.headers["content-length"]))
        if query == b"cut":
            self.close_connection = True
            self.connection.close()
            return
        status, content = {
            b"good": (200, b'{"took_ms": 2.5, "results": [{}]}'),
            b"none": (200, b'{"took_ms": 2.5, "results": []}'),
            b"busy": (503, b'{"error": "ask again"}'),
            b"text": (200, b"<html>"),
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
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (b"none", "200: no results"),
        (b"busy", "503: ask again"),
        (b"text", "JSONDecodeError"),
        (b"cut", "ConnectionError: the answer was cut off"),
    ],
)
def test_what_is_not_answered_is_an_error(query, error):
    with answering() as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        seconds, own = ask(connection, b"good")
        assert own == 0.0025
        assert seconds > 0
        with pytest.raises(ValueError, match=f"a request was not answered: {error}"):
            ask(connection, query)
        connection.close()


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
        (["{here}", "--clients=1"], "--clients takes a whole number from 2 to 64, not 1"),
        (["--list=b", "--index=c"], "--list names the folders and their indexes: leave out --index"),
    ],
)
def test_a_mistake_is_one_line(arguments, line, tmp_path, capsys):
    typed = [each.format(here=tmp_path) for each in arguments]
    assert main(["speed", "serve", *typed, f"--out={tmp_path / 'out'}"]) == 2
    assert capsys.readouterr().err.startswith(f"galm: {line.format(here=tmp_path)}")
