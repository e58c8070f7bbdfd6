"""The line that shows a hit of a message, or of a text in quotes, is the one that has it."""

import pytest
from serving import index_of

from search.engine.engine import Engine
from search.engine.line_scores import line_scores
from search.engine.messages import line_of
from search.engine.show import result
from search.hits import View
from search.index.index_file import open_index
from search.serve.hit_records import previewed

FILES = {
    "overlaps.rs": (
        "/// Overlapping heron route.\n"
        "#[test]\n"
        '#[should_panic(expected = "Overlapping heron route. Handler for `GET /pond` exists")]\n'
        "fn heron_routes_overlap() {\n"
        "    let handler = heron_handler();\n"
        '    let route = Route::overlapping("/foo", heron_route(handler));\n'
        '    route.handler("/foo", exists(handler));\n'
        "}\n"
    ),
    "views.py": (
        "@app.route('/otters/<id>/holts')\n"
        "@cached(seconds=30)\n"
        "def show(id):\n"
        "    holt = load(id)\n"
        "    return page(holt)\n"
    ),
}
MESSAGE = "Overlapping heron route. Handler for `GET /foo` exists"
ASKED = {MESSAGE: ("overlaps.rs", 3), '"heron route. Handler"': ("overlaps.rs", 3), "app otters holts": ("views.py", 1)}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("overlaps")
    for name, text in FILES.items():
        (root / name).write_text(text)
    return Engine(open_index(index_of(root, root / "index")), None)


@pytest.mark.parametrize("question", ASKED)
def test_the_line_that_has_the_text_is_shown_in_a_terminal_and_on_a_page(engine, question):
    path, line = ASKED[question]
    hit = next(hit for hit in engine.search(question) if not engine.index.is_whole_file(hit.row))
    assert engine.index.file(hit.row).path == path
    quoted = question.startswith('"')
    view = View.of(engine, question.strip('"'), None, quoted=quoted)
    assert [each.number for each in view.lines(hit.row) if each.best] == [line]
    told = [result(engine, question, hit, explain=False)]
    (found,) = previewed(engine, engine.asked(question)[0], told, typed=question)
    assert found["preview"]["best_line"] == line


def test_a_text_in_quotes_may_begin_on_one_line_and_end_on_the_next():
    text = 'def run():\n    raise Error("the heron has\\n"\n        "flown away")\n'
    assert line_of("the heron\nhas flown\n", "heron has", quoted=True) == 1
    assert line_of("theHeron()\nthe_heron_has()\n", "heron has", quoted=True) == 2
    assert line_of(text, "otter has", quoted=True) == 0


def test_a_line_has_most_of_a_message_in_its_order_and_is_no_comment():
    message = "error: could not open heron 7 of pond"
    text = '# could not open heron 7 of pond\nopen(heron)\nfail(f"could not open heron {n} of pond")\n'
    assert line_of(text, message) == 3
    assert line_of("pond of heron, open\n", message) == 0
    assert line_of(text, "open heron") == 0
    quoted = 'def run():\n    """Run.\n\n    Could not open heron 7 of pond.\n    """\n'
    assert line_of(quoted, message) == 0
    assert line_of("could not open heron 7 of pond\n", message, sentence="could not open heron 7 of pond") == 0


def test_an_attribute_says_as_much_as_other_code():
    attribute, comment, code = line_scores("#[heron]\n# heron\nheron()", {"heron": 1.0})
    assert attribute == code > comment > 0
