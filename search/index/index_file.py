"""The file of an index.

It begins with a line with the format's name and a :class:`Head`; arrays in safetensors form follow, one of which is a
manifest. It is read and checked completely on opening, so that a damaged one is never used; it is written beside the
old one and renamed, so that there is always a complete one. The same tree gives the same bytes.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, Literal, Protocol, runtime_checkable

import numpy as np
import xxhash
from safetensors import SafetensorError
from safetensors.numpy import save

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.json_text import checked_record, parse_json
from data_prep.files.named_paths import make_own_folder
from data_prep.files.reading import ABSENT, reading, reason
from data_prep.records import WORD_FIELDS
from data_prep.store.prepared_data import Split, Texts
from data_prep.store.ragged_lists import Ragged, checked_edges
from search.files.origin import Origin
from search.index.code_index import UNIT_KINDS, Index, IndexedFile
from search.index.file_index import FileIndex
from search.index.stored_arrays import StoredArrays, checked_origin, mapped_arrays
from search.retrieval.bm25_index import Bm25Index

FORMAT: Final = "galm index 6"
"""Incremented when the layout, or what is read of a file, changes."""
_FIELDS: Final = tuple(field for field in WORD_FIELDS if field != "statements")
"""The fields of an index: no ranker of the search reads statement trees."""

_LONGEST_HEAD: Final = 4096  # bytes
_ALIGNED: Final = 64
"""What follows the first line begins at a multiple of this, so that its arrays can be mapped."""
_AGAIN: Final = "make it again by `bash run.sh index DIR`"


class UnusableIndexError(UserError):
    """An index that cannot be used; the message says why, and what to do."""


@runtime_checkable
class SeenFile(Protocol):
    """A source file, as it was when found."""

    @property
    def path(self) -> str:
        """Inside the folder, "/"-separated."""

    @property
    def size(self) -> int:
        """In bytes."""

    @property
    def modified(self) -> int:
        """In nanoseconds."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first line of an index file: what is known without reading the rest."""

    rows: int
    files: int
    tree: str  # checksum of the indexed files, by :func:`tree_sha256`
    bytes: int  # of what follows
    content: str  # sha256 of what follows
    sum: str = ""  # XXH3 of all else here and of what follows; "" in files of earlier versions
    documents: bool = False  # whether texts and configuration are indexed too


def save_index(index: Index, path: Path) -> None:
    """Write ``index`` atomically, for the user alone, replacing an older one.

    Raises:
        OSError: it cannot be written; the older one is left unchanged.
    """
    words, lexical = index.split.words, index.lexical
    manifest = {"origin": asdict(index.origin) if index.origin else None, "files": [asdict(f) for f in index.files]}
    arrays = {f"{field}-{part}": getattr(words[field], part) for field in _FIELDS for part in ("values", "offsets")}
    arrays |= {"asks": index.asks, "kinds": index.kinds}
    arrays |= {"texts-data": index.split.texts.data, "texts-offsets": index.split.texts.offsets}
    arrays |= {f"lexical-{part}": getattr(lexical, part) for part in ("starts", "rows", "gains")}
    texts: dict[str, object] = {
        "manifest": manifest,
        "lexicon": list(index.split.lexicon),
        "names": list(index.names),
        "terms": list(lexical.terms),
    }
    arrays |= index.whole.arrays()
    texts |= index.whole.texts()
    arrays |= {name: np.frombuffer(json.dumps(each).encode(), np.uint8) for name, each in texts.items()}
    content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    head = Head(
        rows=len(index),
        files=len(index.files),
        tree=tree_sha256(index.origin, index.files),
        documents=index.documents,
        bytes=len(content),
        content=hashlib.sha256(content).hexdigest(),
    )
    head = replace(head, sum=_sum(head, content))
    make_own_folder(path.parent)
    line = f"{FORMAT} {json.dumps(asdict(head))}".encode()
    write_atomically(path, line + b" " * (-(len(line) + 1) % _ALIGNED) + b"\n" + content, private=True)


def tree_sha256(origin: Origin | None, files: Iterable[SeenFile]) -> str:
    """A checksum of the files' paths, sizes and modification times, and of their origin."""
    parts = [json.dumps(asdict(origin) if origin else None)]
    for file in files:
        parts += file.path, str(file.size), str(file.modified)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()  # no path contains a NUL


def read_head(path: Path) -> Head:
    """The first line of an index.

    Raises:
        UnusableIndexError: there is no index, it is incomplete, or it is of another version.
        OSError: it cannot be read at this moment, which says nothing about it.
    """
    return _opened(path, "head")[0]


def read_whole_head(path: Path) -> Head:
    """The first line of an index, after verifying the checksum of the whole file.

    That is its ``sum``, which takes a tenth of the time of a sha256, or the sha256 if there is no ``sum``.

    Raises:
        UnusableIndexError: there is no index, it is damaged, or it is of another version.
        OSError: as :func:`read_head`.
    """
    return _opened_whole(path, "mapped")[0]


def _opened_whole(path: Path, how: Literal["mapped", "read"]) -> tuple[Head, memoryview]:
    """The head of an index and what follows it, verified."""
    head, content = _opened(path, how)
    found = _sum(head, content) if head.sum else hashlib.sha256(content).hexdigest()
    if found != (head.sum or head.content):
        raise UnusableIndexError(f"the index {path} is damaged: {_AGAIN}")
    return head, content


def _sum(head: Head, content: bytes | memoryview) -> str:
    about = json.dumps(asdict(replace(head, sum="")), sort_keys=True).encode()
    summed = xxhash.xxh3_128(about)
    summed.update(content)
    return str(summed.hexdigest())


def open_index(path: Path, *, mapped: bool = False) -> Index:
    """Open what :func:`save_index` wrote.

    Args:
        path: the file.
        mapped: map the file instead of reading it. Only for a process that ends soon: whoever writes into the file
            would change what has been verified. (This program replaces it by another file.)

    Raises:
        UnusableIndexError: there is no index, it is damaged, or it is of another version.
        OSError: as :func:`read_head`.
    """
    head, content = _opened_whole(path, "mapped" if mapped else "read")
    try:
        return _built(mapped_arrays(content), head)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise UnusableIndexError(f"the index {path} cannot be read ({error}): remove it, and {_AGAIN}") from error


def _opened(path: Path, how: Literal["head", "mapped", "read"]) -> tuple[Head, memoryview]:
    """The head of an index and, unless ``how`` is ``head``, what follows it."""
    try:
        with reading(path) as file:
            line, size = file.readline(_LONGEST_HEAD), os.fstat(file.fileno()).st_size
            head = _head(path, line, size)
            if how == "head":
                return head, memoryview(b"")
            return head, _mapped(file, len(line)) if how == "mapped" else memoryview(file.read())
    except ABSENT as error:
        raise UnusableIndexError(
            f"there is no index at {path} ({reason(error)}): make one by `bash run.sh index DIR`, or name one by "
            "--index="
        ) from error


def _mapped(file: BinaryIO, start: int) -> memoryview:
    """The bytes from ``start`` on, memory-mapped."""
    return np.memmap(file, np.uint8, mode="r", offset=start).data


def _head(path: Path, line: bytes, size: int) -> Head:
    """The head in the first ``line`` of a file of ``size`` bytes."""
    if not line.startswith(f"{FORMAT} ".encode()):
        raise UnusableIndexError(f"{path} does not begin {FORMAT!r}, but {line[:20]!r}: {_AGAIN}")
    try:
        head = checked_record(Head, parse_json(line.removeprefix(FORMAT.encode())))
        if head.bytes < 1:
            raise UserError("nothing follows it")
    except UserError as error:
        raise UnusableIndexError(f"the first line of the index {path} is damaged ({error}): {_AGAIN}") from error
    if size != len(line) + head.bytes:
        raise UnusableIndexError(f"the index {path} has {size:,} bytes instead of {len(line) + head.bytes:,}: {_AGAIN}")
    return head


def _built(arrays: Mapping[str, np.ndarray], head: Head) -> Index:
    """The index in ``arrays``, in which every number is checked before it is used as a position or a size."""
    stored = StoredArrays(arrays)
    manifest = stored.json("manifest")
    files = [checked_record(IndexedFile, each) for each in manifest["files"]]
    if (len(files), sum(file.units for file in files)) != (head.files, head.rows) or any(f.units < 0 for f in files):
        raise UserError(f"its files do not have {head.rows:,} rows")
    lexicon, terms, data = stored.words("lexicon"), stored.words("terms"), stored.array("texts-data", np.uint8)
    words = {
        field: stored.ragged(f"{field}-values", f"{field}-offsets", lists=head.rows, below=len(lexicon))
        for field in _FIELDS
    }
    words["statements"] = Ragged(np.empty(0, np.int32), np.zeros(head.rows + 1, np.int64))
    offsets = checked_edges(stored.array("texts-offsets", np.int64), lists=head.rows, total=len(data))
    split = Split("index", lexicon, words, Texts(data, offsets, np.arange(head.rows)))
    found = stored.ragged("lexical-rows", "lexical-starts", lists=len(terms), below=head.rows)
    gains = stored.array("lexical-gains", np.float32, len(found.values))
    if not np.isfinite(gains).all():
        raise UserError("what terms add to scores is not finite")
    lexical = Bm25Index(terms, found.offsets, found.values, gains, head.rows)
    whole = FileIndex.checked(stored, len(files))
    origin = checked_origin(manifest["origin"]) if manifest["origin"] else None
    names, asks = stored.words("names", head.rows), stored.array("asks", np.uint8, head.rows)
    kinds = stored.array("kinds", np.uint8, head.rows)
    if kinds.max(initial=0) >= len(UNIT_KINDS):
        raise UserError(f"it has a row of kind {kinds.max()}, but there are {len(UNIT_KINDS)}")
    return Index(files, split, names, asks, kinds, lexical, whole, origin, head.documents)
