"""The arrays of an index file, which are validated: whoever wrote the file also wrote its checksums."""

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from data_prep.files.json_text import checked_record, checked_words, parse_json
from data_prep.store.ragged_lists import Ragged
from search.files.links import Origin

_URL: Final = re.compile(r"https://[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?(?:/[\w.+~%-]+)+", re.ASCII)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class StoredArrays:
    """Arrays by name, as loaded by safetensors; what does not fit is a ValueError."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._arrays = arrays

    def array(self, name: str, kind: type, length: int | None = None) -> np.ndarray:
        """The one-dimensional array ``name`` of type ``kind``, of the given ``length`` if any.

        Raises:
            ValueError: there is none.
        """
        found = self._arrays.get(name)
        if found is None or found.dtype != kind or found.ndim != 1 or length not in (None, len(found)):
            wanted = "a row" if length is None else f"{length:,}"
            got = "nothing" if found is None else f"{found.dtype} {list(found.shape)}"
            raise ValueError(f"{name}: expected {wanted} of {kind.__name__}, got {got}")
        return found

    def json(self, name: str) -> Any:
        """The JSON in the bytes ``name``.

        Raises:
            ValueError: they are not JSON.
        """
        return parse_json(self.array(name, np.uint8).tobytes())

    def words(self, name: str, count: int | None = None) -> list[str]:
        """The words in ``name``, ``count`` of them if that is given.

        Raises:
            ValueError: they are not words, or their number is another one.
        """
        found = checked_words(self.json(name))
        if count not in (None, len(found)):
            raise ValueError(f"{name}: expected {count:,}, got {len(found):,}")
        return found

    def ragged(self, values: str, offsets: str, *, lists: int, below: int) -> Ragged:
        """A ragged array of ``lists`` lists of numbers below ``below``.

        Raises:
            ValueError: the arrays are missing or do not fit.
        """
        return Ragged.checked(self.array(values, np.int32), self.array(offsets, np.int64), lists=lists, below=below)


def checked_origin(content: object) -> Origin:
    """The origin in a manifest, if its address is an https one.

    Raises:
        ValueError: it is not an origin.
    """
    origin = checked_record(Origin, content)
    if not _URL.fullmatch(origin.url) or not _COMMIT.fullmatch(origin.commit):
        raise ValueError(f"{origin.url!r:.60} at {origin.commit!r:.60} is no address of a repository")
    return origin
