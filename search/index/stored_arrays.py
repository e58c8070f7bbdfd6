"""The arrays of an index file, looked at before they are believed: whoever wrote the file wrote its checksums too."""

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
    """Arrays by their names, as safetensors gave them; what does not fit is a ValueError."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._arrays = arrays

    def array(self, name: str, kind: type, length: int | None = None) -> np.ndarray:
        """The row of ``kind`` that is named so, of a ``length`` where that is known.

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
        """What the bytes of that name say.

        Raises:
            ValueError: they are no JSON.
        """
        return parse_json(self.array(name, np.uint8).tobytes())

    def words(self, name: str, count: int | None = None) -> list[str]:
        """The words of that name, of which there are ``count`` where that is known.

        Raises:
            ValueError: there are no words, or another number of them.
        """
        found = checked_words(self.json(name))
        if count not in (None, len(found)):
            raise ValueError(f"{name}: expected {count:,}, got {len(found):,}")
        return found

    def ragged(self, values: str, offsets: str, *, lists: int, below: int) -> Ragged:
        """So many ``lists`` of numbers below ``below``.

        Raises:
            ValueError: these are not there.
        """
        return Ragged.checked(self.array(values, np.int32), self.array(offsets, np.int64), lists=lists, below=below)


def checked_origin(content: object) -> Origin:
    """The origin that a manifest names: what links begin with leads to https alone.

    Raises:
        ValueError: it is none.
    """
    origin = checked_record(Origin, content)
    if not _URL.fullmatch(origin.url) or not _COMMIT.fullmatch(origin.commit):
        raise ValueError(f"{origin.url!r:.60} at {origin.commit!r:.60} is no address of a repository")
    return origin
