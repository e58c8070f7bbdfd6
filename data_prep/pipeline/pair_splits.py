"""The split of rows of one's own: the one they say, else by group, else by clusters of near-duplicates, else random."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.pipeline.duplicates import Groups, clusters
from data_prep.pipeline.splits import place_of, splits_of_groups
from data_prep.records import SplitName
from data_prep.store.arrays import Ragged

LEAST_IDENTIFIERS: Final = 5
"""Of codes that can be near copies: snippets are shorter than functions."""
LEAST_QUERY: Final = 3
"""Words of a query from which all rows with it are in one split."""
_LEAST_FILLED: Final = 0.5
"""Of the wanted pairs of a split; with less, another way of splitting is tried."""


@dataclass(frozen=True, slots=True)
class Divided:
    """The split of each row."""

    names: Sequence[SplitName]
    by: str  # how
    warning: str = ""


class SplitRow(NamedTuple):
    """What the split of a row depends on."""

    asked: bool  # whether it has a query; else it keeps the split that it says
    split: SplitName | None
    group: str
    exact: bytes  # of the code's fingerprint


def divided_rows(rows: Sequence[SplitRow], identifiers: Ragged, queries: Ragged, config: DataConfig) -> Divided:
    """The split of each row.

    Args:
        rows: in order.
        identifiers: of their codes, as hashes.
        queries: the words of their queries, as numbers.
        config: its shares, its seed, and ``split``: at random whatever the rows say.

    Raises:
        UserError: there are too few rows to be divided.
    """
    given = [None if config.split == "random" and row.asked else row.split for row in rows]
    names = _given(given)
    missing = _missing({name for name, row in zip(names, rows, strict=True) if row.asked})
    if not missing:
        return Divided([name or "train" for name in names], "as the rows or files say")
    drawn = np.array([row for row, name in enumerate(names) if name in (None, "train") and rows[row].asked], np.int64)
    wanted = {name: (config.test_share if name == "test" else config.valid_share) * len(drawn) for name in missing}
    if len(drawn) < len(missing) + 1:
        raise UserError(f"{len(drawn):,} pairs are too few for training, validation and test: give three or more")
    found = _drawn([rows[row] for row in drawn], identifiers.take(drawn), queries.take(drawn), wanted, config)
    whole = [name or "train" for name in names]
    for row, name in zip(drawn.tolist(), found.names, strict=True):
        whole[row] = name
    part = "validation" if "valid" in missing else "test"
    stated = f"as the rows or files say, {part} " if len(missing) == 1 else ""
    return Divided(whole, stated + found.by, found.warning)


def _given(names: Sequence[SplitName | None]) -> list[SplitName | None]:
    """The splits that rows say; those for validation are for training if none is for it."""
    stated = set(names)
    if "valid" in stated and not stated & {"train", None}:
        return ["train" if name == "valid" else name for name in names]
    return list(names)


def _missing(stated: set[SplitName | None]) -> list[SplitName]:
    """The splits that are to be drawn from training: none of a set that is a test alone."""
    if not stated & {"train", None}:
        return []
    return [name for name in ("valid", "test") if name not in stated]


def _drawn(
    rows: Sequence[SplitRow],
    identifiers: Ragged,
    queries: Ragged,
    wanted: dict[SplitName, float],
    config: DataConfig,
) -> Divided:
    groups = [row.group for row in rows]
    told = ""
    if config.split != "random" and all(groups):
        if names := _by(groups, wanted, config.split_seed):
            return Divided(names, "by group")
        told = f"{len({*groups}):,} groups are too few or too large for a split by group; "
    near = _clusters([row.exact for row in rows], identifiers, queries)
    if config.split != "random" and (names := _by(near, wanted, config.split_seed)):
        return Divided(names, "by clusters of near-duplicates", told and f"{told}clusters are used")
    names = _random(len(rows), wanted, config.split_seed)
    train = {cluster for cluster, name in zip(near, names, strict=True) if name == "train"}
    tested = [cluster in train for cluster, name in zip(near, names, strict=True) if name != "train"]
    alike = f"{sum(tested):,} of {len(tested):,} pairs of validation and test have a near copy in training"
    largest = max(Counter(near).values())
    why = f"of {len(rows):,} pairs {largest:,} are near copies of each other, so that the split is random: "
    return Divided(names, "at random", told + ("" if config.split == "random" else why) + alike)


def _clusters(codes: Sequence[bytes], identifiers: Ragged, queries: Ragged) -> list[str]:
    """A name for the cluster of each row: near copies of a code, and all codes of a query, in words that stay."""
    groups, asked = Groups(clusters(codes, identifiers, LEAST_IDENTIFIERS)), dict[bytes, int]()
    words, bounds = queries.values.tobytes(), (queries.offsets * queries.values.itemsize).tolist()
    for row in np.flatnonzero(queries.lengths >= LEAST_QUERY).tolist():
        first = asked.setdefault(words[bounds[row] : bounds[row + 1]], row)
        if first != row:
            groups.join(row, first)
    firsts = groups.firsts()
    names = {row: codes[row].hex() + str(row) for row in np.unique(firsts).tolist()}
    return [names[row] for row in firsts.tolist()]


def _by(groups: Sequence[str], wanted: dict[SplitName, float], seed: int) -> list[SplitName]:
    """The split of each row by its group; none if a split would have far too few."""
    of_group = splits_of_groups(Counter((group,) for group in groups), wanted, seed)
    names = [of_group[(group,)] for group in groups]
    counts = Counter(names)
    filled = all(counts[name] >= max(1, _LEAST_FILLED * number) for name, number in wanted.items())
    return names if filled and counts["train"] else []


def _random(count: int, wanted: dict[SplitName, float], seed: int) -> list[SplitName]:
    """The split of each row, by an order that is random, but the same for the same seed."""
    order = sorted(range(count), key=lambda row: place_of((str(row),), seed))
    names: list[SplitName] = ["train"] * count
    start = 0
    for name, number in wanted.items():
        size = max(1, round(number))
        for row in order[start : start + size]:
            names[row] = name
        start += size
    return names
