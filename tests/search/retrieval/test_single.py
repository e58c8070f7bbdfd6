"""float16 vectors as float32."""

import numpy as np

from search.retrieval.exact import single


def test_every_finite_number_is_the_one_that_numpy_gives():
    numbers = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(np.float16)
    numbers = numbers[np.isfinite(numbers)].reshape(-1, 2)
    found = single(numbers)
    assert found.dtype == np.float32
    assert (found.view(np.uint32) == numbers.astype(np.float32).view(np.uint32)).all()


def test_what_is_not_finite_is_longer_than_a_vector_may_be():
    wild = np.array([[np.inf], [-np.inf], [np.nan]], np.float16)
    assert (np.abs(single(wild)) > 1.01).all()


def test_others_are_converted_by_numpy():
    assert single(np.array([[0.1, 3.0]])).tolist() == [[np.float32(0.1), 3.0]]
