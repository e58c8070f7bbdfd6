"""Pairs that stand in another data set's test."""

import numpy as np

from data_prep.pairs.overlap import overlap, without
from data_prep.records import Method, Pair
from data_prep.store.prepared_data import Split


def split(name: str, *rows: tuple[str, str, str]) -> Split:
    pairs = []
    for query, method, tokens in rows:
        fields = {"name": tuple(method.split()), "tokens": tuple(tokens.split()), "api": (), "ast": ()}
        found = Method("o", "p", 1, 2, "T", method, "method", "", "", fields)
        pairs.append(Pair(found, query, tuple(query.split())))
    return Split.of(name, pairs)


TRAIN = split(
    "train",
    ("returns the size of the list", "size", "return count"),
    ("closes the stream", "close", "stream close"),
    ("opens a file", "open", "file new"),
    ("", "empty", ""),
    ("of the", "of", "a b"),
)


def test_queries_meet_as_sets_without_common_words_and_codes_by_name_and_tokens():
    other = split("test", ("list size Returns", "x", "y"), ("z", "open", "New file file"), ("q", "close", "other"))
    found = overlap(TRAIN, [other])
    assert found.queries.tolist() == [0]
    assert found.codes.tolist() == [2]
    assert found.rows.tolist() == [0, 2]


def test_empty_sides_meet_nothing():
    assert overlap(TRAIN, [split("test", ("", "empty", ""))]).rows.tolist() == []


def test_a_query_of_common_words_meets_only_itself():
    assert overlap(TRAIN, [split("test", ("the of", "x", "y"))]).queries.tolist() == [4]


def test_several_tests_and_none():
    tests = [split("test", ("opens a file", "x", "y")), split("test", ("closes the stream", "x", "y"))]
    assert overlap(TRAIN, tests).queries.tolist() == [1, 2]
    assert overlap(TRAIN, []).rows.tolist() == []


def test_rows_are_left_out_in_order():
    left = without(TRAIN, np.array([1, 3]))
    assert [left.text(row).method_name for row in range(len(left))] == ["size", "open", "of"]
    assert without(TRAIN, np.array([], np.int64)) is TRAIN
