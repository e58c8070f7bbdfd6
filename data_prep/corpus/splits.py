"""Training, validation and test splits of a corpus: by whole repositories, or at random as in Scotch's paper (K-8)."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from data_prep.records import SplitName

SHARE: Final = 0.1
"""Of the pairs, for validation and for the test each."""
_OF_TREES: Final = 5
"""A tree may have at most one in this many of the wanted validation or test pairs of a language."""


def splits_of_trees(pairs: Mapping[str, Mapping[str, int]], seed: int) -> dict[str, SplitName]:
    """The split of each source tree, the same for all of its languages.

    The trees of one language after the other, in hash order, are assigned to test and validation in turn until both
    have their share of that language's pairs; what is assigned by an earlier language counts.

    Args:
        pairs: language -> name of a tree -> its number of pairs before duplicates are removed.
        seed: of the order.
    """
    splits: dict[str, SplitName] = {}
    for language in sorted(pairs):
        sizes = {name: number for name, number in pairs[language].items() if number}
        wanted = SHARE * sum(sizes.values())
        missing: dict[SplitName, float] = {"test": wanted, "valid": wanted}
        for name, split in splits.items():
            if split in missing:
                missing[split] -= sizes.get(name, 0)
        largest = max(wanted / _OF_TREES, sorted(sizes.values())[len(sizes) // 2] if sizes else 0)
        for name in sorted(sizes.keys() - splits.keys(), key=lambda name: _place(name, seed)):
            split = max(missing, key=lambda each: missing[each])
            fits = missing[split] > 0 and sizes[name] <= largest
            splits[name] = split if fits else "train"
            if fits:
                missing[split] -= sizes[name]
    return splits


def random_splits(count: int, seed: int) -> Sequence[SplitName]:
    """The split of each pair, at random: train .8 of them, rounded down, validation half of the rest, rounded down."""
    train = count * 8 // 10
    valid = (count - train) // 2
    sizes: dict[SplitName, int] = {"train": train, "valid": valid, "test": count - train - valid}
    names = [name for name, size in sizes.items() for _ in range(size)]
    order = np.random.default_rng(seed).permutation(count)
    return [names[place] for place in order]


def _place(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\0{name}".encode(errors="surrogatepass")).digest()
