"""Comment-code pairs of R files: the rules one by one, the release's to the byte, and real pairs fed back."""

from typing import get_args

import pytest
from released import rows

from data_prep.gencodesearchnet.r_pairs import Mode, RPair, r_pairs

FIXTURE = (
    "# Setup things", "x <- 1", "library(dplyr)", "# ---- Load the data ----", "", "# second line = more",
    'd <- read.csv("a.csv") # inline', "   summary(d)", "# plot", "plot(d)", "# Fit the model", "m <- lm(y ~ x, d)",
    "library(ggplot2)", "summary(m)", "# Fit the model", "print(m)", "# trailing comment only",
)  # fmt: skip


def found(mode, *lines, name="f.R"):
    return [(pair.comment, pair.code) for pair in r_pairs(name, "\n".join(lines).encode(), mode)]


def released(*lines):
    return found("released", *lines)


def clean(*lines):
    return found("clean", *lines)


def test_the_release_s_rules_give_exactly_two_pairs():
    assert r_pairs("17 a.R", "\n".join(FIXTURE).encode(), "released") == [
        RPair("17 a.R 0", "  Load the data   second line  more ", 'd <- read.csv("a.csv") # inline summary(d) '),
        RPair("17 a.R 1", " Fit the model ", "m <- lm(y ~ x, d) summary(m) print(m) "),
    ]


def test_the_clean_rules_give_the_same_two_cleaned():
    assert clean(*FIXTURE) == [
        ("Load the data second line = more", 'd <- read.csv("a.csv") # inline\n   summary(d)'),
        ("Fit the model", "m <- lm(y ~ x, d)\nsummary(m)\nprint(m)"),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mode", get_args(Mode))
def test_line_ends_of_every_system(mode, end):
    data = end.join(FIXTURE).encode()
    assert r_pairs("f", data, mode) == r_pairs("f", "\n".join(FIXTURE).encode(), mode)


def test_released_text_is_decoded_twice():
    assert released("# size in m²", "x") == [(" size in mÃ\x82Â² ", "x ")]  # from UTF-8: four characters
    latin = r_pairs("f", "# size in m²\nx".encode("latin-1"), "released")
    assert latin[0].comment == " size in mÂ² "  # from latin-1: two


def test_clean_text_is_decoded_once():
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        assert r_pairs("f", "# size in m²\nx".encode(encoding), "clean") == [RPair("f 0", "size in m²", "x")]


def test_released_comments_lose_marks_wherever_they_are():
    assert released("## a-priori power: No=0 # here", "x") == [(" apriori power: No0  here ", "x ")]
    assert clean("## a-priori power: No=0 # here", "x") == [("a-priori power: No=0 # here", "x")]


@pytest.mark.parametrize(
    ("line", "comment"),
    [
        ("#### Load the data ####", "Load the data"),
        ("#---- Load the data ----", "Load the data"),
        ("# ======= Load the data =====#", "Load the data"),
        ("# ── Load the data ────", "Load the data"),
        ("# ═══ Load the data ═══", "Load the data"),
        ("# Load the data %%%%", "Load the data"),
        ("# give it to R -- or C++", "give it to R -- or C++"),
        ("#    Load the data *", "Load the data *"),  # one mark may mean something
        ("# Load the data #", "Load the data"),
        ("# --no-save is a flag", "--no-save is a flag"),
        ("# written in C#", "written in C#"),
        ("#Load the data", "Load the data"),
    ],
)
def test_clean_comments_lose_rules_at_their_ends_only(line, comment):
    assert clean(line, "x") == [(comment, "x")]


@pytest.mark.parametrize("mode", get_args(Mode))
def test_a_comment_needs_two_words_of_ascii_letters(mode):
    assert found(mode, "# plot", "x", "# plot 2 x2 a_b", "y", "# 1. 2. 3.", "z") == []
    assert len(found(mode, "# plot it", "x")) == 1
    assert len(found(mode, "# mean-centred x2", "x")) == (0 if mode == "released" else 1)  # "meancentred" is one


@pytest.mark.parametrize("title", ["# Load the data ----", "#### Load the data ####", "## Load the data ===="])
def test_the_title_of_a_section_is_a_query_as_in_the_benchmark(title):
    (pair,) = released(title, "a")
    assert (" ".join(pair[0].split()), pair[1].strip()) == ("Load the data", "a")
    assert clean(title, "a") == [("Load the data", "a")]
    assert clean(title, "", "# Read the csv", "a") == [("Load the data Read the csv", "a")]


@pytest.mark.parametrize("mode", get_args(Mode))
def test_code_of_a_short_comment_goes_to_no_pair(mode):
    (pair,) = found(mode, "# load the data", "a", "# plot", "b")
    assert pair[1].strip() == "a"
    (pair,) = found(mode, "# load the data", "a", "#-----", "b")
    assert pair[1].strip() == "a"


@pytest.mark.parametrize("mode", get_args(Mode))
def test_nothing_without_comments_or_code(mode):
    assert found(mode) == found(mode, "x <- 1") == found(mode, "# only a comment", "  ", "# and more") == []


def test_released_knows_library_at_the_start_of_a_line_only():
    assert released("# load the data", "x", "  library(a)", "y", "# show the data", "z") == [(" show the data ", "z ")]
    assert released("suppressMessages(library(a))", "# load the data", "x") == []  # none starts with it
    assert released("# no library(a) here", "x") == []
    assert released("require(a)", "# load the data", "x") == [(" load the data ", "x ")]
    pair = released("library(a)", "# load the data", "suppressMessages(library(b))", "x")
    assert pair == [(" load the data ", "suppressMessages(library(b)) x ")]


@pytest.mark.parametrize(
    "line",
    [
        "library(a)", "  library( a )", "require(a)", "pacman::p_load(a, b)", "p_load(a)", "base::require(a)",
        "suppressMessages(library(a))", "suppressWarnings(suppressPackageStartupMessages(require(a)))",
        "if (!require(a)) install.packages('a')", "suppressMessages({library(a)",
    ],
)  # fmt: skip
def test_clean_knows_more_ways_to_load_a_package(line):
    assert clean("# before it all", "x", line, "# after it all", "y", line, "z") == [("after it all", "y\nz")]


@pytest.mark.parametrize(
    "line", ["f <- function() library(a)", "# uses library(a) below", "if (require(a)) {", "required(a)"]
)
def test_clean_takes_no_other_line_for_one(line):
    assert [code for _, code in clean("# before it all", "x", line, "# after it all", "y")][-1] == "y"
    assert clean("# before it all", "x", line)[0][0] == "before it all"


def test_clean_leaves_out_loads_that_are_commented_out():
    assert clean("# load the data", "# library(a)", "x") == [("load the data", "x")]


def test_clean_keeps_lines_and_their_indentation():
    code = ("  f <- function(x) {", "", "    x + 1  ", "  }")
    assert clean("  # add one to it", *code) == [("add one to it", "f <- function(x) {\n  x + 1\n}")]


def test_roxygen_is_no_comment_and_ends_a_pair():
    lines = (
        "# load the data",
        "x",
        "#' Adds one to it",
        "#' @export",
        "add <- function(x) x + 1",
        "# plot it all",
        "y",
    )
    assert clean(*lines) == [("load the data", "x"), ("plot it all", "y")]
    assert [comment for comment, _ in released(*lines)][1] == "' Adds one to it ' @export "


def test_heads_of_a_vignette_s_chunks_are_no_comments():
    lines = (
        "## ----setup, include=FALSE-----", "library(a)", "## ----never-run, eval = FALSE----", "#  model <- lm(y ~ x)",
        "## ----fit-----", "# fit the model", "m <- lm(y)", "## -------------", "summary(m)",
        "###################################################", "### code chunk number 3: two words (eval = FALSE)",
        "###################################################", "## plot(the, model)",
    )  # fmt: skip
    assert clean(*lines) == [("fit the model", "m <- lm(y)")]
    ((comment, _),) = released(*lines)
    assert comment == " neverrun, eval  FALSE   model < lm(y ~ x)  fit  fit the model "


@pytest.mark.parametrize(
    "head",
    [
        *(
            "#' Adds it up",
            "#| label: two words",
            "#+ chunk-name, echo=FALSE",
            "#+",
            "#%% Load the data",
            "# %% two words",
        ),
        *("## @knitr two words", "# @knitr load-data", "#* @get /two/words", "  #| two words", "##' Adds it up"),
        *("## ---- results='hide', message=FALSE----", "## ---- fit-it, echo = FALSE------------------"),
    ],
)
def test_heads_of_chunks_end_a_pair_and_are_no_comments(head):
    assert clean("# load the data", "a", head, "b", "# plot it all", "c") == [
        ("load the data", "a"),
        ("plot it all", "c"),
    ]
    assert clean(head, "# load the data", "a") == [("load the data", "a")]


@pytest.mark.parametrize(
    "line",
    [
        *(
            "#> Call: lm output line",
            "  ##> more output here",
            "#!/usr/bin/env Rscript",
            "#! /usr/bin/Rscript",
            "#!Rscript",
        ),
        *(
            "# nolint start: object_name_linter.",
            "#nolint end",
            "# nolint next two",
            "# nocov start",
            "# noqa: two words",
        ),
        *("#region Fold this part", "#endregion of it", "# endregion Fold this", "# -*- coding: utf-8 -*-"),
        *("# vim: set ts=2 sw=2:", "# vi: set ts=2:", "# styler: off", "# fmt: skip file", "#line 12 'other file.R'"),
        *("# @formatter:off for it", "# d <- read.csv(file)", "#  x$y[1] <<- some value", "# print(the, model)"),
        *("## summary(f(g(x), y)) ", "# library(survival)", "# cspell: disable next line", "# lintr: disable it"),
    ],
)
def test_lines_for_tools_output_and_code_that_is_off_are_as_if_they_were_not_there(line):
    expected = [("load the data", "a\nb")]
    assert clean("# load the data", "a", line, "b") == expected
    assert clean(line, "# load the data", line, "a", "b", line) == expected
    assert clean(line, "a") == []


@pytest.mark.parametrize(
    "line",
    [
        *("# region of the study", "#line the data up", "# no linting here", "# vim is an editor", "# mean (sd) of it"),
        *(
            "# print(x) shows it",
            "# f() and g()",
            "# less than 5 < 6",
            "#+----- a box",
            "# plot the result(s)",
            "#!! do it",
        ),
        *(
            "# Load the data ----",
            "#### Load the data ####",
            "# fmt of the data",
            "#- first the data",
            "# x = the data",
        ),
    ],
)
def test_what_is_like_a_command_but_is_said_to_people_is_a_comment(line):
    ((comment, code),) = clean(line, "a")
    assert (comment.split()[-1], code) == (line.strip("# -").split()[-1], "a")


def test_lines_inside_of_a_string_are_code():
    code = 'q <- "\n# not a comment inside\nlibrary(x)\n\n  SELECT 1"\n'
    code += 'x <- r"---(\n#\' nor "this"\n)---"\n`a\n# b` <- 1\nrun(q)'
    assert clean("library(dplyr)", "# Read the table", *code.split("\n"), "# and this", "y") == [
        ("Read the table", code),
        ("and this", "y"),
    ]
    assert clean("# Read the table", 'x <- "# 1" # it\'s one', "# and this", "y") == [
        ("Read the table", 'x <- "# 1" # it\'s one'),
        ("and this", "y"),
    ]
    assert clean("'", "library(x)", "'", "# before it all", "x", "library(a)", "# after it all", "y")[0][1] == "y"


@pytest.mark.parametrize("mode", get_args(Mode))
def test_long_files_take_no_time(mode):
    """Minutes, if anything took the square of a file's length."""
    n = 50_000
    lines = ["# a comment of words"] * 20_000 + ["x <- 1"] * 20_000 + ["#" + " " * 200_000 + "-"]
    assert len(found(mode, *lines)) == 1
    for line in (
        "# f" + "(" * n,
        "# a" + "[" * n,
        "#" * n + "!",
        "# f()" + " " * n + "x",
        "# f(((" * n,
        "# a" + " <" * n,
    ):
        found(mode, "# a comment of words", "x", line)
    for head in ("a = ", " a = ", " a.", "-", "a", " a =-"):
        found(mode, "# a comment of words", "x", f"## ----{head * n}x", f"## ---- {head * n}----")


def test_released_pairs_fed_back_give_themselves():
    """The comment with its mark, and its code on a line of its own, are a file that gives the released pair."""
    checked = 0
    for row in rows("statcodesearch/test_70"):
        if row["code"].startswith(("#", "library(")) or not row["query"].isascii() or "library(" in row["query"]:
            continue
        if not row["code"].isascii() or "library(" in row["code"]:
            continue
        assert released(f"# {row['query']}", row["code"]) == [(f" {row['query']} ", f"{row['code']} ")]
        checked += 1
    assert checked > 700
