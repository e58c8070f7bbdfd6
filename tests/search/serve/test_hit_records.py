"""What a page or an editor shows beside hits: previews, copies, how certain an answer is, and what may be asked."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from repositories import write
from serving import ask, index_of, post, running

from search.index.freshness import CURRENT, Freshness
from search.models.packed import reranker_maker
from search.quality.questions import examples_of
from search.serve import search_api
from search.serve.hit_records import prepare
from search.serve.live_index import LiveIndex
from search.serve.partial_index import OpeningIndex
from search.serve.search_api import FileTexts
from search.serve.web_app import web_app

JARS = '''class Jar:
    """A jar of cookies."""

    def merge(
        self,
        cookies,
    ):
        """Merges two jars of many cookies."""
        names = [
            "a",
        ]
        for cookie in cookies:
            self.add(cookie, names)  # \u00e4 \U0001f600

        return self
'''
COPIED = 'def shout(text):\n    """Writes a text in capital letters."""\n    return text.upper()\n'
FILES = {
    "http/jars.py": JARS,
    "http/shout.py": COPIED,
    "other/shout.py": COPIED,
}
FILES |= {"test_jars.py": "def test_it():\n    pass\n"}


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    return LiveIndex(index_of(write(folder / "tree", FILES), folder / "index"), reranker_maker("none"))


@pytest.fixture(scope="module")
def port(live):
    with running(live) as port:
        yield port


def hit_of(told, name):
    (hit,) = [each for each in told["results"] if each["name"] == name]
    return hit


def test_a_hit_has_the_lines_around_the_best_one(port):
    asked = {"q": "add a cookie and its names"}
    hit = hit_of(ask(port, "/api/search", {**asked, "colours": "true"}).told, "Jar.merge")
    preview = hit["preview"]
    assert hit["indent"] == 4
    assert (preview["start_line"], preview["best_line"], preview["end_line"]) == (10, 13, 15)
    best = "        self.add(cookie, names)  # \u00e4 \U0001f600"
    lines = ['        "a",', "    ]", "    for cookie in cookies:", best, "", "    return self"]
    assert preview["text"].split("\n") == lines
    text = preview["text"]
    kinds = [(text[start:end], kind) for start, end, kind in preview["kinds"]]
    assert kinds == [
        ('"a"', "string"),
        ("for", "keyword"),
        ("in", "keyword"),
        ("# \u00e4 \U0001f600", "comment"),
        ("return", "keyword"),
    ]
    assert [text[start:end] for start, end in preview["words"]] == ["cookie", "cookies", "add", "cookie", "names"]
    plain = hit_of(ask(port, "/api/search", asked).told, "Jar.merge")
    assert plain == {**hit, "preview": {**preview, "kinds": []}}


def test_of_a_whole_file_the_best_line_is_shown_if_it_is_as_it_was(tmp_path):
    lines = [f"value_{number} = {number}" for number in range(200)]
    files = {"settings.py": "\n".join([*lines, 'print("the zanzibar quota is exhausted")', ""])}
    root = write(tmp_path / "tree", files)
    live = LiveIndex(index_of(root, tmp_path / "index"), reranker_maker("none"))
    with running(live, root=root) as port:
        asked = {"q": "zanzibar quota exhausted"}
        (hit,) = [each for each in ask(port, "/api/search", asked).told["results"] if each["whole_file"]]
        assert (hit["preview"]["best_line"], hit["preview"]["numbered"], hit["indent"]) == (201, True, 0)
        assert 'print("the zanzibar quota' in hit["preview"]["text"]
        (root / "settings.py").unlink()
        (hit,) = [each for each in ask(port, "/api/search", asked).told["results"] if each["whole_file"]]
        assert hit["preview"]["numbered"] is False


def test_each_row_is_prepared_until_another_index_is_asked(live):
    engine, read = live.opened().engine, []
    files = [row for row in range(len(engine.index)) if engine.index.is_whole_file(row)]
    for most, prepared in ((len(files), files), (1, files[:1])):
        read.clear()
        is_current = lambda most=most: len(read) < most  # noqa: E731
        prepare(engine, lambda _, row: read.append(row) or "", is_current, lambda: True)
        assert read == prepared


def test_rows_are_prepared_once_an_index_is_open(live, monkeypatch):
    go_on, begun = threading.Event(), []
    monkeypatch.setattr(search_api, "prepare", lambda engine, *_: begun.append(engine))
    app = web_app(OpeningIndex(lambda: go_on.wait(30) and live, begun.append), "none")
    assert not begun
    go_on.set()
    until = time.monotonic() + 30
    while not begun and time.monotonic() < until:
        time.sleep(0.01)
    web_app(OpeningIndex(lambda: live, begun.append), "none")
    while len(begun) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert begun == [live.opened().engine] * 2
    assert app


def test_rows_are_not_prepared_while_somebody_asks(live):
    engine, looks, read = live.opened().engine, [], []
    is_quiet = lambda: looks.append(len(read)) or len(looks) > 3  # noqa: E731
    prepare(engine, lambda _, row: read.append(row) or "", lambda: not read, is_quiet)
    assert looks[:4] == [0, 0, 0, 0]
    assert len(read) == 1


def test_texts_are_kept_by_several_threads_at_once(live, tmp_path, monkeypatch):
    write(tmp_path, FILES)
    monkeypatch.setattr(search_api, "KEPT_FILES", 1)
    index, read = live.opened().engine.index, FileTexts(tmp_path)
    rows = [row for row in range(len(index)) if index.is_whole_file(row)] * 400
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = [
                *threads.map(lambda each: [read(index, row) for row in each], [rows, rows[1:], rows[2:], rows[3:]])
            ]
    finally:
        sys.setswitchinterval(usual)
    assert {text for each in found for text in each} == {*FILES.values()}


def test_code_like_code_has_its_first_lines(port):
    told = post(port, "/api/code", {"text": COPIED}).told
    hit = told["results"][0]
    assert hit["preview"]["text"] == COPIED.strip()
    assert (hit["preview"]["words"], hit["preview"]["best_line"]) == ([], 1)
    assert told["notice"] == ""


def test_an_answer_says_how_certain_it_is(port):
    told = ask(port, "/api/search", {"q": "merge zanzibar"}).told
    assert told["certainty"]["absent"] == ["zanzibar"]
    assert {*told["certainty"]} == {"level", "absent", "nearest", "text"}
    assert ask(port, "/api/search", {"q": "zanzibar"}).told["certainty"]["level"] == "none"
    assert post(port, "/api/search", {"query": "zanzibar"}).told["certainty"]["level"] == "none"


def test_an_answer_of_an_older_index_says_so(live):
    with running(live) as port:
        assert ask(port, "/api/search", {"q": "merge"}).told["notice"] == ""
        before, live.trouble = live.trouble, "the new file is damaged"
        live._next_look = float("inf")
        try:
            told = [ask(port, "/api/search", {"q": "merge"}).told, post(port, "/api/search", {"query": "merge"}).told]
        finally:
            live.trouble, live._next_look = before, 0.0
        assert [each["notice"] for each in told] == ["results come from an older index: the new file is damaged"] * 2


def test_an_answer_that_may_be_old_says_which_files_have_changed(live):
    class Stale:
        trouble = ""

        def ready(self):
            return None

        def opened(self, _=None):
            return live.opened()

        def catch_up(self):
            return Freshness(("http/jars.py",))

    with running(Stale()) as port:
        told = ask(port, "/api/search", {"q": "merge"}).told
    assert told["freshness"]["changed"] == ["http/jars.py"]
    assert told["notice"] == told["freshness"]["line"] != ""


def test_both_searches_tell_copies(port):
    places = {("http/shout.py", 1, 3), ("other/shout.py", 1, 3)}
    for told in (ask(port, "/api/search", {"q": "shout"}).told, post(port, "/api/search", {"query": "shout"}).told):
        (hit,) = [each for each in told["results"] if "shout" in (each.get("name"), each.get("identifier"))]
        all_of_it = [hit, *hit["copies"]]
        assert {(each["path"], each["start_line"], each["end_line"]) for each in all_of_it} == places


def test_the_editor_is_told_how_deep_a_hit_stood(port):
    told = post(port, "/api/search", {"query": "merge cookies", "language": "python"}).told
    (hit,) = [each for each in told["results"] if each["identifier"] == "Jar.merge"]
    assert (hit["indent"], hit["copies"]) == (4, [])


def test_examples_are_of_the_code_itself(live, port):
    examples = {"questions": ["merges two jars of many cookies", "writes a text in capital letters"]}
    examples |= {"name": "Jar.merge", "path": "http"}
    found = examples_of(live.opened().engine.index)
    assert {**found, "questions": sorted(found["questions"])} == examples
    assert ask(port, "/health").told["examples"] == found


def test_nothing_hostile_is_an_example(tmp_path):
    hostile = {
        "<b>/a.py": 'def f<b>():\n    """Shows <b>all lines of</b> a file."""\n',
        "<b>/c.py": 'class C:\n    """Reads ../../secret of a file."""\n\n    def _():\n        pass\n',
    }
    live = LiveIndex(index_of(write(tmp_path / "tree", hostile), tmp_path / "index"), reranker_maker("none"))
    assert examples_of(live.opened().engine.index) == {}


def test_files_that_were_not_read_are_told_by_kind(live):
    engine = live.opened().engine

    class Lacking:
        trouble = ""

        def ready(self):
            return None

        def opened(self, _=None):
            object.__setattr__(engine.index, "unread", {".rs": 3})
            return live.opened()

        def catch_up(self):
            return CURRENT

    with running(Lacking()) as port:
        assert ask(port, "/health").told["unread"] == {".rs": 3}
    object.__delattr__(engine.index, "unread")
