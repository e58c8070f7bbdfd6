"""A prepared data set with one of its source trees as the test split, for leaving out each in turn."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from jaxtyping import Int64

from data_prep.errors import UserError
from data_prep.records import SPLITS, SplitName
from data_prep.store.concatenation import joined
from data_prep.store.prepared_data import PreparedData, Split

_SHOWN: Final = 12
"""Names of source trees that a message lists."""


def tree_of(split: Split, row: int) -> str:
    """The name of the source tree of a pair, without its revision."""
    return split.text(row).origin.rpartition("@")[0]


def held_out(data: PreparedData, tree: str) -> PreparedData:
    """``data`` whose test split is all pairs of ``tree``; the pairs of the former test split are training pairs.

    Raises:
        UserError: there are no pairs of such a tree, or a split would be empty.
    """
    trees = {name: [tree_of(split, row) for row in range(len(split))] for name, split in data.splits.items()}
    sizes = Counter(name for names in trees.values() for name in names)
    if tree not in sizes:
        largest = ", ".join(name for name, _ in sizes.most_common(_SHOWN))
        raise UserError(f"--data.hold_out={tree} is no source tree with pairs; there are {largest}")

    def rows(name: SplitName, holds: Callable[[str], bool]) -> Int64[np.ndarray, " rows"]:
        return np.flatnonzero([holds(each) for each in trees[name]])

    test = next(data.splits[name].take(rows(name, tree.__eq__)) for name in SPLITS if tree in trees[name])
    rest: dict[SplitName, Split] = {name: data.splits[name].take(rows(name, tree.__ne__)) for name in SPLITS}
    train = joined(rest["train"], rest["test"]) if len(rest["test"]) else rest["train"]
    if not len(train) or not len(rest["valid"]):
        raise UserError(f"--data.hold_out={tree} leaves no pairs for training or validation: leave out another")
    return replace(data, splits={"train": train, "valid": rest["valid"], "test": replace(test, name="test")})
