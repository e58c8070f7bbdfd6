"""A source tree as the test split."""

from pathlib import Path

import pytest

from data_prep.config import DataConfig
from data_prep.records import SPLITS, Method, Pair
from data_prep.store.prepared_data import PreparedData, held_out, tree_of
from data_prep.store.split import Split

TREES = {"train": ["a/one", "a/two"], "valid": ["b/one", "b/two"], "test": ["c/one"]}


@pytest.fixture
def data() -> PreparedData:
    splits = {}
    for name in SPLITS:
        methods = [
            Method(f"{tree}@v1", f"{n}.py", n + 1, n + 3, "", f"{tree}{n}", "method", "", "", {"name": (tree, str(n))})
            for tree in TREES[name]
            for n in range(3)
        ]
        splits[name] = Split.of(name, [Pair(method, "q", ("q",)) for method in methods])
    return PreparedData(Path(), {}, splits)


def names(data: PreparedData, split: str) -> list[str]:
    return [data.splits[split].text(row).method_name for row in range(len(data.splits[split]))]


@pytest.mark.parametrize("tree", ["a/two", "b/one", "c/one"])
def test_the_test_split_is_the_tree_and_nothing_is_lost(data, tree):
    found = held_out(data, tree)
    assert {tree_of(found.splits["test"], row) for row in range(3)} == {tree}
    assert len(found.splits["test"]) == 3
    before, after = ([each for name in SPLITS for each in names(of, name)] for of in (data, found))
    assert sorted(after) == sorted(before)
    for name in SPLITS:
        split = found.splits[name]
        for row in range(len(split)):
            assert "".join(split.word_list("name", row)) == split.text(row).method_name
    if tree != "c/one":
        assert {tree_of(found.splits["train"], row) for row in range(len(found.splits["train"]))} >= {"c/one"}
    assert found.splits["test"].name == "test"


def test_other_trees_are_refused(data):
    with pytest.raises(ValueError, match="no source tree with pairs; there are a/one"):
        held_out(data, "d")
    without = PreparedData(Path(), {}, {**data.splits, "valid": held_out(data, "b/one").splits["valid"]})
    with pytest.raises(ValueError, match="leaves no pairs for training or validation"):
        held_out(without, "b/two")
    with pytest.raises(ValueError, match=r"data\.split=repo"):
        DataConfig(hold_out="a/one", split="random")
