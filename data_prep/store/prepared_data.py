"""The prepared data set on disk: memory-mapped arrays, one lexicon, texts as JSON Lines, and a manifest.

Layout of a folder: ``manifest.json`` (what the data are, with size and sha256 of every other file), ``lexicon.json``
(all distinct words of all splits, sorted: string interning, not a model's vocabulary), and for each split
``<split>-<field>-values.npy`` (int32 lexicon ids), ``<split>-<field>-offsets.npy`` (int64), ``<split>-texts.jsonl``
(the display text of each pair) and ``<split>-texts-offsets.npy``. The same pairs give the same bytes.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0

from data_prep.array_types import Int, Int64, UInt8
from data_prep.errors import UserError
from data_prep.files.atomic import atomic_folder
from data_prep.files.json_text import checked_record, checked_words, parse_json
from data_prep.files.reading import ABSENT, read_whole, reading
from data_prep.records import SPLITS, WORD_FIELDS, Pair, SplitName
from data_prep.store.manifest import (
    FORMAT_VERSION,
    MANIFEST,
    DamagedStore,
    check_file,
    manifest_sha256,
    read_manifest,
    sealed_file,
)
from data_prep.store.ragged_lists import Ragged, checked_edges, edges, mapped_row

_LEXICON: Final = "lexicon.json"
_CHECKED_FIELDS: Final = ("query", "name", "tokens", "api", "ast")
"""Fields that always exist, so that a checksum of words is the same with and without statement trees."""


@dataclass(frozen=True, slots=True)
class PairText:
    """The display text of a pair: the method's location, the query's sentence and the source."""

    origin: str
    path: str
    start_line: int  # 1-based
    end_line: int  # 1-based, inclusive
    type_name: str
    method_name: str
    query_text: str
    source: str
    licence: str = ""  # SPDX, "" if it is not known


_TEXT_FIELDS: Final = tuple(each.name for each in fields(PairText))
_AS_JSON: Final = json.JSONEncoder(separators=(",", ":"))


def _as_dict(text: PairText) -> dict[str, Any]:
    """The fields of a text; the licence only if it is known."""
    return {name: getattr(text, name) for name in _TEXT_FIELDS if name != "licence" or text.licence}


def _read_text(line: bytes) -> PairText:
    """Parse a ``line`` of texts, which was not validated when its file was opened.

    Raises:
        DamagedStore: it is invalid.
    """
    try:
        return checked_record(PairText, parse_json(line))
    except UserError as error:
        raise DamagedStore(f"the text of a method is damaged ({error}): make anew what it is read from") from error


@dataclass(frozen=True, eq=False, slots=True)
class Texts:
    """The texts of a split, decoded on access."""

    data: UInt8[np.ndarray, " bytes"]  # JSON Lines
    offsets: Int64[np.ndarray, " edges"]
    rows: Int64[np.ndarray, " rows"]  # line of each row

    @classmethod
    def of(cls, texts: Iterable[PairText]) -> "Texts":
        """Encode texts as JSON Lines."""
        lines = [_AS_JSON.encode(_as_dict(text)).encode() + b"\n" for text in texts]
        offsets = edges(np.fromiter(map(len, lines), dtype=np.int64, count=len(lines)))
        return cls(np.frombuffer(b"".join(lines), dtype=np.uint8), offsets, np.arange(len(lines)))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> PairText:
        line = self.rows[row]
        return _read_text(self.data[self.offsets[line] : self.offsets[line + 1]].tobytes())

    def take(self, rows: Int[np.ndarray, " rows"]) -> "Texts":
        """The texts of ``rows``, in that order."""
        return replace(self, rows=self.rows[rows])


@dataclass(frozen=True, eq=False)
class Split:
    """Pairs in a fixed order: row i's query is the description of row i's method."""

    name: str
    lexicon: Sequence[str]
    words: Mapping[str, Ragged]  # WORD_FIELDS -> lexicon ids
    texts: Texts

    @classmethod
    def of(cls, name: str, pairs: Sequence[Pair], lexicon: Sequence[str] | None = None) -> "Split":
        """A split in memory; ``lexicon`` must contain all its words, by default it is exactly these, sorted."""
        lexicon = _lexicon_of(pairs) if lexicon is None else lexicon
        place = {word: number for number, word in enumerate(lexicon)}
        words = {
            field: Ragged.of([[place[word] for word in pair.words(field)] for pair in pairs]) for field in WORD_FIELDS
        }
        return cls(name, lexicon, words, Texts.of(map(_text_of, pairs)))

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: Int[np.ndarray, " rows"]) -> "Split":
        """The pairs ``rows``, in that order."""
        words = {field: lists.take(rows) for field, lists in self.words.items()}
        return replace(self, words=words, texts=self.texts.take(rows))

    def text(self, row: int) -> PairText:
        """The display text of pair ``row``."""
        return self.texts[row]

    def word_list(self, field: str, row: int) -> list[str]:
        """The words of ``field`` (one of WORD_FIELDS) of pair ``row``."""
        return [self.lexicon[number] for number in self.words[field][row]]


@dataclass(frozen=True, eq=False, slots=True)
class PreparedData:
    """A prepared data set opened from its folder."""

    folder: Path
    manifest: dict[str, Any]
    splits: Mapping[SplitName, Split]


def write_prepared(folder: Path, splits: Mapping[SplitName, Sequence[Pair]], manifest: Mapping[str, Any]) -> None:
    """Write pairs and ``manifest`` to ``folder`` atomically; an older folder of that name is replaced.

    Added to the manifest: ``format_version``, ``split_sizes``, ``files`` (name, bytes, sha256) and its own sha256.

    Raises:
        OSError: the folder cannot be written.
    """
    lexicon = _lexicon_of(chain.from_iterable(splits.values()))
    with atomic_folder(folder) as new:
        (new / _LEXICON).write_text(json.dumps(lexicon), encoding="utf-8")
        for name in SPLITS:
            _save_split(new, Split.of(name, splits.get(name, ()), lexicon))
        whole = {
            **manifest,
            "format_version": FORMAT_VERSION,
            "split_sizes": {name: len(splits.get(name, ())) for name in SPLITS},
            "files": [sealed_file(new / name) for name in _file_names()],
        }
        whole["manifest_sha256"] = manifest_sha256(whole)
        (new / MANIFEST).write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def open_prepared(folder: Path) -> PreparedData:
    """Open what :func:`write_prepared` wrote, after checking every file by size and sha256.

    Raises:
        DamagedStore: a file is missing, truncated or changed, the format has another version, or the files are
            inconsistent.
        OSError: a file cannot be read at this moment, which says nothing about it.
    """
    manifest = read_manifest(folder, _file_names(), SPLITS)
    for seal in manifest["files"]:
        check_file(folder, seal)
    try:
        lexicon = tuple(checked_words(parse_json(read_whole(folder / _LEXICON))))
        sizes = manifest["split_sizes"]
        splits = {name: _open_split(folder, name, lexicon, sizes[name]) for name in SPLITS}
    except (*ABSENT, UserError) as error:
        raise DamagedStore(f"{folder} cannot be read: {error}") from error
    return PreparedData(folder, manifest, splits)


def words_sha256(split: Split) -> str:
    """The sha256 of the words of a split's pairs, in order, without statement trees."""
    digest = hashlib.sha256()
    for row in range(len(split)):
        fields = (" ".join(split.word_list(field, row)) for field in _CHECKED_FIELDS)
        digest.update("\t".join(fields).encode(errors="surrogatepass") + b"\n")
    return digest.hexdigest()


def _lexicon_of(pairs: Iterable[Pair]) -> list[str]:
    words: set[str] = set()
    for pair in pairs:
        words.update(*(pair.words(field) for field in WORD_FIELDS))
    return sorted(words)


def _text_of(pair: Pair) -> PairText:
    method = pair.method
    place = (method.origin, method.path, method.start_line, method.end_line, method.type_name, method.name)
    return PairText(*place, query_text=pair.query_text, source=method.source, licence=method.licence)


def _file_names() -> list[str]:
    arrays = [f"{field}-{part}.npy" for field in WORD_FIELDS for part in ("values", "offsets")]
    return [_LEXICON, *(f"{name}-{each}" for name in SPLITS for each in (*arrays, "texts.jsonl", "texts-offsets.npy"))]


def _save_split(folder: Path, split: Split) -> None:
    for field, lists in split.words.items():
        _save_array(folder / f"{split.name}-{field}-values.npy", lists.values)
        _save_array(folder / f"{split.name}-{field}-offsets.npy", lists.offsets)
    (folder / f"{split.name}-texts.jsonl").write_bytes(split.texts.data.tobytes())
    _save_array(folder / f"{split.name}-texts-offsets.npy", split.texts.offsets)


def _save_array(path: Path, array: np.ndarray) -> None:
    """Write the bytes of ``np.save``, which hides the system's error if the disk is full."""
    array = np.ascontiguousarray(array)
    with path.open("wb") as file:
        write_array_header_1_0(file, header_data_from_array_1_0(array))
        file.write(array.data)


def _open_split(folder: Path, name: str, lexicon: Sequence[str], size: int) -> Split:
    words = {}
    for field in WORD_FIELDS:
        values, offsets = (mapped_row(folder / f"{name}-{field}-{part}.npy") for part in ("values", "offsets"))
        words[field] = Ragged.checked(values, offsets, lists=size, below=len(lexicon))
    with reading(folder / f"{name}-texts.jsonl") as file:
        empty = not file.seek(0, os.SEEK_END)  # an empty file cannot be mapped
        data = np.empty(0, np.uint8) if empty else np.asarray(np.memmap(file, dtype=np.uint8, mode="r"))
    offsets = checked_edges(mapped_row(folder / f"{name}-texts-offsets.npy"), lists=size, total=len(data))
    return Split(name, lexicon, words, Texts(data, offsets, np.arange(size)))
