"""Writes a prepared data set, in the form that :mod:`data_prep.store.prepared_data` describes and reads."""

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0

from data_prep.array_types import Int
from data_prep.files.atomic import atomic_folder
from data_prep.records import SPLITS, WORD_FIELDS, Pair, SplitName
from data_prep.store.prepared_data import FORMAT_VERSION, LEXICON, MANIFEST, Split, manifest_sha256, sealed_file
from data_prep.store.ragged_lists import edges


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
