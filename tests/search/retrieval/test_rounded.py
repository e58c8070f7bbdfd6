"""That the bounds of rounded vectors hold, whatever the numbers are."""

import numpy as np
import pytest

from modeling.c_library import load_c
from search.retrieval import exact
from search.retrieval.exact import ROUNDED, ExactVectors, RoundedVectors


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    """The inner loop, whatever tests before have found in an environment without it."""
    monkeypatch.delenv("GALM_NATIVE", raising=False)
    library = load_c(ROUNDED)
    monkeypatch.setattr(exact, "search_loops", lambda: library)
    if library is None:
        pytest.skip("there is no C compiler")


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def rows_of(kind, dim):
    random = np.random.default_rng(dim)
    if kind == "even":
        return unit(random.normal(size=(400, dim)))
    if kind == "few numbers":
        return unit(random.normal(size=(400, dim)) ** 9)
    if kind == "short":
        return unit(random.normal(size=(400, dim))) * np.float32(1e-6)
    return unit(random.choice([-1.0, 1.0], (400, dim)))  # the largest sums


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("dim", [1, 7, 256, 3000])
@pytest.mark.parametrize("kind", ["even", "few numbers", "short", "equal"])
def test_the_exact_product_is_within_the_error(kind, dim, dtype):
    vectors = rows_of(kind, dim).astype(dtype)
    vectors[5] = 0
    for query in (vectors[7].astype(np.float32), -rows_of("few numbers", dim)[1], np.zeros(dim, np.float32)):
        products, errors = RoundedVectors(vectors).products(query)
        exact = vectors.astype(np.float64) @ query.astype(np.float64)
        assert (np.abs(products - exact) <= errors + 1e-6).all()
        assert products[5] == 0
        assert errors.max() < 0.5 * max(1e-9, float(np.linalg.norm(query)))


def test_the_products_are_those_of_the_rounded_numbers():
    vectors, query = np.array([[0.5, -0.25, 0.0], [0.0, 0.0, 0.0]], np.float32), np.array([0.6, 0.8, 0.0], np.float32)
    products, errors = RoundedVectors(vectors).products(query)
    first = np.array([127, -64, 0]) * (0.5 / 127)  # -63.5 is rounded to an even number
    second = np.rint(query / (0.8 / 32767)) * (0.8 / 32767)
    assert products.tolist() == pytest.approx([first @ second, 0], abs=1e-7)
    lost = np.linalg.norm(query - second)
    assert errors[0] == pytest.approx(np.linalg.norm(first - vectors[0]) * (1 + lost) + 1.01 * lost, rel=1e-3)


def test_few_more_rows_than_wanted_are_candidates():
    vectors = rows_of("even", 256).astype(np.float16)
    index = ExactVectors(vectors)
    query = unit(np.random.default_rng(1).normal(size=(1, 256)))[0]
    scanned, rounded = index.candidates(query, 50), index.candidates(query, 50)
    assert len(scanned) == 50
    assert {*scanned.tolist()} <= {*rounded.tolist()}
    assert len(rounded) < 200
