"""A server answers while the first index of its folder is made, from the files that are read so far."""

import time

import pytest
from growing import FILES, Slow
from repositories import write
from serving import ask, index_of, running_app

from data_prep.errors import UserError
from search.index.build import refresh
from search.opening import index_place
from search.serve.live_index import LiveIndex
from search.serve.partial_index import OpeningIndex, PartialIndex
from search.serve.web_app import web_app

TILL = {"till.py": 'def open_till():\n    """Open the till."""\n    return True\n'}
SO_FAR = "of 31 files are indexed so far"


@pytest.fixture
def growing(tmp_path):
    """The application over a folder whose first index is being made, what that waits for, and what has failed."""
    root, partial, failures = write(tmp_path / "shop", {**FILES, **TILL}), Slow(), []
    path = index_place(root)

    def make():
        refresh(root, path, processes=0, tell=lambda *_: None, watch=partial)
        return LiveIndex(path, lambda _: None)

    live = OpeningIndex(make, failures.append, partial=partial, root=root, before="the folder is being indexed")
    with running_app(web_app(live, "none", root=root)) as (port, _):
        yield port, partial
        partial.look.set()
        partial.go_on.set()
    assert not failures


def until(port, place, wanted, **parameters):
    """The first answer that is ``wanted``."""
    end = time.monotonic() + 60
    while not wanted(answer := ask(port, place, parameters)):
        assert time.monotonic() < end, answer.told
        time.sleep(0.02)
    return answer


def test_what_is_read_so_far_answers_and_says_so_until_all_is(growing):
    port, partial = growing
    for place in ("/health", "/api/search?q=open+the+till"):
        answer = ask(port, place)
        assert answer.status == 503
        assert answer.told["error"].startswith("the folder is being indexed")
    assert ask(port, "/").status == 200
    partial.look.set()
    told = until(port, "/api/search", lambda answer: answer.status == 200, q="open the till").told
    assert told["results"][0]["name"] == "open_till"
    assert SO_FAR in told["notice"]
    health = ask(port, "/health").told
    assert SO_FAR in health["indexing"]
    assert health["files"] < 31
    assert health["index"] == told["index"]
    row = told["results"][0]["row"]
    unit = ask(port, "/api/unit", {"index": told["index"], "row": row})
    assert unit.status == 200
    partial.go_on.set()
    health = until(port, "/health", lambda answer: not answer.told["indexing"]).told
    assert health["files"] == 31
    assert health["index"] != told["index"]
    assert ask(port, "/api/search", {"q": "function_29"}).told["notice"] == ""
    assert ask(port, "/api/unit", {"index": told["index"], "row": row}).status == 409


def test_an_index_that_is_there_is_not_being_made(tmp_path):
    root = write(tmp_path / "shop", TILL)
    live = LiveIndex(index_of(root, index_place(root)), lambda _: None)
    with running_app(web_app(live, "none", root=root)) as (port, _):
        assert ask(port, "/health").told["indexing"] == ""


def test_what_is_made_at_once_is_not_waited_for(tmp_path):
    root, partial, failures = write(tmp_path / "shop", TILL), PartialIndex(), []
    make = lambda: LiveIndex(index_of(root, index_place(root)), lambda _: None)  # noqa: E731
    live = OpeningIndex(make, failures.append, partial=partial, root=root)
    end = time.monotonic() + 60
    while live.ready() is None and time.monotonic() < end:
        time.sleep(0.02)
    assert not live.wait(0.0)
    assert not failures


def test_the_error_of_a_folder_without_sources_is_told_before_anything_is_served():
    def make():
        raise UserError("no source file")

    failures = []
    live = OpeningIndex(make, failures.append)
    assert not live.wait(30.0)
    assert [str(each) for each in failures] == ["no source file"]
