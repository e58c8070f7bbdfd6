"""Repositories that are in a test are left out of training as a whole, also where the test's words are degraded."""

from collections.abc import Sequence

import numpy as np

from data_prep.pipeline.overlap import CONTROLS, Matched, tree_of, tree_overlap
from data_prep.records import UNKNOWN, Method, Pair
from data_prep.store.split import Split
from tests.data_prep.pipeline.planted import degraded, recall


def pair(origin: str, number: int, query: Sequence[str] = (), tokens: Sequence[str] = ()) -> Pair:
    words = {"name": ("do", f"thing{number}"), "tokens": tuple(tokens) or (f"t{number}", "list"), "api": ()}
    method = Method(origin, "a.py", number, number + 3, "", "f", "method", "", "", words)
    return Pair(method, "", tuple(query) or ("makes", f"q{number}", f"r{number}", f"s{number}"))


def trees(count: int, of_each: int) -> list[Pair]:
    return [pair(f"o/r{tree}@abc", tree * of_each + number) for tree in range(count) for number in range(of_each)]


def test_a_repository_with_five_copies_is_left_out_as_a_whole():
    train = Split.of("train", trees(4, 10))
    test = Split.of("test", [pair("it", number) for number in (*range(5), *range(10, 14))])
    found = tree_overlap(train, [test])
    assert found.trees == {"o/r0": Matched(5, 1 / CONTROLS)}
    assert found.by_chance == {}
    assert found.copies.tolist() == [*range(5), *range(10, 14)]
    assert found.rows.tolist() == [*range(10), *range(10, 14)]


def with_common_methods(tree: int, own: int = 30, common: int = 15) -> list[Pair]:
    """The pairs of a source tree, of which some have a name and query that half of the trees have too."""
    drawn = np.random.default_rng(tree).permutation(2 * common)[:common].tolist()
    names = [*range(1_000 + tree * own, 1_000 + (tree + 1) * own), *drawn]
    return [pair(f"o/r{tree}@abc", number, tokens=(f"v{tree}", f"w{number}")) for number in names]


def test_copies_that_other_repositories_have_too_leave_out_no_repository():
    train = Split.of("train", [each for tree in range(20) for each in with_common_methods(tree)])
    unseen = Split.of("test", [*with_common_methods(50), *with_common_methods(51)])
    found = tree_overlap(train, [unseen])
    assert found.trees == {}
    assert len(found.by_chance) > 10
    assert all(0.5 < each.names / each.expected < 2 for each in found.by_chance.values())
    assert found.rows.tolist() == found.copies.tolist()
    assert all(row % 45 >= 30 for row in found.copies.tolist())


def test_a_repository_with_common_methods_is_left_out_for_its_own():
    train = Split.of("train", [each for tree in range(20) for each in with_common_methods(tree)])
    test = Split.of("test", [*with_common_methods(50), *with_common_methods(3)])
    found = tree_overlap(train, [test])
    assert [*found.trees] == ["o/r3"]
    assert {*range(3 * 45, 4 * 45)} <= {*found.rows.tolist()}
    assert found.trees["o/r3"].names == 45


def test_implementations_of_one_method_are_one_piece_of_evidence():
    train = Split.of("train", [*[pair("o/r@abc", 1) for _ in range(9)], *trees(4, 10)[10:]])
    found = tree_overlap(train, [Split.of("test", [pair("it", 1), *[pair("it", 1) for _ in range(9)]])])
    assert (len(found.copies), found.trees, found.by_chance) == (9, {}, {})


def test_origins_that_are_no_repositories_are_not_left_out():
    train = Split.of("train", [pair("jdk-17", number) for number in range(9)])
    assert len(tree_overlap(train, [Split.of("test", [pair("it", number) for number in range(9)])]).rows) == 0
    assert len(tree_overlap(Split.of("train", []), [train]).rows) == 0
    assert (tree_of("a/b@c1"), tree_of("jdk-17"), tree_of("npm/@scope/a@1.0")) == ("a/b", "", "npm/@scope/a")


def test_a_copy_is_found_by_the_words_that_are_left_of_its_query():
    train = Split.of("train", [pair("o/r@abc", 1, ("returns", "the", "largest", "of", "all", "values", "quickly"))])
    for query, is_copy in (
        (("quickly", "values", "returns", "largest"), True),
        (("values", UNKNOWN, "largest", "returns"), True),
        (("values", UNKNOWN, UNKNOWN, "returns"), False),
        (("values", "smallest", "returns", "slowly"), False),
    ):
        test = Split.of("test", [pair("it", 1, query, ("other", "tokens"))])
        assert bool(len(tree_overlap(train, [test]).copies)) == is_copy, query
        assert len(tree_overlap(train, [Split.of("test", [pair("it", 2, query, ("other",))])]).copies) == 0


def test_most_planted_copies_are_found_and_their_repositories_left_out():
    train = Split.of("train", trees(30, 40))
    found = recall(train, trees=6, of_each=12, seed=1)
    assert (found.planted, found.trees) == (72, 6)
    assert found.trees_left_out == 6
    assert found.left_out == 72
    assert found.found >= 60
    assert found.others_left_out == 0


def test_planted_copies_are_degraded():
    train = Split.of("train", [pair("o/r@a", 1, ("the", "bananas", "bananas", "of", "cherries"), ("x", "y", "x"))])
    copies = degraded(train, np.zeros(300, np.int64), 0)
    queries = [copies.word_list("query", row) for row in range(300)]
    assert {len(query) for query in queries} == {2}
    assert all(word in ("bananas", "cherries", UNKNOWN) for query in queries for word in query)
    unknown = sum(word == UNKNOWN for query in queries for word in query)
    assert 10 <= unknown <= 45
