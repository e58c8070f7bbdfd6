"""``POST /api/search``: questions under the text above a cursor."""

import http.client
import json

import pytest
from repositories import write
from serving import Answer, ask, index_of, running

from search.cursor import LONGEST
from search.files.languages import language_names
from search.index.vector_encoding import update_vectors
from search.models.packed import reranker_maker
from search.serve.live_index import LiveIndex
from search.serve.search_api import LARGEST

FILES = {
    "store/json_store.py": "import json\n\n\ndef load(path):\n"
    '    """Load the data of a file."""\n    return json.loads(path.read_text())\n',
    "store/pickle_store.py": "import pickle\n\n\ndef load(path):\n"
    '    """Load the data of a file."""\n    return pickle.loads(path.read_bytes())\n',
    "io/Lines.java": "class Lines {\n    /** Reads all lines. */\n"
    "    String readLines(Path path) { return of(path); }\n}\n",
}
PICKLE = "import pickle\n\n\ndef dump(what, path):\n    path.write_bytes(pickle.dumps(what))\n\n\n# json here\n"
JSON = "import json\n\n\ndef dump(what, path):\n    path.write_text(json.dumps(what))\n"


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    path = index_of(write(folder / "tree", FILES), folder / "index")
    update_vectors("", path, lambda *_: None)
    return LiveIndex(path, reranker_maker(""))


@pytest.fixture(scope="module")
def port(live):
    with running(live) as port:
        yield port


def post(port, body, content_type="application/json", **headers) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        connection.request("POST", "/api/search", content, headers={"content-type": content_type, **headers})
        return Answer(connection.getresponse())
    finally:
        connection.close()


def first(port, context, language="python"):
    return post(port, {"query": "load data from file", "context": context, "language": language}).told["results"][0]


def test_the_context_decides_between_two_functions_with_equal_words(live):
    with running(LiveIndex(live.path, reranker_maker("none"))) as port:
        assert first(port, PICKLE)["path"] == "store/pickle_store.py"
        assert first(port, JSON)["path"] == "store/json_store.py"
        assert first(port, JSON)["score"] is None  # there are no vectors without a model


def test_a_hit_has_what_shows_and_attributes_it(port, live):
    told = post(port, {"query": "read all lines", "language": "java", "top": 2}).told
    assert (told["language"], told["model"], told["index"]) == ("java", "base", live.opened().name)
    assert told["took_ms"] > 0
    (hit,) = [each for each in told["results"] if each["identifier"] == "Lines.readLines"]
    assert hit["path"] == "io/Lines.java"
    assert (hit["start_line"], hit["end_line"], hit["url"], hit["license"]) == (3, 3, "", "")
    assert hit["code"].startswith("String readLines")


def test_the_indexed_folder_is_named(port, live, tmp_path):
    assert post(port, {"query": "read all lines"}).told["folder"] == ""  # not known
    with running(live, root=tmp_path) as known:
        assert post(known, {"query": "read all lines"}).told["folder"] == str(tmp_path)


@pytest.mark.parametrize("context", ["", "\n\n", "# only a comment: pickle\n", '"""A docstring: pickle."""\n', "()\n"])
def test_a_context_that_says_nothing_changes_nothing(port, live, context):
    told = post(port, {"query": "load data from file", "context": context, "language": "python", "top": 9}).told
    hits = live.opened().engine.search("load data from file", languages={"python"}, top=9)
    assert [(hit["row"], hit["ranking"]) for hit in told["results"]] == [(hit.row, round(hit.score, 6)) for hit in hits]
    assert told["model"] == "base"


def test_words_that_nothing_has_move_the_vectors_alone(live):
    engine = live.opened().engine
    plain = engine.search("load data from file", top=9)
    under = engine.search("load data from file", top=9, context=("qqqq", "zzzz"))
    assert {hit.row: (hit.lexical, hit.neural) for hit in under} == {
        hit.row: (hit.lexical, hit.neural) for hit in plain
    }
    assert [hit.row for hit in under[:2]] == [hit.row for hit in plain[:2]]
    assert {hit.row for hit in under[:4]} == {hit.row for hit in plain[:4]}


def test_scores_are_cosines(port, live):
    hits = post(port, {"query": "load data from file", "top": 100}).told["results"]
    assert all(0 <= hit["score"] <= 1 for hit in hits)
    engine = live.opened().engine
    near = {hit.row: hit.near for hit in engine.search("load data from file", top=100)}
    assert [hit["score"] for hit in hits] == [round(max(0.0, near[hit["row"]]), 8) for hit in hits]
    assert [hit["ranking"] for hit in hits] == sorted((hit["ranking"] for hit in hits), reverse=True)


@pytest.mark.parametrize(
    ("body", "status", "line"),
    [
        ({"query": ""}, 400, "expected a question in words or a name, got ''"),
        ({"query": "?!"}, 400, "expected a question in words or a name, got '?!'"),
        ({}, 400, "expected an object with query, context, language, top, got {}"),
        ([], 400, "expected an object with query, context, language, top, got []"),
        ({"query": "a", "tip": 1}, 400, "expected an object with query, context, language, top, got {'query': 'a'"),
        ({"query": 1}, 400, "query is a text, not 1"),
        ({"query": "a", "context": None}, 400, "context is a text, not None"),
        ({"query": "a", "language": "cobol"}, 400, f"language takes one of {', '.join(language_names())}"),
        ({"query": "a", "language": "go"}, 400, "the index has no go, but java, python"),
        ({"query": "a", "context": "x"}, 400, "a context needs its language"),
        ({"query": "a", "top": 0}, 400, "top takes a whole number from 1 to 100, not 0"),
        ({"query": "a", "top": True}, 400, "top takes a whole number from 1 to 100, not True"),
        ({"query": "a", "top": 1.0}, 400, "top takes a whole number from 1 to 100, not 1.0"),
        ({"query": "a", "context": "x" * (LONGEST + 1), "language": "java"}, 413, "context has at most 65,536"),
        ({"query": "a", "context": "x" * LARGEST, "language": "java"}, 413, "expected a body of at most"),
        (b"{", 400, "the body is not JSON"),
        (b'{"query": "\xff"}', 400, "the body is not JSON"),
        (b"[" * 100_000, 400, "the body is not JSON"),
    ],
)
def test_a_mistake_is_one_line(port, body, status, line):
    answer = post(port, body)
    assert answer.status == status
    assert answer.told["error"].startswith(line)
    assert "\n" not in answer.told["error"]


def test_the_longest_context_is_read(port):
    longest = "y = 1\n" * 20_000
    context = longest[-(LONGEST - len(PICKLE)) :] + PICKLE
    assert first(port, context)["path"] == "store/pickle_store.py"
    astral = "\U0001f600" * LONGEST  # 12 bytes each as JSON escapes it
    assert post(port, {"query": "a", "context": astral, "language": "java"}).status == 200


def test_half_a_surrogate_pair_in_a_buffer_is_read(port):
    body = json.dumps({"query": "load data from file", "context": "\ud800 = 1\n" + PICKLE, "language": "python"})
    assert post(port, body.encode()).told["results"][0]["path"] == "store/pickle_store.py"


def test_only_programs_and_the_own_page_may_ask(port):
    body = {"query": "load data"}
    assert post(port, body, "text/plain").status == 415
    assert post(port, body, origin="http://evil.example").status == 403
    assert post(port, body, origin="null").status == 403
    assert post(port, body, origin=f"http://localhost:{port}").status == 403  # asked as 127.0.0.1
    assert post(port, body, origin=f"http://127.0.0.1:{port}").status == 200
    assert post(port, body, host="evil.example").status == 400
    assert post(port, body, **{"sec-fetch-site": "cross-site"}).status == 403


def test_a_language_may_be_called_as_people_call_it(port):
    for called in ("PY", "Python"):
        told = post(port, {"query": "load data", "context": PICKLE, "language": called}).told
        assert told["language"] == "python"


def test_languages_are_those_of_the_index(port):
    assert ask(port, "/languages").told == {"languages": {"java": 1, "python": 2}}
    assert ask(port, "/languages", "q=1").status == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(port, method):
    assert ask(port, "/api/search", method=method).status == 405
