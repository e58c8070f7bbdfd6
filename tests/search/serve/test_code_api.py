"""Code, stack traces and places as questions to the server."""

import pytest
from repositories import write
from serving import ask, index_of, post, running

from search.serve.code_api import LARGEST
from search.serve.live_index import LiveIndex

BODY = "    total = 0\n    for price in basket:\n        total += price.amount\n    return total\n"
FILES = {
    "shop/basket.py": f"def sum_of_basket(basket):\n{BODY}\n\ndef other(x):\n    return x\n",
    "shop/copied.py": f"def another_name(basket):\n{BODY}",
    "shop/basket.go": "package shop\n\nfunc SumOfBasket(basket []int) int {\n\treturn len(basket)\n}\n",
}
TRACE = (
    'Traceback (most recent call last):\n  File "main.py", line 3, in <module>\n    run()\n'
    '  File "/app/shop/basket.py", line 4, in sum_of_basket\n    total += price.amount\n'
    "AttributeError: 'int' object has no attribute 'amount'\n"
)


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    live = LiveIndex(index_of(write(folder / "tree", FILES), folder / "index"), lambda _: None)
    with running(live) as port:
        yield port


def test_a_trace_has_its_frames_and_code_like_them(port):
    told = post(port, "/api/code", {"text": TRACE}).told
    assert (told["kind"], told["language"], told["frames"], told["frames_in_index"]) == ("trace", "python", 2, 1)
    outside, inside = told["errors"][0]["frames"]
    assert outside["unit"] is None
    assert (inside["unit"]["path"], inside["unit"]["name"], inside["line"]) == ("shop/basket.py", "sum_of_basket", 4)
    assert told["results"][0]["name"] == "another_name"
    assert told["index"]


def test_a_question_that_is_a_trace_is_told_though_a_field_has_taken_its_lines(port):
    for question in (TRACE, " ".join(TRACE.split()), " ".join(TRACE.split()) * 20):
        told = ask(port, "/api/search", {"q": question}).told
        assert (told["trace"], told["results"]) == (True, [])
    assert "trace" not in ask(port, "/api/search", {"q": "look at line 3 in basket at total"}).told


def test_code_finds_code_like_it_within_limits(port):
    text = f"def f(basket):\n{BODY}"
    names = [hit["name"] for hit in post(port, "/api/code", {"text": text, "top": 2}).told["results"]]
    assert {*names} == {"sum_of_basket", "another_name"}
    in_go = post(port, "/api/code", {"text": text, "language": "go", "path": "shop/*"}).told["results"]
    assert {hit["path"] for hit in in_go} == {"shop/basket.go"}


def test_a_place_has_related_code(port):
    told = ask(port, "/api/related", {"path": "shop/copied.py", "line": 2, "language": "python"}).told
    assert (told["kind"], told["place"]["name"], told["results"][0]["name"]) == (
        "place",
        "another_name",
        "sum_of_basket",
    )
    for path in ("shop/copied.py:2:5", "shop/copied.py(2,5)", "C:\\dev\\shop\\copied.py#L2"):
        assert ask(port, "/api/related", {"path": path}).told["place"] == told["place"]
        assert ask(port, "/api/file", {"path": path}).told["path"] == "shop/copied.py"
    row = told["results"][0]["row"]
    kinds = ask(port, "/api/unit", {"row": row, "index": told["index"]}).told["kinds"]
    source = told["results"][0]["source"]
    assert ("def", "keyword") in [(source[start:end], kind) for start, end, kind in kinds]


@pytest.mark.parametrize(
    ("body", "status", "line"),
    [
        ({"text": " "}, 400, "expected code or a stack trace, got nothing"),
        ({"text": "???"}, 400, "expected code or a stack trace"),
        ({"text": 3}, 400, "text is a text"),
        ({}, 400, "expected an object with text"),
        ({"text": "a()", "top": 0}, 400, "top takes a whole number from 1 to 100"),
        ({"text": "a()", "top": True}, 400, "top takes a whole number from 1 to 100"),
        ({"text": "a()", "language": "cobol"}, 400, "expected languages among"),
        ({"text": "a()", "language": 3}, 400, "language is a text, not 3"),
        ({"text": "a()", "path": "a" * 501}, 400, "path has at most 500 characters"),
        ({"text": "a()", "query": "a"}, 400, "expected an object with text"),
        ({"text": "a" * LARGEST}, 413, "expected a body of at most"),
    ],
)
def test_mistakes_are_one_line(port, body, status, line):
    answer = post(port, "/api/code", body)
    assert answer.status == status
    assert line in answer.told["error"]


@pytest.mark.parametrize(
    ("query", "status", "line"),
    [
        ("path=nowhere.py", 400, "there is no indexed file"),
        ("path=shop/basket.py&line=1000", 400, "is in no unit"),
        ("path=shop/basket.py&line=0", 400, "line takes"),
        ("path=shop/basket.py&index=x", 409, "replaced"),
    ],
)
def test_mistakes_about_places_are_one_line(port, query, status, line):
    answer = ask(port, "/api/related", query)
    assert answer.status == status
    assert line in answer.told["error"]


def test_other_sites_are_refused(port):
    assert post(port, "/api/code", {"text": "a()"}, Origin="http://evil.example").status == 403
    assert post(port, "/api/code", {"text": "a()"}, **{"Content-Type": "text/plain"}).status == 415


@pytest.mark.parametrize("row", ["-1", "x", "999"])
def test_a_row_that_is_none_is_refused(port, row):
    assert ask(port, "/api/unit", {"row": row}).status == 400
