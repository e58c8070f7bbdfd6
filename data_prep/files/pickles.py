"""Pickles of lists, dicts, words and whole numbers, read from files that nobody vouches for.

A pickle is a program, and most of its instructions can do harm: name any function and call it, or ask for gigabytes in
five bytes. Here each file is walked through before it is run, and refused unless every instruction makes one of the
four plain things, as pickle's protocols 2 and 3 write them. The unpickler then refuses every name on its own as well.
"""

import io
import pickle
import re
from pathlib import Path
from typing import Any, Final, NoReturn

from data_prep.files.reading import open_regular

LARGEST: Final = 256 << 20
"""Largest file, in bytes. A file of n bytes takes up to some 16 n of memory; the releases' largest have about 90 MB."""

_MOST_OBJECTS: Final = 1 << 23
"""Lists, dicts and words in a file."""
_STEP: Final = re.compile(
    rb"(?:K.|M..|J.{4}|[(aeus]|q.|h.|j.{4})++"  # numbers, what puts them into lists and dicts, looks at the memo
    rb"|(?P<made>[\]}])"  # an empty list or dict
    rb"|X(?P<length>.{4})"  # a word, its bytes follow
    rb"|r(?P<memo>.{4})",  # the number under which the object before is kept
    re.DOTALL,
)
_WITH_ARGUMENT: Final = b"KMJqhjXr"
_FAILURES: Final = (
    pickle.UnpicklingError, EOFError, ValueError, TypeError, LookupError, AttributeError, OverflowError, MemoryError
)  # fmt: skip


class PlainUnpickler(pickle.Unpickler):
    """Knows no class, no function and no object kept elsewhere."""

    def find_class(self, module_name: str, global_name: str) -> NoReturn:
        """Refuse a global.

        Raises:
            pickle.UnpicklingError: always.
        """
        raise pickle.UnpicklingError(f"it names {module_name}.{global_name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        """Refuse an object that is kept elsewhere.

        Raises:
            pickle.UnpicklingError: always.
        """
        raise pickle.UnpicklingError(f"it names the object {str(pid)[:40]!r}, kept elsewhere")


def load_plain(path: Path) -> Any:
    """What the pickle at ``path`` holds: lists, dicts, words and whole numbers of 32 bits, nothing else.

    Raises:
        ValueError: the file is too large, cut short, damaged, no pickle, or asks for anything else.
        OSError: it cannot be read, or is no regular file.
    """
    with open_regular(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"{path} is refused: it has more than {LARGEST >> 20} MiB")
    try:
        _walk(data)
        return PlainUnpickler(io.BufferedReader(io.BytesIO(data))).load()
    except _FAILURES as error:
        what = str(error) or type(error).__name__
        raise ValueError(
            f"{path} is refused: {what}; expected a pickle of lists, dicts, words and whole numbers"
        ) from error


def _walk(data: bytes) -> None:
    """Check each instruction, and that none asks for more memory than its objects need."""
    if data[:2] not in (b"\x80\x02", b"\x80\x03"):
        raise ValueError("it is no pickle of protocol 2 or 3")
    place, objects = 2, 0
    while data[place : place + 1] != b".":
        step = _STEP.match(data, place)
        if step is None:
            raise ValueError(_stray(data[place : place + 1], place))
        place = step.end() + int.from_bytes(step["length"] or b"", "little")
        objects += step.lastgroup in ("made", "length")
        if step["memo"] and int.from_bytes(step["memo"], "little") >= objects:
            raise ValueError(f"it numbers more objects than it has, at byte {step.start()}")
        if objects > _MOST_OBJECTS:
            raise ValueError(f"it has more than {_MOST_OBJECTS:,} objects")
    if place + 1 != len(data):
        raise ValueError(f"it goes on behind its end at byte {place}")


def _stray(instruction: bytes, place: int) -> str:
    if not instruction or instruction in _WITH_ARGUMENT:
        return "it is cut short"
    return f"instruction {instruction!r} at byte {place} makes something else"
