import math
from dataclasses import dataclass
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_prep.errors import SEED, Bounded, Bounds, check_bounds, real, shown, whole
from data_prep.languages.fields import LONGEST


@dataclass
class Oven:
    plates: object = 4
    heat: object = 0.5


BOUNDS = {"plates": whole(1, 4096), "heat": real(0, 1, below=True)}


@dataclass(frozen=True, slots=True)
class Stove(Bounded, section="oven"):
    plates: Annotated[object, BOUNDS["plates"]] = 4
    name: str = ""


@dataclass(frozen=True, slots=True)
class HotStove(Stove):
    heat: Annotated[object, BOUNDS["heat"]] = 0.5


@given(st.integers(), st.integers(-9, 9), st.integers(0, 9))
def test_whole_numbers_are_held_from_the_least_to_the_most(value, least, more):
    assert whole(least, least + more).hold(value) == (least <= value <= least + more)


@pytest.mark.parametrize("value", [True, math.nan, "1", None, 1.0, 10**400])
def test_what_is_no_such_number_is_outside(value):
    assert not whole(0, 9).hold(value)


@pytest.mark.parametrize(
    ("bounds", "inside", "outside", "text"),
    [
        (whole(1, 4096), (1, 4096), (0, 4097), "a whole number from 1 to 4,096"),
        (whole(0, 9, zero="all"), (0, 9), (-1, 10), "0 (all) or a whole number up to 9"),
        (real(0, 1), (0, 1, 0.5), (-0.1, 1.1, math.nan, math.inf), "a number from 0 to 1"),
        (real(0, 1, below=True), (0, 0.99), (1, -1), "a number of 0 or more and below 1"),
        (real(0, 1000, above=True), (0.001, 1000), (0, 1001), "a number above 0 and at most 1,000"),
        (real(0, 0.5, above=True, below=True), (0.1,), (0, 0.5), "a number above 0 and below 0.5"),
    ],
)
def test_each_kind_of_bounds_says_what_it_holds(bounds: Bounds, inside, outside, text):
    assert all(map(bounds.hold, inside))
    assert not any(map(bounds.hold, outside))
    assert str(bounds) == text


def test_the_first_option_outside_is_named_with_its_section():
    check_bounds(Oven(), BOUNDS)
    with pytest.raises(ValueError, match=r"^--oven\.plates takes a whole number from 1 to 4,096, not 0$"):
        check_bounds(Oven(0, 2), BOUNDS, "oven")
    with pytest.raises(ValueError, match=r"^--heat takes a number of 0 or more and below 1, not 'hot'$"):
        check_bounds(Oven(heat="hot"), BOUNDS)


def test_bounds_beside_the_fields_hold_in_a_derived_class_too():
    assert HotStove(1, "any", 0.0).plates == 1
    with pytest.raises(ValueError, match=r"^--oven\.plates takes a whole number from 1 to 4,096, not 0$"):
        HotStove(0, heat=2)
    with pytest.raises(ValueError, match=r"^--oven\.heat takes a number of 0 or more and below 1, not 2$"):
        HotStove(heat=2)


def test_a_long_value_is_shown_by_its_beginning():
    assert shown("abc") == "'abc'"
    assert shown("x" * 5000) == f"'{'x' * 59}..."
    with pytest.raises(ValueError, match=r"not 9{60}\.\.\.$"):
        check_bounds(Oven(10**4000 - 1), BOUNDS)


def test_seeds_are_those_of_numpys_older_generators():
    assert SEED.hold(2**32 - 1)
    assert not SEED.hold(2**32)


def test_as_many_words_may_be_read_as_are_prepared():
    from data_prep.errors import LENGTH

    assert LENGTH.most == LONGEST
