"""Training, validation and test splits by whole files, projects or source trees, so that none is in two splits.

:func:`split_pairs` splits the pairs of Java files, :func:`splits_of_trees` and :func:`random_splits` those of a corpus.
"""

import hashlib
import math
import posixpath
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.records import SPLITS, Pair, SplitName

Group = tuple[str, ...]
"""The unit of splitting: origin and path of a file, or the name of a project or source tree."""

SHARE: Final = 0.1
"""Of the pairs of a corpus, for validation and for the test each."""
_OF_PROJECTS: Final = 10
"""A project may have at most one in this many of the wanted validation or test pairs."""
_OF_TREES: Final = 5
"""The same of a source tree, for the pairs of a language."""


@dataclass(frozen=True, slots=True)
class SplitRule:
    """How a data set is split."""

    by: Literal["file", "project"] = "file"
    test_pairs: int = sys.maxsize
    """Maximum number of test pairs, if the share would be larger."""
    valid_pairs: int = sys.maxsize
    """Maximum number of validation pairs."""
    named: bool = True
    """Whether the name of the source counts for the place of a file; else the same files in folders of other names are
    split alike."""


BY_FILE: Final = SplitRule()


def split_pairs(pairs: Sequence[Pair], config: DataConfig, rule: SplitRule = BY_FILE) -> dict[SplitName, list[Pair]]:
    """Assign each pair to its official split, or if it has none, to the split of its group; order is preserved.

    Raises:
        UserError: a split is empty.
    """
    group_of = _grouping(pairs, rule)
    by_group = _splits_of_groups([pair for pair in pairs if pair.method.split is None], config, rule, group_of)
    splits = divided(pairs, [pair.method.split or by_group[group_of(pair)] for pair in pairs])
    empty = [name for name, members in splits.items() if not members]
    if empty:
        groups = len(set(map(group_of, pairs)))
        raise UserError(
            f"{len(pairs):,} documented methods in {groups:,} {rule.by}s are left after the filters, too few for a "
            f"split by {rule.by} ({', '.join(empty)} would be empty): give more Java sources"
        )
    return splits


def divided(pairs: Iterable[Pair], names: Iterable[SplitName]) -> dict[SplitName, list[Pair]]:
    """The pairs of each split, in order; ``names`` are those of their splits."""
    splits: dict[SplitName, list[Pair]] = {name: [] for name in SPLITS}
    for pair, name in zip(pairs, names, strict=True):
        splits[name].append(pair)
    return splits


def project_of(origin: str) -> str:
    """The project in an origin: "lucene" in "lucene/lucene8_8.8.1"."""
    return origin.partition("/")[0]


def _splits_of_groups(
    pairs: Sequence[Pair], config: DataConfig, rule: SplitRule, group_of: Callable[[Pair], Group]
) -> dict[Group, SplitName]:
    """Assign groups in hash order to the test split until it has enough pairs, then to validation, then to training.

    Enough is the share of the pairs, or the rule's number if that is smaller. Projects, of which there are few, are
    assigned to test and validation in turn, to the split that lacks the larger part. A project with more than a
    tenth of the wanted pairs is skipped, so that no single project dominates a split; if most projects are larger, the
    smaller half may be used.
    """
    sizes = Counter(map(group_of, pairs))
    wanted: dict[SplitName, float] = {
        "test": min(config.test_share * len(pairs), float(rule.test_pairs)),
        "valid": min(config.valid_share * len(pairs), float(rule.valid_pairs)),
    }
    if rule.by == "project":
        return splits_of_groups(sizes, wanted, config.split_seed)
    splits: dict[Group, SplitName] = {}
    boundless = dict.fromkeys(wanted, math.inf)
    _assign(splits, sizes, wanted, boundless, boundless, config.split_seed)
    return splits


def splits_of_groups(
    sizes: Mapping[Group, int], wanted: Mapping[SplitName, float], seed: int
) -> dict[Group, SplitName]:
    """The split of each group; none with more than a tenth of the wanted pairs, and more than the middle one, is used.

    Args:
        sizes: pairs of each group.
        wanted: pairs of each split but training.
        seed: of the order of groups.
    """
    middle = float(statistics.median_low(sizes.values())) if sizes else 0.0
    largest = {name: max(number / _OF_PROJECTS, middle) for name, number in wanted.items()}
    splits: dict[Group, SplitName] = {}
    _assign(splits, sizes, dict(wanted), wanted, largest, seed)
    return splits


def splits_of_trees(pairs: Mapping[str, Mapping[str, int]], seed: int) -> dict[str, SplitName]:
    """The split of each source tree, the same for all of its languages.

    The trees of one language after the other, in hash order, are assigned to test and validation in turn until both
    have their share of that language's pairs; what is assigned by an earlier language counts.

    Args:
        pairs: language -> name of a tree -> its number of pairs before duplicates are removed.
        seed: of the order.
    """
    splits: dict[Group, SplitName] = {}
    for language in sorted(pairs):
        sizes: dict[Group, int] = {(name,): number for name, number in pairs[language].items() if number}
        wanted = SHARE * sum(sizes.values())
        missing: dict[SplitName, float] = {"test": wanted, "valid": wanted}
        for group, split in splits.items():
            if split in missing:
                missing[split] -= sizes.get(group, 0)
        largest = max(wanted / _OF_TREES, float(sorted(sizes.values())[len(sizes) // 2]) if sizes else 0.0)
        left = {group: number for group, number in sizes.items() if group not in splits}
        _assign(splits, left, missing, dict.fromkeys(missing, 1.0), dict.fromkeys(missing, largest), seed)
    return {name: split for (name,), split in splits.items()}


def _assign(
    splits: dict[Group, SplitName],
    sizes: Mapping[Group, int],
    missing: dict[SplitName, float],
    parts: Mapping[SplitName, float],
    largest: Mapping[SplitName, float],
    seed: int,
) -> None:
    """Assign groups in hash order to the split that lacks the most pairs, and to training if none lacks any.

    Args:
        splits: is filled.
        sizes: pairs of each group to assign.
        missing: pairs that each split lacks; changed.
        parts: what a lack is a part of; infinite: the first split that lacks any is filled first.
        largest: group that a split takes, in pairs.
        seed: of the order.
    """
    for group in sorted(sizes, key=lambda group: place_of(group, seed)):
        fitting = [name for name in missing if missing[name] > 0 and sizes[group] <= largest[name]]
        splits[group] = max(fitting, key=lambda name: missing[name] / parts[name], default="train")
        if fitting:
            missing[splits[group]] -= sizes[group]


def random_splits(count: int, seed: int) -> Sequence[SplitName]:
    """The split of each pair, at random as in Scotch's paper (K-8).

    Training has .8 of them, rounded down, validation half of the rest, rounded down.
    """
    train = count * 8 // 10
    valid = (count - train) // 2
    sizes: dict[SplitName, int] = {"train": train, "valid": valid, "test": count - train - valid}
    names = [name for name, size in sizes.items() for _ in range(size)]
    order = np.random.default_rng(seed).permutation(count)
    return [names[place] for place in order]


def place_of(group: Group, seed: int) -> bytes:
    """The place of a group in an order that is random, but the same for the same seed."""
    return hashlib.sha256("\0".join((str(seed), *group)).encode(errors="surrogatepass")).digest()


def _grouping(pairs: Sequence[Pair], rule: SplitRule) -> Callable[[Pair], Group]:
    """The group of each pair by the rule, its project or its file.

    Of a source that is not ``named``, its name does not count, nor the folders around all of its files.
    """
    if rule.by == "project":
        return lambda pair: (project_of(pair.method.origin),)
    if rule.named:
        return lambda pair: (pair.method.origin, pair.method.path)
    folders = {pair.method.path.rpartition("/")[0] for pair in pairs}
    around = posixpath.commonpath(folders) if folders and all(folders) else ""
    return lambda pair: (pair.method.path.removeprefix(around).lstrip("/"),)
