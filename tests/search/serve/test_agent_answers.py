"""Answers to agents keep to their budgets, whatever is in the files, and say what is left out."""

import json

import pytest

from search.serve.agent_answers import as_text, cut, hit_record, size_of, with_hits, with_source, with_words
from search.serve.agent_tools import AgentTools
from tests.search.serving import fresh, settled

BUDGETS = (100, 101, 137, 250, 1000, 4000)
HOSTILE = [
    "\x1b[31m\x00\x07" * 40,
    "“ümlaut” \U0001f600" * 60,
    '"\\\n\t' * 200,
    "\x9b\x7f" * 100,
    "a" * 5000,
    "\n" * 999,
]
FOLDER = "basket"


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    root = tmp_path_factory.mktemp("shop") / ("long_folder_name_" * 4)
    deep = root / "/".join([FOLDER * 4] * 6)
    deep.mkdir(parents=True)
    for number, text in enumerate(HOSTILE):
        body = "\n".join(f"    basket_total = {json.dumps(text)}  # {number} {line}" for line in range(30))
        (deep / f"basket_{number}.py").write_text(f'def total_{number}(basket):\n    """Sum a basket."""\n{body}\n')
    lines = "\n".join(f"    int pineapple{n} = {n};" for n in range(4000))
    (root / "Long.java").write_text(f"class Long {{\n  void pineapples() {{\n{lines}\n  }}\n}}\n")
    (root / "wide.py").write_text(
        "def wide(" + ", ".join(f"argument_{n}=None" for n in range(900)) + "):\n    return 1\n"
    )
    with fresh(root, "") as made:
        yield AgentTools(settled(made))


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("top", [1, 10, 50])
def test_a_search_fits(tools, budget, top):
    for question in ("sum a basket", "pineapples", "wide argument", "zzqqy", "total_3", "sum of zanzibar quota " * 60):
        for by in ("method", "file"):
            found = tools.search(question, top=top, budget=budget, by=by)
            assert size_of(found) <= 4 * budget
            assert found["certainty"]["level"] in ("strong", "weak", "none")
            assert json.loads(as_text(found)) == found
            if found["certainty"]["level"] != "none":
                assert found["results"]
                assert found["results"][0]["path"]


@pytest.mark.parametrize("budget", BUDGETS)
def test_code_a_trace_and_a_place_fit(tools, budget):
    frames = "".join(
        f'  File "/app/basket_{n % 6}.py", line 5, in total_{n % 6}\n    {"x" * 700}\n' for n in range(300)
    )
    trace = f"Traceback (most recent call last):\n{frames}ValueError: {'too long ' * 500}\n"
    for found in (
        tools.search(snippet=trace, budget=budget),
        tools.search(snippet="def sum(basket):\n    return basket_total\n", budget=budget, top=50),
        tools.related("basket_1.py:5", budget=budget, top=50),
        tools.read_unit("Long.java:5", budget=budget),
        tools.read_unit("wide.py", 1, budget=budget),
        tools.read_unit("basket_3.py", 3, budget=budget),
        tools.explain("sum a basket of totals", "basket_1.py", 4, budget=budget),
        tools.explain("word " * 390, "wide.py", 1, budget=budget),
        tools.explain("zzqqy", "Long.java", 3, budget=budget),
    ):
        assert size_of(found) <= 4 * budget
        assert json.loads(as_text(found)) == found


def test_more_room_shows_more_and_what_is_left_out_is_counted(tools):
    seen = []
    for budget in (100, 400, 1000, 4000):
        found = tools.search("sum a basket", top=50, budget=budget)
        seen.append((len(found["results"]), sum(len(hit.get("source", "")) for hit in found["results"])))
        assert len(found["results"]) + found["left_out"] > 5
    assert seen == sorted(seen)
    assert seen[-1][1] > 4000
    read = tools.read_unit("Long.java", 3, budget=250)
    assert (read["whole"], read["source"].endswith("\n")) == (False, True)
    assert tools.read_unit("Long.java", 3, budget=100_000)["whole"]


def test_a_place_that_is_no_hit_has_no_rank(tools):
    assert tools.explain("zzqqy", "Long.java", 3)["rank"] in (None, *range(1, 99))


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("most", [0, 1, 7, 100, 1000])
def test_a_source_is_cut_by_what_it_takes_as_json(text, most):
    part = cut(text, most)
    assert text.startswith(part)
    assert not part or size_of(part) <= most


def test_names_that_are_longer_than_the_budget_leave_a_valid_answer():
    told = {"rank": 1, "path": "p" * 4000, "name": "n" * 3000, "signature": "s" * 5000, "start_line": 1, "source": "x"}
    head = {"note": "n" * 100, "certainty": {"level": "weak", "absent": ["a" * 2000], "text": "a" * 3000}}
    found = with_hits({**head, "folder": "f" * 4000}, [hit_record(told)] * 20, 400)
    assert size_of(found) <= 400
    assert found["left_out"] == 20
    assert found["certainty"]["level"] == "weak"
    entry = hit_record(told)
    del entry["source"]
    assert size_of(with_source({**head, **entry}, "def f():\n  pass\n", 400)) <= 400
    assert size_of(with_words({"path": "p" * 4000, "rank": 1}, [{"word": "w" * 100}] * 9, 400)) <= 400


def test_copies_are_named_and_counted():
    places = [{"path": f"{n}.py", "start_line": 1, "end_line": 2} for n in range(9)]
    told = hit_record({"rank": 1, "path": "a.py", "start_line": 1, "copies": places})
    assert (len(told["copies"]), told["more_copies"]) == (3, 6)
    small = with_hits({}, [told] * 9, 700)
    assert all("copies" not in hit or hit["copies"] for hit in small["results"])


def test_control_characters_do_not_reach_a_terminal():
    assert as_text({"a": "\x1b[31m\x9b\x7f\x00"}) == '{"a":"\\u001b[31m\\u009b\\u007f\\u0000"}'
