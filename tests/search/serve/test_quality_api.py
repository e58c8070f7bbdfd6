"""The practitioner measure of the server: the same as the command's, for saved questions and for those of a file."""

import json

import pytest
from repositories import write
from serving import index_of, post, running

from search.quality.query_file import Judgements
from search.serve.live_index import LiveIndex
from search.serve.quality_api import MOST

FILES = {
    "io/lines.py": "def read_lines(path):\n    return path.read_text().splitlines()\n",
    "net/retry.py": "# tries again after a failure\ndef again(times):\n    return times\n",
    "net/client.py": "class Client:\n    def send(self, request):\n        return request\n",
}
QUERIES = [
    {"query": "read lines", "relevant": [{"path": "io/lines.py"}]},
    {"query": "how failures are retried", "relevant": [{"path": "client.py"}, {"path": "gone.py"}]},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    return index_of(write(folder / "tree", FILES), folder / "index")


def test_the_questions_of_a_file_are_measured_with_reasons(index):
    with running(LiveIndex(index, lambda _: None)) as port:
        told = post(port, "/api/quality", {"root": "elsewhere", "queries": QUERIES}).told
    names = [stage["name"] for stage in told["stages"]]
    assert names == ["files + bm25", "bm25"]
    assert told["stages"][0]["categories"]["all"]["queries"] == 2
    lines, retried = told["why"]
    assert (lines["ndcg"], lines["relevant"][0]["ranks"]["files + bm25"], lines["before"]) == (1.0, 1, [])
    client, gone = retried["relevant"]
    assert (client["indexed"], client["ranks"]["files + bm25"]) == ("net/client.py", None)
    assert (gone["indexed"], retried["ndcg"]) == ("", 0.0)
    assert retried["before"][0] == {"path": "net/retry.py", "words": {"failures": ["comments"], "retried": ["stem"]}}


def test_saved_questions_are_measured(index, tmp_path):
    saved = Judgements(tmp_path / "queries.json")
    with running(LiveIndex(index, lambda _: None), judgements=saved) as port:
        assert "expected a list of 2 or more" in post(port, "/api/quality", {}).told["error"]
        saved.judge("read lines", "io/lines.py", (1, 2), True)
        saved.judge("no answer", "io/lines.py", (1, 2), False)
        assert "2 or more with a relevant place" in post(port, "/api/quality", {}).told["error"]
        saved.judge("send a request", "net/client.py", (2, 3), True)
        told = post(port, "/api/quality", {}).told
        assert [each["query"] for each in told["why"]] == ["read lines", "send a request"]


@pytest.mark.parametrize(
    ("body", "status", "line"),
    [
        ({}, 400, "expected"),
        ([], 400, "expected"),
        ({"queries": QUERIES[:1]}, 400, "expected a list of 2 or more"),
        ({"a": {"queries": QUERIES}, "b": {"queries": QUERIES}}, 400, "several projects"),
        ({"queries": [*QUERIES, {"query": "!", "relevant": [{"path": "a"}]}]}, 400, "queries[2]: expected a question"),
        ({"queries": [{**QUERIES[0], "query": f"q {n}"} for n in range(MOST + 1)]}, 400, "at most 500 questions"),
        (b'{"queries": [' + json.dumps(QUERIES[0]).encode(), 400, "not JSON"),
    ],
)
def test_mistakes_are_one_line(index, body, status, line):
    with running(LiveIndex(index, lambda _: None)) as port:
        answer = post(port, "/api/quality", body)
    assert answer.status == status
    assert line in answer.told["error"]
