"""The arrays of an index file, which are validated: whoever wrote the file also wrote its checksums."""

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.json_text import checked_record, checked_words, parse_json
from data_prep.store.ragged_lists import Ragged
from search.files.origin import Origin

_URL: Final = re.compile(r"https://[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?(?:/[\w.+~%-]+)+", re.ASCII)
_LENGTH: Final = 8
_TYPES: Final = {"U8": "u1", "U16": "<u2", "I32": "<i4", "I64": "<i8", "F32": "<f4"}
_KINDS: Final[Mapping[str, np.dtype[Any]]] = {name: np.dtype(kind) for name, kind in _TYPES.items()}
"""The types of an index's arrays, all of which have one dimension."""
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def mapped_arrays(content: memoryview) -> dict[str, np.ndarray]:
    """The arrays of safetensors content, as read-only views of it, where :func:`safetensors.numpy.load` would copy.

    The layout is 8 bytes with the length of a JSON header, the header with the type, shape and place of each array,
    then the arrays.

    Raises:
        UserError: the content has another layout.
    """
    size = int.from_bytes(content[:_LENGTH], "little")
    header, data = parse_json(bytes(content[_LENGTH : _LENGTH + size])), content[_LENGTH + size :]
    if not isinstance(header, dict):
        raise UserError("expected a header with arrays")
    return {name: _array(data, entry) for name, entry in header.items() if name != "__metadata__"}


def _array(data: memoryview, entry: Any) -> np.ndarray:
    """The array that an entry of the header describes.

    Raises:
        UserError: it is not inside of ``data``.
    """
    if not isinstance(entry, dict) or {*entry} != {"dtype", "shape", "data_offsets"}:
        raise UserError(f"expected dtype, shape and data_offsets, got {entry!r:.60}")
    kind, shape, place = _KINDS.get(str(entry["dtype"])), entry["shape"], entry["data_offsets"]
    numbers = [*shape, *place] if isinstance(shape, list) and isinstance(place, list) else [-1]
    if kind is None or any(type(number) is not int or number < 0 for number in numbers):
        raise UserError(f"expected an array, got {entry!r:.60}")
    if len(shape) != 1 or len(place) != 2 or place[1] - place[0] != shape[0] * kind.itemsize or place[1] > len(data):
        raise UserError(f"an array of {shape} at {place} does not fit {len(data):,} bytes")
    return np.frombuffer(data[place[0] : place[1]], kind)  # type: ignore[no-any-return, unused-ignore]


class StoredArrays:
    """Arrays by name, as loaded by safetensors; what does not fit is a ValueError."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._arrays = arrays

    def array(self, name: str, kind: type, length: int | None = None) -> np.ndarray:
        """The one-dimensional array ``name`` of type ``kind``, of the given ``length`` if any.

        Raises:
            UserError: there is none.
        """
        found = self._arrays.get(name)
        if found is None or found.dtype != kind or found.ndim != 1 or length not in (None, len(found)):
            wanted = "a row" if length is None else f"{length:,}"
            got = "nothing" if found is None else f"{found.dtype} {list(found.shape)}"
            raise UserError(f"{name}: expected {wanted} of {kind.__name__}, got {got}")
        return found

    def json(self, name: str) -> Any:
        """The JSON in the bytes ``name``.

        Raises:
            UserError: they are not JSON.
        """
        return parse_json(self.array(name, np.uint8).tobytes())

    def words(self, name: str, count: int | None = None) -> list[str]:
        """The words in ``name``, ``count`` of them if that is given.

        Raises:
            UserError: they are not words, or their number is another one.
        """
        found = checked_words(self.json(name))
        if count not in (None, len(found)):
            raise UserError(f"{name}: expected {count:,}, got {len(found):,}")
        return found

    def ragged(self, values: str, offsets: str, *, lists: int, below: int) -> Ragged:
        """A ragged array of ``lists`` lists of numbers below ``below``.

        Raises:
            UserError: the arrays are missing or do not fit.
        """
        return Ragged.checked(self.array(values, np.int32), self.array(offsets, np.int64), lists=lists, below=below)


def checked_origin(content: object) -> Origin:
    """The origin in a manifest, if its address is an https one.

    Raises:
        UserError: it is not an origin.
    """
    origin = checked_record(Origin, content)
    if not _URL.fullmatch(origin.url) or not _COMMIT.fullmatch(origin.commit):
        raise UserError(f"{origin.url!r:.60} at {origin.commit!r:.60} is no address of a repository")
    return origin
