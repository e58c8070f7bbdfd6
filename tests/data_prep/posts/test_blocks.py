"""Code against errors, and the exception that a traceback names."""

import pytest

from data_prep.posts.blocks import error_type, is_error, snippets_of
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
    assert found.code == "a = 1\nb = 2"
    assert found.error.startswith(TRACEBACK)
    assert found.keywords == ("FileNotFoundError", "TypeError")


def test_long_lines_words_and_gaps_take_no_time():
    assert error_type("a." * 500_000) == ""
    assert error_type("a" * 1_000_000 + " Error") == "Error"
    assert not is_error("A" * 1_000_000, "strict")
    assert not is_error("\n" * 1_000_000 + "x", "strict")
