"""Training, validation and test split by whole files, so that no file is on two sides."""

import hashlib
from collections import Counter
from collections.abc import Sequence

from data_prep.config import DataConfig
from data_prep.records import SPLITS, Pair, SplitName

File = tuple[str, str]
"""Origin and path."""


def split_pairs(pairs: Sequence[Pair], config: DataConfig) -> dict[SplitName, list[Pair]]:
    """Each pair in the official split of its origin, or, where it has none, in the split of its file; order is kept.

    Raises:
        ValueError: a split stays empty.
    """
    by_file = _splits_of_files([pair for pair in pairs if pair.method.split is None], config)
    splits: dict[SplitName, list[Pair]] = {name: [] for name in SPLITS}
    for pair in pairs:
        splits[pair.method.split or by_file[_file_of(pair)]].append(pair)
    empty = [name for name, members in splits.items() if not members]
    if empty:
        files = len({_file_of(pair) for pair in pairs})
        raise ValueError(
            f"{len(pairs):,} documented methods in {files:,} files are left after the filters, too few for a split "
            f"by file ({', '.join(empty)} would be empty): give more Java sources"
        )
    return splits


def _splits_of_files(pairs: Sequence[Pair], config: DataConfig) -> dict[File, SplitName]:
    """Files in the order of a hash go to the test until its share is reached, then to validation, then to training."""
    sizes = Counter(_file_of(pair) for pair in pairs)
    splits: dict[File, SplitName] = {}
    missing = {"test": config.test_share * len(pairs), "valid": config.valid_share * len(pairs)}
    for file in sorted(sizes, key=lambda file: _place(file, config.split_seed)):
        split: SplitName = "test" if missing["test"] > 0 else "valid" if missing["valid"] > 0 else "train"
        splits[file] = split
        if split in missing:
            missing[split] -= sizes[file]
    return splits


def _place(file: File, seed: int) -> bytes:
    return hashlib.sha256("\0".join((str(seed), *file)).encode(errors="surrogatepass")).digest()


def _file_of(pair: Pair) -> File:
    return pair.method.origin, pair.method.path
