"""Ragged lists are the lists they were made of; arrays of safetensors are what that library reads."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

from data_prep.store.arrays import Ragged, edges, tensors

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


ARRAYS = {
    "bools": np.array([[True, False, True]]),
    "bytes": np.arange(6, dtype=np.uint8).reshape(1, 2, 3),
    "signed": np.array([-128, 127], np.int8),
    "counts": np.array([65_535], np.uint16),
    "numbers": np.array([[1], [-2]], np.int32),
    "long": np.array([2**62]),
    "weights": np.linspace(0, 1, 6, dtype=np.float32).reshape(3, 2),
    "none": np.empty((0, 4), np.float32),
    "one": np.array(2.5, np.float32),
}


def test_tensors_are_what_safetensors_reads() -> None:
    content = save(ARRAYS, {"about": "text"})
    found, about = tensors(content)
    assert about == {"about": "text"}
    assert {*found} == {*ARRAYS}
    for name, wanted in load(content).items():
        assert (found[name].dtype, found[name].shape) == (wanted.dtype, wanted.shape)
        assert np.array_equal(found[name], wanted)
        assert not found[name].flags.writeable


def made_up(header: object) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(16)


@pytest.mark.parametrize(
    "header",
    [
        5,
        [1],
        {"a": {}},
        {"a": {"dtype": "F8", "shape": [4], "data_offsets": [0, 4]}},
        {"a": {"dtype": "F32", "shape": [5], "data_offsets": [0, 16]}},
        {"a": {"dtype": "F32", "shape": [5], "data_offsets": [0, 20]}},
        {"a": {"dtype": "F32", "shape": [-2, -2], "data_offsets": [0, 16]}},
        {"a": {"dtype": "F32", "shape": [10**30], "data_offsets": [0, 4 * 10**30]}},
        {"a": {"dtype": "F32", "shape": ["4"], "data_offsets": [0, 16]}},
        {"a": {"dtype": "F32", "shape": [4], "data_offsets": [0]}},
        {"a": {"dtype": "F32", "shape": [4], "data_offsets": 16}},
    ],
)
def test_other_layouts_are_refused(header: object) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        tensors(made_up(header))


@pytest.mark.parametrize("content", [b"", bytes(7), b"\xff" * 8, save(ARRAYS)[:-1]])
def test_content_that_is_cut_is_refused(content: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        tensors(content)
