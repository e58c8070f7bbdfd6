"""Tokens of R, by R's language definition and its page about quotes."""

import time

import pytest

from data_prep.gencodesearchnet.r_pairs import lines_inside
from data_prep.languages.r import tokens


def found(text, *kinds):
    return [text[token.start : token.end] for token in tokens(text) if token.kind in (kinds or ("string",))]


@pytest.mark.parametrize(
    "string",
    [
        *("'a'", '"a"', '""', "''", '"a # b"', "'a \\' b'", '"a \\\\"', "'\"'", '"\'"', '"a\nb # c"', '"\\\n"', "'`'"),
        *('r"(a)"', "R'(a)'", 'r"[a]"', 'r"{a}"', 'r"---(a)---"', "R'--[a]--'", 'r"-(a)" (b)-"', 'r"(\\)"', "r'()'"),
        *('r"(a "b) # c)"', 'r"-(a)"-)-"', 'r"(one\n# two\n)"', "r'({[)'", 'r"---[)---" #]---"', 'r"(é # 😀)"'),
    ],
)
@pytest.mark.parametrize("around", ["{}", "x <- {}", "f({}, b) # it's {{}}", "c({})\n# don't\n"])
def test_a_string_is_one_token(string, around):
    assert found(around.replace("{}", string, 1)) == [string]


@pytest.mark.parametrize(
    ("text", "strings"),
    [
        ('bar"a"', ['"a"']),
        ('var"(a)"', ['"(a)"']),  # the r is part of a name
        ("x.r'(a)'", ["'(a)'"]),
        ('r "(a)"', ['"(a)"']),
        ('r"a"', ['"a"']),
        ("\\(x) 'a'", ["'a'"]),
        ("5 %% 2 # don't", []),
        ("x %'% 'a'", ["'a'"]),
        ("'a' 'b'", ["'a'", "'b'"]),
        ("x <- 'open\ny <- 'a'", ["'open\ny <- '", "'"]),
        ("x <- \"open\ny <- 'a'", ['"open', "'a'"]),  # ends with its line, so that the rest is read
        ('r"(open\nr"(a)"\n', ['r"(open\nr"(a)"']),
        ("r'{open\nr'(a)'\n", ["r'{open", "r'(a)'"]),
    ],
)
def test_what_is_a_string_and_what_is_not(text, strings):
    assert found(text) == strings


def test_comments_names_operators_and_brackets():
    text = 'f <- function(x) { x %#% `a # b` # it\'s "one"\n}  # two'
    assert found(text, "comment") == ['# it\'s "one"', "# two"]
    assert found(text, "name") == ["`a # b`"]
    assert found(text, "operator") == ["%#%"]
    assert "".join(found(text, "bracket")) == "(){}"
    assert found("`a \\` # b`", "name", "comment") == ["`a \\` # b`"]
    assert [*tokens("")] == [*tokens("x + 1")] == []


def test_lines_that_begin_inside_of_a_string():
    text = "a <- 'one\n# two\n'\n# three\nb <- r\"(\n)\" # 'four\n`c\n`\nd"
    assert sorted(lines_inside(text)) == [1, 2, 5, 7]
    assert lines_inside("x\n'y'\n") == frozenset()


@pytest.mark.parametrize("part", ['"\\', "'", '"', "`", '\\"\n', 'r"(', 'r"-(\n', "r'[", "%", "#", '"\\\n', "r'"])
def test_time_grows_with_the_length_only(part):
    started = time.process_time()
    for text in (part * 100_000, "".join(f'r"{"-" * number}(' for number in range(600))):
        assert sum(1 for _ in tokens(text)) <= len(text)
        lines_inside(text)
    assert time.process_time() - started < 3  # seconds; minutes, if it took the square
