import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from java import pair

from data_prep.pipeline.duplicates import drop_duplicates, jaccard, near_duplicates

WORDS = [f"w{n}" for n in range(40)]


def dropped(pairs, similarity=0.8):
    distinct = drop_duplicates(pairs, similarity)
    assert len(distinct.pairs) + sum(distinct.dropped.values()) == len(pairs)
    return [one.method.path for one in distinct.pairs], list(distinct.dropped.values())


def test_exact_ones_are_told_by_their_queries():
    pairs = [
        pair("B.java", tokens=("a",)),
        pair("A.java", tokens=("a",)),
        pair("C.java", tokens=("a",), query=("go", "off")),
        pair("D.java", tokens=("b",)),
    ]
    assert dropped(pairs) == (["A.java", "D.java"], [1, 1, 0])


def test_the_first_by_path_and_line_is_kept_wherever_it_stands():
    pairs = [pair("A.java", 9, tokens=("a",)), pair("A.java", 3, tokens=("a",))]
    assert [one.method.start_line for one in drop_duplicates(pairs, 0.8).pairs] == [3]


def test_test_methods_go_before_their_copies_in_training():
    pairs = [pair("A.java", tokens=("a",), split="train"), pair("B.java", tokens=("a",), split="test")]
    assert dropped(pairs)[0] == ["B.java"]


def test_copies_of_a_template_are_near_duplicates_and_other_names_are_not():
    body = tuple(WORDS[:20])
    pairs = [
        pair("Byte.java", tokens=("byte", *body)),
        pair("Char.java", tokens=("char", *body)),
        pair("Int.java", tokens=("int", *body), name=("stop",)),
        pair("Other.java", tokens=tuple(WORDS[20:])),
    ]
    assert dropped(pairs) == (["Byte.java", "Int.java", "Other.java"], [0, 0, 1])
    assert dropped(pairs, 1.0)[1] == [0, 0, 0]


def test_getters_of_other_fields_stay():
    getters = [pair(f"{x}.java", name=("get", x), tokens=(x,), api=("A", f"get{x}")) for x in ("width", "height")]
    assert dropped(getters)[1] == [0, 0, 0]


def test_a_word_counts_as_often_as_it_occurs():
    one = frozenset({("a", 0), ("a", 1), ("b", 0)})
    assert jaccard(one, frozenset({("a", 0), ("b", 0)})) == pytest.approx(2 / 3)
    assert jaccard(frozenset(), frozenset()) == 1


def test_a_near_duplicate_in_another_project_goes():
    body = tuple(WORDS[:20])
    pairs = [pair("A.java", tokens=("byte", *body)), pair("A.java", tokens=("char", *body))]
    pairs = [replace(one, method=replace(one.method, origin=name)) for one, name in zip(pairs, "ba", strict=True)]
    assert [one.method.origin for one in drop_duplicates(pairs, 0.8).pairs] == ["a"]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_finds_what_comparing_all_pairs_finds(seed):
    rng = random.Random(seed)
    pairs = []
    for group in range(6):
        base = rng.sample(WORDS, 20)
        for copy in range(4):
            words = list(base)
            words[rng.randrange(20)] = rng.choice(WORDS)
            pairs.append(pair(f"{group}{copy}.java", tokens=dict.fromkeys(words)))
    sets = [frozenset((word, 0) for word in ("go", *one.words("tokens"))) for one in pairs]
    expected: set[int] = set()
    for later in range(len(pairs)):
        if any(e not in expected and jaccard(sets[e], sets[later]) >= 0.8 for e in range(later)):
            expected.add(later)
    assert near_duplicates(pairs, 0.8) == expected
