from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.help import field_docs
from experiments.terminal.options import options_of, parse, parsed, split_arguments, unknown


@dataclass(frozen=True)
class Tree:
    height: int = 3
    """How tall
    it is."""
    width: float = 0.5
    depth: float = 0.25
    """How far it reaches."""
    kind: Literal["oak", "ash"] = "oak"
    """Which."""
    old: bool = False
    rings: tuple[int, ...] = (1, 2)
    name: str = "a"
    leaf: Literal["", "round", "long"] = ""


@dataclass(frozen=True)
class Oak(Tree):
    depth: float = 1.5
    """Deeper than others."""
    acorns: int = 9
    """How many."""


OPTIONS = options_of("tree", Tree)


def test_fields_take_the_text_below_them_and_share_it_in_a_row():
    assert field_docs(Tree)["height"] == "How tall it is."
    assert field_docs(Tree)["width"] == field_docs(Tree)["depth"] == "How far it reaches."
    assert field_docs(Tree)["name"] == ""


def test_fields_of_a_dataclass_that_it_is_built_on_keep_their_text():
    docs = field_docs(Oak)
    assert docs["height"] == "How tall it is."
    assert (docs["depth"], docs["acorns"]) == ("Deeper than others.", "How many.")
    assert {option.name for option in options_of("tree", Oak).values()} >= {"tree.height", "tree.acorns"}


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("height", "12", 12),
        ("width", "1e-3", 0.001),
        ("kind", "ash", "ash"),
        ("old", "true", True),
        ("old", "false", False),
        ("rings", "4,5,6", (4, 5, 6)),
        ("rings", "", ()),
        ("name", "x=y z", "x=y z"),
        ("leaf", "", ""),
    ],
)
def test_values_are_typed(field, text, value):
    parsed = parse(text, OPTIONS[field])
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("field", "text", "accepts"),
    [
        ("height", "1.5", "a whole number"),
        ("height", "", "a whole number"),
        ("width", "nan", "a number"),
        ("width", "inf", "a number"),
        ("kind", "elm", "one of oak, ash"),
        ("leaf", "wide", "one of round, long"),
        ("old", "1", "true or false"),
        ("rings", "1,b", "a comma list, each a whole number"),
    ],
)
def test_a_bad_value_says_what_is_accepted(field, text, accepts):
    with pytest.raises(ValueError, match=f"^--tree.{field} takes {accepts}, not '{text}'$"):
        parse(text, OPTIONS[field])


@given(st.integers())
def test_whole_numbers_survive(number):
    assert parse(str(number), OPTIONS["height"]) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_survive(number):
    assert parse(repr(number), OPTIONS["width"]) == number


def test_words_and_options_are_told_apart():
    words, options = split_arguments(["jdk", "--a.b=c=d", "galm", "--out=x y", "--a.b=e"])
    assert words == ["jdk", "galm"]
    assert options == {"a.b": "e", "out": "x y"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--train.epochs", "--out=x"], "--train.epochs needs a value: write --train.epochs=VALUE"),
        (["--", "x"], "-- needs a value"),
        (["--model.tied"], "--model.tied needs a value"),
        (["--model.tied", "--out=x"], "--model.tied"),
        (["-h3"], "unknown option -h3"),
    ],
)
def test_an_option_without_its_value_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        split_arguments(arguments)


def test_an_option_that_is_not_known_needs_no_value():
    known = ("train.epochs", "train.seed")
    for line in (["--train.epoch"], ["--train.epoch", "3"], ["--train.epoch", "--train.seed=1"]):
        with pytest.raises(ValueError, match=r"unknown option '--train\.epoch': did you mean --train\.epochs"):
            split_arguments(line, (), known)
    with pytest.raises(ValueError, match=r"--train\.epochs needs a value"):
        split_arguments(["--train.epochs"], (), known)


def test_a_value_may_follow_a_blank_but_a_switch_never_takes_the_next_word():
    line = ["jdk", "--train.epochs", "3", "--model.tied", "galm", "--out", "x=y", "--train.seed", "-1"]
    line += ["--model.tied=false"]
    words, options = split_arguments(line, {"model.tied"})
    assert words == ["jdk", "galm"]
    assert options == {"train.epochs": "3", "model.tied": "false", "out": "x=y", "train.seed": "-1"}
    assert parsed(["--old", "jdk", "--height", "4"], Tree) == (["jdk"], Tree(old=True, height=4))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--model.hidden", ""),
        ("--train.epoch", "--train.epochs"),
        ("--epochs", "--train.epochs"),
        ("--model.epochs", "--train.epochs"),
        ("--Train.Epochs", "--train.epochs"),
        ("--trian.epochs", "--train.epochs"),
        ("--model.seed", "--train.seed"),
        ("--data.sede", "--data.seed"),
    ],
)
def test_only_what_is_really_close_is_suggested(typed, meant):
    known = ["--data.seed", "--data.path", "--model.tied", "--model.dim", "--train.seed", "--train.epochs"]
    told = str(unknown("option", typed, [name for name in known if (typed, name) != ("--model.seed", "--data.seed")]))
    assert (f"did you mean {meant}?" in told) if meant else ("did you mean" not in told)


def test_an_unknown_name_is_told_the_nearest_and_all_there_are():
    assert "did you mean galm? known: galm, bm25" in str(unknown("model", "glam", ["galm", "bm25"]))
    assert "did you mean" not in str(unknown("model", "xyz", ["galm", "bm25"]))
