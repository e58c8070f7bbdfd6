"""Speed measurements: turns, rows of two forms, ratios of the same round, and processes of their own."""

import itertools
import os
import time

import pytest

from evaluation.speed import (
    GivenUpError,
    Spread,
    asking,
    compare,
    form_of,
    in_own_process,
    memory_mb,
    rows_of,
)


def test_a_spread_has_median_least_and_most_if_there_are_several():
    assert Spread.of([3.0, 1.0, 10.0]) == Spread(median=3.0, least=1.0, most=10.0)
    assert Spread.of([1.0, 2.0]).median == 1.5
    assert Spread.of([2.0]) == Spread(median=2.0)


def test_forms_take_turns_and_the_first_round_is_not_counted():
    numbers = itertools.count(1)
    asked = []

    def form(name):
        return lambda: (asked.append(name), {"": float(next(numbers))})[1]

    (row,) = compare("both", {"a": form("a"), "b": form("b")}, 2)
    assert asked == ["a", "b"] * 3
    assert (row.name, row.first, row.second) == ("both", "a", "b")
    assert row.first_seconds == Spread(median=4.0, least=3.0, most=5.0)
    assert row.second_seconds == Spread(median=5.0, least=4.0, most=6.0)
    assert row.ratio.most == pytest.approx(4 / 3)  # of the same round
    asked.clear()
    assert compare("", {"a": form("a"), "b": form("b")}, 1, warm_up=False)[0].ratio.least is None
    assert asked == ["a", "b"]


def test_parts_that_both_have_in_all_rounds_are_rows():
    rows = rows_of("step", ("a", [{"x": 1.0, "y": 1.0}, {"x": 2.0}]), ("b", [{"x": 3.0, "y": 9.0}, {"x": 2.0}]))
    assert [(row.name, row.ratio) for row in rows] == [("step, x", Spread(median=2.0, least=1.0, most=3.0))]


def test_seconds_are_of_a_unit_and_of_questions():
    assert 0.01 <= form_of(lambda: time.sleep(0.02), 2.0)()[""] < 0.5
    seconds = asking(lambda wait: time.sleep(wait), [0.0, 0.0, 0.05])()
    assert 0 < seconds["median"] < seconds["95 %"]


def test_a_call_in_its_own_process_answers_raises_or_is_given_up():
    assert in_own_process(os.getpid) != os.getpid()
    with pytest.raises(ValueError, match="invalid literal"):
        in_own_process(int, "x")
    with pytest.raises(GivenUpError, match="not within 0 s"):
        in_own_process(time.sleep, 60, limit=0)
    with pytest.raises(GivenUpError, match="ended with the exit code 3, perhaps for memory"):
        in_own_process(os._exit, 3, limit=60)


def test_memory_is_that_of_a_process():
    assert memory_mb() > 30  # of Python with numpy alone
    assert memory_mb() >= memory_mb("RssAnon") > 0
