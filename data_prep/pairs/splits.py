"""Training, validation and test splits by whole files or whole projects, so that none is in two splits."""

import hashlib
import math
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.records import SPLITS, Pair, SplitName

Group = tuple[str, ...]
"""The unit of splitting: origin and path of a file, or the name of a project."""

_OF_PROJECTS: Final = 10
"""A project may have at most one in this many of the wanted validation or test pairs."""


@dataclass(frozen=True, slots=True)
class SplitRule:
    """How a data set is split."""

    by: Literal["file", "project"] = "file"
    test_pairs: int = sys.maxsize
    """Maximum number of test pairs, if the share would be larger."""
    valid_pairs: int = sys.maxsize
    """Maximum number of validation pairs."""


BY_FILE: Final = SplitRule()


def split_pairs(pairs: Sequence[Pair], config: DataConfig, rule: SplitRule = BY_FILE) -> dict[SplitName, list[Pair]]:
    """Assign each pair to its official split, or if it has none, to the split of its group; order is preserved.

    Raises:
        UserError: a split is empty.
    """
    by_group = _splits_of_groups([pair for pair in pairs if pair.method.split is None], config, rule)
    splits: dict[SplitName, list[Pair]] = {name: [] for name in SPLITS}
    for pair in pairs:
        splits[pair.method.split or by_group[_group_of(pair, rule)]].append(pair)
    empty = [name for name, members in splits.items() if not members]
    if empty:
        groups = len({_group_of(pair, rule) for pair in pairs})
        raise UserError(
            f"{len(pairs):,} documented methods in {groups:,} {rule.by}s are left after the filters, too few for a "
            f"split by {rule.by} ({', '.join(empty)} would be empty): give more Java sources"
        )
    return splits


def project_of(origin: str) -> str:
    """The project in an origin: "lucene" in "lucene/lucene8_8.8.1"."""
    return origin.partition("/")[0]


def _splits_of_groups(pairs: Sequence[Pair], config: DataConfig, rule: SplitRule) -> dict[Group, SplitName]:
    """Assign groups in hash order to the test split until it has enough pairs, then to validation, then to training.

    Enough is the share of the pairs, or the rule's number if that is smaller. Projects, of which there are few, are
    assigned to test and validation in turn, to the split that lacks the larger part. A project with more than a
    tenth of the wanted pairs is skipped, so that no single project dominates a split; if most projects are larger, the
    smaller half may be used.
    """
    sizes = Counter(_group_of(pair, rule) for pair in pairs)
    wanted: dict[SplitName, float] = {
        "test": min(config.test_share * len(pairs), rule.test_pairs),
        "valid": min(config.valid_share * len(pairs), rule.valid_pairs),
    }
    largest = dict.fromkeys(wanted, math.inf)
    if rule.by == "project" and sizes:
        middle = statistics.median_low(sizes.values())
        largest = {name: max(number / _OF_PROJECTS, middle) for name, number in wanted.items()}
    missing = dict(wanted)
    splits: dict[Group, SplitName] = {}
    for group in sorted(sizes, key=lambda group: _place(group, config.split_seed)):
        fitting = [name for name in wanted if missing[name] > 0 and sizes[group] <= largest[name]]
        if not fitting:
            splits[group] = "train"
            continue
        chosen = max(fitting, key=lambda name: missing[name] / wanted[name]) if rule.by == "project" else fitting[0]
        splits[group] = chosen
        missing[chosen] -= sizes[group]
    return splits


def _place(group: Group, seed: int) -> bytes:
    return hashlib.sha256("\0".join((str(seed), *group)).encode(errors="surrogatepass")).digest()


def _group_of(pair: Pair, rule: SplitRule) -> Group:
    method = pair.method
    return (project_of(method.origin),) if rule.by == "project" else (method.origin, method.path)
