"""The passages that the compiled loop links are those of numpy."""

import numpy as np
import pytest

from modeling.c_library import load_c
from search.engine.matching import Word, linked
from search.retrieval.exact import ROUNDED


def test_the_compiled_loop_links_as_numpy_does(monkeypatch):
    library = load_c(ROUNDED)
    if library is None:
        pytest.skip("there is no C compiler")
    rng, longest = np.random.default_rng(0), 0
    for _ in range(200):
        count = int(rng.integers(1, 9))
        places, values = np.cumsum(rng.integers(0, 4, count)), np.cumsum(rng.integers(0, 2, count))
        sizes = rng.integers(0, 40, count)
        keys = [np.unique(rng.integers(0, 80, size)) + (rng.integers(0, 2) << 32) for size in sizes]
        weights = rng.choice([0.5, 1.25, 3.0], count)
        words = [Word(*each) for each in zip(places.tolist(), values.tolist(), weights.tolist(), keys, strict=True)]
        found = []
        for loops in (library, None):
            monkeypatch.setattr("search.engine.matching.search_loops", lambda loops=loops: loops)
            found.append(linked(words, 0.25))
        (keys_of_one, one), (keys_of_other, other) = found
        assert keys_of_one.tolist() == keys_of_other.tolist()
        for part in ("weights", "lengths", "firsts"):
            assert getattr(one, part).tolist() == getattr(other, part).tolist()
        longest = max(longest, int(one.lengths.max(initial=0)))
    assert longest > 3
