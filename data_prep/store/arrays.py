"""Arrays: names of their types in annotations, lists of any length as two arrays, standard scores, and mapped files.

``Float32[np.ndarray, "rows dim"]`` is jaxtyping's for type checkers, and where it has been imported, as in tests, which
check arrays by it. Elsewhere it says only what the array is of: to import jaxtyping takes as long as numpy, and a
question has no use for it.

A file (:func:`write_sealed`) is a header line and binary content, with a checksum. The header is the format's name and
a JSON object: the writer's metadata, and ``bytes`` and ``sha256`` of the content. It is padded with spaces, so that the
content begins at a multiple of 64 bytes.
"""

import hashlib
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.access import ABSENT, make_own_folder, reading, reason
from data_prep.files.json_text import parse_json
from data_prep.files.writing import atomic_file

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Bool as Bool
    from jaxtyping import Float as Float
    from jaxtyping import Float16 as Float16
    from jaxtyping import Float32 as Float32
    from jaxtyping import Int as Int
    from jaxtyping import Int8 as Int8
    from jaxtyping import Int32 as Int32
    from jaxtyping import Int64 as Int64
    from jaxtyping import Num as Num
    from jaxtyping import UInt8 as UInt8
    from jaxtyping import UInt16 as UInt16
    from jaxtyping import UInt64 as UInt64
else:

    class _Array:
        """An array of any type."""

        __class_getitem__ = itemgetter(0)  # the type of the array, without that of its numbers and its axes

    Bool = Float = Float16 = Float32 = Int = Int8 = Int32 = Int64 = Num = UInt8 = UInt16 = UInt64 = _Array


@dataclass(frozen=True, eq=False, slots=True)
class Ragged:
    """Concatenated lists of ints of any length; list i is ``values[offsets[i]:offsets[i + 1]]``."""

    values: Int32[np.ndarray, " total"]
    offsets: Int64[np.ndarray, " edges"]  # lists + 1, from 0 to total

    @classmethod
    def of(cls, lists: Sequence[Sequence[Any]], numbers: Mapping[Any, int] | None = None) -> "Ragged":
        """Convert lists to arrays: of ints, or of what has ``numbers``."""
        offsets = edges(np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)))
        items = chain.from_iterable(lists)
        ints = items if numbers is None else map(numbers.__getitem__, items)
        return cls(np.fromiter(ints, dtype=np.int32, count=int(offsets[-1])), offsets)

    @classmethod
    def checked(cls, values: np.ndarray, offsets: np.ndarray, *, lists: int, below: int) -> "Ragged":
        """Validate arrays from a file as ``lists`` lists of ints from 0 to ``below`` - 1.

        Raises:
            UserError: they are not.
        """
        if values.ndim != 1 or values.dtype != np.int32:
            raise UserError(f"expected a row of int32, got {values.dtype} {list(values.shape)}")
        if len(values) and not 0 <= values.min() <= values.max() < below:
            raise UserError(f"numbers from {values.min()} to {values.max()} where 0 to {below - 1} can stand")
        return cls(values, checked_edges(offsets, lists=lists, total=len(values)))

    @property
    def lengths(self) -> Int64[np.ndarray, " lists"]:
        """Length of each list."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Int32[np.ndarray, " ints"]:
        return self.values[self.offsets[:-1][row] : self.offsets[1:][row]]

    def take(self, rows: Int[np.ndarray, " rows"]) -> "Ragged":
        """The lists ``rows``, in that order; a row may repeat."""
        places, offsets = slices(self.offsets, rows)
        return Ragged(self.values[places], offsets)

    def cut(self, longest: int) -> "Ragged":
        """Each list's first ``longest`` ints."""
        lengths = self.lengths
        if lengths.max(initial=0) <= longest:
            return self
        lengths = np.minimum(lengths, longest)
        return Ragged(self.values[spread(self.offsets[:-1], lengths)], edges(lengths))


def slices(
    offsets: Int[np.ndarray, " edges"], rows: Int[np.ndarray, " rows"]
) -> tuple[Int64[np.ndarray, " places"], Int64[np.ndarray, " bounds"]]:
    """The places of the items of the lists ``rows``, one list after the other, and the offsets that they then have."""
    starts = offsets[:-1][rows]
    lengths = offsets[1:][rows] - starts
    return spread(starts, lengths), edges(lengths)


def spread(starts: Int[np.ndarray, " lists"], lengths: Int[np.ndarray, " lists"]) -> Int64[np.ndarray, " places"]:
    """``starts`` and what follows each, so many as ``lengths`` says."""
    ends = np.cumsum(lengths, dtype=np.int64)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)


def distinct(numbers: Int[np.ndarray, " some"]) -> tuple[Int64[np.ndarray, " distinct"], Int32[np.ndarray, " some"]]:
    """The distinct numbers, ascending, and the place of each number among them: for small ones faster than sorting."""
    place = np.zeros(int(numbers.max(initial=-1)) + 1, np.int32)
    place[numbers] = 1
    found = np.flatnonzero(place)
    place[found] = np.arange(len(found), dtype=np.int32)
    return found, place[numbers]


def edges(lengths: Int[np.ndarray, " lists"]) -> Int64[np.ndarray, " edges"]:
    """Start and end offsets of lists of these lengths when concatenated."""
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)), dtype=np.int64)


def checked_edges(offsets: np.ndarray, *, lists: int, total: int) -> Int64[np.ndarray, " edges"]:
    """Check that ``offsets`` from a file divide ``total`` items into ``lists`` lists.

    Raises:
        UserError: they do not.
    """
    if offsets.shape != (lists + 1,) or offsets.dtype != np.int64:
        raise UserError(f"expected {lists + 1} offsets of int64, got {offsets.dtype} {list(offsets.shape)}")
    if offsets[0] != 0 or offsets[-1] != total or not (offsets[1:] >= offsets[:-1]).all():
        raise UserError(f"offsets that do not rise from 0 to {total}")
    return offsets


_LENGTH: Final = 8
_TYPES: Final = {"BOOL": "?", "I8": "i1", "U8": "u1", "U16": "<u2", "I32": "<i4", "I64": "<i8", "F32": "<f4"}


def tensors(content: bytes | memoryview) -> tuple[dict[str, np.ndarray], Mapping[str, str]]:
    """The arrays of safetensors content, as read-only views where that library would copy, and the metadata.

    The layout is 8 bytes with the length of a JSON header, the header with the type, shape and place of each array,
    then the arrays.

    Raises:
        ValueError, KeyError, TypeError: the content has another layout.
    """
    start = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    header, arrays = dict(parse_json(bytes(content[_LENGTH:start]))), memoryview(content)[start:].toreadonly()
    about, found = dict(header.pop("__metadata__", {})), {}
    for name, entry in header.items():
        kind, shape, (first, end) = np.dtype(_TYPES[entry["dtype"]]), entry["shape"], entry["data_offsets"]
        part = arrays[first:end]
        if math.prod(shape) * kind.itemsize != len(part):
            raise ValueError(f"{name} has {len(part):,} bytes, not those of {shape} numbers")
        found[name] = np.frombuffer(part, kind).reshape(shape)
    return found, about


_LONGEST_HEAD: Final = 4096
_ALIGNED: Final = 64


class UnusableFileError(UserError):
    """A file that cannot be used; the message states why."""


def write_sealed(path: Path, form: str, about: Mapping[str, Any], parts: Sequence[np.ndarray]) -> None:
    """Write the concatenated ``parts`` atomically, for the user alone; an older file is replaced.

    Args:
        path: of the file; its folder is created.
        form: name of the format, with its version.
        about: metadata for the header.
        parts: arrays.

    Raises:
        OSError: it cannot be written; an older file is unchanged.
    """
    raw = [np.ascontiguousarray(part).reshape(-1).view(np.uint8) for part in parts]
    head = {**about, "bytes": sum(map(len, raw)), "sha256": _sha256(about, raw)}
    line = f"{form} {json.dumps(head)}".encode()
    line += b" " * (-(len(line) + 1) % _ALIGNED) + b"\n"
    make_own_folder(path.parent)
    with atomic_file(path, private=True) as new, new.open("wb") as file:
        file.write(line)
        for part in raw:
            file.write(part.data)


def read_sealed(path: Path, form: str) -> tuple[dict[str, Any], UInt8[np.ndarray, " bytes"]]:
    """The metadata and the memory-mapped content.

    Raises:
        UnusableFileError: the file is missing, has another format or version, or is damaged.
        OSError: it cannot be read at this moment, which says nothing about it.
    """
    about, sha256, content = _opened(path, form, whole=True)
    if _sha256(about, [content]) != sha256:
        raise UnusableFileError(f"{path} is damaged: its sha256 is not what its first line says")
    return about, content


def read_sealed_head(path: Path, form: str) -> dict[str, Any]:
    """The metadata; of the content only the size is checked.

    Raises:
        UnusableFileError: the file is missing, has another format or version, or is truncated.
        OSError: it cannot be read at this moment, which says nothing about it.
    """
    return _opened(path, form, whole=False)[0]


def _opened(path: Path, form: str, *, whole: bool) -> tuple[dict[str, Any], str, UInt8[np.ndarray, " bytes"]]:
    """The metadata, the checksum, and with ``whole`` the content."""
    try:
        with reading(path) as file:
            line = file.readline(_LONGEST_HEAD)
            head = _head(path, form, line)
            size, there = head.pop("bytes"), os.fstat(file.fileno()).st_size - len(line)
            if there != size:
                raise UnusableFileError(f"{path} is damaged: {there:,} bytes follow its first line, not {size:,}")
            mapped = np.memmap(file, np.uint8, mode="r", offset=len(line)) if whole and size else ()
            return head, head.pop("sha256"), np.asarray(mapped, np.uint8)
    except ABSENT as error:
        raise UnusableFileError(f"{path} cannot be read ({reason(error)})") from error


def _head(path: Path, form: str, line: bytes) -> dict[str, Any]:
    if not line.startswith(f"{form} ".encode()):
        raise UnusableFileError(f"{path} does not begin {form!r}, but {line[:20]!r}")
    try:
        head = parse_json(line.removeprefix(form.encode()))
        if not isinstance(head, dict) or any(isinstance(value, list | dict) for value in head.values()):
            raise UserError("expected an object of numbers and texts alone")
        if not {"bytes", "sha256"} <= head.keys():
            raise UserError("expected bytes and sha256")
        return head
    except UserError as error:
        raise UnusableFileError(f"the first line of {path} is damaged ({error})") from error


def _sha256(about: Mapping[str, Any], parts: Sequence[np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for part in parts:
        digest.update(part.data)
    return digest.hexdigest()


def z_scores(scores: Float[np.ndarray, "*some candidates"]) -> Float[np.ndarray, "*some candidates"]:
    """The scores of each query standardised to mean 0 and standard deviation 1; 0 if all are equal.

    The result has the precision of ``scores``.
    """
    if not scores.shape[-1]:
        return scores
    centred = _centred(scores)
    spread = np.sqrt(np.add.reduce(np.square(_centred(centred)), axis=-1, keepdims=True) / scores.shape[-1])
    return np.asarray(centred / np.where(spread > 0, spread, 1))


def _centred(scores: Float[np.ndarray, "*some candidates"]) -> Float[np.ndarray, "*some candidates"]:
    """The scores less their mean, without the overhead of ``mean``: a question has few scores."""
    return np.asarray(scores - np.add.reduce(scores, axis=-1, keepdims=True) / scores.shape[-1])


def weighted(
    first: Float[np.ndarray, "*some candidates"], second: Float[np.ndarray, "*some candidates"], weight: float
) -> Float[np.ndarray, "*some candidates"]:
    """The weighted sum: ``weight`` of the first and ``1 - weight`` of the second."""
    return weight * first + (1 - weight) * second
