"""Classes of queries and leads in them, against loops over their definitions."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.comparison import Entry, by_pool
from evaluation.queries import QueryFacts
from evaluation.query_classes import LEAST, Gain, gain, length_classes, overlap_classes, query_classes
from tests.evaluation.test_results import SIZE, result


def entry(label: str, *seeds: list[int]) -> Entry:
    """A ranker that gives SIZE queries these ranks, once for each seed."""
    runs = [(label, replace(result(seed=seed, also={}), ranks=ranks)) for seed, ranks in enumerate(seeds)]
    ((_, (found,)),) = by_pool(runs).items()
    return found


def facts(words: list[int], distinct: list[int], shared: list[int]) -> QueryFacts:
    place = {"dataset": "jdk", "origin": "jdk-25", "fingerprint": "0a1b", "split": "test"}
    return QueryFacts(**place, words=words, distinct=distinct, shared=shared, files=[*range(len(words))])


def test_a_length_is_of_the_class_that_names_it():
    lengths = np.arange(1, 40)
    found = {each.label: lengths[each.rows].tolist() for each in length_classes(lengths)}
    assert found == {
        "up to 3": [1, 2, 3],
        "4-5": [4, 5],
        "6-8": [6, 7, 8],
        "9-12": [9, 10, 11, 12],
        "13-18": list(range(13, 19)),
        "19 or more": list(range(19, 40)),
    }


def test_the_ends_of_the_overlap_are_classes_of_their_own():
    shares = np.array([0, 1 / 30, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 4 / 5, 99 / 100, 1])
    found = {each.label: np.flatnonzero(each.rows).tolist() for each in overlap_classes(shares)}
    assert found == {
        "none": [0],
        "up to 1/4": [1, 2],
        "up to 1/2": [3, 4],
        "up to 3/4": [5, 6],
        "not all": [7, 8],
        "all": [9],
    }


def test_every_query_is_of_one_class_of_each_kind():
    rng = np.random.default_rng(0)
    for classes in (length_classes(rng.integers(0, 60, 500)), overlap_classes(rng.integers(0, 13, 500) / 12)):
        assert (np.sum([each.rows for each in classes], axis=0) == 1).all()


def test_small_classes_are_left_out():
    many, few = LEAST, LEAST - 1
    found = query_classes(facts([4] * many + [7] * few, [4] * (many + few), [4] * many + [0] * few))
    assert [(each.kind, each.label, each.size) for each in found] == [
        ("", "all queries", many + few),
        ("query length", "4-5", many),
        ("overlap with its method", "all", many),
    ]


def test_a_gain_is_the_mean_difference_of_the_chosen_queries_over_all_seeds():
    first, second = entry("a", [1] * SIZE, [2] * SIZE), entry("b", [*range(1, SIZE + 1)], [*range(1, SIZE + 1)])
    rows = np.arange(SIZE) % 3 == 0
    files = [*range(SIZE)]
    found = gain(first, second, rows, files)
    expected = [(1 / 1 + 1 / 2) / 2 - 1 / (query + 1) for query in range(SIZE) if query % 3 == 0]
    assert found.mean == pytest.approx(sum(expected) / len(expected))
    assert found.low < found.mean < found.high
    back = gain(second, first, rows, files)
    assert (back.mean, back.low, back.high) == pytest.approx((-found.mean, -found.high, -found.low), abs=1e-9)


@pytest.mark.parametrize(("low", "high", "sign"), [(0.1, 0.3, 1), (-0.1, 0.3, 0), (-0.3, -0.1, -1), (0.0, 0.2, 0)])
def test_the_sign_is_that_of_the_whole_interval(low, high, sign):
    assert Gain((low + high) / 2, low, high).sign == sign
