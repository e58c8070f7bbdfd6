"""What counts as a copy, and the overlap of two pieces of code by its definition."""

from math import sqrt

import pytest

from search.snippets.code_text import SHORTEST, Tokens

CODE = """def add_all(items, start=0):
    total = start
    for item in items:  # each
        total += item.price * 2
    return total
"""


def tokens(text, language="python"):
    return Tokens.of(text, language)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (CODE, "exact"),
        (f"class Box:\n    def other(self): pass\n\n{CODE}", "exact"),
        (CODE.replace("  # each", "").replace("    ", "  "), "exact"),  # without comments and in other lines
        (CODE.replace("* 2", "* 3"), "near"),
        (CODE.replace("total", "result"), ""),
        ("def other(): pass", ""),
    ],
)
def test_copies(other, expected):
    assert tokens(CODE).copy_in(tokens(other)) == expected


def test_short_code_has_no_copies():
    short = "return total + item"
    assert len(tokens(short).all) < SHORTEST
    assert tokens(short).copy_in(tokens(short)) == ""


def test_strings_are_tokens_and_comments_none():
    text = 'a = "# no // comment" // b\n/* c */ d'
    assert tokens(text, "javascript").all == ["a", "=", '"# no // comment"', "d"]
    assert tokens("x = '''a\nb''' # c", "python").all == ["x", "=", "'''a\nb'''"]


def test_the_overlap_is_the_cosine_of_the_sets_of_pairs_of_tokens():
    first, second = tokens("a b c a b"), tokens("b c a d")
    pairs = [{("a", "b"), ("b", "c"), ("c", "a")}, {("b", "c"), ("c", "a"), ("a", "d")}]
    assert first.overlap(second) == pytest.approx(len(pairs[0] & pairs[1]) / sqrt(9))
    assert first.overlap(tokens("")) == 0.0


@pytest.mark.parametrize("part", ['"', "'", '"""', "/*", "//", "`", "\\", "#", "a'\n"])
def test_hostile_texts_take_no_time(part):
    for language in ("python", "java", ""):
        assert len(tokens(part * (200_000 // len(part)), language).all) <= 200_000
