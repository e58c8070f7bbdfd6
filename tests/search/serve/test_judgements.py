"""Judgements of hits: what the server saves, and from whom it takes them."""

import json
import os
import threading

import pytest
from repositories import write
from serving import ask, index_of, post, running

from search.opening import index_place, judgements_place
from search.quality.query_file import Judgements, read_query_file
from search.serve.live_index import LiveIndex

FILES = {
    "io/lines.py": "def read_lines(path):\n    return path.read_text().splitlines()\n",
    "io/words.go": "package io\n\nfunc CountWords(text string) int {\n\treturn len(text)\n}\n",
}
LINES = {"path": "io/lines.py", "start_line": 1, "end_line": 2}
WORDS = {"path": "io/words.go", "start_line": 3, "end_line": 5}


@pytest.fixture
def saved(tmp_path) -> Judgements:
    return Judgements(tmp_path / "data" / "queries.json")


@pytest.fixture
def port(tmp_path, saved):
    live = LiveIndex(index_of(write(tmp_path / "tree", FILES), tmp_path / "index"), lambda _: None)
    with running(live, judgements=saved) as port:
        yield port


def judged(port, query="read lines", place=LINES, relevant: object = True, **headers):
    return post(port, "/api/judgements", {"query": query, **place, "relevant": relevant}, **headers)


def test_what_is_judged_becomes_a_query_file(port, saved):
    assert ask(port, "/api/judgements").told == {"file": str(saved.path), "queries": []}
    assert judged(port).told["relevant"] == [LINES]
    told = judged(port, place=WORDS, relevant=False).told
    assert (told["query"], told["relevant"], told["irrelevant"]) == ("read lines", [LINES], [WORDS])
    judged(port, "how many words", WORDS)
    judged(port, "nothing fits", LINES, relevant=False)
    assert [each["query"] for each in ask(port, "/api/judgements").told["queries"]] == [
        "read lines",
        "how many words",
        "nothing fits",
    ]
    asked = read_query_file(saved.path, "")
    assert [(each.text, each.category, each.paths) for each in asked.queries] == [
        ("read lines", "semantic", ("io/lines.py",)),
        ("how many words", "architecture", ("io/words.go",)),
    ]


def test_a_later_judgement_replaces_an_earlier_one_and_null_withdraws_it(port, saved):
    for relevant, lists in ((True, ([LINES], [])), (True, ([LINES], [])), (False, ([], [LINES])), (None, ([], []))):
        told = judged(port, "  read lines ", relevant=relevant).told
        assert (told["relevant"], told["irrelevant"]) == lists
    assert saved.queries() == []


def test_what_the_user_wrote_into_the_file_stays(port, saved):
    saved.path.parent.mkdir()
    mine = {
        "root": "io",
        "note": "mine",
        "queries": [{"query": "read lines", "category": "x", "relevant": [{"path": "a.py"}], "secondary": [LINES]}],
    }
    saved.path.write_text(json.dumps(mine))
    judged(port, place=WORDS)
    judged(port, relevant=False)
    content = json.loads(saved.path.read_text())
    assert (content["root"], content["note"]) == ("io", "mine")
    assert content["queries"] == [
        {
            "query": "read lines",
            "category": "x",
            "relevant": [{"path": "a.py"}, WORDS],
            "secondary": [],
            "irrelevant": [LINES],
        }
    ]


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"queries": 3}', b'{"queries": [{"query": "a"}]}', b"\xff"])
def test_a_damaged_file_is_told_and_left_as_it_is(port, saved, content):
    saved.path.parent.mkdir()
    saved.path.write_bytes(content)
    for answer in (judged(port), ask(port, "/api/judgements")):
        assert answer.status == 500
        assert str(saved.path) in answer.told["error"]
    assert saved.path.read_bytes() == content
    assert [each.name for each in saved.path.parent.iterdir()] == [saved.path.name]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"query": "!!"}, "expected a question in words or a name"),
        ({"query": 3}, "query is a text, not 3"),
        ({"query": "a" * 2001}, "a query has at most 2,000 characters"),
        ({"path": "../io/lines.py"}, "there is no indexed file"),
        ({"path": None}, "path is a text, not None"),
        ({"start_line": 0}, "count from 1"),
        ({"start_line": True}, "count from 1"),
        ({"start_line": 3}, "count from 1"),
        ({"end_line": 1 << 40}, "count from 1"),
        ({"relevant": "yes"}, "relevant takes true, false or null"),
        ({"more": 1}, "expected an object with query, path, start_line, end_line, relevant"),
    ],
)
def test_a_mistake_is_one_line_and_saves_nothing(port, saved, change, line):
    answer = post(port, "/api/judgements", {"query": "read lines", **LINES, "relevant": True, **change})
    assert answer.status == 400
    assert line in answer.told["error"]
    assert not saved.path.exists()


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b"[" * 60_000, {}, 400),
        (b'"' + b"a" * (64 << 10) + b'"', {}, 413),
        (None, {"Content-Type": "text/plain"}, 415),
        (None, {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        (None, {"Content-Type": ""}, 415),
        (None, {"Origin": "http://evil.example"}, 403),
        (None, {"Origin": "null"}, 403),
        (None, {"Origin": "http://localhost:1"}, 403),
        (None, {"Sec-Fetch-Site": "cross-site"}, 403),
        (None, {"Sec-Fetch-Site": "same-site"}, 403),
        (None, {"Host": "evil.example"}, 400),
    ],
)
def test_other_sites_and_other_bodies_are_refused(port, saved, body, headers, status):
    good = json.dumps({"query": "read lines", **LINES, "relevant": True}).encode()
    answer = post(port, "/api/judgements", good if body is None else body, **headers)
    assert answer.status == status
    assert list(answer.told) == ["error"]
    assert not saved.path.exists()


@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "same-origin"}, {"Content-Type": "application/JSON; charset=x"}]
)
def test_the_page_itself_is_heard(port, headers):
    assert judged(port, Origin=f"http://127.0.0.1:{port}", **headers).status == 200


def test_a_server_that_takes_none_has_no_such_place(tmp_path):
    live = LiveIndex(index_of(write(tmp_path / "tree", FILES), tmp_path / "index"), lambda _: None)
    with running(live) as port:
        assert ask(port, "/api/judgements").status == judged(port).status == 404


def test_two_writers_lose_nothing(tmp_path):
    writers = [Judgements(tmp_path / "queries.json") for _ in range(2)]

    def write_some(each, name):
        for number in range(15):
            each.judge(f"{name} {number}", "a.py", (1, 2), True)

    threads = [threading.Thread(target=write_some, args=(each, f"w{n}")) for n, each in enumerate(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len({each["query"] for each in writers[0].queries()}) == 30


def test_only_the_user_reads_what_was_judged(tmp_path):
    before = os.umask(0)
    try:
        Judgements(tmp_path / "galm" / "queries" / "a.json").judge("open a door", "a.py", (1, 2), True)
    finally:
        os.umask(before)
    made = sorted(each for each in tmp_path.rglob("*"))
    assert [each.stat().st_mode & 0o777 for each in made] == [0o700, 0o700, 0o600]


def test_each_folder_has_a_file_of_its_own_apart_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    place = judgements_place(index_place(tmp_path / "a"))
    assert place.parent == tmp_path / "data" / "galm" / "queries"
    assert place.stem == index_place(tmp_path / "a").parent.name
    others = {judgements_place(each) for each in (tmp_path / "x", tmp_path / "y", index_place(tmp_path / "b"))}
    assert len({place, *others}) == 4
