"""Safe loading of untrusted pickles of lists, dicts, strings and integers.

A pickle is a program, and most of its instructions can do harm: call any function, or allocate gigabytes in five bytes.
Here each file is scanned before it is loaded, and rejected unless every instruction creates one of these four types,
as written by pickle's protocols 2 and 3. In addition, the unpickler itself rejects every global.
"""

import io
import pickle
import re
from pathlib import Path
from typing import Any, Final, NoReturn

from data_prep.errors import UserError
from data_prep.files.reading import open_regular

LARGEST: Final = 256 << 20
"""Maximum file size in bytes. A file of n bytes takes up to about 16 n of memory; the largest released ones have 90 MB.
"""

_MOST_OBJECTS: Final = 1 << 23
"""Maximum number of lists, dicts and strings in a file."""
_STEP: Final = re.compile(
    rb"(?:K.|M..|J.{4}|[(aeus]|q.|h.|j.{4})++"  # numbers, adding to lists and dicts, reading the memo
    rb"|(?P<made>[\]}])"  # an empty list or dict
    rb"|X(?P<length>.{4})"  # a string, its bytes follow
    rb"|r(?P<memo>.{4})",  # memo number of the previous object
    re.DOTALL,
)
_WITH_ARGUMENT: Final = b"KMJqhjXr"
_FAILURES: Final = (
    pickle.UnpicklingError, EOFError, ValueError, TypeError, LookupError, AttributeError, OverflowError, MemoryError
)  # fmt: skip


class PlainUnpickler(pickle.Unpickler):
    """Rejects all classes, functions and persistent objects."""

    def find_class(self, module_name: str, global_name: str) -> NoReturn:
        """Reject a global.

        Raises:
            pickle.UnpicklingError: always.
        """
        raise pickle.UnpicklingError(f"it names {module_name}.{global_name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        """Reject a persistent object.

        Raises:
            pickle.UnpicklingError: always.
        """
        raise pickle.UnpicklingError(f"it names the object {str(pid)[:40]!r}, kept elsewhere")


def load_plain(path: Path) -> Any:
    """Load the pickle at ``path``, which may contain only lists, dicts, strings and 32-bit integers.

    Raises:
        UserError: the file is too large, truncated, damaged, not a pickle, or contains anything else.
        OSError: it cannot be read, or is not a regular file.
    """
    with open_regular(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UserError(f"{path} is refused: it has more than {LARGEST >> 20} MiB")
    try:
        _walk(data)
        return PlainUnpickler(io.BufferedReader(io.BytesIO(data))).load()
    except _FAILURES as error:
        what = str(error) or type(error).__name__
        raise UserError(
            f"{path} is refused: {what}; expected a pickle of lists, dicts, words and whole numbers"
        ) from error


def _walk(data: bytes) -> None:
    """Check each instruction, and that none allocates more memory than its objects need."""
    if data[:2] not in (b"\x80\x02", b"\x80\x03"):
        raise UserError("it is no pickle of protocol 2 or 3")
    place, objects = 2, 0
    while data[place : place + 1] != b".":
        step = _STEP.match(data, place)
        if step is None:
            raise UserError(_stray(data[place : place + 1], place))
        place = step.end() + int.from_bytes(step["length"] or b"", "little")
        objects += step.lastgroup in ("made", "length")
        if step["memo"] and int.from_bytes(step["memo"], "little") >= objects:
            raise UserError(f"it numbers more objects than it has, at byte {step.start()}")
        if objects > _MOST_OBJECTS:
            raise UserError(f"it has more than {_MOST_OBJECTS:,} objects")
    if place + 1 != len(data):
        raise UserError(f"it goes on behind its end at byte {place}")


def _stray(instruction: bytes, place: int) -> str:
    if not instruction or instruction in _WITH_ARGUMENT:
        return "it is cut short"
    return f"instruction {instruction!r} at byte {place} makes something else"
