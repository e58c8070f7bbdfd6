"""Ragged lists are the lists they were made of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_prep.store.arrays import Ragged, edges

LISTS = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=5), max_size=8)


@given(LISTS)
def test_ragged_holds_the_lists(lists: list[list[int]]) -> None:
    ragged = Ragged.of(lists)
    assert len(ragged) == len(lists)
    assert ragged.values.dtype == np.int32
    assert ragged.offsets.dtype == np.int64
    assert [row.tolist() for row in (ragged[n] for n in range(len(ragged)))] == lists
    assert ragged.lengths.tolist() == [len(each) for each in lists]


@given(LISTS, st.data())
def test_take_is_indexing(lists: list[list[int]], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(-len(lists), len(lists) - 1), max_size=10)) if lists else []
    taken = Ragged.of(lists).take(np.array(rows, dtype=np.int64))
    assert [taken[n].tolist() for n in range(len(taken))] == [lists[row] for row in rows]
    assert taken.offsets[0] == 0
    assert taken.offsets[-1] == len(taken.values)


@given(LISTS, st.integers(0, 6))
def test_cut_keeps_each_beginning(lists: list[list[int]], longest: int) -> None:
    cut = Ragged.of(lists).cut(longest)
    assert [cut[n].tolist() for n in range(len(cut))] == [each[:longest] for each in lists]
    assert cut.offsets[-1] == len(cut.values)


def test_edges_are_where_lists_begin_and_end() -> None:
    assert edges(np.array([2, 0, 3])).tolist() == [0, 2, 2, 5]
    assert edges(np.array([], np.int64)).tolist() == [0]


def arrays(values, offsets):
    return np.array(values, np.int32), np.array(offsets, np.int64)


def test_lists_of_a_file_are_the_lists():
    found = Ragged.checked(*arrays([3, 0, 2], [0, 2, 2, 3]), lists=3, below=4)
    assert [found[row].tolist() for row in range(3)] == [[3, 0], [], [2]]
    assert len(Ragged.checked(*arrays([], [0]), lists=0, below=0)) == 0


@pytest.mark.parametrize(
    ("values", "offsets"),
    [
        *(([3, 0, 4], [0, 2, 2, 3]), ([3, 0, -1], [0, 2, 2, 3]), ([3, 0, 2], [0, 2, 3]), ([3, 0, 2], [1, 2, 2, 3])),
        *(
            ([3, 0, 2], [0, 2, 2, 2]),
            ([3, 0, 2], [0, 2, 1, 3]),
            ([3, 0, 2], [0, -5, 2, 3]),
            ([3, 0, 2], [0, 2, 2, 10**9]),
        ),
        *(([3, 0, 2], []), ([[3, 0, 2]], [0, 2, 2, 3]), ([3, 0, 2], [[0, 2, 2, 3]])),
    ],
)
def test_lists_of_a_file_that_are_none_are_refused(values, offsets):
    with pytest.raises(ValueError, match=r"expected|offsets that do not rise|where 0 to 3 can stand"):
        Ragged.checked(*arrays(values, offsets), lists=3, below=4)


@pytest.mark.parametrize(
    ("values", "offsets"), [(np.int64, np.int64), (np.int32, np.int32), (np.float32, np.int64), (">i4", np.int64)]
)
def test_lists_of_other_types_are_refused(values, offsets):
    with pytest.raises(ValueError, match=r"expected .* of int"):
        Ragged.checked(np.array([1], values), np.array([0, 1], offsets), lists=1, below=2)
