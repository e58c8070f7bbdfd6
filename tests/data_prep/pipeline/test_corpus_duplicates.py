"""Duplicates against their definitions, and splits by whole source trees or at random."""

import random
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_prep.pipeline.copies import LEAST_IDENTIFIERS, Fingerprint, find_duplicates
from data_prep.pipeline.splits import random_splits, splits_of_trees

KEYWORDS = frozenset(("return", "if"))


def fingerprints(codes: list[str]) -> list[Fingerprint]:
    return [Fingerprint.of(code.encode(), KEYWORDS) for code in codes]


def test_layout_does_not_matter():
    found = find_duplicates(fingerprints(["foo( a,b )", "foo(a, b)", "foo(a, c)"]))
    assert found.exact.tolist() == [False, True, False]
    assert not found.near.any()


def near_by_definition(codes: list[str]) -> list[bool]:
    """By a comparison of all pairs: clusters, of which the first is kept."""
    words = [[word for word in re.findall(r"[^\W\d]\w*", code) if word not in KEYWORDS] for code in codes]
    first = list(range(len(codes)))

    def alike(one: list[str], other: list[str]) -> bool:
        a, b = set(one), set(other)
        c, d = Counter(one), Counter(other)
        return one == other or (
            min(len(one), len(other)) >= LEAST_IDENTIFIERS
            and len(a & b) >= 0.8 * len(a | b)
            and (c & d).total() >= 0.7 * (c | d).total()
        )

    for later in range(len(codes)):
        for earlier in range(later):
            if alike(words[earlier], words[later]):
                old, new = first[later], first[earlier]
                low = min(old, new)
                first = [low if each in (old, new) else each for each in first]
    return [first[row] != row for row in range(len(codes))]


def test_near_duplicates_are_those_of_the_definition():
    drawn = random.Random(3)
    codes = []
    for group in range(40):
        words = [f"w{group}_{number}" for number in range(drawn.randint(8, 30))]
        for _ in range(drawn.randint(1, 4)):
            changed = [word if drawn.random() > 0.06 else f"z{drawn.random()}".replace(".", "") for word in words]
            codes.append(" ".join(["return", *changed]))
    found = find_duplicates(fingerprints(codes))
    assert (found.exact | found.near).tolist() == near_by_definition(codes)
    assert 20 < found.near.sum() < 80


def test_clusters_are_transitive_and_the_first_is_kept():
    base = [f"w{number}" for number in range(40)]
    chain = [" ".join([*base[step * 3 :], *(f"n{number}" for number in range(step * 3))]) for step in range(4)]
    assert find_duplicates(fingerprints(chain)).near.tolist() == [False, True, True, True]


def test_few_and_no_functions_are_no_trouble():
    assert find_duplicates([]).exact.tolist() == []
    assert find_duplicates(fingerprints([""])).near.tolist() == [False]


def test_a_tree_is_in_one_split_for_all_languages():
    drawn = np.random.default_rng(0)
    sizes = {
        name: {f"o/{n}": int(drawn.integers(1, 200)) for n in drawn.choice(200, 120, replace=False)} for name in "abc"
    }
    splits = splits_of_trees(sizes, 0)
    assert splits == splits_of_trees({name: dict(reversed(each.items())) for name, each in sizes.items()}, 0)
    assert splits != splits_of_trees(sizes, 1)
    for each in sizes.values():
        total = sum(each.values())
        for name in ("valid", "test"):
            assert 0.06 < sum(size for tree, size in each.items() if splits[tree] == name) / total < 0.2


def test_no_large_tree_dominates_a_small_split():
    sizes = {"a": {f"o/{n}": 10 for n in range(50)} | {"o/large": 500}}
    for seed in range(20):
        assert splits_of_trees(sizes, seed)["o/large"] == "train"


@given(st.integers(0, 10_000), st.integers(0, 5))
def test_random_splits_have_the_shares_of_the_paper(count, seed):
    splits = Counter(random_splits(count, seed))
    train = int(0.8 * count) if count % 5 else count * 4 // 5
    assert (splits["train"], splits["valid"]) == (train, (count - train) // 2)
    assert splits.total() == count


@pytest.mark.parametrize(
    ("count", "train", "valid", "test"),
    [(1_797_545, 1_438_036, 179_754, 179_755), (762_268, 609_814, 76_227, 76_227), (756_115, 604_892, 75_611, 75_612),
     (684_855, 547_884, 68_485, 68_486)],
)  # fmt: skip
def test_the_published_sizes_follow(count, train, valid, test):
    assert Counter(random_splits(count, 0)) == {"train": train, "valid": valid, "test": test}
