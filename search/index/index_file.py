"""The file of an index.

It begins with a line with the format's name and a :class:`Head`; arrays in safetensors form follow, one of which is a
manifest. It is read and checked completely on opening, so that a damaged one is never used; it is written beside the
old one and renamed, so that there is always a complete one. The same tree gives the same bytes.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import xxhash
from safetensors.numpy import save

from data_prep.errors import UserError
from data_prep.files.access import ABSENT, make_own_folder, reading, reason
from data_prep.files.json_text import checked_record, checked_words, parse_json
from data_prep.files.writing import write_atomically
from data_prep.records import WORD_FIELDS
from data_prep.store.arrays import Ragged, checked_edges, tensors
from data_prep.store.split import Split, Texts
from search.index.code_index import UNIT_KINDS, Index, IndexedFile, Origin
from search.retrieval.word_index import KINDS, Bm25Index, FileIndex

if TYPE_CHECKING:
    from search.files.stamps import Found

FORMAT: Final = "galm index 16"
"""Incremented when the layout, or what is read of a file, changes."""
_OF_FILE: Final = tuple(each.name for each in fields(IndexedFile))
_FIELDS: Final = tuple(field for field in WORD_FIELDS if field != "statements")
"""The fields of an index: no ranker of the search reads statement trees."""
_LONGEST_HEAD: Final = 4096  # bytes
_ALIGNED: Final = 64
"""What follows the first line begins at a multiple of this, so that its arrays can be mapped."""
_VERSION: Final = re.compile(rb"galm index \d{1,9}(?= )")
_AGAIN: Final = "make it again by `bash run.sh index DIR`"


class UnusableIndexError(UserError):
    """An index that cannot be used; the message says why, and what to do."""


class OtherVersionError(UnusableIndexError):
    """An index that another version of this program made."""


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
    everything: bool = False  # whether hidden folders, and those of others' code, are indexed too


def save_index(index: Index, path: Path) -> None:
    """Write ``index`` atomically, for the user alone, replacing an older one.

    Raises:
        OSError: it cannot be written; the older one is left unchanged.
    """
    words, whole = index.split.words, index.whole
    arrays = {f"{field}-{part}": getattr(words[field], part) for field in _FIELDS for part in ("values", "offsets")}
    arrays |= {"asks": index.asks, "kinds": index.kinds, "deprecated": index.deprecated}
    arrays |= {"texts-data": index.split.texts.data, "texts-offsets": index.split.texts.offsets}
    by_words = {"lexical": index.lexical, "callers": index.callers}
    arrays |= {
        f"{name}-{part}": getattr(by_words[name], part) for name in by_words for part in ("starts", "rows", "gains")
    }
    arrays |= {"files-starts": whole.starts, "files-rows": whole.files, "files-places": whole.places}
    arrays |= {"files-lines": whole.lines.values, "files-lines-offsets": whole.lines.offsets}
    arrays |= {f"files-{kind}": whole.counts[kind] for kind in KINDS}
    texts: dict[str, object] = {
        "manifest": {
            "origin": asdict(index.origin) if index.origin else None,
            "files": [{name: getattr(file, name) for name in _OF_FILE} for file in index.files],
            "unread": dict(index.unread),
            "not_entered": list(index.not_entered),
            "repositories": dict(index.repositories),
            "old": [(file, sorted(meant)) for file, meant in index.old.items()],
        },
        "lexicon": list(index.split.lexicon),
        "names": list(index.names),
        **{f"{name}-terms": list(each.terms) for name, each in by_words.items()},
        "files-terms": list(whole.terms),
        "files-names": [" ".join(each) for each in whole.names],
    }
    arrays |= {name: np.frombuffer(json.dumps(each).encode(), np.uint8) for name, each in texts.items()}
    content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    head = Head(
        rows=len(index),
        files=len(index.files),
        tree=tree_sha256(index.origin, index.files, index.repositories),
        documents=index.documents,
        everything=index.everything,
        bytes=len(content),
        content=hashlib.sha256(content).hexdigest(),
    )
    head = replace(head, sum=_sum(head, content))
    make_own_folder(path.parent)
    line = f"{FORMAT} {json.dumps(asdict(head))}".encode()
    write_atomically(path, line + b" " * (-(len(line) + 1) % _ALIGNED) + b"\n" + content, private=True)


def tree_sha256(origin: Origin | None, files: "Iterable[Found | IndexedFile]", repositories: Mapping[str, bool]) -> str:
    """A checksum of the files' paths, sizes and modification times, of their origin, and of what was not entered."""
    parts = [json.dumps(asdict(origin) if origin else None)]
    for file in files:
        parts += file.path, str(file.size), str(file.modified)
    parts += (f"{path} {own}" for path, own in sorted(repositories.items()))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()  # no path contains a NUL


def read_head(path: Path) -> Head:
    """The first line of an index.

    Raises:
        UnusableIndexError: there is no index, it is incomplete, or it is of another version.
        OSError: it cannot be read at this moment, which says nothing about it.
    """
    try:
        now = path.stat()
    except ABSENT:
        return _opened(path, "head")[0]  # which says why
    return _read_head(path, (now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns))


@lru_cache(maxsize=4)
def _read_head(path: Path, _: tuple[int, ...]) -> Head:
    """The first line of a file, which is read again once its stamp is another one."""
    return _opened(path, "head")[0]


def version_of(path: Path) -> str:
    """The format that an index names, of any version; "" if the file is none."""
    try:
        with reading(path) as file:
            found = _VERSION.match(file.readline(_LONGEST_HEAD))
    except OSError:
        return ""
    return found[0].decode() if found else ""


def read_whole_head(path: Path) -> Head:
    """The first line of an index, after verifying the checksum of the whole file.

    That is its ``sum``, which takes a tenth of the time of a sha256, or the sha256 if there is no ``sum``.

    Raises:
        UnusableIndexError: there is no index, it is damaged, or it is of another version.
        OSError: as :func:`read_head`.
    """
    return _opened(path, "mapped")[0]


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
    head, content = _opened(path, "mapped" if mapped else "read")
    try:
        return _built(tensors(content)[0], head)
    except (ValueError, KeyError, TypeError) as error:
        raise UnusableIndexError(f"the index {path} cannot be read ({error}): remove it, and {_AGAIN}") from error


def _opened(path: Path, how: Literal["head", "mapped", "read"]) -> tuple[Head, memoryview]:
    """The head of an index and, unless ``how`` is ``head``, what follows it, verified."""
    try:
        with reading(path) as file:
            line = file.readline(_LONGEST_HEAD)
            head = _head(path, line, os.fstat(file.fileno()).st_size)
            if how == "head":
                return head, memoryview(b"")
            mapped = how == "mapped"
            content = np.memmap(file, np.uint8, mode="r", offset=len(line)).data if mapped else memoryview(file.read())
    except ABSENT as error:
        raise UnusableIndexError(
            f"there is no index at {path} ({reason(error)}): make one by `bash run.sh index DIR`, or name one by "
            "--index="
        ) from error
    found = _sum(head, content) if head.sum else hashlib.sha256(content).hexdigest()
    if found != (head.sum or head.content):
        raise UnusableIndexError(f"the index {path} is damaged: {_AGAIN}")
    return head, content


def _head(path: Path, line: bytes, size: int) -> Head:
    """The head in the first ``line`` of a file of ``size`` bytes."""
    if not line.startswith(f"{FORMAT} ".encode()):
        if version := _VERSION.match(line):
            raise OtherVersionError(
                f"the index {path} is of another version of this program, {version[0].decode()!r}: {_AGAIN}"
            )
        raise UnusableIndexError(f"{path} does not begin {FORMAT!r}, but {line[:20]!r}: {_AGAIN}")
    try:
        head = checked_record(Head, parse_json(line.removeprefix(FORMAT.encode())))
    except UserError as error:
        raise UnusableIndexError(f"the first line of the index {path} is damaged ({error}): {_AGAIN}") from error
    if head.bytes < 1 or size != len(line) + head.bytes:
        raise UnusableIndexError(f"the index {path} has {size:,} bytes instead of {len(line) + head.bytes:,}: {_AGAIN}")
    return head


def _sum(head: Head, content: bytes | memoryview) -> str:
    about = json.dumps(asdict(replace(head, sum="")), sort_keys=True).encode()
    summed = xxhash.xxh3_128(about)
    summed.update(content)
    return str(summed.hexdigest())


def _built(arrays: Mapping[str, np.ndarray], head: Head) -> Index:
    """The index in ``arrays``: whoever wrote the file also wrote its checksums, so that positions are checked."""

    def words(name: str) -> list[str]:
        return checked_words(parse_json(arrays[name].tobytes()))

    def lists(values: str, offsets: str, count: int, below: int) -> Ragged:
        return Ragged.checked(arrays[values], arrays[offsets], lists=count, below=below)

    def by_terms(name: str, size: int) -> Bm25Index:
        terms, gains = words(f"{name}-terms"), arrays[f"{name}-gains"]
        found = lists(f"{name}-rows", f"{name}-starts", len(terms), size)
        if len(found.values) != len(gains) or not np.isfinite(gains).all():
            raise UserError(f"the words of {name} do not fit together")
        return Bm25Index(terms, found.offsets, found.values, gains, size)

    manifest = parse_json(arrays["manifest"].tobytes())
    files = [checked_record(IndexedFile, each) for each in manifest["files"]]
    lexicon, file_terms, names = words("lexicon"), words("files-terms"), words("names")
    by_field = {field: lists(f"{field}-values", f"{field}-offsets", head.rows, len(lexicon)) for field in _FIELDS}
    by_field["statements"] = Ragged(np.empty(0, np.int32), np.zeros(head.rows + 1, np.int64))
    data, asks, kinds = (arrays[name] for name in ("texts-data", "asks", "kinds"))
    deprecated, places, most = arrays["deprecated"], arrays["files-places"], int(np.iinfo(np.int32).max)
    offsets = checked_edges(arrays["texts-offsets"], lists=head.rows, total=len(data))
    whole = lists("files-rows", "files-starts", len(file_terms), len(files))
    counts = {kind: arrays[f"files-{kind}"] for kind in KINDS}
    line_ends = lists("files-lines", "files-lines-offsets", len(files), most)
    defined = [each.split() for each in words("files-names")]
    old = {int(file): frozenset(checked_words(meant)) for file, meant in manifest["old"]}
    fits = (
        (len(files), sum(file.units for file in files), len(defined)) == (head.files, head.rows, head.files)
        and min((file.units for file in files), default=0) >= 0
        and {len(names), len(asks), len(kinds), len(deprecated)} == {head.rows}
        and {len(each) for each in counts.values()} == {len(whole.values)}
        and int(counts["text"].sum(dtype=np.int64) + counts["comments"].sum(dtype=np.int64)) == len(places)
        and places.min(initial=0) >= 0
        and kinds.max(initial=0) < len(UNIT_KINDS)
        and all(0 <= file < len(files) for file in old)
    )
    origin = checked_record(Origin, manifest["origin"]) if manifest["origin"] else None
    if not fits:
        raise UserError(f"its parts do not fit together, or are not of {head.rows:,} rows")
    split = Split("index", lexicon, by_field, Texts(data, offsets, np.arange(head.rows)))
    file_index = FileIndex(file_terms, whole.offsets, whole.values, counts, defined, places, line_ends)
    unread = {str(kind): int(count) for kind, count in dict(manifest["unread"]).items()}
    inside = {str(path): submodule is True for path, submodule in dict(manifest["repositories"]).items()}
    about = head.documents, head.everything, unread, checked_words(manifest["not_entered"]), inside, old
    lexical, callers = by_terms("lexical", head.rows), by_terms("callers", len(files))
    return Index(files, split, names, asks, kinds, deprecated, lexical, callers, file_index, origin, *about)
