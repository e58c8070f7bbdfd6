"""Text and code of the HTML of posts, also of broken HTML; code against errors, and the exception they name."""

import pytest

from data_prep.posts.post_lines import CodeElement, error_type, is_error, read_html, snippets_of
from tests.data_prep.posts.dumps import TRACEBACK

IPYTHON = """TypeError                                 Traceback (most recent call last)
<ipython-input-1> in <module>()
----> 1 f(1)
"""
PYTHON_2 = """<type 'exceptions.RuntimeError'>          Traceback (most recent call last)
<type 'exceptions.RuntimeError'>: End of file"""
HANDLER = "try:\n    f()\nexcept ValueError:\n    pass"
CHAINED = f"{TRACEBACK}\n\nDuring handling of the above exception, another exception occurred:\n\npkg.sub.OwnError: no"


@pytest.mark.parametrize(
    ("block", "faithful", "strict"),
    [
        (TRACEBACK, True, True),
        (IPYTHON, True, True),
        (PYTHON_2, True, True),
        (HANDLER, True, False),  # the known error of the paper's rule
        ("x = 1", False, False),
        ('  File "a.py", line 3, in f\n    g()', False, True),
        ("KeyboardInterrupt", False, True),
        ("DeprecationWarning: old", False, True),
        ("error: no rule to make target", False, False),
    ],
)
def test_both_rules(block, faithful, strict):
    assert (is_error(block, "faithful"), is_error(block, "strict")) == (faithful, strict)


@pytest.mark.parametrize(
    ("block", "name"),
    [
        (TRACEBACK, "FileNotFoundError"),
        (IPYTHON, "TypeError"),
        (PYTHON_2, "RuntimeError"),
        (CHAINED, "OwnError"),
        ("it printed someError once", "someError"),
        ("an Error, then my.ErrorNumber_2 of it", "ErrorNumber_2"),
        ("StopIteration", "StopIteration"),
        ("nothing", ""),
    ],
)
def test_the_type_of_error_is_the_last_one(block, name):
    assert error_type(block) == name


def test_blocks_are_joined_in_order_by_kind():
    found = snippets_of(["a = 1\n", TRACEBACK, "  ", "b = 2", IPYTHON, TRACEBACK], "faithful")
    assert found["code"] == "a = 1\nb = 2"
    assert found["error"].startswith(TRACEBACK)
    assert found["keyword"] == ("FileNotFoundError", "TypeError")


def test_long_lines_words_and_gaps_take_no_time():
    assert error_type("a." * 500_000) == ""
    assert error_type("a" * 1_000_000 + " Error") == "Error"
    assert not is_error("A" * 1_000_000, "strict")
    assert not is_error("\n" * 1_000_000 + "x", "strict")


def test_code_in_order_and_text_with_lines():
    block = "<pre class='x'><code>if a &lt; b:\n    f(&amp;c)\n</code></pre>"
    html = f"<p>Use <code>a &lt; b</code>:</p><p>so</p>\n{block}<p>end</p>"
    found = read_html(html)
    assert found.codes == (CodeElement("a < b", False), CodeElement("if a < b:\n    f(&c)\n", True))
    assert found.text.split() == ["Use", "a", "<", "b:", "so", "if", "a", "<", "b:", "f(&c)", "end"]
    assert "    f(&c)" in found.text
    assert found.prose.split() == ["Use", "a", "<", "b:", "so", "end"]


def test_markup_inside_code_and_unclosed_tags():
    found = read_html("<pre><code>x = <strong>1</strong>\n<p>tail")
    assert found.codes[0].text.startswith("x = 1")
    assert read_html("<code>a<code>b</code></code>").codes == (CodeElement("ab", False),)


def test_no_markup_comments_and_odd_characters():
    assert read_html("plain").text == "plain"
    assert read_html("").text == ""
    assert read_html("<!-- secret --><p>a\u0000b \udc80</p>").text.startswith("a")
    assert "secret" not in read_html("<p>x<!-- secret --></p>").text
    assert read_html("<?xml version='1.0' encoding='latin-1'?><p>\u00e9</p>").text == "\u00e9"


def test_deep_nesting_does_not_overflow():
    assert "x" in read_html("<div>" * 50_000 + "x").text + "x"
