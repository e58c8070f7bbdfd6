"""The prepared data set on disk: mapped arrays, one lexicon, texts as JSON Lines, and a manifest; and parts of it.

Layout of a folder: ``manifest.json`` (what the data are, with size and sha256 of every other file), ``lexicon.json``
(all distinct words of all splits, sorted: string interning, not a model's vocabulary), and for each split
``<split>-<field>-values.npy`` (int32 lexicon ids), ``<split>-<field>-offsets.npy`` (int64), ``<split>-texts.jsonl``
(the display text of each pair) and ``<split>-texts-offsets.npy``. The same pairs give the same bytes.

The manifest's checksums are the one check of a folder: content whose checksum is right is what this program wrote.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0

from data_prep.errors import UserError
from data_prep.files.access import ABSENT, file_sha256, read_whole, reason
from data_prep.files.json_text import parse_json, sorted_json
from data_prep.files.writing import atomic_folder
from data_prep.records import SPLITS, WORD_FIELDS, Pair, SplitName
from data_prep.store.arrays import Int, Int64, Ragged, edges
from data_prep.store.split import DamagedStore, Split, Texts, joined

FORMAT_VERSION: Final = 1
"""Incremented when the layout changes; a store of another version is rebuilt."""
MANIFEST: Final = "manifest.json"
LEXICON: Final = "lexicon.json"
_SHOWN: Final = 12
"""Names of source trees that a message lists."""


@dataclass(frozen=True, eq=False, slots=True)
class PreparedData:
    """A prepared data set opened from its folder."""

    folder: Path
    manifest: dict[str, Any]
    splits: Mapping[SplitName, Split]


def open_prepared(folder: Path) -> PreparedData:
    """Open what :func:`write_prepared` wrote, after checking every file by size and sha256.

    Raises:
        DamagedStore: a file is missing, truncated or changed, or the format has another version.
        OSError: a file cannot be read at this moment, which says nothing about it.
    """
    path = folder / MANIFEST
    try:
        manifest = _read_manifest(path)
        for seal in manifest["files"]:
            path = folder / seal["name"]
            _check_file(path, seal)
        path = folder
        lexicon = tuple(json.loads(read_whole(folder / LEXICON)))
        return PreparedData(folder, manifest, {name: _open_split(folder, name, lexicon) for name in SPLITS})
    except FileNotFoundError as error:
        raise DamagedStore(f"{error.filename or path} is missing") from error
    except ABSENT as error:
        raise DamagedStore(f"{path} cannot be read: {reason(error)}") from error
    except OSError as error:
        raise OSError(error.errno, error.strerror, error.filename or str(path)) from error


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = parse_json(read_whole(path))
        version = manifest.get("format_version") if isinstance(manifest, dict) else None
        whole = version == FORMAT_VERSION and manifest["manifest_sha256"] == manifest_sha256(manifest)
    except (UserError, KeyError) as error:
        raise DamagedStore(f"{path} cannot be read: {error}") from error
    if version != FORMAT_VERSION:
        raise DamagedStore(f"{path} is of format {version}, this program reads format {FORMAT_VERSION}")
    if not whole:
        raise DamagedStore(f"{path} was changed after it was written")
    return dict(manifest)


def _check_file(path: Path, seal: Mapping[str, Any]) -> None:
    if (size := path.stat().st_size) != seal["bytes"]:
        raise DamagedStore(f"{path} has {size} bytes instead of {seal['bytes']}")
    if file_sha256(path) != seal["sha256"]:
        raise DamagedStore(f"{path} was changed: its sha256 is not the manifest's")


def _open_split(folder: Path, name: str, lexicon: Sequence[str]) -> Split:
    words = {
        field: Ragged(_mapped(folder / f"{name}-{field}-values.npy"), _mapped(folder / f"{name}-{field}-offsets.npy"))
        for field in WORD_FIELDS
    }
    texts, offsets = folder / f"{name}-texts.jsonl", _mapped(folder / f"{name}-texts-offsets.npy")
    empty = not texts.stat().st_size  # an empty file cannot be mapped
    data = np.empty(0, np.uint8) if empty else np.asarray(np.memmap(texts, dtype=np.uint8, mode="r"))
    return Split(name, lexicon, words, Texts(data, offsets, np.arange(len(offsets) - 1)))


def _mapped(path: Path) -> np.ndarray:
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def sealed_file(path: Path) -> dict[str, str | int]:
    """The seal of a file: its name, size and checksum."""
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": file_sha256(path)}


def manifest_sha256(manifest: Mapping[str, Any]) -> str:
    """The checksum of the rest of a manifest."""
    rest = {key: value for key, value in manifest.items() if key != "manifest_sha256"}
    return hashlib.sha256(sorted_json(rest)).hexdigest()


def write_prepared(
    folder: Path, splits: Mapping[SplitName, Split | Sequence[Pair]], manifest: Mapping[str, Any]
) -> None:
    """Write pairs and ``manifest`` to ``folder`` atomically; an older folder of that name is replaced.

    Added to the manifest: ``format_version``, ``split_sizes``, ``files`` (name, bytes, sha256) and its own sha256.

    Raises:
        OSError: the folder cannot be written.
    """
    found = {name: splits.get(name, ()) for name in SPLITS}
    made = {name: each if isinstance(each, Split) else Split.of(name, each) for name, each in found.items()}
    used = {name: _used(each) for name, each in made.items()}
    lexicon = sorted(set(chain.from_iterable(used.values())))
    place = {word: number for number, word in enumerate(lexicon)}
    with atomic_folder(folder) as new:
        (new / LEXICON).write_text(json.dumps(lexicon), encoding="utf-8")
        for name, split in made.items():
            numbers = np.zeros(len(split.lexicon), np.int32)
            numbers[[*used[name].values()]] = [place[word] for word in used[name]]
            _save_split(new, name, split, numbers)
        whole = {
            **manifest,
            "format_version": FORMAT_VERSION,
            "split_sizes": {name: len(each) for name, each in found.items()},
            "files": [sealed_file(new / name) for name in _file_names()],
        }
        whole["manifest_sha256"] = manifest_sha256(whole)
        (new / MANIFEST).write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def _used(split: Split) -> dict[str, int]:
    """The words of a split with their numbers: those of its lexicon that its pairs have."""
    has = np.zeros(len(split.lexicon), bool)
    for lists in split.words.values():
        has[lists.values] = True
    return {split.lexicon[number]: number for number in np.flatnonzero(has).tolist()}


def _file_names() -> list[str]:
    arrays = [f"{field}-{part}.npy" for field in WORD_FIELDS for part in ("values", "offsets")]
    return [LEXICON, *(f"{name}-{each}" for name in SPLITS for each in (*arrays, "texts.jsonl", "texts-offsets.npy"))]


def _save_split(folder: Path, name: str, split: Split, numbers: Int[np.ndarray, " lexicon"]) -> None:
    """``numbers``: the number of each word of the split's lexicon in that of the folder."""
    for field, lists in split.words.items():
        _save_array(folder / f"{name}-{field}-values.npy", numbers[lists.values])
        _save_array(folder / f"{name}-{field}-offsets.npy", lists.offsets)
    data, starts, ends = split.texts.data.data, *(split.texts.offsets[split.texts.rows + end] for end in (0, 1))
    with (folder / f"{name}-texts.jsonl").open("wb") as file:
        file.writelines(data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True))
    _save_array(folder / f"{name}-texts-offsets.npy", edges(ends - starts))


def _save_array(path: Path, array: np.ndarray) -> None:
    """Write the bytes of ``np.save``, which hides the system's error if the disk is full."""
    array = np.ascontiguousarray(array)
    with path.open("wb") as file:
        write_array_header_1_0(file, header_data_from_array_1_0(array))
        file.write(array.data)


def limit_pairs(data: PreparedData, limit: int, seed: int = 0) -> PreparedData:
    """At most ``limit`` pairs (0: all), sampled with ``seed``; rows remain in order.

    Splits are limited in proportion to their sizes, to at least one pair each.

    Raises:
        UserError: ``limit`` is smaller than the number of splits.
    """
    sizes = np.array([len(data.splits[name]) for name in SPLITS])
    if limit == 0 or limit >= sizes.sum():
        return data
    if limit < np.count_nonzero(sizes):
        least = np.count_nonzero(sizes)
        raise UserError(f"--data.limit takes 0 (all) or at least {least}, one per split, not {limit}")
    splits = {}
    for place, (name, share) in enumerate(zip(SPLITS, _shares(sizes, limit), strict=True)):
        splits[name] = _sampled(data.splits[name], share, [seed, place])
    return replace(data, splits=splits)


def limit_training(data: PreparedData, limit: int, seed: int = 0) -> PreparedData:
    """At most ``limit`` training pairs (0: all), sampled with ``seed``; the other splits remain whole."""
    train = data.splits["train"]
    if limit == 0 or limit >= len(train):
        return data
    return replace(data, splits={**data.splits, "train": _sampled(train, limit, [seed, SPLITS.index("train")])})


def _sampled(split: Split, size: int, seed: Sequence[int]) -> Split:
    drawn = np.random.default_rng(seed).choice(len(split), size=size, replace=False)
    return split.take(np.sort(drawn))


def _shares(sizes: Int[np.ndarray, " splits"], limit: int) -> list[int]:
    """``limit`` divided in proportion to ``sizes``, at least 1 for non-empty ones: largest remainders first."""
    exact = sizes * limit / sizes.sum()
    shares = np.maximum(np.floor(exact).astype(np.int64), (sizes > 0).astype(np.int64))
    while shares.sum() < limit:
        shares[np.argmax(exact - shares)] += 1
    while shares.sum() > limit:
        shares[np.argmax(shares - exact - 2 * limit * (shares <= 1))] -= 1
    return [int(share) for share in shares]


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


_CHECKED_FIELDS: Final = ("query", "name", "tokens", "api", "ast")  # that always exist, unlike statement trees


def words_sha256(split: Split) -> str:
    """The sha256 of the words of a split's pairs, in order, without statement trees."""
    digest = hashlib.sha256()
    for row in range(len(split)):
        fields = (" ".join(split.word_list(field, row)) for field in _CHECKED_FIELDS)
        digest.update("\t".join(fields).encode(errors="surrogatepass") + b"\n")
    return digest.hexdigest()


def tree_of(split: Split, row: int) -> str:
    """The name of the source tree of a pair, without its revision."""
    return split.text(row).origin.rpartition("@")[0]
