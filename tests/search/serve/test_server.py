"""The server as it runs: its API, whom it answers, and what it does when the index is replaced."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from repositories import write
from serving import ask, index_of, running

from cli.main import main
from data_prep.store.tokenizing import WordTokenizer
from experiments.recipes.config import resolve
from experiments.run.training import build_model
from search.engine.question import LONGEST_QUERY
from search.engine.show import as_json
from search.files.languages import LONGEST_PATTERN, language_names
from search.index.index_file import read_head
from search.models.torch_models import ModelReranker
from search.opening import index_place
from search.serve.live_index import LiveIndex
from search.serve.requests import json_answer
from search.serve.server import listening
from tests.odd_files import KINDS, deadline, odd_thing

REPOSITORY = Path(__file__).resolve().parents[3]
WEB = REPOSITORY / "search" / "serve" / "web"
HURT = "</script><img src=x onerror=alert(1)>"
FILES = {
    "io/Lines.java": "class Lines {\n    /** Reads all lines. */\n"
    "    String readLines(Path path) { return of(path); }\n"
    "    /** Writes all lines. */\n    void writeLines(Path path) { put(path); }\n}\n",
    "web/Hostile.java": f"class Hostile {{\n    /** Escapes {HURT.replace('<', '&lt;')} markup. */\n"
    f'    String escape() {{ return "\U0001f600 {HURT}" + markup; }}\n}}\n',
}


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A few methods, and a model that has learnt nothing."""
    folder = tmp_path_factory.mktemp("served")
    plan = resolve("folder", "galm_plus", {"model.dim": "32", "model.num_blocks": "4"})

    def reranker_of(index):
        tokenizer = WordTokenizer.build(index.split, plan.words)
        return ModelReranker(build_model(plan, tokenizer), tokenizer, index.split)

    return LiveIndex(index_of(write(folder / "tree", FILES), folder / "index"), reranker_of)


@pytest.fixture(scope="module")
def port(live):
    with running(live, "of the tests") as port:
        yield port


def test_health_tells_what_there_is(port, live):
    told = ask(port, "/health").told
    assert told == {
        "status": "ok",
        "rows": 5,
        "files": 2,
        "languages": {"java": 2},
        "model": "of the tests",
        "posts": 0,
        "folder": "",
        "unread": {},
        "examples": {"name": "Lines.readLines", "path": "io"},
        "index": live.opened().name,
        "indexing": "",
        "trouble": "",
    }


@pytest.mark.parametrize("explain", ["true", "false"])
@pytest.mark.parametrize(("by", "path"), [("method", ""), ("file", ""), ("method", "web/*")])
def test_a_search_gives_what_the_command_gives(port, live, explain, by, path):
    told = ask(port, "/api/search", {"q": "all lines", "top": 3, "by": by, "path": path, "explain": explain}).told
    engine = live.opened().engine
    hits = engine.search("all lines", top=3, path=path, by_file=by == "file")
    expected = json.loads(as_json(engine, "all lines", hits, 0.0, explain=explain == "true"))
    assert told.pop("index") == live.opened().name
    assert told.pop("milliseconds") > 0
    assert expected.pop("milliseconds") == 0
    rows = [
        {name: each[name] for name in told_row}
        for each, told_row in zip(told["results"], expected["results"], strict=True)
    ]
    assert {name: told[name] for name in expected} | {"results": rows} == expected
    assert [each["row"] for each in told["results"]] == [hit.row for hit in hits]
    assert len(told["results"]) == (1 if path == "web/*" else 2 if by == "file" else 3) or path


@pytest.mark.parametrize(
    ("place", "query", "line"),
    [
        ("/api/search", "", "expected a question in words or a name, got ''"),
        ("/api/search", "q=%21%21", "expected a question in words or a name, got '!!'"),
        ("/api/search", "q=" + "a" * (LONGEST_QUERY + 1), "a query has at most 2,000 characters, this one has 2,001"),
        (
            "/api/search",
            "q=a&tip=3",
            "unknown parameter 'tip'; known: q, top, path, language, by, regex, explain, colours",
        ),
        ("/api/search", "q=a&q=b", "q is given twice"),
        ("/api/search", "q=a&top=101", "top takes a whole number from 1 to 100, not '101'"),
        ("/api/search", "q=a&top=0", "top takes a whole number from 1 to 100, not '0'"),
        ("/api/search", "q=a&top=-1", "top takes a whole number from 1 to 100, not '-1'"),
        ("/api/search", "q=a&top=1.5", "top takes a whole number from 1 to 100, not '1.5'"),
        ("/api/search", "q=a&top=%D9%A3", "top takes a whole number from 1 to 100, not '٣'"),
        ("/api/search", "q=a&by=row", "by takes method or file, not 'row'"),
        (
            "/api/search",
            "q=a&language=java,cobol",
            f"language: expected languages among {', '.join(language_names())}, gettext, gradle, json, markdown, "
            "properties, restructuredtext, sql, strings, text, toml, xml, yaml, got 'cobol'",
        ),
        ("/api/search", "q=a&explain=1", "explain takes true or false, not '1'"),
        (
            "/api/search",
            "q=a&path=nosuch/",
            "path 'nosuch/' matches nothing in the index's 2 files, such as io/Lines.java",
        ),
        ("/api/search", "q=a&path=" + "a" * (LONGEST_PATTERN + 1), "path has at most 500 characters"),
        ("/api/search", "q=a&language=" + "java," * 100 + "java", "language has at most 500 characters"),
        ("/api/explain", "q=a", "row takes a whole number from 0 to 1099511627776, not ''"),
        ("/api/explain", "row=1", "expected a question in words or a name, got ''"),
        ("/api/explain", "q=a&row=5", "row takes a whole number below 5, not 5"),
        ("/api/explain", "q=a&row=1&top=3", "unknown parameter 'top'; known: q, row, index"),
        ("/health", "q=a", "unknown parameter 'q'; known: none"),
    ],
)
def test_a_mistake_is_one_line_and_400(port, place, query, line):
    answer = ask(port, place, query)
    assert (answer.status, answer.told) == (400, {"error": line})


def test_longest_query_is_answered_in_its_longest_spelling(port):
    query = "lines " + "\U0001f600" * (LONGEST_QUERY - 6)
    answer = ask(port, "/api/search", "q=" + urllib.parse.quote(query))
    assert (answer.status, answer.told["query"]) == (200, query)
    assert ask(port, "/api/search", "q=" + "a" * 100_000).status == 400
    assert ask(port, "/health").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
@pytest.mark.parametrize("place", ["/", "/health", "/languages", "/api/explain?q=a&row=1"])
def test_other_methods_are_refused(port, method, place):
    answer = ask(port, place, method=method)
    assert (answer.status, answer.told) == (405, {"error": "Method Not Allowed"})


def test_unknown_places_are_404(port):
    for place in ("/nothing", "/web/app.js", "/../server.py", "/app.js/..%2f..%2fserver.py", "/docs"):
        assert (ask(port, place).status, ask(port, place).told) == (404, {"error": "Not Found"})


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8765", "[::1]", "[::1]:65535"])
def test_it_answers_to_names_of_this_machine(port, host):
    assert ask(port, "/health", host=host).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.2", "0.0.0.0",
     "[::2]", "localhost:", "localhost:8765:1", "user@localhost", "localhost/", " ", "127.0.0.1, evil.example"],
)  # fmt: skip
@pytest.mark.parametrize("place", ["/", "/health", "/api/search?q=lines", "/style.css"])
def test_it_answers_to_no_other_name(port, host, place):
    answer = ask(port, place, host=host)
    assert (answer.status, answer.told) == (400, {"error": "expected the host localhost, 127.0.0.1 or [::1]"})


@pytest.mark.parametrize("place", ["/", "/app.js", "/style.css", "/health", "/api/search?q=a", "/api/search", "/none"])
def test_every_answer_says_what_a_browser_may_do(port, place):
    answer = ask(port, place, origin="http://evil.example")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
    )
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]
    assert not answer.headers.get("server")


class Unasked:
    """An index that no request may reach."""

    trouble = ""

    def ready(self):
        raise AssertionError("asked")

    def opened(self, groups=None):  # noqa: ARG002 - as an index
        raise AssertionError("asked")

    def catch_up(self):
        raise AssertionError("asked")


OTHER_SITES = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
    {"Sec-Fetch-Site": ""},
    {"Sec-Fetch-Site": "same-origin\xa0"},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1"},
    {"Origin": "", "Sec-Fetch-Site": "same-origin"},
]


@pytest.mark.parametrize("headers", OTHER_SITES, ids=str)
def test_a_page_of_another_site_is_answered_before_anything_is_computed(headers):
    places = [f"/api/{each}" for each in ("search?q=a", "explain?q=a&row=0", "file?path=a", "related?path=a", "none")]
    places += ["/api/unit?row=0", "/api/judgements", "/health", "/languages", "/app.js", "/none", "/?q=a", "//", "/."]
    with running(Unasked()) as port:
        for method in ("GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE"):
            for place in places:
                answer = ask(port, place, method=method, **headers)
                assert answer.status == 403
                assert method == "HEAD" or [*answer.told] == ["error"]


@pytest.mark.parametrize("headers", [*OTHER_SITES, {"Sec-Fetch-Site": "none"}], ids=str)
def test_a_link_to_the_page_is_followed_from_any_site(headers):
    with running(Unasked()) as port:
        assert ask(port, "/", **headers).status == 200
        assert ask(port, "/", method="POST", **headers).status in (403, 405)


@pytest.mark.parametrize(
    "headers",
    [{}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Mode": "cors"}, {"Origin": "own"}],
    ids=str,
)
def test_the_page_and_programs_are_answered(port, headers):
    own = {name: f"http://127.0.0.1:{port}" if text == "own" else text for name, text in headers.items()}
    for place in ("/api/search?q=lines", "/health", "/languages", "/app.js", "/"):
        assert ask(port, place, **own).status == 200


def test_the_page_loads_nothing_but_its_own_files(port):
    page = ask(port, "/").content.decode()
    assert ask(port, "/").headers["content-type"] == "text/html; charset=utf-8"
    assert '<script type="module" src="/app.js"></script>' in page
    assert '"go": "Go"' in ask(port, "/languages.js").content.decode()
    files = [file for file in WEB.iterdir() if file.suffix in (".js", ".css")]
    assert len(files) > 2
    for file in files:
        place, kind = f"/{file.name}", "text/javascript" if file.suffix == ".js" else "text/css"
        answer = ask(port, place)
        assert (answer.status, answer.headers["content-type"]) == (200, f"{kind}; charset=utf-8")
        text = answer.content.decode()
        assert not {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("} & set(text.split("."))
        assert "http://" not in text
        assert "https://" not in text


def test_hostile_code_stays_what_it_is(port):
    answer = ask(port, "/api/search", {"q": f"escape {HURT}"})
    (hit,) = [each for each in answer.told["results"] if each["name"] == "Hostile.escape"]
    assert HURT in hit["source"]
    assert answer.told["query"] == f"escape {HURT}"
    assert answer.headers["content-type"] == "application/json"
    told = ask(port, "/api/explain", {"q": "markup", "row": hit["row"]}).told
    ((start, end, word),) = [span for span in told["spans"] if span[2] == "markup"]
    assert hit["source"][start:end] == word == "markup"  # counted in characters, of which one is an emoji


def test_an_explanation_is_the_whole_alignment(port, live):
    now = live.opened()
    row = now.engine.index.names.index("Lines.readLines")
    told = ask(port, "/api/explain", {"q": "reads all lines", "row": row, "index": now.name}).told
    alignment = now.engine.reranker.alignment(("reads", "all", "lines"), row)
    assert (told["row"], told["query"], told["fields"]) == (row, ["reads", "all", "lines"], list(alignment.fields))
    assert told["code"] == ["read", "lines", "of", "path", "lines", "of"]
    np.testing.assert_allclose(told["weights"], alignment.weights, atol=1e-5)
    np.testing.assert_allclose(told["agreement"], alignment.agreement, atol=1e-5)
    np.testing.assert_allclose(np.sum(told["weights"], axis=1), 1, atol=1e-4)
    source = now.engine.index.split.text(row).source
    assert [source[start:end] for start, end, _ in told["spans"]] == ["read", "Lines", "Path", "path", "of", "path"]
    other = ask(port, "/api/explain", {"q": "reads", "row": row, "index": "0" * 16})
    assert (other.status, other.told) == (409, {"error": "the index was replaced since: search again"})


def test_without_a_model_the_same_words_are_found(tmp_path):
    live = LiveIndex(index_of(write(tmp_path / "tree", FILES), tmp_path / "index"), lambda _: None)
    with running(live) as port:
        hit = ask(port, "/api/search", {"q": "lines read", "explain": "true"}).told["results"][0]
        assert (hit["name"], hit["model"], hit["stage"]) == ("Lines.readLines", None, "words")
        assert "alignment" not in hit
        told = ask(port, "/api/explain", {"q": "lines read", "row": hit["row"]}).told
    assert (told["code"], told["weights"], told["agreement"]) == ([], [], [])
    assert [word for *_, word in told["spans"]] == ["read", "lines"]


def named(folder: Path, number: int) -> Path:
    """An index whose every name and signature tells ``number``, and that has as many methods."""
    methods = "".join(f"    int find{number}x{each}() {{ return {number}; }}\n" for each in range(number))
    return index_of(
        write(folder / f"tree{number}", {"A.java": f"class A{number} {{\n{methods}}}\n"}), folder / f"{number}"
    )


def replace_by(new: Path, path: Path) -> None:
    Path(shutil.copy(new, path.with_name("new"))).replace(path)


def test_a_replaced_index_is_used_by_the_next_request(tmp_path):
    path = Path(shutil.copy(named(tmp_path, 3), tmp_path / "index"))
    live = LiveIndex(path, lambda _: None, seconds_between_looks=0.0)
    with running(live) as port:
        first = ask(port, "/health").told
        assert (first["rows"], first["trouble"]) == (4, "")
        damaged = bytearray(named(tmp_path, 5).read_bytes())
        damaged[-1] ^= 1
        for content, line in [
            (bytes(damaged), "is damaged"),
            (named(tmp_path, 5).read_bytes()[:-1], "bytes instead of"),
            (b"", "does not begin 'galm index"),
        ]:
            path.write_bytes(content)
            told = ask(port, "/health").told
            assert line in told["trouble"]
            assert line in ask(port, "/health").told["trouble"]  # looked at again, and not forgotten
            assert told | {"trouble": ""} == first
            assert ask(port, "/api/search", {"q": "find 3", "top": 100}).told["results"][0]["source"].endswith("3; }")
        path.unlink()
        assert "there is no index" in ask(port, "/health").told["trouble"]
        replace_by(named(tmp_path, 5), path)
        told = ask(port, "/api/search", {"q": "find"}).told
        assert told["index"] == read_head(path).content[:16] != first["index"]
        assert ask(port, "/health").told | {"index": ""} == first | {"rows": 6, "index": ""}


@pytest.mark.parametrize("kind", [*KINDS, "folder"])
def test_an_index_replaced_by_what_is_no_file_is_passed_over(tmp_path, kind):
    path = Path(shutil.copy(named(tmp_path, 3), tmp_path / "index"))
    live = LiveIndex(path, lambda _: None, seconds_between_looks=0.0)
    with deadline(), running(live) as port:
        first = ask(port, "/health").told
        path.unlink()
        path.mkdir() if kind == "folder" else odd_thing(kind, path)
        for _ in range(2):  # looked at again, and not forgotten
            told = ask(port, "/health").told
            assert str(path) in told["trouble"]
            assert told | {"trouble": ""} == first
        assert ask(port, "/api/search", {"q": "find 3"}).told["results"][0]["source"].endswith("3; }")
        path.rmdir() if kind == "folder" else path.unlink()
        replace_by(named(tmp_path, 5), path)
        assert ask(port, "/health").told | {"index": ""} == first | {"rows": 6, "index": ""}


def test_the_file_is_looked_at_once_in_a_while(tmp_path, monkeypatch):
    path = Path(shutil.copy(named(tmp_path, 3), tmp_path / "index"))
    now = 100.0
    monkeypatch.setattr("search.serve.live_index.time", SimpleNamespace(monotonic=lambda: now))
    live = LiveIndex(path, lambda _: None)
    replace_by(named(tmp_path, 5), path)
    now = 100.9
    assert live.opened().head.rows == 4
    now = 101.0
    assert live.opened().head.rows == 6


def test_others_get_the_old_index_while_one_opens_the_new(tmp_path):
    path = Path(shutil.copy(named(tmp_path, 3), tmp_path / "index"))
    opens, goes_on = threading.Event(), threading.Event()

    def reranker_of(index):
        if len(index) == 6:
            opens.set()
            assert goes_on.wait(10)

    live = LiveIndex(path, reranker_of, seconds_between_looks=0.0)
    replace_by(named(tmp_path, 5), path)
    found = []
    thread = threading.Thread(target=lambda: found.append(live.opened().head.rows))
    thread.start()
    assert opens.wait(10)
    assert live.opened().head.rows == 4
    goes_on.set()
    thread.join(10)
    assert (found, live.opened().head.rows) == ([6], 6)


def test_no_answer_is_wrong_while_the_index_is_replaced(tmp_path):
    sizes = {read_head(path := named(tmp_path, number)).content[:16]: number for number in (3, 5, 8)}
    path, stop, answers, troubles = Path(shutil.copy(path, tmp_path / "index")), threading.Event(), [], []

    def client():
        while not stop.is_set():
            told = ask(port, "/api/search", {"q": "find", "top": 100}).told
            number = sizes[told["index"]]
            answers.append(number)
            names = {each["name"].partition(".")[0] for each in told["results"]}
            if len(told["results"]) != number + 1 or names != {f"A{number}"}:
                troubles.append(told)

    with running(LiveIndex(path, lambda _: None, seconds_between_looks=0.02)) as port:
        threads = [threading.Thread(target=client) for _ in range(8)]
        for thread in threads:
            thread.start()
        end, turn = time.monotonic() + 2, 0
        while time.monotonic() < end:
            turn += 1
            replace_by(tmp_path / str([3, 5, 8][turn % 3]), path)
            time.sleep(0.05)
        stop.set()
        for thread in threads:
            thread.join(30)
    assert not troubles
    assert len(answers) > 50
    assert set(answers) == {3, 5, 8}
    assert sum(a != b for a, b in pairwise(answers)) >= 5


@contextmanager
def serve_sh(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen]:
    """The command as it runs; it is ended at the end, whatever has become of it."""
    process = subprocess.Popen(
        ["bash", str(REPOSITORY / "run.sh"), "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, "GALM_PYTHON": sys.executable, "PYTHONUNBUFFERED": ""},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # whatever whoever runs the tests does with it
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=20)


def test_the_command_says_its_address_and_ends_with_ctrl_c(tmp_path):
    index_of(write(tmp_path, FILES), index_place(tmp_path))
    with serve_sh("--port=0", "--model=none", cwd=tmp_path / "io") as process:
        assert process.stdout.readline() == f"5 functions, types and files of 2 files in {index_place(tmp_path)}\n"
        line = process.stdout.readline()
        assert line.startswith("search them at http://127.0.0.1:")
        port = int(line.partition("127.0.0.1:")[2].partition(";")[0])
        while (health := ask(port, "/health")).status == 503:  # it is opening its index
            pass
        assert health.told["model"] == "none"
        with serve_sh(f"--port={port}", cwd=tmp_path) as second:
            told = second.communicate(timeout=60)
        assert told == (
            "",
            f"galm: cannot listen on port {port} (Address already in use): name another one by --port=\n",
        )
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stderr.read() == "stopped by Ctrl-C\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--port=70000"], "--port takes a whole number from 0 to 65535, not 70000"),
        (["--host=0.0.0.0"], "--host is for --shared: without it the server is for this machine only"),
        (["--port=0", "here"], "here does not exist: name a folder"),
        (["here", "there"], "expected one folder at most, bash run.sh serve DIR, not here there"),
        (["--port=0"], "has no source file (*.py, "),
        (["--port=0", "--index=nowhere"], "there is no index at"),
    ],
)
def test_mistakes_of_the_command_are_one_line(tmp_path, monkeypatch, capsys, arguments, line):
    monkeypatch.chdir(tmp_path)
    assert main(["serve", *arguments]) == 2
    out, told = capsys.readouterr()
    assert (out, told.count("\n")) == ("", 1)
    assert line in told


def test_it_listens_on_this_machine_only():
    with listening(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_what_is_answered_is_sent_at_once():
    """The body of an answer does not wait until the client has acknowledged its head."""

    async def delayed() -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def accepted(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = writer.get_extra_info("socket")
            found.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with listening(0) as listener:
            async with await asyncio.start_server(accepted, sock=listener):
                _, writer = await asyncio.open_connection(*listener.getsockname())
                nodelay = await found
                writer.close()
                return nodelay

    assert asyncio.run(delayed()) == 1


@pytest.mark.parametrize("told", [{"path": "caf\udce9.py"}, {"größe": ["→", 1.5, None, True]}, {"big": 1 << 70}])
def test_an_answer_is_json_whatever_paths_contain(told):
    assert json.loads(json_answer(told).body) == told
