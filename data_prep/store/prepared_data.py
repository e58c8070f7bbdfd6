"""The prepared data set on disk: memory-mapped arrays, one lexicon, texts as JSON Lines, and a manifest.

Layout of a folder: ``manifest.json`` (what the data are, with size and sha256 of every other file), ``lexicon.json``
(all distinct words of all splits, sorted: string interning, not a model's vocabulary), and for each split
``<split>-<field>-values.npy`` (int32 lexicon ids), ``<split>-<field>-offsets.npy`` (int64), ``<split>-texts.jsonl``
(the display text of each pair) and ``<split>-texts-offsets.npy``. The same pairs give the same bytes.

The manifest's checksums are the one check of a folder: content whose checksum is right is what this program wrote.
"""

import hashlib
import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.array_types import Int, Int64, UInt8
from data_prep.errors import UserError
from data_prep.files.access import ABSENT, file_sha256, read_whole, reason
from data_prep.files.json_text import checked_record, parse_json, sorted_json
from data_prep.records import SPLITS, WORD_FIELDS, Pair, SplitName
from data_prep.store.ragged_lists import Ragged, edges

FORMAT_VERSION: Final = 1
"""Incremented when the layout changes; a store of another version is rebuilt."""
MANIFEST: Final = "manifest.json"
LEXICON: Final = "lexicon.json"
_CHECKED_FIELDS: Final = ("query", "name", "tokens", "api", "ast")  # that always exist, unlike statement trees


class DamagedStore(UserError):  # noqa: N818 - names a state
    """A prepared data set that cannot be used; the message states why."""


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

    @property
    def code_key(self) -> tuple[str, ...]:
        """What tells its code from others: its place and its text."""
        return self.origin, self.path, str(self.start_line), self.source


_TEXT_FIELDS: Final = tuple(each.name for each in fields(PairText))


def text_line(text: PairText) -> bytes:
    """The line of a text in JSON; an encoder of objects takes twice as long."""
    values = ((name, getattr(text, name)) for name in _TEXT_FIELDS if name != "licence" or text.licence)
    parts = (
        f'"{name}":{encode_basestring_ascii(value) if isinstance(value, str) else value}' for name, value in values
    )
    return f"{{{','.join(parts)}}}\n".encode()


def read_text(line: bytes) -> PairText:
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
        data, lengths = bytearray(), array("q")  # a list of lines would take as much again
        for text in texts:
            data += (line := text_line(text))
            lengths.append(len(line))
        offsets = edges(np.array(lengths, np.int64))
        return cls(np.frombuffer(data, dtype=np.uint8), offsets, np.arange(len(lengths)))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> PairText:
        return read_text(self.line(row))

    def line(self, row: int) -> bytes:
        """The text of a row as JSON."""
        line = self.rows[row]
        return self.data[self.offsets[line] : self.offsets[line + 1]].tobytes()

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
    def of(cls, name: str, pairs: Sequence[Pair]) -> "Split":
        """A split in memory; its lexicon has exactly its words, sorted."""
        lexicon = sorted(set(chain.from_iterable(pair.words(field) for pair in pairs for field in WORD_FIELDS)))
        place = {word: number for number, word in enumerate(lexicon)}
        words = {field: _numbers([pair.words(field) for pair in pairs], place) for field in WORD_FIELDS}
        return cls(name, lexicon, words, Texts.of(map(text_of, pairs)))

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: Int[np.ndarray, " rows"]) -> "Split":
        """The pairs ``rows``, in that order."""
        words = {field: lists.take(rows) for field, lists in self.words.items()}
        return replace(self, words=words, texts=self.texts.take(rows))

    def text(self, row: int) -> PairText:
        """The display text of pair ``row``."""
        return self.texts[row]

    def has(self, row: int, part: bytes) -> bool:
        """Whether the text of pair ``row`` has a part of JSON, as it is stored: decoding it takes much longer."""
        return part in self.texts.line(row)

    def word_list(self, field: str, row: int) -> list[str]:
        """The words of ``field`` (one of WORD_FIELDS) of pair ``row``."""
        return [self.lexicon[number] for number in self.words[field][row]]


@dataclass(frozen=True, eq=False, slots=True)
class PreparedData:
    """A prepared data set opened from its folder."""

    folder: Path
    manifest: dict[str, Any]
    splits: Mapping[SplitName, Split]


def _numbers(lists: Sequence[Sequence[str]], place: Mapping[str, int]) -> Ragged:
    """The numbers of the words of each list."""
    offsets = edges(np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)))
    values = map(place.__getitem__, chain.from_iterable(lists))
    return Ragged(np.fromiter(values, dtype=np.int32, count=int(offsets[-1])), offsets)


def sealed_file(path: Path) -> dict[str, str | int]:
    """The seal of a file: its name, size and checksum."""
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": file_sha256(path)}


def manifest_sha256(manifest: Mapping[str, Any]) -> str:
    """The checksum of the rest of a manifest."""
    rest = {key: value for key, value in manifest.items() if key != "manifest_sha256"}
    return hashlib.sha256(sorted_json(rest)).hexdigest()


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


def words_sha256(split: Split) -> str:
    """The sha256 of the words of a split's pairs, in order, without statement trees."""
    digest = hashlib.sha256()
    for row in range(len(split)):
        fields = (" ".join(split.word_list(field, row)) for field in _CHECKED_FIELDS)
        digest.update("\t".join(fields).encode(errors="surrogatepass") + b"\n")
    return digest.hexdigest()


def text_of(pair: Pair) -> PairText:
    """What is shown of a pair."""
    method = pair.method
    place = (method.origin, method.path, method.start_line, method.end_line, method.type_name, method.name)
    return PairText(*place, query_text=pair.query_text, source=method.source, licence=method.licence)


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
