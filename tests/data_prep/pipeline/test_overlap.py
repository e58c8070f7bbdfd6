"""Pairs that stand in another data set's test."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from data_prep.pipeline.overlap import overlap, without
from data_prep.records import Method, Pair
from data_prep.store.split import Split


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


def test_punctuation_is_no_word():
    other = split("test", ("opens a file .", "x", "y"), ("z", "close", "close ; { stream }"))
    found = overlap(TRAIN, [other])
    assert found.queries.tolist() == [2]
    assert found.codes.tolist() == [1]
    assert overlap(split("train", (". ,", "a", "b")), [split("test", (". ;", "c", "d"))]).rows.tolist() == []


def test_methods_of_one_name_and_nearly_the_same_tokens_are_copies():
    body = "get value list index count size next node key map"
    other = split("test", ("q", "read all", body))
    for more, copies in (("one", True), ("one two", True), ("one two three", False)):
        assert bool(len(overlap(split("train", ("r", "read all", f"{body} {more}")), [other]).codes)) == copies, more
    assert (
        len(overlap(split("train", ("r", "read all", "get value list index count size next node")), [other]).codes) == 1
    )
    assert len(overlap(split("train", ("r", "read all", "get value list index count size next")), [other]).codes) == 0
    assert len(overlap(split("train", ("r", "read", body)), [other]).codes) == 0


def test_within_a_corpus_a_query_counts_with_the_name_of_its_method():
    test = split("test", ("returns the size of the list", "length", "x y"), ("closes the stream", "close", "y z"))
    found = overlap(TRAIN, [test], named=True)
    assert found.queries.tolist() == [1]
    assert found.codes.tolist() == []
    assert overlap(TRAIN, [test]).queries.tolist() == [0, 1]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.lists(st.sampled_from("uvwxyz"), max_size=6)), max_size=8))
def test_copies_are_those_of_the_definition(rows):
    train, test = (
        split("s", *(("q", name, " ".join(tokens)) for name, tokens in part)) for part in (rows[:4], rows[4:])
    )

    def copied(name: str, tokens: list[str]) -> bool:
        own = set(tokens)
        return any(
            name == other and own and len(own & set(theirs)) >= 0.8 * len(own | set(theirs))
            for other, theirs in rows[4:]
        )

    expected = [row for row, (name, tokens) in enumerate(rows[:4]) if copied(name, tokens)]
    assert overlap(train, [test]).codes.tolist() == expected
