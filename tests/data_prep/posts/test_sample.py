"""Broken examples, their genuine tracebacks, and a sample of them."""

import json
import random

import pytest

from data_prep.posts.sample import KINDS, Example, broken, examples, failure, renamed, write_sample

EXAMPLE = Example("m.f", "import math\nxs = [1, 2]\ny = math.sqrt(xs[0] + 4)\nprint(y)")


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("wrong attribute", "AttributeError: module 'math' has no attribute 'sqr'"),
        ("missing import", "NameError: name 'math' is not defined"),
        ("index off by one", "IndexError: list index out of range"),
    ],
)
def test_a_mutation_fails_as_it_says(kind, error):
    code = broken(EXAMPLE, kind, random.Random(0))
    assert code is not None
    told = failure(code)
    assert told.startswith('Traceback (most recent call last):\n  File "example.py", line ')
    assert error in told


def test_examples_that_run_through_and_endless_ones():
    assert failure(EXAMPLE.code) == ""
    with pytest.raises(KeyboardInterrupt):
        failure("while True: pass")


@pytest.mark.parametrize("kind", [*KINDS])
def test_every_mutation_changes_the_code_or_finds_no_place(kind):
    code = broken(EXAMPLE, kind, random.Random(1))
    assert code is not None
    assert code != EXAMPLE.code
    assert broken(Example("m.f", "pass"), kind, random.Random(1)) is None


def test_variables_get_other_names():
    code = renamed("import math\nxs = [1]\nfor x in xs: print(x, math)", random.Random(0))
    assert "math" in code
    assert "xs" not in code
    assert failure(code) == ""


def test_a_sample_of_the_standard_library(tmp_path):
    modules = ("statistics", "textwrap", "fractions", "heapq", "collections")
    assert [*examples(("statistics",))]
    count = write_sample(tmp_path, 12, 0, lambda _: None, modules)
    tickets = [json.loads(line) for line in (tmp_path / "tickets.jsonl").read_text().splitlines()]
    assert len(tickets) == count
    assert all("Traceback (most recent call last)" in ticket["body"] for ticket in tickets)
    assert {*map(type, (ticket["id"] for ticket in tickets))} == {int}
    with pytest.raises(ValueError, match="could be broken"):
        write_sample(tmp_path, 12, 0, lambda _: None, ("no_such_module",))
