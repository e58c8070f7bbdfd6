"""A server for several users, as its proxy sees it: each is told of permitted repositories alone."""

import os
import random
import socket
import threading

import pytest
from repositories import write
from serving import ask, index_of, post, running_app
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from cli.main import main
from search.serve.live_index import LiveIndex
from search.serve.live_list import LiveList
from search.serve.partial_index import OpeningIndex
from search.serve.web_app import Proxy, read_secret, web_app

SECRET = "0123456789abcdef0123456789abcdef"
SOURCES = {
    "open": {"lines.py": 'def read_lines(path):\n    """Read all lines."""\n    return open(path).readlines()\n'},
    "red": {"pay/bills.py": 'def pay_bill(bill):\n    """Pay a bill."""\n    return bill.pay()\n'},
    "hidden": {
        "merger/plan.py": 'def read_merger_lines(plan):\n    """Read lines of a merger."""\n    return plan.lines\n',
        "merger/plan.go": "package merger\n\n// ReadMerger reads one.\nfunc ReadMerger() string { return Lines }\n",
    },
}
TRACE = 'Traceback (most recent call last):\n  File "merger/plan.py", line 3, in f\nE: x\n'
LIST = "hidden\tteam/hidden\tboard\nopen\t\t*\nred\tteam/red\tred,user:ann\n"
PROXY = Proxy(SECRET.encode(), "X-Forwarded-User", "X-Forwarded-Groups")


def user(name="bob", groups=""):
    return {"X-Search-Secret": SECRET, "X-Forwarded-User": name, "X-Forwarded-Groups": groups}


@pytest.fixture
def company(tmp_path):
    for name, files in SOURCES.items():
        write(tmp_path / name, files)
    (tmp_path / "list.tsv").write_text(LIST)
    (tmp_path / "visible.tsv").write_text("".join(LIST.splitlines(keepends=True)[1:]))
    for each in opened(tmp_path / "list.tsv").listed:
        index_of(each.folder, each.index)
    return tmp_path


def opened(path):
    """A list whose indexes nobody opens but the test."""
    return LiveList(path, lambda _: None, lambda *_: None, by_user=True)


def shared(live, **more):
    return running_app(web_app(live, "none", proxy=PROXY, **more))


def questions():
    """Questions of each kind, among them those for what is hidden."""
    for query in ("read lines", "merger", "read_merger_lines", "plan", "pay bill", "ReadMerger"):
        for more in ({}, {"by": "file"}, {"path": "team/*"}, {"language": "go"}, {"explain": "true"}):
            yield ask, "/api/search", {"q": query, **more}
        for more in ({}, {"language": "python", "context": "import merger\n"}, {"language": "go"}):
            yield post, "/api/search", {"query": query, **more}
        yield post, "/api/code", {"text": f"def f(plan):\n    {query.replace(' ', '_')}(plan)\n"}
    yield post, "/api/code", {"text": TRACE}


def places(index):
    """Requests for pages, files and rows; ``index``: as answers name it."""
    yield from ((ask, place, {}) for place in ("/health", "/languages", "/", "/app.js", "/none", "/api/judgements"))
    yield from ((post, place, {}) for place in ("/api/judgements", "/api/quality", "/api/posts"))
    for name in ("team/hidden/merger/plan.py", "team/red/pay/bills.py", "team/red/none.py", "open/../hidden/plan.py"):
        yield ask, "/api/file", {"path": name, "line": 1}
        yield ask, "/api/related", {"path": name, "line": 1}
    for row in range(8):
        yield ask, "/api/unit", {"row": row, "index": index}
        yield ask, "/api/explain", {"q": "read lines", "row": row, "index": index}


def told(answer):
    """An answer without what differs from one to the next."""
    try:
        found = answer.told
    except AssertionError:
        return answer.status, answer.content
    return answer.status, {name: each for name, each in found.items() if name not in ("milliseconds", "took_ms")}


@pytest.mark.parametrize(("name", "groups"), [("bob", "red"), ("ann", ""), ("ann", "blue, red")])
def test_what_is_hidden_changes_no_answer(company, name, groups):
    """Every answer is that of a server which does not have the hidden repository at all."""
    live, other = opened(company / "list.tsv"), opened(company / "visible.tsv")
    live.look()
    other.look()
    with shared(live) as (port, _), shared(other) as (without, _):
        who = user(name, groups)
        index = ask(port, "/health", **who).told["index"]
        statuses = set()
        for send, place, parameters in [*questions(), *places(index)]:
            first, second = (told(send(each, place, parameters, **who)) for each in (port, without))
            assert first == second, (place, parameters)
            statuses.add(first[0])
        assert statuses == {200, 400, 404}


def test_each_sees_what_is_permitted(company):
    live = opened(company / "list.tsv")
    live.look()
    with shared(live) as (port, _):
        for name, groups, seen in (
            ("bob", "", {"open"}),
            ("bob", "blue,Red", {"open"}),
            ("bob", "user:ann", {"open"}),  # no group stands for a user
            ("bob", "*", {"open"}),
            ("ann", "", {"open", "team/red"}),
            ("eve", "board,red", {"open", "team/red", "team/hidden"}),
        ):
            results = ask(port, "/api/search", {"q": "read lines bill"}, **user(name, groups)).told["results"]
            assert {each["repository"] for each in results} == seen
            assert ("go" in ask(port, "/languages", **user(name, groups)).told["languages"]) == ("team/hidden" in seen)
        assert "folder" not in post(port, "/api/search", {"query": "read lines"}, **user("ann")).told
        text = ask(port, "/api/file", {"path": "team/hidden/merger/plan.py"}, **user(groups="board")).told
        assert (text["lines"], text["note"]) == (3, "")


@pytest.mark.parametrize("place", ["/", "/health", "/languages", "/api/search?q=read", "/api/file?path=x", "/none"])
def test_only_the_proxy_is_answered_and_only_for_a_user(company, place):
    live = opened(company / "list.tsv")
    live.look()
    with shared(live) as (port, _):
        refused = [{}, {"X-Search-Secret": SECRET[:-1] + "0"}, {"X-Search-Secret": ""}, {"X-Search-Secret": SECRET * 2}]
        for headers in refused:
            answer = ask(port, place, **{**user(groups="board"), "X-Search-Secret": "", **headers})
            assert told(answer) == (403, {"error": "expected a request of the authenticating proxy"})
        for name in ("", "  "):
            assert ask(port, place, **user(name)).status == 401
        assert ask(port, place, **{"X-Search-Secret": SECRET, "X-Forwarded-Groups": "board"}).status == 401
        assert ask(port, place, **user("b\xff")).status == 400


def test_nobody_sees_what_no_line_permits(company):
    (company / "list.tsv").write_text("open\nred\nhidden\n")
    live = opened(company / "list.tsv")
    live.look()
    with shared(live) as (port, _):
        for place in ("/health", "/languages", "/api/search?q=read", "/api/file?path=open/lines.py", "/api/unit?row=0"):
            answer = ask(port, place, **user("ann", "red,board"))
            assert answer.status == 403
            assert answer.told["error"].startswith("no repository is visible to you")


def test_a_changed_list_and_a_changed_index_are_noticed(company):
    live, troubles = opened(company / "list.tsv"), []
    live._tell = lambda *trouble: troubles.append(trouble)
    with shared(live) as (port, _):
        assert ask(port, "/health", **user()).status == 503  # nothing is open yet
        assert post(port, "/api/search", {"query": "read"}, **user()).headers["retry-after"] == "1"
        live.look()
        before = ask(port, "/health", **user("ann")).told
        write(company / "hidden", {"more.py": "def another_merger():\n    return 1\n"})
        index_of(company / "hidden", live.listed[0].index)
        live.look()
        assert ask(port, "/health", **user("ann")).told == before
        write(company / "red", {"more.py": "def another_bill():\n    return 1\n"})
        index_of(company / "red", live.listed[2].index)
        live.look()
        assert ask(port, "/health", **user("ann")).told["rows"] == before["rows"] + 2
        live.listed[2].index.write_bytes(b"damaged")
        live.look()
        assert [name for name, _ in troubles] == ["team/red"]
        assert ask(port, "/health", **user("ann")).told["rows"] == before["rows"] + 2
        (company / "list.tsv").write_text(LIST.replace("user:ann", "user:eve"))
        live.look()
        assert ask(port, "/health", **user("ann")).told["files"] == 1
        (company / "list.tsv").write_text("open\t\t*\tx\ty\n")
        live.look()
        answer = ask(port, "/health", **user("ann"))
        assert (answer.status, "list of repositories cannot be read" in answer.told["error"]) == (503, True)
        assert "no question is answered until it is mended" in troubles[-1][1]
        (company / "list.tsv").write_text(LIST)
        live.look()
        assert ask(port, "/health", **user("ann")).told["rows"] == before["rows"] + 2


SPACES = [
    "\u00a0",
    "\u3000",
    "\x85",
    "\x1f",
    "\x1c",
    "\x0b",
    "\x0c",
    "\u2028",
    "\u200b",
    "\ufeff",
    "\u202e",
    "\x7f",
    "\0",
]


def groups(name, *named):
    headers = [
        ("x-search-secret", SECRET),
        ("x-forwarded-user", name),
        *(("x-forwarded-groups", each) for each in named),
    ]
    return PROXY.groups(Headers(raw=[(key.encode(), text.encode()) for key, text in headers]))


def status(name, *named):
    with pytest.raises(HTTPException) as refused:
        groups(name, *named)
    assert "\n" not in refused.value.detail
    return refused.value.status_code


@pytest.mark.parametrize("space", SPACES, ids=ascii)
def test_no_other_space_than_blank_and_tab_is_taken_off_a_name(space):
    assert groups("\t ann \t", " red\t,\tblue green ") == {"user:ann", "red", "blue green"}
    assert groups("jörg müller", "日本") == {"user:jörg müller", "日本"}
    for name in (f"ann{space}", f"{space}ann", f"an{space}n", space):
        assert status(name) == 400
        assert status("bob", f"blue,{name}") == 400


def test_a_name_stands_for_itself_alone():
    """Whatever a header has: it names its user exactly, or it is refused."""
    rng = random.Random(7)
    letters = ["ann", "user:", ",", "red", *" \t\x1f\u00a0\u3000\x85\u200b\u0301ａÄ", "\U0001f600", *SPACES]
    for _ in range(5000):
        name, named = ("".join(rng.choices(letters, k=rng.randrange(1, 4))) for _ in range(2))
        own, *asked = (each.strip(" \t") for each in (name, *named.split(",")))
        if not own or not all(each.isprintable() for each in (own, *asked)):
            assert status(name, named) == (400 if own else 401)
        else:
            assert groups(name, named) == {
                f"user:{own}",
                *(each for each in asked if each and not each.startswith("user:")),
            }


@pytest.mark.parametrize("name", ["ann\xa0", "ann\x1f", "ann\u3000", "ann\x85", "ann\x0b", "ann\x0c"])
def test_a_name_with_another_space_is_refused_by_the_server(company, name):
    live = opened(company / "list.tsv")
    live.look()
    sent = b"".join(
        f"{key}: {text}\r\n".encode() for key, text in {"Host": "a", "Connection": "close", **user(name)}.items()
    )
    with shared(live) as (port, _), socket.create_connection(("127.0.0.1", port), 20) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\n" + sent + b"\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")


def test_a_list_that_is_edited_in_place_is_noticed_whatever_its_times_say(company):
    path = company / "list.tsv"
    live = opened(path)
    live.look()
    before = path.stat()
    path.write_text(LIST.replace("user:ann", "user:eve"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    live.look()
    assert live.listed[2].groups == {"red", "user:eve"}


def test_a_list_that_cannot_be_read_is_told_once(company):
    path, troubles = company / "list.tsv", []
    live = opened(path)
    live._tell = lambda *trouble: troubles.append(trouble)
    path.unlink()
    live.look()
    live.look()
    assert (live.listed, len(troubles)) == ([], 1)
    path.write_text(LIST)
    live.look()
    assert len(live.listed) == 3


def test_another_site_is_not_answered_though_its_user_is_known(company):
    live = opened(company / "list.tsv")
    live.look()
    with shared(live) as (port, _):
        sent = {**user(), "Host": "search.example.org", "Sec-Fetch-Site": "cross-site"}
        assert ask(port, "/api/search", {"q": "read"}, **sent).status == 403
        assert ask(port, "/", **sent).status == 200


def test_a_page_behind_a_proxy_with_https_may_post(company):
    live = opened(company / "list.tsv")
    live.look()
    with shared(live, feedback="https://example.org/form") as (port, _):
        sent = {**user(), "Host": "search.example.org", "Sec-Fetch-Site": "same-origin"}
        answer = post(port, "/api/search", {"query": "read"}, Origin="https://search.example.org", **sent)
        assert (answer.status, answer.told["feedback_url"]) == (200, "https://example.org/form")
        assert post(port, "/api/search", {"query": "read"}, Origin="https://example.org", **sent).status == 403


def test_an_index_that_is_being_opened_is_said_so(company):
    path, go_on, failures = opened(company / "list.tsv").listed[1].index, threading.Event(), []

    def make():
        go_on.wait(30)
        return LiveIndex(path, lambda _: None)

    app = web_app(OpeningIndex(make, failures.append), "none", root=company / "open")
    with running_app(app) as (port, _):
        for answer in (ask(port, "/health"), post(port, "/api/search", {"query": "read"})):
            assert answer.status == 503
            assert answer.told == {"error": "the index is being opened: ask again in a moment"}
        assert ask(port, "/").status == 200
        go_on.set()
        while (answer := ask(port, "/health")).status == 503:
            pass
        assert (answer.told["rows"], answer.told["folder"]) == (2, str(company / "open"))
        assert not failures


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shared"], "--shared needs --list=FILE"),
        (["--shared", "--list=list.tsv"], "--secret=FILE"),
        (["--shared", "--list=list.tsv", "--secret=none"], "cannot be read"),
        (["--shared", "--list=list.tsv", "--secret=short"], "is no line of 32 to 4,096 ASCII characters"),
        (["--shared", "--list=list.tsv", "--secret=feed"], "is no line of 32 to 4,096 ASCII characters"),
        (["--shared", "--list=list.tsv", "--secret=read"], "chmod 600"),
        (["--shared", "--list=list.tsv", "--secret=good", "--user_header=a b"], "takes the name of a header"),
        (["--shared", "--list=none.tsv", "--secret=good"], "cannot be read"),
        (["--shared", "--list=list.tsv", "--secret=good", "--posts=x"], "--posts is not for --shared"),
        (["--host=0.0.0.0"], "--host is for --shared"),
        (["--list=list.tsv", "--host=0.0.0.0"], "--host is for --shared"),
        (["--list=list.tsv", "--index=x"], "leave out --index and --folder"),
        (["--feedback=http://x"], "https://"),
        (["--shared", "--list=list.tsv", "--secret=good", "--host=192.0.2.1"], "cannot listen on port 0 of 192.0.2.1"),
    ],
)
def test_what_tells_no_users_apart_does_not_start(company, monkeypatch, capsys, options, message):
    monkeypatch.chdir(company)
    texts = {"short": "x" * 31, "read": SECRET, "good": f"{SECRET}\n", "feed": f"{SECRET}\f\n"}
    for name, text in texts.items():
        (company / name).write_text(text)
        (company / name).chmod(0o644 if name == "read" else 0o600)
    assert read_secret(company / "good") == SECRET.encode()
    assert main(["serve", "--port=0", *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
