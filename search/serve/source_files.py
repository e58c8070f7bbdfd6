"""Indexed files as they are on disk, each only if it still is what was indexed.

An index from elsewhere cannot show files of this machine: a file is read only inside of the indexed folder, and only
one whose bytes have the hash that the index has is shown.
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from data_prep.errors import UserError
from data_prep.files.reading import read_regular, reason
from data_prep.languages.java.declarations import LARGEST_FILE
from search.files.tree import blob_names
from search.index.code_index import IndexedFile
from search.serve.highlighting import Span, highlighted

MOST_LINES: Final = 2000
"""Lines of a file that are shown at once."""
LONGEST_LINE: Final = 2000
"""Characters of a line that are shown."""
_PARSED: Final = 1 << 20
"""Characters of a file up to which all of it is parsed, so that a comment which began above is known as such."""


class ChangedFileError(UserError):
    """A file that cannot be shown as it was indexed; the message says why."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Some lines of a file."""

    first_line: int  # from 1
    lines: int  # of the whole file
    text: str
    cut: bool  # whether long lines were cut
    kinds: list[Span]  # positions in ``text``


def read_indexed(root: Path | None, file: IndexedFile) -> str:
    """The text of a file as it was indexed.

    Args:
        root: the indexed folder; None: not known.
        file: as the index has it, which is not trusted.

    Raises:
        ChangedFileError: it cannot be read, or is another one by now.
    """
    if root is None:
        raise ChangedFileError("the indexed folder is not known: start the server in it, or name it by --folder=DIR")
    path = PurePosixPath(file.path)
    if path.is_absolute() or ".." in path.parts or "\0" in file.path:
        raise ChangedFileError("its path does not lead into the indexed folder")
    try:
        data, _ = read_regular(root / path, LARGEST_FILE + 1)
    except OSError as error:
        raise ChangedFileError(f"it cannot be read: {reason(error)}") from error
    if not file.blobs or blob_names(data) != file.blobs:
        raise ChangedFileError("it has changed since it was indexed: bash run.sh index DIR")
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def around(source: str, path: str, line: int, *, parsed: bool = True) -> Shown:
    """At most ``MOST_LINES`` lines of a file with ``line`` in their middle, or near it where the file ends.

    ``parsed``: whether a parser has read the file; of another one nothing is coloured.
    """
    lines = source.removesuffix("\n").split("\n")
    first = max(0, min(line - 1 - MOST_LINES // 2, len(lines) - MOST_LINES))
    own = lines[first : first + MOST_LINES]
    text = "\n".join(each if len(each) <= LONGEST_LINE else f"{each[: LONGEST_LINE - 1]}…" for each in own)
    cut = any(len(each) > LONGEST_LINE for each in own)
    if not parsed:
        return Shown(first + 1, len(lines), text, cut, [])
    if cut or len(source) > _PARSED:
        return Shown(first + 1, len(lines), text, cut, highlighted(text, path))
    before = sum(len(each) + 1 for each in lines[:first])
    kinds = highlighted(source, path, before, before + len(text))
    moved = [(max(0, start - before), min(end - before, len(text)), kind) for start, end, kind in kinds]
    return Shown(first + 1, len(lines), text, cut, moved)
