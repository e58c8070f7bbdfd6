"""The sum of an index: each damage of a megabyte is another sum."""

import os

import numpy as np
import pytest

from search.quick_sum import quick_sum

WHOLE = os.urandom(1 << 19) + bytes(1 << 18) + b"abcdefgh" * (1 << 15) + b"the end"


def test_each_flipped_bit_is_seen():
    random, before = np.random.default_rng(0), quick_sum(b"", WHOLE)
    assert before == quick_sum(b"", memoryview(WHOLE))
    spoilt = bytearray(WHOLE)
    for place in (*random.integers(0, len(WHOLE), 300).tolist(), 0, len(WHOLE) - 1):
        spoilt[place] ^= 1 << random.integers(0, 8)
        assert quick_sum(b"", bytes(spoilt)) != before
        spoilt[place] = WHOLE[place]
    assert quick_sum(b"a", WHOLE) != before


@pytest.mark.parametrize("size", [1, 8, 64, 512, 4096, 8192, 1 << 16])
def test_what_is_zeroed_moved_or_lost_is_seen(size):
    before = quick_sum(b"", WHOLE)
    for start in range(0, 1 << 18, 37 * 4096):
        block, after = WHOLE[start : start + size], WHOLE[start + size : start + 2 * size]
        for other in (bytes(size) + after, after + block, block[::-1] + after if size > 1 else bytes(2), after):
            assert quick_sum(b"", WHOLE[:start] + other + WHOLE[start + 2 * size :]) != before


@pytest.mark.parametrize("start", range(9))
def test_the_sum_does_not_depend_on_where_the_bytes_lie(start):
    assert quick_sum(b"", memoryview(bytes(start) + WHOLE)[start:]) == quick_sum(b"", WHOLE)


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097])
def test_contents_of_any_length_have_a_sum(size):
    assert len({quick_sum(b"", bytes(more)) for more in (size, size + 1, size + 8)}) == 3
